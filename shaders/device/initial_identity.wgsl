// A scan that begins with the operator's identity.
fn dev_initial() -> T {
  return op_identity();
}
