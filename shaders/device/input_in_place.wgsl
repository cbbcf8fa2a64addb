// The input of a call that works in place: what output.wgsl binds.

fn dev_in_pack(at: u32) -> Pack {
  return dev_out_packs[at];
}

fn dev_in_item(at: u32) -> In {
  return dev_out[at];
}
