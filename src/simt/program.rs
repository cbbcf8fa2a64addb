//! A stub until the machine lands.
pub(crate) struct Program {}

impl Program {
    pub(crate) fn compile(
        _module: &naga::Module,
        _info: &naga::valid::ModuleInfo,
        _entry: &str,
        _constants: &naga::back::PipelineConstants,
        _lanes: u32,
        _debug: Option<&str>,
    ) -> Result<Program, String> {
        Ok(Program {})
    }
}
