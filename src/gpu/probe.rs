//! The probe kernel: how wide subgroups really are, and whether their built-in values can be relied on.

use std::collections::BTreeMap;

use super::{Gpu, SubgroupPath};
use crate::error::Result;
use crate::shader::{Checks, MAX_LANES, MIN_LANES};

/// What a device reports of its subgroups, what was counted, and which path follows from it.
///
/// Save it with [`Probe::to_words`] to open the same adapter and driver later without running the probe again
/// ([`Gpu::with_probe`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    reported: (u32, u32),
    has_subgroups: bool,
    shapes: Vec<ShapeProbe>,
}

/// What was counted in workgroups of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeProbe {
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// The subgroup size that the invocations were told.
    pub told_lanes: u32,
    /// The most lanes that voted together: the width that runs.
    pub counted_lanes: u32,
    /// Lanes of the last subgroup: fewer than the width where it is partly filled.
    pub last_lanes: u32,
    /// Whether every vote came from exactly the invocations with that subgroup id, each with a lane of its own below
    /// the told size, and every subgroup but the last is full.
    pub consistent: bool,
    /// Whether the local index is `subgroup_id * size + lane` throughout.
    pub linear: bool,
}

/// Invocations of the workgroups that are probed: one that every width divides, one with a partly filled last
/// subgroup at every width above 4, one smaller than most subgroups.
const SHAPES: [u32; 3] = [128, 100, 13];
/// Workgroups of each.
pub(super) const GROUPS: u32 = 3;

impl Probe {
    pub(super) fn new(info: &wgpu::AdapterInfo, has_subgroups: bool, shapes: Vec<ShapeProbe>) -> Self {
        Self { reported: (info.subgroup_min_size, info.subgroup_max_size), has_subgroups, shapes }
    }

    pub(super) fn run(gpu: &Gpu) -> Result<Self> {
        let has_subgroups = gpu.features().contains(wgpu::Features::SUBGROUP);
        let mut shapes = Vec::new();
        if has_subgroups {
            for workgroup in SHAPES {
                shapes.push(Self::run_shape(gpu, workgroup)?);
            }
        }
        Ok(Self::new(gpu.info(), has_subgroups, shapes))
    }

