//! Tuning a kernel of the user's: every combination of values of its `override` constants, timed against each other.
//!
//! Every storage buffer of the entry point holds a ramp (word i is i) of as many words as there are items. The kernel is
//! dispatched over the items divided by the invocations of its workgroup, rounded up, in x. Before a candidate is timed
//! it runs once over fresh buffers, and what it leaves in those it may write is compared with the others', bit by bit:
//! what differs from the result that most have is not chosen. The host does not know what the kernel should compute, so
//! this is no proof that a result is right.

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::measure::{Contender, Effort, Sampler, Samples};
use crate::shader::reflect::{self, EntryFacts, Use};

/// A kernel and what is tried of it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Name of the file, for messages.
    pub file: &'a str,
    /// The WGSL.
    pub text: &'a str,
    /// The entry point.
    pub entry: &'a str,
    /// `override` constants with the values to try of each.
    pub overrides: &'a [(String, Vec<f64>)],
    /// Items: words of each storage buffer.
    pub items: u32,
}

/// One combination of values, timed.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The constants with their values.
    pub constants: Vec<(String, f64)>,
    /// Workgroups that were dispatched.
    pub groups: u32,
    /// Its times.
    pub samples: Samples,
    /// Whether its result has the same bits as that of most candidates.
    pub agrees: bool,
}

/// The most combinations of a run.
pub const MAX_CANDIDATES: usize = 256;

/// Times every combination, in the order in which the values were given. Blocks.
///
/// # Errors
/// [`ErrorKind::InvalidShader`] for text that is not valid, with the place; [`ErrorKind::InvalidArgument`] for an entry
/// point or constant that the text does not have, too many combinations, and bindings other than storage buffers;
/// [`ErrorKind::LimitTooSmall`] for a combination that the device cannot run; and whatever keeps the device from working.
pub fn candidates(gpu: &Gpu, effort: Effort, kernel: &Kernel<'_>) -> Result<Vec<Candidate>> {
    let (module, info) = parse(kernel)?;
    let sampler = Sampler::new(gpu, effort)?;
    let shader = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    let text = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(kernel.file),
        source: wgpu::ShaderSource::Wgsl(kernel.text.into()),
    });
    if let Some(error) = pollster::block_on(shader.pop()) {
        return Err(Error::shader(format!("{}: {error}", kernel.file)));
    }
    let ramp: Vec<u32> = (0..kernel.items).collect();
    let ramp = gpu.upload(&ramp, wgpu::BufferUsages::COPY_SRC)?;
    let calls = combinations(kernel.overrides)?
        .into_iter()
        .map(|constants| Call::new(gpu, kernel, (&module, &info), &text, &ramp, constants))
        .collect::<Result<Vec<_>>>()?;
    let results = calls.iter().map(|call| call.result(gpu, &ramp)).collect::<Result<Vec<_>>>()?;
    let agree = agreeing(&results);
    drop(results);
    let contenders: Vec<_> = calls.iter().map(|call| call.contender(&ramp)).collect();
    let samples = sampler.sample(&contenders)?;
    drop(contenders);
    let timed = calls.into_iter().zip(samples).zip(agree);
    Ok(timed
        .map(|((call, samples), agrees)| Candidate { constants: call.constants, groups: call.groups, samples, agrees })
        .collect())
}

/// The fastest of those that agree; none where no candidate was given.
pub fn fastest(candidates: &[Candidate]) -> Option<&Candidate> {
    let agreeing = candidates.iter().filter(|candidate| candidate.agrees);
    agreeing.min_by(|a, b| a.samples.median().total_cmp(&b.samples.median()))
}

fn parse(kernel: &Kernel<'_>) -> Result<(naga::Module, ModuleInfo)> {
    let Kernel { file, text, entry, overrides, items } = kernel;
    if *items == 0 {
        return Err(Error::argument("a kernel is tuned over at least 1 item, not 0"));
    }
    let module = naga::front::wgsl::parse_str(text)
        .map_err(|error| Error::shader(error.emit_to_string_with_path(text, file).trim_end()))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| Error::shader(error.emit_to_string_with_path(text, file).trim_end()))?;
    let listed = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    if !module.entry_points.iter().any(|point| point.name == *entry && point.stage == naga::ShaderStage::Compute) {
        let names = module.entry_points.iter().map(|point| point.name.as_str()).collect();
        return Err(Error::argument(format!("{file} has no compute entry point '{entry}'; it has {}", listed(names))));
    }
    let names: Vec<&str> = module.overrides.iter().filter_map(|(_, one)| one.name.as_deref()).collect();
    if let Some((name, _)) = overrides.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(Error::argument(format!("{file} has no override '{name}'; it has {}", listed(names))));
    }
    Ok((module, info))
}

