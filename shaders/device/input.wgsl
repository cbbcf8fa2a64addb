// The input, seen as packs (vectors of 16 bytes where the type has them) and as single items.

@group(0) @binding(2) var<storage, read> dev_in_packs: array<Pack>;
@group(0) @binding(3) var<storage, read> dev_in: array<In>;

fn dev_in_pack(at: u32) -> Pack {
  return dev_in_packs[at];
}

fn dev_in_item(at: u32) -> In {
  return dev_in[at];
}
