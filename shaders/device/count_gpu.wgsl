// A buffer says how many items there are.
@group(0) @binding(1) var<storage, read> dev_counts: array<u32>;

fn dev_count() -> u32 {
  return min(dev_counts[dev_params.count_at], dev_params.capacity);
}
