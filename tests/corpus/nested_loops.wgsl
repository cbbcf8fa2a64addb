// Loops in loops, with continue and break of each, continuing blocks, and break-if.
// run: main 1
// buffer: 64 random 16
// buffer: 64 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  let seed = seeds[local];
  var sum = 0u;
  for (var i = 0u; i < 4u + seed % 5u; i++) {
    if (seed >> i) % 3u == 1u {
      continue;
    }
    var j = i;
    while j < 9u {
      j += 1u + (seed & 1u);
      if j % 4u == 3u {
        continue;
      }
      var k = 0u;
      loop {
        if (k ^ j) == (seed & 7u) {
          break;
        }
        if k % 2u == 0u {
          sum += k * j;
          continue;
        }
        sum ^= k << i;
        continuing {
          k++;
          break if k >= 5u;
        }
      }
      if sum % 17u == 5u {
        break;
      }
      sum += 3u;
    }
    sum = sum * 5u + j;
  }
  out[local] = sum;
}
