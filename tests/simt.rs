//! The simulator through wgpu's ordinary API, and this crate's library on it.
//!
//! Every expectation is computed from the definition: lane `i` of a workgroup is lane `i % lanes` of subgroup `i / lanes`.

use std::num::NonZeroU64;

use wavelane::simt::{self, SimtOptions};
use wavelane::wgpu::util::DeviceExt;
use wavelane::wgpu::{self, BufferUsages};
use wavelane::{ErrorKind, Gpu, SubgroupPath, op, primitive::Predicate};

#[path = "simt/textures.rs"]
mod textures;

const WIDTHS: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// A device of the simulator with all it has.
struct Sim {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Sim {
    fn new(lanes: u32) -> Self {
        Self::of(&SimtOptions::default().lanes(lanes))
    }

    fn of(options: &SimtOptions) -> Self {
        let adapter = simt::adapter(options).unwrap();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features(),
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .unwrap();
        Self { device, queue }
    }

    fn upload(&self, words: &[u32], usage: BufferUsages) -> wgpu::Buffer {
        let contents = bytemuck::cast_slice(words);
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    }

    fn storage(&self, words: &[u32]) -> wgpu::Buffer {
        self.upload(words, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    fn module(&self, text: &str) -> wgpu::ShaderModule {
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        })
    }

    fn pipeline(&self, text: &str) -> wgpu::ComputePipeline {
        self.pipeline_with(text, None, &[])
    }

    fn pipeline_with(
        &self,
        text: &str,
        layout: Option<&wgpu::PipelineLayout>,
        constants: &[(&str, f64)],
    ) -> wgpu::ComputePipeline {
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("kernel"),
            layout,
            module: &self.module(text),
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
            cache: None,
        })
    }

    /// Group 0 of the pipeline: these buffers, at bindings 0, 1, …
    fn group(&self, pipeline: &wgpu::ComputePipeline, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = buffers
            .iter()
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &pipeline.get_bind_group_layout(0);
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }

    fn run(&self, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, workgroups: [u32; 3]) {
        self.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(workgroups[0], workgroups[1], workgroups[2]);
        });
    }

    fn download(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let size = buffer.size();
        let landing =
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        self.submit(|encoder| encoder.copy_buffer_to_buffer(buffer, 0, &landing, 0, size));
        landing.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let view = landing.slice(..).get_mapped_range().unwrap();
        bytemuck::pod_collect_to_vec(&view)
    }

    /// The error that `act` causes, of the kind that `filter` takes.
    fn error<T>(&self, filter: wgpu::ErrorFilter, act: impl FnOnce() -> T) -> Option<wgpu::Error> {
        let scope = self.device.push_error_scope(filter);
        act();
        pollster::block_on(scope.pop())
    }
}