/// Every combination, the last constant's values running fastest.
fn combinations(overrides: &[(String, Vec<f64>)]) -> Result<Vec<Vec<(String, f64)>>> {
    let count = overrides.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
    let count = count.filter(|count| (1..=MAX_CANDIDATES).contains(count)).ok_or_else(|| {
        let counts: Vec<_> = overrides.iter().map(|(_, values)| values.len().to_string()).collect();
        Error::argument(format!("1 to {MAX_CANDIDATES} combinations are tried, not {}", counts.join(" x ")))
    })?;
    let combination = |mut index: usize| {
        let mut constants: Vec<_> = overrides
            .iter()
            .rev()
            .map(|(name, values)| {
                let value = values[index % values.len()];
                index /= values.len();
                (name.clone(), value)
            })
            .collect();
        constants.reverse();
        constants
    };
    Ok((0..count).map(combination).collect())
}

/// Which of the results are the one that most have; of equally many the first.
fn agreeing<T: PartialEq>(results: &[T]) -> Vec<bool> {
    let count = |result: &T| results.iter().filter(|other| *other == result).count();
    let most = results.iter().map(count).max().unwrap_or(0);
    let chosen = results.iter().find(|result| count(result) == most);
    results.iter().map(|result| Some(result) == chosen).collect()
}

/// One combination with its pipeline and buffers.
struct Call {
    constants: Vec<(String, f64)>,
    pipeline: wgpu::ComputePipeline,
    groups: u32,
    bind_groups: Vec<(u32, wgpu::BindGroup)>,
    /// The buffers that the kernel may write.
    written: Vec<wgpu::Buffer>,
}

impl Call {
    fn new(
        gpu: &Gpu,
        kernel: &Kernel<'_>,
        (module, info): (&naga::Module, &ModuleInfo),
        text: &wgpu::ShaderModule,
        ramp: &wgpu::Buffer,
        constants: Vec<(String, f64)>,
    ) -> Result<Self> {
        let name = named(&constants);
        let values: PipelineConstants = constants.iter().cloned().collect();
        let entry = Some((naga::ShaderStage::Compute, kernel.entry));
        let (module, info) = process_overrides(module, info, entry, &values)
            .map_err(|error| Error::argument(format!("{name}: {error}")))?;
        let entries = reflect::entries(&module, &info)?;
        reflect::check_workgroup_bytes(&entries, gpu.limits(), &name)?;
        let facts = entries.into_iter().next().ok_or_else(|| Error::internal("an entry point went missing"))?;
        let groups = groups(gpu, kernel, &name, &facts)?;

        let device = gpu.device();
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let borrowed: Vec<_> = constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&name),
            layout: None,
            module: text,
            entry_point: Some(kernel.entry),
            compilation_options: wgpu::PipelineCompilationOptions { constants: &borrowed, ..Default::default() },
            cache: None,
        });
        let mut written = Vec::new();
        let mut bound: Vec<(u32, Vec<(u32, wgpu::Buffer)>)> = Vec::new();
        for (group, binding, usage) in facts.bindings {
            let buffer = match usage {
                Use::Read | Use::Write => gpu.buffer(
                    kernel.file,
                    ramp.size(),
                    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                )?,
                Use::Uniform | Use::Other => {
                    return Err(Error::argument(format!(
                        "binding {binding} of group {group} is no storage buffer: only those can be filled for a kernel \
                         of one's own"
                    )));
                }
            };
            gpu.submit(|encoder| encoder.copy_buffer_to_buffer(ramp, 0, &buffer, 0, ramp.size()));
            if usage == Use::Write {
                written.push(buffer.clone());
            }
            // The bindings are sorted by their groups.
            match bound.last_mut() {
                Some((last, buffers)) if *last == group => buffers.push((binding, buffer)),
                _ => bound.push((group, vec![(binding, buffer)])),
            }
        }
        let bind = |(group, buffers): &(u32, Vec<(u32, wgpu::Buffer)>)| {
            let entries: Vec<_> = buffers
                .iter()
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding: *binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            let layout = &pipeline.get_bind_group_layout(*group);
            (
                *group,
                device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(&name), layout, entries: &entries }),
            )
        };
        let bind_groups = bound.iter().map(bind).collect();
        match pollster::block_on(scope.pop()) {
            Some(error) => Err(Error::argument(format!("{name}: {error}"))),
            None => Ok(Self { constants, pipeline, groups, bind_groups, written }),
        }
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        for (group, bound) in &self.bind_groups {
            pass.set_bind_group(*group, bound, &[]);
        }
        pass.dispatch_workgroups(self.groups, 1, 1);
    }

    /// Fills what the kernel writes again, so that every run begins alike.
    fn refill(&self, encoder: &mut wgpu::CommandEncoder, ramp: &wgpu::Buffer) {
        for buffer in &self.written {
            encoder.copy_buffer_to_buffer(ramp, 0, buffer, 0, ramp.size());
        }
    }

    fn contender<'a>(&'a self, ramp: &'a wgpu::Buffer) -> Contender<'a> {
        Contender::new(named(&self.constants), |pass| self.record(pass)).before(|encoder| self.refill(encoder, ramp))
    }

    /// What one run leaves in the buffers that it may write.
    fn result(&self, gpu: &Gpu, ramp: &wgpu::Buffer) -> Result<Vec<Vec<u8>>> {
        gpu.submit(|encoder| {
            self.refill(encoder, ramp);
            self.record(&mut encoder.begin_compute_pass(&Default::default()));
        });
        self.written.iter().map(|buffer| gpu.read(buffer, 0, ramp.size())).collect()
    }
}

