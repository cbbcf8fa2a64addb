// How many lanes meet at a ballot after control flow that has split them: several constructs, one after the other, each
// with the odd lanes on another way than the even ones. `results` gets the lanes that met, one stretch a construct.

struct Params {
  // 0, which no compiler knows.
  zero: u32,
  invocations: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counter: atomic<u32>;

fn lanes_here() -> u32 {
  let bits = countOneBits(subgroupBallot(true));
  return bits.x + bits.y + bits.z + bits.w;
}

fn odd_returns(odd: bool, x: u32) -> u32 {
  if odd {
    return arm_b(x, 3u + params.zero);
  }
  return arm_a(x, 5u + params.zero);
}

@compute @workgroup_size(WORKGROUP)
fn reconvergence(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let stretch = params.invocations;
  let odd = (lane & 1u) == 1u;
  var x = index;

  // 0: an if.
  if odd {
    x = arm_a(x, 7u + params.zero);
  }
  results[index] = lanes_here();

  // 1: if and else.
  if odd {
    x = arm_a(x, 7u + params.zero);
  } else {
    x = arm_b(x, 9u + params.zero);
  }
  results[stretch + index] = lanes_here();

  // 2: a loop with as many trips as the lane's number.
  x = arm_a(x, lane + params.zero);
  results[2u * stretch + index] = lanes_here();

  // 3: a switch.
  switch lane & 3u {
    case 0u: { x = arm_a(x, 3u + params.zero); }
    case 1u: { x = arm_b(x, 4u + params.zero); }
    case 2u: { x ^= 77u; }
    default: { x = arm_a(x, 11u + params.zero); }
  }
  results[3u * stretch + index] = lanes_here();

  // 4: a loop that the odd lanes break from.
  for (var i = 0u; i < 8u + params.zero; i++) {
    if odd && i == 3u {
      break;
    }
    x = arm_b(x, 2u + params.zero);
  }
  results[4u * stretch + index] = lanes_here();

  // 5: a function from which the odd lanes return early.
  x = odd_returns(odd, x);
  results[5u * stretch + index] = lanes_here();

  // 6: an atomic in an if.
  if odd {
    x ^= atomicAdd(&counter, 1u) & params.zero;
  }
  results[6u * stretch + index] = lanes_here();

  // 7: inside a branch, where only the odd lanes can be; the even ones keep what stood there before.
  if odd {
    results[7u * stretch + index] = lanes_here();
  }

  // 8: after the odd lanes have left the kernel. What was computed on the way is stored, so that it is computed.
  results[9u * stretch + index] = x;
  if odd {
    return;
  }
  results[8u * stretch + index] = lanes_here();
}