/// Words without a pattern.
fn noise(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn the_adapter_says_what_it_is() {
    for lanes in WIDTHS {
        let adapter = simt::adapter(&SimtOptions::default().lanes(lanes)).unwrap();
        let info = adapter.get_info();
        assert!(adapter.features().contains(wgpu::Features::SHADER_F16 | wgpu::Features::SHADER_INT64));
        assert_eq!(info.name, format!("wavelane simulator, {lanes} lanes"));
        assert_eq!(info.device_type, wgpu::DeviceType::Cpu);
        assert_eq!((info.subgroup_min_size, info.subgroup_max_size), (lanes, lanes));
        assert!(adapter.features().contains(wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY));
        let least = wgpu::Limits {
            max_compute_invocations_per_workgroup: 1024,
            max_compute_workgroup_size_x: 1024,
            max_compute_workgroup_storage_size: 48 << 10,
            ..wgpu::Limits::default()
        };
        assert!(least.check_limits(&adapter.limits()), "{:?}", adapter.limits());
    }
}

/// What a kernel of examples/check makes of four workgroups of items.
fn example(text: &str, lanes: u32, items: &[u32]) -> Vec<u32> {
    let sim = Sim::new(lanes);
    let (input, output) = (sim.storage(items), sim.storage(&vec![0; items.len()]));
    let pipeline = sim.pipeline(text);
    sim.run(&pipeline, &sim.group(&pipeline, &[&input, &output]), [4, 1, 1]);
    sim.download(&output)
}

#[test]
fn kernels_for_32_lanes_are_wrong_at_64() {
    let items: Vec<u32> = noise(256).iter().map(|word| word % 1000).collect();
    // The sum of each workgroup.
    let sums: Vec<u32> = items.chunks(64).map(|block| block.iter().sum()).collect();
    let halves: Vec<u32> = items.chunks(64).map(|block| block[..32].iter().sum()).collect();
    let text = include_str!("../examples/check/width_32.wgsl");
    assert_eq!(example(text, 32, &items)[..4], sums);
    assert_eq!(example(text, 64, &items)[..4], halves, "half of the items are lost");

    // The odd items of each subgroup, at the front of its part.
    let odd = |lanes: usize| -> Vec<u32> {
        let part = |items: &[u32]| {
            let kept = items.iter().copied().filter(|item| item % 2 == 1);
            kept.chain(std::iter::repeat(0)).take(lanes).collect::<Vec<_>>()
        };
        items.chunks(lanes).flat_map(part).collect()
    };
    let text = include_str!("../examples/check/ballot_in_32_bits.wgsl");
    for lanes in [8, 16, 32] {
        assert_eq!(example(text, lanes, &items), odd(lanes as usize), "{lanes} lanes");
    }
    let wrong = example(text, 64, &items);
    assert_ne!(wrong, odd(64));
    // Both halves of a subgroup write to its first 32 places.
    assert!(wrong.chunks(64).all(|part| part[32..].iter().all(|item| *item == 0)));
}

#[test]
fn a_width_that_is_none_is_refused() {
    for lanes in [0, 1, 2, 3, 12, 33, 256] {
        let error = simt::instance(&SimtOptions::default().lanes(lanes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(&format!("not {lanes}")), "{error}");
    }
    assert_eq!(simt::instance(&SimtOptions::default().workers(0)).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn buffers_are_written_cleared_copied_and_mapped() {
    let sim = Sim::new(32);
    let from = sim.storage(&[1, 2, 3, 4, 5, 6]);
    let to = sim.storage(&[0; 6]);
    sim.queue.write_buffer(&from, 4, bytemuck::cast_slice(&[20_u32, 30]));
    sim.submit(|encoder| {
        encoder.copy_buffer_to_buffer(&from, 4, &to, 8, 12);
        encoder.clear_buffer(&from, 8, Some(8));
    });
    assert_eq!(sim.download(&from), [1, 20, 0, 0, 5, 6]);
    assert_eq!(sim.download(&to), [0, 0, 20, 30, 4, 0]);

    let usage = BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC;
    let size = 24;
    let mapped =
        sim.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    mapped.slice(8..16).map_async(wgpu::MapMode::Write, |mapped| mapped.unwrap());
    sim.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    mapped.slice(8..16).get_mapped_range_mut().unwrap().copy_from_slice(bytemuck::cast_slice(&[7_u32, 8]));
    mapped.unmap();
    sim.submit(|encoder| encoder.copy_buffer_to_buffer(&mapped, 0, &to, 0, size));
    assert_eq!(sim.download(&to), [0, 0, 7, 8, 0, 0]);
}

#[test]
fn subgroup_operations_have_the_chosen_width() {
    // A workgroup that no width above 4 divides: the last subgroup is partly filled.
    const WORKGROUP: usize = 100;
    const GROUPS: usize = 3;
    let text = "
        struct Seen { size: u32, id: u32, lane: u32, sum: u32, before: u32, voted: u32, first: u32, partner: u32 }
        @group(0) @binding(0) var<storage, read> items: array<u32>;
        @group(0) @binding(1) var<storage, read_write> seen: array<Seen>;
        @compute @workgroup_size(100)
        fn main(
          @builtin(global_invocation_id) at: vec3u,
          @builtin(subgroup_size) size: u32,
          @builtin(subgroup_id) id: u32,
          @builtin(subgroup_invocation_id) lane: u32,
        ) {
          let item = items[at.x];
          let ballot = countOneBits(subgroupBallot(item % 3u == 0u));
          seen[at.x] = Seen(size, id, lane, subgroupAdd(item), subgroupExclusiveAdd(item),
            ballot.x + ballot.y + ballot.z + ballot.w, subgroupBroadcastFirst(item), subgroupShuffleXor(item, 1u));
        }";
    let items = noise(WORKGROUP * GROUPS);
    for lanes in WIDTHS {
        let sim = Sim::new(lanes);
        let pipeline = sim.pipeline(text);
        let (input, output) = (sim.storage(&items), sim.storage(&vec![0; items.len() * 8]));
        sim.run(&pipeline, &sim.group(&pipeline, &[&input, &output]), [GROUPS as u32, 1, 1]);
        let seen = sim.download(&output);
        let lanes = lanes as usize;
        for (at, seen) in seen.chunks_exact(8).enumerate() {
            let (group, local) = (at / WORKGROUP * WORKGROUP, at % WORKGROUP);
            let (id, lane) = (local / lanes, local % lanes);
            let subgroup = &items[group + id * lanes..group + WORKGROUP.min((id + 1) * lanes)];
            let sum = |items: &[u32]| items.iter().fold(0_u32, |sum, item| sum.wrapping_add(*item));
            let voted = subgroup.iter().filter(|item| *item % 3 == 0).count();
            let head = [lanes as u32, id as u32, lane as u32, sum(subgroup), sum(&subgroup[..lane]), voted as u32];
            assert_eq!(seen[..6], head, "{lanes} lanes, invocation {at}");
            assert_eq!(seen[6..], [subgroup[0], subgroup[lane ^ 1]], "{lanes} lanes, invocation {at}");
        }
    }
}

#[test]
fn overrides_are_taken_from_the_pipeline() {
    let sim = Sim::new(16);
    let text = "
        override factor: u32 = 7u;
        @id(3) override addend: u32 = factor + 1u;
        override size: u32 = 64u;
        @group(0) @binding(0) var<storage, read_write> items: array<u32>;
        @compute @workgroup_size(size)
        fn main(@builtin(global_invocation_id) at: vec3u) { items[at.x] = at.x * factor + addend; }";
    for (constants, factor, addend, written) in [
        (&[][..], 7, 8, 64),
        (&[("factor", 2.0)][..], 2, 3, 64),
        (&[("factor", 5.0), ("3", 11.0), ("size", 24.0)][..], 5, 11, 24),
    ] {
        let pipeline = sim.pipeline_with(text, None, constants);
        let items = sim.storage(&[u32::MAX; 64]);
        sim.run(&pipeline, &sim.group(&pipeline, &[&items]), [1, 1, 1]);
        let expected: Vec<_> = (0..64).map(|i| if i < written { i * factor + addend } else { u32::MAX }).collect();
        assert_eq!(sim.download(&items), expected);
    }
}

#[test]
fn every_binding_gets_its_own_buffer() {
    let sim = Sim::new(32);
    let bindings: String =
        (0..8).map(|i| format!("@group(0) @binding({i}) var<storage, read_write> b{i}: array<u32>;\n")).collect();
    let writes: String = (0..8).map(|i| format!("b{i}[0] = {i}u + arrayLength(&b{i}) * 100u;\n")).collect();
    let pipeline = sim.pipeline(&format!("{bindings} @compute @workgroup_size(1) fn main() {{ {writes} }}"));
    let buffers: Vec<_> = (0..8).map(|i| sim.storage(&vec![0; i + 1])).collect();
    sim.run(&pipeline, &sim.group(&pipeline, &buffers.iter().collect::<Vec<_>>()), [1, 1, 1]);
    for (i, buffer) in (0..).zip(&buffers) {
        assert_eq!(sim.download(buffer)[0], i + (i + 1) * 100);
    }
}

#[test]
fn dynamic_offsets_follow_the_order_of_bindings() {
    let sim = Sim::new(32);
    let entry = |binding, dynamic, read_only| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: dynamic,
            min_binding_size: None,
        },
        count: None,
    };
    // Written in another order than they are numbered in; binding 1 between the two has a fixed place.
    let entries = [entry(2, true, true), entry(0, true, true), entry(1, false, true), entry(3, false, false)];
    let layout =
        sim.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let pipeline_layout = sim.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let text = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read> b: array<u32>;
        @group(0) @binding(2) var<storage, read> c: array<u32>;
        @group(0) @binding(3) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1)
        fn main() { out[0] = a[0]; out[1] = b[0]; out[2] = c[0]; out[3] = arrayLength(&c); }";
    let pipeline = sim.pipeline_with(text, Some(&pipeline_layout), &[]);
    let numbers: Vec<u32> = (0..256).collect();
    let (numbers, out) = (sim.storage(&numbers), sim.storage(&[0; 4]));
    let part = |offset| {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &numbers, offset, size: NonZeroU64::new(64) })
    };
    let group = sim.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 2, resource: part(256) },
            wgpu::BindGroupEntry { binding: 1, resource: part(128) },
            wgpu::BindGroupEntry { binding: 0, resource: part(0) },
            wgpu::BindGroupEntry { binding: 3, resource: out.as_entire_binding() },
        ],
    });
    sim.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[32, 512]);
        pass.dispatch_workgroups(1, 1, 1);
    });
    assert_eq!(sim.download(&out), [32 / 4, 128 / 4, (256 + 512) / 4, 16]);
}

