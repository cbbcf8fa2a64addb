// CRC-32 by a table that the workgroup makes; the first message is "123456789", whose value is cbf43926.
// run: main 1
// buffer: 96 words 875770417 943142453 57
// buffer: 8 words 9 0 1 12 7 3 4 48
// buffer: 8 zeros

@group(0) @binding(0) var<storage, read> messages: array<array<u32, 12>>;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

var<workgroup> table: array<u32, 256>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var byte = local; byte < 256u; byte += 8u) {
    var sum = byte;
    for (var bit = 0; bit < 8; bit++) {
      if (sum & 1u) == 1u {
        sum = (sum >> 1u) ^ 0xedb88320u;
      } else {
        sum >>= 1u;
      }
    }
    table[byte] = sum;
  }
  workgroupBarrier();
  var sum = ~0u;
  for (var i = 0u; i < lengths[local]; i++) {
    let byte = (messages[local][i / 4u] >> (8u * (i % 4u))) & 0xffu;
    sum = table[(sum ^ byte) & 0xffu] ^ (sum >> 8u);
  }
  sums[local] = ~sum;
}
