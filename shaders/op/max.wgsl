// Largest, of integers. T_LOW is printed with the type.
fn op_identity() -> T {
  return T(T_LOW);
}

fn op_combine(a: T, b: T) -> T {
  return max(a, b);
}
