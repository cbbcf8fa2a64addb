// Particles in an array of structs with arrays and structs within, sorted by one member by insertion.
// run: main 1
// buffer: 256 random 33 below 100
// buffer: 256 zeros

struct Link {
  to: u32,
  weight: i32,
}

struct Particle {
  key: u32,
  at: vec2i,
  links: array<Link, 2>,
  flag: u32,
}

@group(0) @binding(0) var<storage, read> before: array<Particle>;
@group(0) @binding(1) var<storage, read_write> after: array<Particle>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  // Each invocation sorts six.
  var own: array<Particle, 6>;
  for (var k = 0u; k < 6u; k++) {
    own[k] = before[6u * i + k];
    own[k].links[k % 2u].weight = -i32(own[k].links[1u - k % 2u].to);
  }
  for (var k = 1; k < 6; k++) {
    let particle = own[k];
    var at = k;
    while at > 0 && own[at - 1].key > particle.key {
      own[at] = own[at - 1];
      at--;
    }
    own[at] = particle;
    own[at].flag += u32(k - at) * 1000u;
  }
  for (var k = 0u; k < 6u; k++) {
    after[6u * i + k] = own[k];
    after[6u * i + k].at.y *= own[5u - k].links[0].weight;
  }
}