/// A workgroup writes its number, counted from 1, at its place in a grid of 4 by 3 by 2.
const WHERE: &str = "
    @group(0) @binding(0) var<storage, read_write> items: array<u32>;
    @compute @workgroup_size(1)
    fn main(@builtin(workgroup_id) at: vec3u, @builtin(num_workgroups) all: vec3u) {
      let number = at.x + all.x * (at.y + all.y * at.z);
      items[at.x + 4u * (at.y + 3u * at.z)] = number + 1u;
    }";

#[test]
fn indirect_dispatches_read_their_grid_when_they_run() {
    let sim = Sim::new(8);
    let pipeline = sim.pipeline(WHERE);
    let expected = |grid: [u32; 3]| -> Vec<u32> {
        let number = |i: u32| {
            let [x, y, z] = [i % 4, i / 4 % 3, i / 12];
            let inside = x < grid[0] && y < grid[1] && z < grid[2];
            if inside { x + grid[0] * (y + grid[1] * z) + 1 } else { 0 }
        };
        (0..24).map(number).collect()
    };
    for grid in [[4, 3, 2], [2, 3, 1], [0, 3, 2], [4, 3, 0]] {
        let items = sim.storage(&[0; 24]);
        let arguments = sim.upload(&[9; 5], BufferUsages::INDIRECT | BufferUsages::COPY_DST);
        let group = sim.group(&pipeline, &[&items]);
        // The arguments stand there only once a copy before the dispatch has run.
        let source = sim.storage(&grid);
        sim.submit(|encoder| {
            encoder.copy_buffer_to_buffer(&source, 0, &arguments, 8, 12);
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups_indirect(&arguments, 8);
        });
        assert_eq!(sim.download(&items), expected(grid), "{grid:?}");
        sim.run(&pipeline, &group, grid);
        assert_eq!(sim.download(&items), expected(grid), "{grid:?}");
    }
}

