// Sorts keys and their payloads by 4 bits at a time, least significant first; stable, in one workgroup.
// run: main 1
// buffer: 64 random 3 below 65536
// buffer: 64 ramp

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> payloads: array<u32>;

var<workgroup> digits: array<u32, 64>;
var<workgroup> starts: array<u32, 16>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var shift = 0u; shift < 16u; shift += 4u) {
    let key = keys[local];
    let payload = payloads[local];
    let digit = (key >> shift) & 15u;
    digits[local] = digit;
    workgroupBarrier();
    if local < 16u {
      var count = 0u;
      for (var i = 0u; i < 64u; i++) {
        count += u32(digits[i] < local);
      }
      starts[local] = count;
    }
    var rank = 0u;
    for (var i = 0u; i < local; i++) {
      rank += u32(digits[i] == digit);
    }
    workgroupBarrier();
    keys[starts[digit] + rank] = key;
    payloads[starts[digit] + rank] = payload;
    storageBarrier();
    workgroupBarrier();
  }
}