    fn run_shape(gpu: &Gpu, workgroup: u32) -> Result<ShapeProbe> {
        let text = format!("const WORKGROUP = {workgroup}u;\n{}", include_str!("../../shaders/probe.wgsl"));
        let pipeline = gpu.pipeline("probe", &text, "probe", Checks::Checked)?;
        let bytes = u64::from(workgroup * GROUPS) * 32;
        let seen = gpu.buffer("probe", bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("probe"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: seen.as_entire_binding() }],
        });
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(GROUPS, 1, 1);
        });
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&seen, 0, bytes)?);
        Ok(judge(workgroup, &words))
    }

    /// Smallest and largest subgroup size that the adapter reports; 0 and 0 where it has none.
    pub fn reported(&self) -> (u32, u32) {
        self.reported
    }

    /// What was counted, a workgroup size each; empty without subgroups.
    pub fn shapes(&self) -> &[ShapeProbe] {
        &self.shapes
    }

    /// The widest subgroup that was counted; 1 without subgroups.
    pub fn width(&self) -> u32 {
        self.shapes.iter().map(|shape| shape.counted_lanes).max().unwrap_or(1)
    }

    /// The narrowest subgroup that a kernel can meet: the reported width where the adapter reports one width only and
    /// the count agrees, otherwise the smallest that the crate is written for.
    pub fn min_width(&self) -> u32 {
        let (min, max) = self.reported;
        let usable = min.is_power_of_two() && (MIN_LANES..=MAX_LANES).contains(&min);
        if min == max && self.width() == min && usable { min } else { MIN_LANES }
    }

    /// Which path follows.
    pub fn path(&self) -> SubgroupPath {
        if self.has_subgroups && !self.shapes.is_empty() && self.fault().is_none() {
            SubgroupPath::Native
        } else {
            SubgroupPath::DEFAULT_EMULATED
        }
    }

    /// Why this path was chosen, in a sentence.
    pub fn reason(&self) -> String {
        if !self.has_subgroups {
            return "the device has no subgroup operations (feature SUBGROUP)".into();
        }
        match self.fault() {
            Some(fault) => fault,
            None if self.shapes.is_empty() => "the lanes were not counted".into(),
            None => format!("subgroups of {} lanes were counted, as the kernels are told", self.width()),
        }
    }

    /// What is worth a warning: a device that has subgroups, but not those that it reports.
    pub fn warning(&self) -> Option<String> {
        (self.has_subgroups && !self.shapes.is_empty() && self.path() != SubgroupPath::Native)
            .then(|| format!("{}; subgroup operations are emulated over workgroup memory", self.reason()))
    }

    fn fault(&self) -> Option<String> {
        self.shapes.iter().find_map(|shape| {
            if shape.counted_lanes > shape.told_lanes
                || (shape.workgroup >= shape.told_lanes && shape.counted_lanes < shape.told_lanes)
            {
                Some(format!(
                    "kernels are told {} lanes a subgroup, but {} vote together (workgroup of {})",
                    shape.told_lanes, shape.counted_lanes, shape.workgroup
                ))
            } else if !shape.consistent {
                Some(format!(
                    "subgroup ids, lanes and ballots contradict each other (workgroup of {}, told {} lanes)",
                    shape.workgroup, shape.told_lanes
                ))
            } else if !shape.told_lanes.is_power_of_two() || !(MIN_LANES..=MAX_LANES).contains(&shape.told_lanes) {
                Some(format!(
                    "subgroups of {} lanes are outside the {MIN_LANES} to {MAX_LANES} that the kernels are written for",
                    shape.told_lanes
                ))
            } else {
                None
            }
        })
    }

    /// The probe as words, to be saved.
    pub fn to_words(&self) -> Vec<u32> {
        let mut words = vec![1, self.reported.0, self.reported.1, self.has_subgroups.into()];
        for shape in &self.shapes {
            words.extend([
                shape.workgroup,
                shape.told_lanes,
                shape.counted_lanes,
                shape.last_lanes,
                shape.consistent.into(),
                shape.linear.into(),
            ]);
        }
        words
    }

    /// The probe that [`to_words`](Self::to_words) saved; `None` for words of another form or version.
    pub fn from_words(words: &[u32]) -> Option<Self> {
        let [1, min, max, has_subgroups, shapes @ ..] = words else { return None };
        let (shapes, rest) = shapes.as_chunks::<6>();
        rest.is_empty().then(|| Self {
            reported: (*min, *max),
            has_subgroups: *has_subgroups != 0,
            shapes: shapes
                .iter()
                .map(|&[workgroup, told_lanes, counted_lanes, last_lanes, consistent, linear]| ShapeProbe {
                    workgroup,
                    told_lanes,
                    counted_lanes,
                    last_lanes,
                    consistent: consistent != 0,
                    linear: linear != 0,
                })
                .collect(),
        })
    }
}

/// One invocation's report: `Seen` in probe.wgsl.
struct Seen {
    size: u32,
    lane: u32,
    subgroup: u32,
    first_index: u32,
    ballot: u128,
}