#[test]
fn an_indirect_grid_beyond_the_limit_runs_nothing() {
    let sim = Sim::new(8);
    let pipeline = sim.pipeline(WHERE);
    let items = sim.storage(&[0; 24]);
    let arguments = sim.upload(&[65_536, 1, 1], BufferUsages::INDIRECT);
    let group = sim.group(&pipeline, &[&items]);
    sim.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups_indirect(&arguments, 0);
    });
    assert_eq!(sim.download(&items), [0; 24]);
}

#[test]
fn immediates_reach_the_kernel() {
    let sim = Sim::new(8);
    let text = "
        struct Values { a: u32, b: vec2u }
        var<immediate> values: Values;
        @group(0) @binding(0) var<storage, read_write> items: array<u32>;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) at: vec3u) {
          items[0] += values.a;
          items[1] += values.b.x;
          items[2] += values.b.y;
        }";
    let pipeline = sim.pipeline(text);
    let items = sim.storage(&[0; 3]);
    let group = sim.group(&pipeline, &[&items]);
    sim.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_immediates(0, bytemuck::cast_slice(&[1_u32, 0, 20, 300]));
        pass.dispatch_workgroups(1, 1, 1);
        pass.set_immediates(8, bytemuck::cast_slice(&[4000_u32]));
        pass.dispatch_workgroups(1, 1, 1);
    });
    assert_eq!(sim.download(&items), [2, 4020, 600]);
}

/// Adds 1 to each of 256 items, through workgroup memory and a barrier.
const ADD_ONE: &str = "
    @group(0) @binding(0) var<storage, read_write> items: array<u32>;
    var<workgroup> shared_items: array<u32, 64>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_index) local: u32) {
      shared_items[local] = items[at.x];
      workgroupBarrier();
      let other = shared_items[63u - local];
      workgroupBarrier();
      shared_items[63u - local] = other + 1u;
      workgroupBarrier();
      items[at.x] = shared_items[local];
    }";

