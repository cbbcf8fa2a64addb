// Smallest, of integers. T_HIGH is printed with the type.
fn op_identity() -> T {
  return T(T_HIGH);
}

fn op_combine(a: T, b: T) -> T {
  return min(a, b);
}
