// Functions that call functions within loops, with locals that start anew at each call.
// run: main 1
// buffer: 64 random 17
// buffer: 64 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<private> calls: u32;

fn digits(number: u32) -> u32 {
  calls++;
  var sum: u32;
  var rest = number;
  while rest > 0u {
    sum += rest % 10u;
    rest /= 10u;
  }
  return sum;
}

fn root(number: u32) -> u32 {
  var sum = number;
  for (; sum > 9u;) {
    sum = digits(sum);
  }
  return sum;
}

fn gcd(a: u32, b: u32) -> u32 {
  var x = a;
  var y = b;
  while y != 0u {
    let rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum = 0u;
  for (var k = 0u; k < 3u + i % 4u; k++) {
    let a = root(seeds[(i + k) % 64u]);
    let b = root(a * 977u + k);
    sum = sum * 10u + gcd(a * 12u, b * 18u) + root(digits(sum));
  }
  out[i] = sum * 100u + calls;
}
