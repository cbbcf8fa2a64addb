//! The one place where wgpu's run-time checks are left out.
#![allow(unsafe_code, reason = "wgpu marks modules without run-time checks as unsafe to make")]

use super::Checks;

/// Makes a module with or without wgpu's run-time checks.
///
/// Trusted text must keep its indices in range, end its loops and not divide by zero, whatever is in the buffers.
/// Callers pass text of this crate only: its kernels clamp indices that they read from buffers, bound every loop by
/// sizes that the host checked, and a caller's own fragment reaches a trusted module only after naga has shown that
/// it has no loop, no dynamic index and no global.
pub(crate) fn create_module(device: &wgpu::Device, label: &str, text: &str, checks: Checks) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(text.into()) };
    match checks {
        Checks::Checked => device.create_shader_module(descriptor),
        // SAFETY: see above: the text keeps the promises that the checks would enforce.
        Checks::Trusted => unsafe {
            device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        },
    }
}
