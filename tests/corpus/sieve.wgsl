// The sieve of Eratosthenes on bits in workgroup memory, and Collatz's steps of each prime.
// run: main 1
// buffer: 256 zeros
// buffer: 1 zeros

@group(0) @binding(0) var<storage, read_write> steps: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;

var<workgroup> crossed: array<atomic<u32>, 8>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var factor = 2u; factor < 16u; factor++) {
    workgroupBarrier();
    // Multiples of what is crossed out are crossed out already.
    if (atomicLoad(&crossed[0]) & (1u << factor)) == 0u {
      for (var i = factor * (factor + local); i < 256u; i += 64u * factor) {
        atomicOr(&crossed[i / 32u], 1u << (i % 32u));
      }
    }
  }
  workgroupBarrier();
  for (var n = local; n < 256u; n += 64u) {
    if n < 2u || (atomicLoad(&crossed[n / 32u]) & (1u << (n % 32u))) != 0u {
      continue;
    }
    atomicAdd(&count, 1u);
    var x = n;
    var k = 0u;
    while x != 1u {
      x = select(x / 2u, 3u * x + 1u, x % 2u == 1u);
      k++;
    }
    steps[n] = k;
  }
}
