// Product. Integers wrap.
fn op_identity() -> T {
  return T(1);
}

fn op_combine(a: T, b: T) -> T {
  return a * b;
}
