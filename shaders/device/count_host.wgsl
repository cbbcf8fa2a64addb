// The host knows how many items there are: no second load, which would wait for the first.
fn dev_count() -> u32 {
  return dev_params.capacity;
}