#[test]
fn commands_see_what_those_before_them_did() {
    let sim = Sim::new(64);
    let pipeline = sim.pipeline(ADD_ONE);
    let numbers = noise(256);
    let (items, copy) = (sim.storage(&numbers), sim.storage(&[0; 256]));
    let group = sim.group(&pipeline, &[&items]);
    let dispatch = |encoder: &mut wgpu::CommandEncoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(4, 1, 1);
        pass.dispatch_workgroups(4, 1, 1);
    };
    sim.submit(|encoder| {
        dispatch(encoder);
        encoder.copy_buffer_to_buffer(&items, 0, &copy, 0, 1024);
        dispatch(encoder);
    });
    let plus = |by: u32| -> Vec<u32> { numbers.iter().map(|number| number.wrapping_add(by)).collect() };
    assert_eq!(sim.download(&copy), plus(2));
    assert_eq!(sim.download(&items), plus(4));
}

#[test]
fn timestamps_count_what_was_issued() {
    let sim = Sim::new(32);
    assert_eq!(sim.queue.get_timestamp_period(), 1.0);
    let pipeline = sim.pipeline(ADD_ONE);
    let items = sim.storage(&noise(256));
    let group = sim.group(&pipeline, &[&items]);
    let queries = sim.device.create_query_set(&wgpu::QuerySetDescriptor {
        label: None,
        ty: wgpu::QueryType::Timestamp,
        count: 5,
    });
    let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
    let times = sim.upload(&[0; 10], usage);
    simt::take_dispatches(&sim.device).unwrap();
    sim.submit(|encoder| {
        encoder.write_timestamp(&queries, 0);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &queries,
                beginning_of_pass_write_index: Some(1),
                end_of_pass_write_index: Some(3),
            }),
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        pass.write_timestamp(&queries, 2);
        pass.dispatch_workgroups(3, 1, 1);
        drop(pass);
        encoder.write_timestamp(&queries, 4);
        encoder.resolve_query_set(&queries, 0..5, &times, 0);
    });
    let times: Vec<u64> = bytemuck::pod_collect_to_vec(bytemuck::cast_slice::<_, u8>(&sim.download(&times)));
    let dispatches = simt::take_dispatches(&sim.device).unwrap();
    let issues: Vec<_> = dispatches.iter().map(|dispatch| dispatch.counts.issues).collect();
    assert_eq!(dispatches.iter().map(|dispatch| dispatch.workgroups).collect::<Vec<_>>(), [[1, 1, 1], [3, 1, 1]]);
    assert!(issues[0] > 0, "{issues:?}");
    assert_eq!(issues[1], 3 * issues[0], "three workgroups issue three times what one does");
    let differences: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(differences, [0, issues[0], issues[1], 0]);
}

#[test]
fn dispatches_are_told_once_and_without_those_of_wgpu() {
    let sim = Sim::new(32);
    let pipeline = sim.pipeline(WHERE);
    let items = sim.storage(&[0; 24]);
    let group = sim.group(&pipeline, &[&items]);
    let arguments = sim.upload(&[2, 1, 1], BufferUsages::INDIRECT);
    sim.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups_indirect(&arguments, 0);
    });
    let told = simt::take_dispatches(&sim.device).unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].pipeline.as_str(), told[0].workgroups), ("kernel", [2, 1, 1]));
    assert!(simt::take_dispatches(&sim.device).unwrap().is_empty());
    assert_eq!(simt::fault(&sim.device).unwrap(), None);
}

