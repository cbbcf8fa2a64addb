// What the host tells every device-level kernel.

struct DevParams {
  // Index of the first item in the input binding and in the output binding: a range may begin at any element, a
  // binding only at an aligned offset.
  in_start: u32,
  out_start: u32,
  // How many items there are, or the most that there can be; where in its binding the count is.
  capacity: u32,
  count_at: u32,
  // Workgroups of the dispatches that share the work out.
  groups: u32,
  // Of `Select`: where in their bindings the count and the dispatch arguments go, and for how many items a workgroup.
  count_out_at: u32,
  args_at: u32,
  args_items: u32,
  // 0, which no compiler knows.
  zero: u32,
}

@group(0) @binding(0) var<uniform> dev_params: DevParams;
