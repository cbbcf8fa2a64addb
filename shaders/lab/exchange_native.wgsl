// Exchanges for exchange.wgsl that call WGSL's built-in functions themselves, for devices that have them.

// The mask of the odd lanes, asked inside the branch.
fn odd_mask_in_branch(x: u32, source: u32) -> u32 {
  var y = x;
  if (x & 1u) == 1u {
    y ^= folded(subgroupBallot(true));
  }
  return y;
}

fn reduce_float_built_in(x: u32, source: u32) -> u32 {
  return bitcast<u32>(subgroupAdd(short_float(x)));
}

fn scan_inclusive_built_in(x: u32, source: u32) -> u32 {
  return subgroupInclusiveAdd(x);
}

fn scan_exclusive_built_in(x: u32, source: u32) -> u32 {
  return subgroupExclusiveAdd(x);
}
