// Floats as words of the same order, for one float or a vector of them (Wide and Key are printed with the type).
//
// A float with its sign bit clear gets the bit set, one with it set has all bits turned: so -inf < … < -0 < +0 < … <
// +inf as unsigned words. NaN becomes `nan`, which the caller chooses to be the identity of what it does with keys;
// the keys 0 and 0xffffffff come from no number and turn back into NaN.
fn float_to_key(x: Wide, nan: Key) -> Key {
  let bits = bitcast<Key>(x);
  let key = bits ^ ((Key(0) - (bits >> Key(31))) | Key(0x80000000u));
  return select(key, nan, (bits & Key(0x7fffffffu)) > Key(0x7f800000u));
}

fn float_from_key(key: Key) -> Wide {
  return bitcast<Wide>(key ^ (((key >> Key(31)) - Key(1)) | Key(0x80000000u)));
}