#[test]
fn devices_of_others_have_no_counts() {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop.enable = true;
    let adapter = pollster::block_on(wgpu::Instance::new(descriptor).request_adapter(&Default::default())).unwrap();
    let (device, _) = pollster::block_on(adapter.request_device(&Default::default())).unwrap();
    assert_eq!(simt::take_dispatches(&device).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(simt::fault(&device).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn error_scopes_catch_what_wgpu_refuses() {
    let sim = Sim::new(32);
    let validation = wgpu::ErrorFilter::Validation;
    let error = sim.error(validation, || sim.module("fn f() { let x: u32 = 1.5; }")).unwrap();
    assert!(error.to_string().contains("1.5"), "{error}");

    let pipeline = sim.pipeline(WHERE);
    assert!(sim.error(validation, || sim.group(&pipeline, &[])).is_some(), "a binding is missing");
    let uniform = sim.upload(&[0; 4], BufferUsages::UNIFORM);
    assert!(sim.error(validation, || sim.group(&pipeline, &[&uniform])).is_some(), "the wrong usage");

    let texture = wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: 4, height: 4, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    };
    assert!(sim.error(validation, || sim.device.create_texture(&texture)).is_some(), "nothing is rendered");
    let depth = wgpu::TextureDescriptor {
        format: wgpu::TextureFormat::Depth32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        ..texture
    };
    assert!(sim.error(validation, || sim.device.create_texture(&depth)).is_some(), "there is no such format");

    // None of this cost the device.
    let items = sim.storage(&[0; 24]);
    sim.run(&pipeline, &sim.group(&pipeline, &[&items]), [1, 1, 1]);
    assert_eq!(sim.download(&items)[0], 1);
}

#[test]
fn a_kernel_that_is_not_simulated_is_named_and_costs_no_device() {
    let sim = Sim::new(32);
    let text = "
        @group(0) @binding(0) var picture: texture_depth_2d;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = textureLoad(picture, vec2(0, 0), 0); }";
    let error = sim.error(wgpu::ErrorFilter::Internal, || sim.pipeline(text)).unwrap();
    assert!(error.to_string().contains("the variable picture is a depth texture, which is not simulated"), "{error}");
    let pipeline = sim.pipeline(WHERE);
    let items = sim.storage(&[0; 24]);
    sim.run(&pipeline, &sim.group(&pipeline, &[&items]), [1, 1, 1]);
    assert_eq!(sim.download(&items)[0], 1);
}

#[test]
fn a_fault_loses_the_device_and_is_told() {
    let gpu = gpu(4);
    let sim = Sim { device: gpu.device().clone(), queue: gpu.queue().clone() };
    let text = "
        @group(0) @binding(0) var<storage, read_write> items: array<u32>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) local: u32) {
          if local >= 4u { return; }
          workgroupBarrier();
          items[local] = 1u;
        }";
    let pipeline = sim.pipeline(text);
    let items = sim.storage(&[0; 8]);
    sim.run(&pipeline, &sim.group(&pipeline, &[&items]), [1, 1, 1]);
    let fault = simt::fault(gpu.device()).unwrap().unwrap();
    assert!(fault.contains("a barrier that not all invocations of the workgroup reach"), "{fault}");
    for _ in 0..2 {
        let error = gpu.reduce(&[1_u32, 2], op::Add).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeviceLost);
        assert!(error.to_string().contains(&fault), "{error}");
    }
}

#[test]
fn the_library_counts_the_lanes() {
    for lanes in WIDTHS {
        let gpu = gpu(lanes);
        assert_eq!(gpu.path(), SubgroupPath::Native, "{lanes} lanes: {}", gpu.probe().reason());
        assert_eq!((gpu.lanes(), gpu.min_lanes()), (lanes, lanes));
    }
}

fn gpu(lanes: u32) -> Gpu {
    let adapter = simt::adapter(&SimtOptions::default().lanes(lanes)).unwrap();
    Gpu::options().open_adapter(&adapter).unwrap()
}

#[test]
fn the_primitives_give_what_they_are_defined_to() {
    for lanes in WIDTHS {
        let gpu = gpu(lanes);
        for count in [1, 5, 127, 1_000, 4_099, 10_007] {
            let items = noise(count);
            let sum = items.iter().fold(0_u32, |sum, item| sum.wrapping_add(*item));
            assert_eq!(gpu.reduce(&items, op::Add).unwrap(), sum, "{lanes} lanes, {count} items");
            assert_eq!(gpu.reduce(&items, op::Max).unwrap(), *items.iter().max().unwrap());
            let before: Vec<_> = items
                .iter()
                .scan(0_u32, |sum, item| {
                    let before = *sum;
                    *sum = sum.wrapping_add(*item);
                    Some(before)
                })
                .collect();
            assert_eq!(gpu.scan_exclusive(&items, op::Add).unwrap(), before, "{lanes} lanes, {count} items");
            let kept: Vec<_> = items.iter().copied().filter(|item| item % 3 == 0).collect();
            let selected = gpu.select(&items, Predicate::wgsl("x % 3u == 0u")).unwrap();
            assert_eq!(selected, kept, "{lanes} lanes, {count} items");
        }
    }
}

/// A control must tell a wrong lane map from the right one where a workgroup is one subgroup, too.
#[cfg(feature = "lab")]
#[test]
fn the_lab_has_teeth_where_a_subgroup_is_as_wide_as_a_workgroup() {
    use wavelane::{lab, measure::Effort, report::Verdict};

    let adapter = simt::adapter(&SimtOptions::default().lanes(128)).unwrap();
    let gpu = Gpu::options().open_adapter(&adapter).unwrap();
    let record = lab::run(&gpu, Effort::Quick, &["lane-map", "shuffle", "all", "any", "reduce"], |_| {}).unwrap();
    for experiment in record.experiments {
        assert_eq!(experiment.verdict, Verdict::Holds, "{}: {}", experiment.id, experiment.finding);
    }
}

