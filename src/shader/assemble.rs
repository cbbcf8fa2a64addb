//! From fragments to one WGSL text, with a map back to the fragments' files and lines.

use std::collections::HashMap;
use std::fmt::Write as _;

use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::lex::{self, Role};
use super::reflect;
use crate::error::{Error, ErrorKind, Result};

/// A WGSL file of this crate, or text that was printed or passed in.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Fragment {
    /// Whether it is a formatted file of this crate.
    fn is_own(&self) -> bool {
        self.file.starts_with("shaders/")
    }
}

/// The fragment in `shaders/<path>`.
macro_rules! fragment {
    ($path:literal) => {
        $crate::shader::Fragment {
            file: concat!("shaders/", $path).into(),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)).into(),
        }
    };
}
pub(crate) use fragment;

/// Loops over constants above this are left as loops.
const UNROLL_LIMIT: u32 = 32;

/// Builds one text.
#[derive(Debug)]
pub(crate) struct Assembler {
    out: Assembled,
    /// Constants that loops may be expanded over.
    bounds: HashMap<String, u32>,
    unroll: bool,
}

/// A complete WGSL module, and where each of its lines comes from.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    text: String,
    files: Vec<String>,
    lines: Vec<(usize, u32)>,
}

impl Assembled {
    /// The WGSL text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file and line that line `line` (from 1) comes from.
    pub fn locate(&self, line: u32) -> Option<(&str, u32)> {
        let (file, line) = self.lines.get(line.checked_sub(1)? as usize)?;
        Some((&self.files[*file], *line))
    }

    /// Parses and validates the text with naga, for a device that has every feature.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) with the file and line of the fragment.
    pub fn validate(&self) -> Result<(naga::Module, naga::valid::ModuleInfo)> {
        self.validate_with(Capabilities::all())
    }

    /// As [`validate`](Self::validate), for a device with these features.
    ///
    /// # Errors
    /// As [`validate`](Self::validate), and [`ErrorKind::MissingFeature`] naming the features that are not among these.
    pub(crate) fn validate_for(&self, has: wgpu::Features) -> Result<(naga::Module, naga::valid::ModuleInfo)> {
        self.validate_with(reflect::capabilities(has)).map_err(|here| match self.validate() {
            Err(anywhere) => anywhere,
            Ok(_) => Error::new(
                ErrorKind::MissingFeature,
                format!(
                    "{here}\n  needs the device feature {}",
                    reflect::feature_names(reflect::features(&self.text) - has)
                ),
            ),
        })
    }

    fn validate_with(&self, capabilities: Capabilities) -> Result<(naga::Module, naga::valid::ModuleInfo)> {
        let mut options = naga::front::wgsl::Options::new();
        options.capabilities = capabilities;
        let module = naga::front::wgsl::Frontend::new_with_options(options).parse(&self.text).map_err(|error| {
            let place = error.location(&self.text).map(|l| (l.line_number, l.line_position));
            self.error(place, error.message())
        })?;
        let info = Validator::new(ValidationFlags::all(), capabilities).validate(&module).map_err(|error| {
            let place = error
                .spans()
                .next()
                .filter(|(span, _)| span.is_defined())
                .map(|(span, _)| span.location(&self.text))
                .map(|l| (l.line_number, l.line_position));
            self.error(place, &chain(error.as_inner()))
        })?;
        Ok((module, info))
    }

    fn error(&self, place: Option<(u32, u32)>, message: &str) -> Error {
        let Some((line, column)) = place else { return Error::shader(message) };
        match self.locate(line) {
            Some((file, at)) => {
                let source = self.text.lines().nth(line as usize - 1).unwrap_or_default().trim_end();
                Error::shader(format!("{file}:{at}:{column}: {message}\n  {source}"))
            }
            None => Error::shader(message),
        }
    }
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

impl Assembler {
    /// An empty text. With `unroll`, loops over known constants are written out.
    pub(crate) fn new(unroll: bool) -> Self {
        Self { out: Assembled::default(), bounds: HashMap::new(), unroll }
    }

