// Reduce: every workgroup reduces its span and publishes the part; the workgroup that finishes last reduces the parts.
//
// Parts and the counter of finished workgroups are atomics. Between a workgroup's part and its count stands a storage
// barrier, as between the last count and the reading of the parts: on Vulkan that barrier orders memory for the whole
// device, on DX12 it follows interlocked operations, which meet in memory that all share. Where it does not (Metal), FINISH_APART is set and the parts are reduced in a dispatch of their
// own. Nobody waits for anybody. The counter is zero again at the end.

@group(0) @binding(4) var<storage, read_write> dev_result: array<In>;
@group(0) @binding(5) var<storage, read_write> dev_state: array<atomic<u32>>;

// Where the parts begin in the state.
const DEV_PARTS = 4u;

var<workgroup> dev_finished: u32;

@compute @workgroup_size(WORKGROUP)
fn dev_reduce(place: Place) {
  sg_begin(place);
  let group = place.workgroup.x;
  let groups = dev_params.groups;
  let all = dev_reduce_span(dev_span(group));
  if groups == 1u {
    dev_write_result(all);
    return;
  }
  if wg_index == 0u {
    dev_publish(DEV_PARTS + group * T_WORDS, all);
  }
  if FINISH_APART {
    return;
  }
  storageBarrier();
  if wg_index == 0u {
    dev_finished = atomicAdd(&dev_state[0], 1u) + 1u;
  }
  if workgroupUniformLoad(&dev_finished) == groups {
    storageBarrier();
    dev_finish();
    if wg_index == 0u {
      atomicStore(&dev_state[0], 0u);
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn dev_reduce_finish(place: Place) {
  sg_begin(place);
  dev_finish();
}

// Reduces the parts: each invocation a run of them, then the workgroup.
fn dev_finish() {
  let groups = dev_params.groups;
  let run = (groups + WORKGROUP - 1u) / WORKGROUP;
  let begin = wg_index * run;
  let end = min(begin + run, groups);
  var all = op_identity();
  for (var i = begin; i < end; i++) {
    all = op_combine(all, dev_fetch(DEV_PARTS + i * T_WORDS));
  }
  dev_write_result(wg_reduce(all));
}

fn dev_write_result(all: T) {
  if wg_index == 0u {
    dev_result[dev_params.out_start] = el_store(all);
  }
}
