//! What the crate asks of a device that somebody else makes.

use crate::error::{Error, Result};

/// Features and limits to merge into a device request: see [`requirements`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Requirements {
    /// Every feature that this crate can use and the adapter has. None is mandatory: without `SUBGROUP` the emulated
    /// path runs, without `TIMESTAMP_QUERY` times are wall-clock times.
    pub features: wgpu::Features,
    /// The adapter's limits for what this crate uses, wgpu's defaults for the rest.
    pub limits: wgpu::Limits,
}

/// What a device needs for this crate to work at its best on `adapter`.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { pollster::block_on(async {
/// # let instance = wavelane::wgpu::Instance::new(wavelane::wgpu::InstanceDescriptor::new_without_display_handle());
/// # let adapter = instance.request_adapter(&Default::default()).await?;
/// use wavelane::{Gpu, requirements, wgpu};
/// let needs = requirements(&adapter);
/// let (device, queue) = adapter
///     .request_device(&wgpu::DeviceDescriptor {
///         required_features: needs.features, // | your own
///         required_limits: needs.limits,     // .or_better_values_from(&your_own)
///         ..Default::default()
///     })
///     .await?;
/// let gpu = Gpu::from_device(&adapter, &device, &queue).await?;
/// # Ok(()) }) }
/// ```
pub fn requirements(adapter: &wgpu::Adapter) -> Requirements {
    let features = adapter.features()
        & (wgpu::Features::SUBGROUP
            | wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::SHADER_INT64
            | wgpu::Features::SHADER_F16
            | wgpu::Features::PIPELINE_CACHE);
    let has = adapter.limits();
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: has.max_storage_buffer_binding_size,
        max_buffer_size: has.max_buffer_size,
        max_compute_workgroup_storage_size: has.max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup: has.max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x: has.max_compute_workgroup_size_x,
        max_storage_buffers_per_shader_stage: has.max_storage_buffers_per_shader_stage,
        max_compute_workgroups_per_dimension: has.max_compute_workgroups_per_dimension,
        min_storage_buffer_offset_alignment: has.min_storage_buffer_offset_alignment,
        ..wgpu::Limits::default()
    };
    Requirements { features, limits: limits.or_worse_values_from(&has) }
}

/// The least that any path of this crate runs on.
pub(super) fn check(limits: &wgpu::Limits) -> Result<()> {
    let params = size_of::<crate::primitive::Params>() as u64;
    let least: [(&str, u64, u64, &str); 7] = [
        // One subgroup of any width.
        (
            "a workgroup",
            crate::shader::MAX_LANES.into(),
            limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).into(),
            "max_compute_invocations_per_workgroup",
        ),
        (
            "a kernel's storage bindings",
            8,
            limits.max_storage_buffers_per_shader_stage.into(),
            "max_storage_buffers_per_shader_stage",
        ),
        ("a kernel's bind groups", 1, limits.max_bind_groups.into(), "max_bind_groups"),
        ("a kernel's bindings", 8, limits.max_bindings_per_bind_group.into(), "max_bindings_per_bind_group"),
        (
            "a kernel's uniform bindings",
            1,
            limits.max_uniform_buffers_per_shader_stage.into(),
            "max_uniform_buffers_per_shader_stage",
        ),
        (
            "a kernel's parameters (bytes)",
            params,
            limits.max_uniform_buffer_binding_size,
            "max_uniform_buffer_binding_size",
        ),
        (
            "the probe's dispatch",
            super::probe::GROUPS.into(),
            limits.max_compute_workgroups_per_dimension.into(),
            "max_compute_workgroups_per_dimension",
        ),
    ];
    match least.into_iter().find(|(_, needs, allows, _)| needs > allows) {
        Some((what, needs, allows, limit)) => {
            Err(Error::limit(what, needs, allows, &format!("{limit}; ask for wavelane::requirements(&adapter).limits")))
        }
        None => Ok(()),
    }
}