/// Counts come by timestamps: without them there is nothing to sample, and the host's clock says nothing.
#[cfg(feature = "lab")]
#[test]
fn a_sampler_of_the_simulator_needs_timestamps() {
    use wavelane::measure::{Effort, Sampler};

    let adapter = simt::adapter(&SimtOptions::default()).unwrap();
    let needs = wavelane::requirements(&adapter);
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: needs.features - wgpu::Features::TIMESTAMP_QUERY,
        required_limits: needs.limits,
        ..Default::default()
    }))
    .unwrap();
    let gpu = pollster::block_on(Gpu::from_device(&adapter, &device, &queue)).unwrap();
    let error = Sampler::new(&gpu, Effort::Quick).expect_err("there are no counts");
    assert_eq!(error.kind(), ErrorKind::MissingFeature);
    assert!(error.to_string().contains("TIMESTAMP_QUERY"), "{error}");
}

/// The lab on the simulator: what the model says of issues is what is counted.
#[cfg(feature = "lab")]
#[test]
fn the_lab_counts_what_the_model_says() {
    use wavelane::lab;
    use wavelane::measure::Effort;
    use wavelane::report::{Unit, Verdict};

    for lanes in [8, 64] {
        let adapter = simt::adapter(&SimtOptions::default().lanes(lanes)).unwrap();
        let gpu = Gpu::options().open_adapter(&adapter).unwrap();
        let run = |ids: &[&str]| lab::run(&gpu, Effort::Quick, ids, |_| {}).unwrap();
        let record = run(&["two-way", "residency"]);
        assert_eq!((&*record.adapter.kind, record.adapter.timestamp_period_ns), ("simulator", None));
        let [two_way, residency] = &record.experiments[..] else { panic!("two experiments were asked for") };
        assert_eq!(two_way.verdict, Verdict::Holds, "{lanes}: {}", two_way.finding);
        assert!(two_way.rows.iter().all(|row| row.unit != Unit::Ns && row.clock != "gpu"), "{two_way:?}");
        // Equal arms one after the other, within the instructions of the branch itself.
        let dearest =
            two_way.rows.iter().filter(|row| row.unit == Unit::Ratio).map(|row| row.value).fold(0.0, f64::max);
        assert!((dearest - 2.0).abs() < 0.01, "{lanes}: {dearest}");
        // The counts of a second run are the same to the last issue.
        assert_eq!(run(&["two-way"]).experiments[0].rows, two_way.rows);
        assert_eq!(residency.verdict, Verdict::NotMeasurable);
        assert!(residency.finding.contains("the simulator counts"), "{}", residency.finding);
    }
}

/// What one dispatch did, line by line.
fn profile(lanes: u32, text: &str, words: usize) -> simt::Dispatched {
    let options = SimtOptions::default().lanes(lanes).workers(2).observe(simt::Observe::Profile);
    let sim = Sim::of(&options);
    let buffer = sim.storage(&vec![0; words]);
    let pipeline = sim.pipeline(text);
    sim.run(&pipeline, &sim.group(&pipeline, &[&buffer]), [2, 1, 1]);
    let [dispatched] = &simt::take_dispatches(&sim.device).unwrap()[..] else { panic!("one dispatch") };
    dispatched.clone()
}

#[test]
fn sectors_of_memory_are_counted() {
    for lanes in WIDTHS {
        for stride in [1, 2, 4, 8, 32] {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
                @compute @workgroup_size(128) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                    out[{stride}u * id.x] = 1u;
                }}"
            );
            let memory = profile(lanes, &text, 256 * stride).profile.expect("it was asked for").memory;
            // Every eighth word begins a sector; a subgroup touches no sector that another does.
            let sectors = if stride >= 8 { 256 } else { (256 * stride as u64 / 8).max(u64::from(256 / lanes)) };
            assert_eq!((memory.accesses, memory.sectors), (256, sectors), "{lanes} lanes, stride {stride}");
            assert_eq!((memory.workgroup_accesses, memory.atomics), (0, 0));
        }
    }
}

