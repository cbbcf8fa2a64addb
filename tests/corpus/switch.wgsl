// Switches: several values a case, the default in the middle, in loops, in each other, signed, and with an early end.
// run: main 1
// buffer: 64 random 15
// buffer: 64 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn day(month: u32) -> u32 {
  switch month {
    case 4u, 6u, 9u, 11u: { return 30u; }
    case 2u: { return 28u; }
    default: { return 31u; }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var state = seeds[i];
  var sum = 0u;
  for (var step = 0; step < 12; step++) {
    state = state * 1664525u + 1013904223u;
    switch bitcast<i32>(state) >> 28u {
      case -8, -1: { sum += 1u; }
      default: { sum ^= 0x55u; }
      case 3: {
        if (state & 1u) == 0u {
          break;
        }
        sum += 1000u;
      }
      case 5: { continue; }
      case -3, 2: {
        switch state & 3u {
          case 0u: { sum = sum * 3u; }
          case 1u: { sum += 7u; break; }
          default: { sum -= 5u; }
        }
        sum += 9u;
      }
    }
    sum += day(state % 12u + 1u) << 8u;
    if sum % 13u == 0u {
      break;
    }
  }
  switch i { default: { sum++; } }
  out[i] = sum;
}
