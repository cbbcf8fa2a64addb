// Loops around a compare-exchange: a float's sum and a product modulo a prime; and one winner a slot.
// run: main 2
// buffer: 128 random 26 below 1000
// buffer: 2 words 0 1
// buffer: 16 zeros

struct Totals {
  sum: atomic<u32>,
  product: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: Totals;
@group(0) @binding(2) var<storage, read_write> winners: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let item = items[id.x];
  var old = atomicLoad(&totals.sum);
  loop {
    let next = bitcast<u32>(bitcast<f32>(old) + f32(item));
    let outcome = atomicCompareExchangeWeak(&totals.sum, old, next);
    if outcome.exchanged {
      break;
    }
    old = outcome.old_value;
  }
  old = atomicLoad(&totals.product);
  loop {
    let outcome = atomicCompareExchangeWeak(&totals.product, old, old * (1u + item) % 4093u);
    if outcome.exchanged {
      break;
    }
    old = outcome.old_value;
  }
  // Eight go for each slot, and one gets it; the low bits count it, whoever it was.
  var won = atomicCompareExchangeWeak(&winners[id.x % 16u], 0u, 1u);
  while !won.exchanged && won.old_value == 0u {
    won = atomicCompareExchangeWeak(&winners[id.x % 16u], 0u, 1u);
  }
  if won.exchanged {
    atomicAdd(&winners[id.x % 16u], 100u);
  }
}