#[test]
fn uniform_buffers_are_no_traffic() {
    let sim = Sim::of(&SimtOptions::default().lanes(8).observe(simt::Observe::Profile));
    let uniform = sim.upload(&[1; 4], BufferUsages::UNIFORM);
    let pipeline = sim.pipeline(
        "@group(0) @binding(0) var<uniform> of_all: vec4<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) { out[i] = of_all.y; }",
    );
    let group = sim.group(&pipeline, &[&uniform, &sim.storage(&[0; 32])]);
    sim.run(&pipeline, &group, [1, 1, 1]);
    let [dispatched] = &simt::take_dispatches(&sim.device).unwrap()[..] else { panic!("one dispatch") };
    let memory = dispatched.profile.as_ref().expect("it was asked for").memory;
    assert_eq!((memory.accesses, memory.sectors), (32, 4));
}

#[test]
fn conflicts_of_banks_and_collisions_of_atomics_are_counted() {
    for lanes in WIDTHS {
        for stride in [1_u32, 2, 3, 32] {
            let text = format!(
                "var<workgroup> tile: array<u32, 4096>;
                var<workgroup> sum: atomic<u32>;
                @group(0) @binding(0) var<storage, read_write> out: array<u32>;
                @compute @workgroup_size(128) fn main(@builtin(local_invocation_index) i: u32) {{
                    tile[{stride}u * i] = 1u;
                    atomicAdd(&sum, 1u);
                    out[0] = 1u;
                }}"
            );
            let memory = profile(lanes, &text, 1).profile.expect("it was asked for").memory;
            // The lanes of a subgroup fall on the banks in turn; the fullest bank decides.
            let mut in_bank = [0_u64; 32];
            (0..lanes).for_each(|lane| in_bank[(stride * lane % 32) as usize] += 1);
            let subgroups = u64::from(256 / lanes);
            let turns = in_bank.iter().max().expect("there are banks") - 1;
            assert_eq!(memory.bank_conflicts, subgroups * turns, "{lanes} lanes, stride {stride}");
            assert_eq!((memory.atomics, memory.atomic_collisions), (256, 256 - subgroups));
            assert_eq!((memory.workgroup_accesses, memory.accesses, memory.sectors), (512, 256, subgroups));
        }
    }
}

#[test]
fn lines_and_loops_say_what_they_did() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            var x = i;
            for (var trip = 0u; trip < i % 8u; trip++) {
                x = x * 3u;
            }
            if i % 2u == 0u {
                out[i] = x;
            }
        }";
    let dispatched = profile(16, text, 64);
    let profile = dispatched.profile.expect("it was asked for");
    let issues: u64 = profile.lines.iter().map(|line| line.counts.issues).sum();
    assert_eq!(issues, dispatched.counts.issues);
    // Two workgroups of four subgroups, of which each goes round as often as its longest lane: 7 times. Of every eight
    // lanes one goes round 0 times, one 1 time, … 7.
    let line = |number: u32| profile.lines.iter().find(|line| line.line == Some(number)).expect("the text is known");
    let (multiplied, stored) = (line(5), line(8));
    assert_eq!((&*multiplied.function, &*multiplied.text), ("main", "x = x * 3u;"));
    assert_eq!((multiplied.counts.issues, multiplied.counts.active_lanes), (8 * 7, 128 / 8 * 28));
    assert_eq!((stored.counts.issues, stored.counts.active_lanes, stored.memory.accesses), (8, 64, 64));
    let [round] = &profile.loops[..] else { panic!("{:?}", profile.loops) };
    assert_eq!((round.line, round.least, round.most), (Some(4), 0, 7));
    assert_eq!((round.trips, round.issued), (128 / 8 * 28, 128 * 7));
}

#[test]
fn a_device_with_checks_tells_what_it_found() {
    let text = |index: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ out[{index}] = id.x; }}"
        )
    };
    let sim = Sim::of(&SimtOptions::default().observe(simt::Observe::Checks));
    let buffer = sim.storage(&[0; 128]);
    let run = |index: &str| {
        let pipeline = sim.pipeline(&text(index));
        sim.run(&pipeline, &sim.group(&pipeline, &[&buffer]), [2, 1, 1]);
    };
    run("id.x");
    assert_eq!(simt::take_findings(&sim.device).unwrap(), []);
    run("id.x / 2u");
    run("id.x + 1u");
    let findings = simt::take_findings(&sim.device).unwrap();
    let kinds: Vec<_> = findings.iter().map(|finding| finding.kind.name()).collect();
    assert_eq!(kinds, ["data-race", "out-of-bounds"], "{findings:#?}");
    assert_eq!(simt::take_findings(&sim.device).unwrap(), []);
}