    /// Adds a `u32` constant.
    pub(crate) fn constant(&mut self, name: &str, value: u32) {
        self.printed(&format!("const {name} = {value}u;\n"));
    }

    /// Adds a `u32` constant that loops of later fragments may be expanded over.
    pub(crate) fn bound(&mut self, name: &str, value: u32) {
        self.constant(name, value);
        self.bounds.insert(name.into(), value);
    }

    /// Whether there is such a bound already.
    pub(crate) fn has_bound(&self, name: &str) -> bool {
        self.bounds.contains_key(name)
    }

    /// Adds text that Rust printed.
    pub(crate) fn printed(&mut self, text: &str) {
        self.fragment(&Fragment { file: "(prelude)".into(), text: text.into() }, &Renames::default());
    }

    /// Adds a fragment under other names.
    pub(crate) fn fragment(&mut self, fragment: &Fragment, renames: &Renames) {
        let file = self.file(&fragment.file);
        let text = renames.apply(&fragment.text);
        let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
        // A caller's text stays as it is: its names are its own, and its form is free.
        if fragment.is_own() {
            self.lines(file, &lines);
        } else {
            lines.into_iter().for_each(|(number, line)| self.line(file, number, line));
        }
    }

    /// Adds a finished text.
    pub(crate) fn assembled(&mut self, text: &Assembled) {
        for (line, &(file, number)) in text.text.lines().zip(&text.lines) {
            let file = self.file(&text.files[file]);
            self.line(file, number, line);
        }
    }

    /// The index of a file's name.
    fn file(&mut self, name: &str) -> usize {
        self.out.files.iter().position(|file| file == name).unwrap_or_else(|| {
            self.out.files.push(name.into());
            self.out.files.len() - 1
        })
    }

    fn lines(&mut self, file: usize, lines: &[(u32, &str)]) {
        let mut rest = lines;
        while let [(number, line), after @ ..] = rest {
            match self.unroll.then(|| self.expandable(line)).flatten() {
                Some((name, counts)) => {
                    let indent = &line[..line.len() - line.trim_start().len()];
                    let end = after
                        .iter()
                        .position(|(_, l)| l.strip_prefix(indent) == Some("}"))
                        .expect("a loop of a formatted fragment ends at its own indentation");
                    for count in counts {
                        self.line(file, *number, &format!("{indent}{{ const {name} = {count}u;"));
                        self.lines(file, &after[..end]);
                        self.line(file, after[end].0, &format!("{indent}}}"));
                    }
                    rest = &after[end + 1..];
                }
                None => {
                    self.line(file, *number, line);
                    rest = after;
                }
            }
        }
    }

    fn line(&mut self, file: usize, number: u32, line: &str) {
        self.out.text.push_str(line);
        self.out.text.push('\n');
        self.out.lines.push((file, number));
    }

    /// The variable and its values, for a line that opens a loop over a known constant.
    fn expandable(&self, line: &str) -> Option<(String, std::ops::Range<u32>)> {
        let inner = line.trim_start().strip_prefix("for (var ")?.strip_suffix("++) {")?;
        let (name, rest) = inner.split_once(" = ")?;
        let (from, rest) = rest.split_once("u; ")?;
        let bound = rest.strip_prefix(name)?.strip_prefix(" < ")?.strip_suffix(name)?.strip_suffix("; ")?;
        let to = *self.bounds.get(bound)?;
        (to <= UNROLL_LIMIT).then_some((name.into(), from.parse().ok()?..to))
    }

    /// The finished text.
    pub(crate) fn finish(self) -> Assembled {
        self.out
    }
}

/// Other names for identifiers, by which one fragment serves several types in one module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renames(HashMap<String, String>);

impl Renames {
    /// Every name that `text` declares at module scope gets this suffix.
    pub(crate) fn suffix_declared(&mut self, text: &str, suffix: &str) {
        self.suffix_names(lex::declared(text), suffix);
    }

