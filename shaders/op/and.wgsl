// Bits that all have. Of integers.
fn op_identity() -> T {
  return ~T(0);
}

fn op_combine(a: T, b: T) -> T {
  return a & b;
}
