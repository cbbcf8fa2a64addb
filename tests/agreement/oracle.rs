//! What shaders of the corpus must give, computed from the definition.

/// From the buffers before, the buffers after, for subgroups of so many lanes.
type Oracle = fn(Vec<Vec<u32>>, u32) -> Vec<Vec<u32>>;

/// By the name of the shader.
pub(crate) const ORACLES: &[(&str, Oracle)] = &[];
