// What the lab's kernels spend their time on, printed before each of them.
//
// A step is a multiply-add and an exclusive or with a shift of itself: three dependent instructions that no compiler
// folds over iterations (a chain of multiply-adds alone is folded into one). The multipliers are large and odd, since
// small ones become shifts and adds and the arms would differ in length. The arms are loops, because a straight-line
// arm is executed with masks whoever takes it; trip counts come from the uniform buffer, because a constant one is
// unrolled. `WORKGROUP` is printed before this text.

fn arm_a(start: u32, trips: u32) -> u32 {
  var x = start;
  for (var i = 0u; i < trips; i++) {
    x = x * 0x9E3779B1u + 0x7F4A7C15u;
    x ^= x >> 15u;
  }
  return x;
}

fn arm_b(start: u32, trips: u32) -> u32 {
  var x = start;
  for (var i = 0u; i < trips; i++) {
    x = x * 0x85EBCA6Bu + 0xC2B2AE35u;
    x ^= x >> 13u;
  }
  return x;
}

// A word that looks random, of an index.
fn scramble(index: u32) -> u32 {
  var x = index * 0x9E3779B1u;
  x ^= x >> 15u;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13u;
  x *= 0xC2B2AE35u;
  return x ^ (x >> 16u);
}
