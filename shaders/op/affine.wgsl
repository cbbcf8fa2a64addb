// Composition of affine maps x -> a * x + b, the left one first: associative, not commutative. The example of an
// operator of one's own.
fn identity() -> Affine {
  return Affine(1u, 0u);
}

fn combine(first: Affine, second: Affine) -> Affine {
  return Affine(first.a * second.a, first.b * second.a + second.b);
}
