// Base64 of 48 bytes an invocation, and back.
// run: main 1
// buffer: 96 random 45
// buffer: 128 zeros
// buffer: 96 zeros

@group(0) @binding(0) var<storage, read> bytes: array<u32>;
@group(0) @binding(1) var<storage, read_write> letters: array<u32>;
@group(0) @binding(2) var<storage, read_write> again: array<u32>;

fn letter(six: u32) -> u32 {
  if six < 26u {
    return six + 65u;
  } else if six < 52u {
    return six + 71u;
  } else if six < 62u {
    return six - 4u;
  }
  return select(43u, 47u, six == 63u);
}

fn value(letter: u32) -> u32 {
  switch letter {
    case 43u: { return 62u; }
    case 47u: { return 63u; }
    default: {}
  }
  return select(select(letter + 4u, letter - 65u, letter >= 65u), letter - 71u, letter >= 97u);
}

fn byte(at: u32) -> u32 {
  return (bytes[at / 4u] >> (8u * (at % 4u))) & 0xffu;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  // Each takes 12 bytes to 16 letters.
  for (var group = 0u; group < 4u; group++) {
    let at = 12u * i + 3u * group;
    let bits = (byte(at) << 16u) | (byte(at + 1u) << 8u) | byte(at + 2u);
    letters[4u * i + group] =
      letter(bits >> 18u) | (letter((bits >> 12u) & 63u) << 8u) | (letter((bits >> 6u) & 63u) << 16u) | (letter(bits & 63u) << 24u);
  }
  var back: array<u32, 3>;
  for (var k = 0u; k < 12u; k++) {
    let word = letters[4u * i + k / 3u];
    let low = value((word >> (8u * (k % 3u))) & 0xffu);
    let high = value((word >> (8u * (k % 3u) + 8u)) & 0xffu);
    let whole = ((low << (2u * (k % 3u) + 2u)) | (high >> (4u - 2u * (k % 3u)))) & 0xffu;
    back[k / 4u] |= whole << (8u * (k % 4u));
  }
  for (var k = 0u; k < 3u; k++) {
    again[3u * i + k] = back[k];
  }
}
