// Nothing: what a pass and the start of a workgroup cost by themselves. `WORKGROUP` is printed before this text.

@compute @workgroup_size(WORKGROUP)
fn empty() {
}
