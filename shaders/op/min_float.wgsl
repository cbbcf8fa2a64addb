// Smallest, of floats, as f32::min has it: NaN only where all are NaN, and -0 below +0.
//
// WGSL leaves NaN and the sign of zero open in min and in comparisons, so the work is done on keys: u32 words whose
// order is the order of the floats (float_key.wgsl). The key of NaN is the identity.
fn op_identity() -> T {
  return op_from_key(Key(0xffffffffu));
}

fn op_combine(a: T, b: T) -> T {
  return op_from_key(min(op_key(a), op_key(b)));
}

fn op_key(x: T) -> Key {
  return float_to_key(Wide(x), Key(0xffffffffu));
}

fn op_from_key(k: Key) -> T {
  return T(float_from_key(k));
}
