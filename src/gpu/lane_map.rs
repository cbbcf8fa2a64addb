//! The place of every invocation of a one-, two- or three-dimensional workgroup in its subgroup.

use super::Gpu;
use crate::error::{Error, ErrorKind, Result};
use crate::shader::Checks;

/// How the invocations of one workgroup shape fall into subgroups, by local invocation index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneMap {
    /// The workgroup's size in x, y and z.
    pub workgroup: [u32; 3],
    /// For each invocation: the local index of its subgroup's first lane, its lane, the lanes of its subgroup.
    pub places: Vec<[u32; 3]>,
}

impl LaneMap {
    /// Runs one workgroup of this shape on the device's own subgroups, whatever path `gpu` takes. Blocks.
    ///
    /// # Errors
    /// [`ErrorKind::MissingFeature`] without subgroups, [`ErrorKind::LimitTooSmall`] for a workgroup over the limits,
    /// [`ErrorKind::InvalidArgument`] for an empty one.
    pub fn measure(gpu: &Gpu, workgroup: [u32; 3]) -> Result<Self> {
        if !gpu.features().contains(wgpu::Features::SUBGROUP) {
            return Err(Error::new(
                ErrorKind::MissingFeature,
                format!("a lane map needs subgroups: {}", gpu.probe().reason()),
            ));
        }
        let [x, y, z] = workgroup;
        let limits = gpu.limits();
        let size = u64::from(x) * u64::from(y) * u64::from(z);
        if size == 0 {
            return Err(Error::argument(format!("a workgroup of {x} x {y} x {z} has no invocations")));
        }
        for (what, needs, allows, limit) in [
            (
                "a workgroup",
                size,
                limits.max_compute_invocations_per_workgroup,
                "max_compute_invocations_per_workgroup",
            ),
            ("a workgroup's x", x.into(), limits.max_compute_workgroup_size_x, "max_compute_workgroup_size_x"),
            ("a workgroup's y", y.into(), limits.max_compute_workgroup_size_y, "max_compute_workgroup_size_y"),
            ("a workgroup's z", z.into(), limits.max_compute_workgroup_size_z, "max_compute_workgroup_size_z"),
        ] {
            if needs > u64::from(allows) {
                return Err(Error::limit(what, needs, allows.into(), limit));
            }
        }
        let text = format!(
            "const WORKGROUP_X = {x}u;\nconst WORKGROUP_Y = {y}u;\nconst WORKGROUP_Z = {z}u;\n{}",
            include_str!("../../shaders/lane_map.wgsl")
        );
        let pipeline = gpu.pipeline("lane_map", &text, "lane_map", Checks::Checked)?;
        let places = gpu.buffer("lane_map", size * 16, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lane_map"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: places.as_entire_binding() }],
        });
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        });
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&places, 0, size * 16)?);
        let places = words.chunks_exact(4).map(|w| [w[0], w[1], w[2]]).collect();
        Ok(Self { workgroup, places })
    }

    /// The widest subgroup.
    pub fn width(&self) -> u32 {
        self.places.iter().map(|place| place[2]).max().unwrap_or(1)
    }

    /// The local indices of the invocations that are not where the linear rule puts them: subgroup = index / width,
    /// lane = index % width, the last subgroup with what remains.
    pub fn exceptions(&self, width: u32) -> Vec<u32> {
        let size = self.places.len() as u32;
        (0..size)
            .filter(|&index| {
                let first = index / width * width;
                self.places[index as usize] != [first, index - first, width.min(size - first)]
            })
            .collect()
    }
}
