// Knuth, Morris and Pratt: where patterns of a small alphabet begin in a text, each invocation with its own pattern.
// run: main 1
// buffer: 256 random 57 below 2
// buffer: 32 zeros
// buffer: 32 zeros

@group(0) @binding(0) var<storage, read> text: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> first: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  var failure: array<u32, 6>;
  var length = 0u;
  for (var at = 1u; at < 5u; at++) {
    while length > 0u && ((i >> at) & 1u) != ((i >> length) & 1u) {
      length = failure[length - 1u];
    }
    if ((i >> at) & 1u) == ((i >> length) & 1u) {
      length++;
    }
    failure[at] = length;
  }
  var state = 0u;
  var count = 0u;
  var place = 999u;
  for (var at = 0u; at < 256u; at++) {
    while state > 0u && (state == 5u || text[at] != ((i >> state) & 1u)) {
      state = failure[state - 1u];
    }
    if text[at] == ((i >> state) & 1u) {
      state++;
    }
    if state == 5u {
      count++;
      place = min(place, at - 4u);
    }
  }
  counts[i] = count;
  first[i] = place;
}