/// Workgroups that cover the items, where the device can run them.
fn groups(gpu: &Gpu, kernel: &Kernel<'_>, name: &str, facts: &EntryFacts) -> Result<u32> {
    let limits = gpu.limits();
    let invocations: u64 = facts.workgroup.iter().map(|size| u64::from(*size)).product();
    let most = limits.max_compute_invocations_per_workgroup;
    if invocations > most.into() {
        let what = format!("a workgroup with {name}");
        return Err(Error::limit(&what, invocations, most.into(), "max_compute_invocations_per_workgroup"));
    }
    let groups = u64::from(kernel.items).div_ceil(invocations);
    let most = limits.max_compute_workgroups_per_dimension;
    match u32::try_from(groups) {
        Ok(groups) if groups <= most => Ok(groups),
        _ => Err(Error::new(
            ErrorKind::LimitTooSmall,
            format!(
                "{} items need {groups} workgroups with {name}, this device allows {most} \
                 (max_compute_workgroups_per_dimension)",
                kernel.items
            ),
        )),
    }
}

/// `WIDTH=64 ROWS=4`.
pub fn named(constants: &[(String, f64)]) -> String {
    match constants {
        [] => "no constants".into(),
        _ => constants.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Clock;

    /// Doubles every item; with BROKEN not the last.
    const DOUBLE: &str = "
override WIDTH: u32 = 64u;
override BROKEN: u32 = 0u;
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(1) @binding(2) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(WIDTH)
fn double(@builtin(global_invocation_id) id: vec3u) {
    if id.x + BROKEN < arrayLength(&output) { output[id.x] = 2u * input[id.x]; }
}
";

    fn kernel<'a>(overrides: &'a [(String, Vec<f64>)]) -> Kernel<'a> {
        Kernel { file: "double.wgsl", text: DOUBLE, entry: "double", overrides, items: 1_000 }
    }

    #[test]
    fn combinations_run_over_all_values() {
        let overrides = [("A".into(), vec![1.0, 2.0]), ("B".into(), vec![0.5, 1.5, 2.5])];
        let names: Vec<_> = combinations(&overrides).expect("few").iter().map(|one| named(one)).collect();
        assert_eq!(names, ["A=1 B=0.5", "A=1 B=1.5", "A=1 B=2.5", "A=2 B=0.5", "A=2 B=1.5", "A=2 B=2.5"]);
        assert_eq!(combinations(&[]).map(|all| all.len()), Ok(1));
        let many = [("A".into(), vec![1.0; 20]), ("B".into(), vec![1.0; 20])];
        let error = combinations(&many).expect_err("400 are too many");
        assert_eq!(error.to_string(), "1 to 256 combinations are tried, not 20 x 20");
    }

    #[test]
    fn the_result_that_most_have_counts() {
        assert_eq!(agreeing(&[1, 2, 2, 3]), [false, true, true, false]);
        assert_eq!(agreeing(&[1, 2]), [true, false]);
        assert_eq!(agreeing(&[7]), [true]);
    }

    #[test]
    fn a_result_that_differs_is_not_chosen() {
        let candidate = |ns: f64, agrees| Candidate {
            constants: vec![],
            groups: 1,
            samples: Samples { ns: vec![ns], clock: Clock::Gpu },
            agrees,
        };
        let all = [candidate(3.0, true), candidate(1.0, false), candidate(2.0, true)];
        assert_eq!(fastest(&all).map(|found| found.samples.median()), Some(2.0));
        assert!(fastest(&[]).is_none());
    }

    #[test]
    fn every_combination_runs_over_all_items() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let overrides = [("WIDTH".into(), vec![32.0, 128.0]), ("BROKEN".into(), vec![0.0])];
        let kernel = kernel(&overrides);
        let (module, info) = parse(&kernel).expect("the text is valid");
        let text = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(DOUBLE.into()),
        });
        let ramp = gpu.upload(&(0..1_000u32).collect::<Vec<_>>(), wgpu::BufferUsages::COPY_SRC).expect("it fits");
        for (constants, groups) in combinations(&overrides).expect("two").into_iter().zip([32, 8]) {
            let call = Call::new(&gpu, &kernel, (&module, &info), &text, &ramp, constants).expect("it is built");
            assert_eq!(call.groups, groups);
            let result: Vec<u32> = bytemuck::pod_collect_to_vec(&call.result(&gpu, &ramp).expect("it runs")[0]);
            assert!(result.iter().zip(0u32..).all(|(found, i)| *found == 2 * i), "{result:?}");
        }
    }

    #[test]
    fn a_combination_that_computes_something_else_is_told() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let overrides = [("BROKEN".into(), vec![1.0, 0.0]), ("WIDTH".into(), vec![64.0, 128.0])];
        let found = candidates(&gpu, Effort::Quick, &kernel(&overrides)).expect("it runs");
        // Two leave the last item out, and are as many as the others: the first counts.
        assert_eq!(found.iter().map(|one| one.agrees).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(found.iter().all(|one| one.samples.ns.len() >= 7));
    }

    #[test]
    fn what_cannot_run_is_refused_with_the_reason() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let refused = |kernel: Kernel<'_>| match candidates(&gpu, Effort::Quick, &kernel) {
            Ok(_) => panic!("{kernel:?} runs"),
            Err(error) => error.to_string(),
        };
        let of = |name: &str, value: f64| [(name.to_string(), vec![value])];
        assert!(refused(kernel(&of("WIDHT", 64.0))).contains("no override 'WIDHT'; it has WIDTH, BROKEN"));
        assert!(refused(Kernel { entry: "half", ..kernel(&[]) }).contains("'half'; it has double"));
        assert!(refused(Kernel { items: 0, ..kernel(&[]) }).contains("not 0"));
        assert!(refused(Kernel { text: "fn", ..kernel(&[]) }).contains("double.wgsl:1"));
        let limit = gpu.limits().max_compute_invocations_per_workgroup;
        let wide = refused(kernel(&of("WIDTH", f64::from(2 * limit))));
        assert!(wide.contains(&(2 * limit).to_string()) && wide.contains(&limit.to_string()), "{wide}");
        let long = refused(Kernel { items: 1 << 20, ..kernel(&of("WIDTH", 1.0)) });
        assert!(long.contains("1048576 workgroups with WIDTH=1"), "{long}");
        let uniform = "@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64) fn double() { output[0] = n; }";
        assert!(refused(Kernel { text: uniform, ..kernel(&[]) }).contains("binding 0 of group 0 is no storage buffer"));
    }
}
