// The output of as many items as the input, seen as packs and as single items. Each item is written through one of the
// two only.

@group(0) @binding(4) var<storage, read_write> dev_out_packs: array<Pack>;
@group(0) @binding(5) var<storage, read_write> dev_out: array<In>;
