//! Facts that naga tells about a module: what the host must agree with, and what wgpu does not check.

use naga::{AddressSpace, StorageAccess};

use crate::error::{Error, Result};

/// What an entry point uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFacts {
    /// Name.
    pub name: String,
    /// Workgroup size in x, y and z.
    pub workgroup: [u32; 3],
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Bindings that it uses: group, binding, how.
    pub bindings: Vec<(u32, u32, Use)>,
}

/// How an entry point uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer that is read.
    Read,
    /// A storage buffer that is declared as written.
    Write,
    /// Something else: a texture or sampler.
    Other,
}

/// The facts of each entry point of a validated module.
///
/// # Errors
/// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) for a type whose layout naga cannot tell.
pub fn entries(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Result<Vec<EntryFacts>> {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).map_err(|error| Error::shader(format!("no layout: {error}")))?;
    let facts = module.entry_points.iter().enumerate().map(|(i, entry)| {
        let uses = info.get_entry_point(i);
        let mut facts = EntryFacts { name: entry.name.clone(), workgroup: entry.workgroup_size, ..Default::default() };
        for (handle, global) in module.global_variables.iter() {
            if uses[handle].is_empty() {
                continue;
            }
            if global.space == AddressSpace::WorkGroup {
                let layout = layouter[global.ty];
                facts.workgroup_bytes = layout.alignment.round_up(facts.workgroup_bytes) + layout.size;
            }
            if let Some(binding) = &global.binding {
                let how = match global.space {
                    AddressSpace::Uniform => Use::Uniform,
                    AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Use::Write,
                    AddressSpace::Storage { .. } => Use::Read,
                    _ => Use::Other,
                };
                facts.bindings.push((binding.group, binding.binding, how));
            }
        }
        facts.bindings.sort_by_key(|(group, binding, _)| (*group, *binding));
        facts
    });
    Ok(facts.collect())
}

/// Refuses workgroup memory over the limit: wgpu lets it through.
pub(crate) fn check_workgroup_bytes(facts: &[EntryFacts], limits: &wgpu::Limits, what: &str) -> Result<()> {
    let needs = facts.iter().map(|entry| entry.workgroup_bytes).max().unwrap_or(0);
    let allows = limits.max_compute_workgroup_storage_size;
    if needs > allows {
        return Err(Error::limit(
            &format!("{what} (bytes of workgroup memory)"),
            needs.into(),
            allows.into(),
            "max_compute_workgroup_storage_size",
        ));
    }
    Ok(())
}
