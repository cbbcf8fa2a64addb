// A scan that begins with a value of the caller's.
@group(0) @binding(7) var<storage, read> dev_initial_value: array<In>;

fn dev_initial() -> T {
  return el_load(dev_initial_value[0]);
}