/// Compares the reports of `GROUPS` workgroups with each other.
fn judge(workgroup: u32, words: &[u32]) -> ShapeProbe {
    let seen: Vec<Seen> = words
        .chunks_exact(8)
        .map(|w| Seen {
            size: w[0],
            lane: w[1],
            subgroup: w[2],
            first_index: w[3],
            ballot: (0..4).map(|i| u128::from(w[4 + i]) << (32 * i)).sum(),
        })
        .collect();
    let told_lanes = seen[0].size;
    let mut shape =
        ShapeProbe { workgroup, told_lanes, counted_lanes: 0, last_lanes: 0, consistent: true, linear: true };
    for group in seen.chunks_exact(workgroup as usize) {
        let mut subgroups: BTreeMap<u32, Vec<(u32, &Seen)>> = BTreeMap::new();
        for (index, s) in group.iter().enumerate() {
            subgroups.entry(s.subgroup).or_default().push((index as u32, s));
            shape.counted_lanes = shape.counted_lanes.max(s.ballot.count_ones());
            shape.linear &= index as u32 == s.subgroup * s.size + s.lane;
        }
        let last = subgroups.len() - 1;
        for (position, (id, members)) in subgroups.iter().enumerate() {
            // The vote of exactly these lanes, each with a bit of its own.
            let lanes = members.iter().fold(0u128, |all, (_, s)| all | 1u128.checked_shl(s.lane).unwrap_or(0));
            let first = members.iter().min_by_key(|(_, s)| s.lane).map(|(index, _)| *index);
            let count = members.len() as u32;
            shape.consistent &= *id == position as u32
                && lanes.count_ones() == count
                && (position == last || count == told_lanes)
                && members.iter().all(|(_, s)| {
                    s.size == told_lanes && s.lane < told_lanes && s.ballot == lanes && Some(s.first_index) == first
                });
            if position == last {
                shape.last_lanes = count;
            }
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of `told` lanes a subgroup that runs `real` of them.
    fn device(workgroup: u32, told: u32, real: u32) -> Vec<u32> {
        let mut words = Vec::new();
        for _ in 0..GROUPS {
            for index in 0..workgroup {
                let (subgroup, lane) = (index / real, index % real);
                let count = (workgroup - subgroup * real).min(real);
                let ballot = if count == 128 { u128::MAX } else { (1u128 << count) - 1 };
                words.extend([told, lane, subgroup, subgroup * real]);
                words.extend((0..4).map(|i| (ballot >> (32 * i)) as u32));
            }
        }
        words
    }

    fn probe(told: u32, real: u32) -> Probe {
        let shapes = SHAPES.iter().map(|&w| judge(w, &device(w, told, real))).collect();
        Probe { reported: (told, told), has_subgroups: true, shapes }
    }

    #[test]
    fn honest_devices_run_natively_at_every_width() {
        for lanes in [4, 8, 16, 32, 64, 128] {
            let probe = probe(lanes, lanes);
            assert_eq!(probe.path(), SubgroupPath::Native, "{lanes}: {}", probe.reason());
            assert_eq!((probe.width(), probe.min_width()), (lanes, lanes));
            assert_eq!(probe.warning(), None);
        }
    }

    #[test]
    fn a_device_that_runs_fewer_lanes_than_it_reports_is_caught() {
        let probe = probe(32, 16);
        assert_eq!(probe.path(), SubgroupPath::DEFAULT_EMULATED);
        let warning = probe.warning().expect("a lying device is worth a warning");
        assert!(warning.contains("told 32 lanes") && warning.contains("16 vote together"), "{warning}");
    }

    #[test]
    fn a_ballot_without_its_upper_words_is_caught() {
        let mut words = device(128, 64, 64);
        words.chunks_exact_mut(8).for_each(|seen| seen[5] = 0);
        let shape = judge(128, &words);
        assert!(!shape.consistent && shape.counted_lanes == 32);
    }

    #[test]
    fn lanes_out_of_order_are_consistent_but_not_linear() {
        let mut words = device(128, 8, 8);
        for seen in words.chunks_exact_mut(8) {
            seen[1] = 7 - seen[1];
            seen[3] += 7;
        }
        let shape = judge(128, &words);
        assert!(shape.consistent && !shape.linear);
    }

    #[test]
    fn two_lanes_with_one_number_are_caught() {
        let mut words = device(128, 8, 8);
        words[1] = 1;
        assert!(!judge(128, &words).consistent);
    }

    #[test]
    fn words_bring_a_probe_back() {
        let probe = probe(16, 16);
        assert_eq!(Probe::from_words(&probe.to_words()), Some(probe.clone()));
        assert_eq!(Probe::from_words(&probe.to_words()[1..]), None);
        assert_eq!(Probe::from_words(&[]), None);
    }
}