    /// These names get this suffix.
    pub(crate) fn suffix_names(&mut self, names: impl IntoIterator<Item: AsRef<str>>, suffix: &str) {
        if !suffix.is_empty() {
            for name in names {
                let name = name.as_ref();
                self.0.insert(name.into(), format!("{name}{suffix}"));
            }
        }
    }

    /// This name becomes another.
    pub(crate) fn rename(&mut self, name: &str, to: String) {
        self.0.insert(name.into(), to);
    }

    /// This name stays what it is.
    pub(crate) fn keep(&mut self, name: &str) {
        self.0.remove(name);
    }

    fn apply(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.into();
        }
        let renamed = |(piece, role)| match role {
            Role::Declared | Role::Name => self.0.get(piece).map_or(piece, String::as_str),
            Role::Directive | Role::Other => piece,
        };
        lex::pieces(text).into_iter().map(renamed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(unroll: bool) -> Assembled {
        let mut assembler = Assembler::new(unroll);
        assembler.bound("ROWS", 3);
        let text =
            "fn f() -> u32 {\n  var x = 0u;\n  for (var r = 1u; r < ROWS; r++) {\n    x += r;\n  }\n  return x;\n}\n";
        assembler.fragment(&Fragment { file: "shaders/f.wgsl".into(), text: text.into() }, &Renames::default());
        assembler.finish()
    }

    #[test]
    fn loops_over_bounds_are_written_out_and_lines_still_found() {
        let text = assembled(true);
        assert_eq!(text.text().matches("x += r;").count(), 2);
        assert!(text.text().contains("{ const r = 1u;") && text.text().contains("{ const r = 2u;"));
        let line = text.text().lines().position(|l| l.contains("return x")).expect("the line is there") as u32 + 1;
        assert_eq!(text.locate(line), Some(("shaders/f.wgsl", 6)));
        text.validate().expect("the expanded text is valid");
        assembled(false).validate().expect("the loop is valid");
    }

    #[test]
    fn a_callers_loops_are_left_alone() {
        let text = "fn f() -> u32 {\n  let ROWS = 2u;\n  var n = 0u;\n  for (var r = 0u; r < ROWS; r++) {\n    n += 1u; }\n  return n;\n}\n";
        let mut assembler = Assembler::new(true);
        assembler.bounds.insert("ROWS".into(), 3);
        assembler.fragment(&Fragment { file: "(predicate)".into(), text: text.into() }, &Renames::default());
        assert_eq!(assembler.finish().text(), text);
    }

    #[test]
    fn renames_touch_names_of_the_module_only() {
        let mut renames = Renames::default();
        renames.suffix_names(["a"], "_x");
        for (text, renamed) in [
            (
                "fn a(b: B) -> u32 { return b.a + a2() + a(b); } // a",
                "fn a_x(b: B) -> u32 { return b.a + a2() + a_x(b); } // a",
            ),
            ("struct B { a: f32, c: a }", "struct B { a: f32, c: a_x }"),
            ("/* a /* a */ a */ const a = 1; /* a", "/* a /* a */ a */ const a_x = 1; /* a"),
        ] {
            assert_eq!(renames.apply(text), renamed);
        }
    }

    #[test]
    fn errors_are_shown_at_the_fragments_own_line() {
        let mut assembler = Assembler::new(true);
        assembler.constant("N", 1);
        let fragment = Fragment { file: "bad.wgsl".into(), text: "\nfn f() -> u32 {\n  return M;\n}\n".into() };
        assembler.fragment(&fragment, &Renames::default());
        let error = assembler.finish().validate().expect_err("M is not declared").to_string();
        assert!(error.starts_with("bad.wgsl:3:"), "{error}");
    }
}
