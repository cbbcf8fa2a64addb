//! How far two numbers are apart.

/// Numbers of a type between two of its numbers, of which both zeros are one. Two that are no number are equal.
pub(crate) fn apart(x: u32, y: u32) -> u32 {
    let (a, b) = (f32::from_bits(x), f32::from_bits(y));
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => position(x).abs_diff(position(y)),
        _ => u32::MAX,
    }
}

/// The place of a number in the order of all.
fn position(bits: u32) -> i32 {
    let magnitude = (bits & 0x7fff_ffff) as i32;
    if bits >> 31 == 0 { magnitude } else { -magnitude }
}

#[test]
fn neighbours_are_one_apart() {
    let one = 1_f32.to_bits();
    assert_eq!(apart(one, one + 1), 1);
    assert_eq!(apart(0, 0x8000_0000), 0);
    assert_eq!(apart(1, 0x8000_0001), 2);
    assert_eq!(apart(f32::NAN.to_bits(), !0), 0);
    assert_eq!(apart(f32::NAN.to_bits(), one), u32::MAX);
    assert_eq!(apart(f32::MAX.to_bits(), f32::INFINITY.to_bits()), 1);
}
