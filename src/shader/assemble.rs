//! From fragments to one WGSL text, with a map back to the fragments' files and lines.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::error::{Error, Result};

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

    /// Parses and validates the text with naga.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) with the file and line of the fragment.
    pub fn validate(&self) -> Result<(naga::Module, naga::valid::ModuleInfo)> {
        let module = naga::front::wgsl::parse_str(&self.text).map_err(|error| {
            let place = error.location(&self.text).map(|l| (l.line_number, l.line_position));
            self.error(place, error.message())
        })?;
        let info = validator().validate(&module).map_err(|error| {
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

/// A validator that knows everything that this crate's text may use.
pub(crate) fn validator() -> naga::valid::Validator {
    naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
}

impl Assembler {
    /// An empty text. With `unroll`, loops over known constants are written out.
    pub(crate) fn new(unroll: bool) -> Self {
        Self { out: Assembled::default(), bounds: HashMap::new(), unroll }
    }

    /// Goes on behind a finished text.
    pub(crate) fn after(text: Assembled) -> Self {
        Self { out: text, bounds: HashMap::new(), unroll: false }
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
        let file = match self.out.files.iter().position(|file| *file == fragment.file) {
            Some(file) => file,
            None => {
                self.out.files.push(fragment.file.clone());
                self.out.files.len() - 1
            }
        };
        let text = renames.apply(&fragment.text);
        let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
        // A caller's text stays as it is: its names are its own, and its form is free.
        if fragment.is_own() {
            self.lines(file, &lines);
        } else {
            lines.into_iter().for_each(|(number, line)| self.line(file, number, line));
        }
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
        self.suffix_names(declared(text), suffix);
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
        let mut out = String::with_capacity(text.len() + text.len() / 8);
        for line in text.split_inclusive('\n') {
            let code = line.find("//").unwrap_or(line.len());
            let mut rest = &line[..code];
            let mut member = false;
            while let Some(first) = rest.chars().next() {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = match is_word(first) {
                    true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                    false => first.len_utf8(),
                };
                let (word, after) = rest.split_at(end);
                // What follows a dot is a field, not a name of the module.
                out.push_str(if member { word } else { self.0.get(word).map_or(word, String::as_str) });
                member = word == ".";
                rest = after;
            }
            out.push_str(&line[code..]);
        }
        out
    }
}

/// Names that a formatted fragment declares at module scope.
pub(crate) fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest =
            ["fn ", "const ", "alias ", "struct "].iter().find_map(|word| line.strip_prefix(word)).or_else(|| {
                let at = line.find("var<")?;
                let starts = line.starts_with("var<") || line.starts_with("@group");
                line[at..].split_once("> ").filter(|_| starts).map(|(_, rest)| rest)
            })?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end])
    })
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
        let text = "fn a(b: B) -> u32 { return b.a + a2() + a(b); } // a\n";
        let mut renames = Renames::default();
        renames.suffix_declared(text, "_x");
        assert_eq!(renames.apply(text), "fn a_x(b: B) -> u32 { return b.a + a2() + a_x(b); } // a\n");
    }

    #[test]
    fn declarations_are_found() {
        let text = "alias T = u32;\nconst N = 4u;\nvar<workgroup> s: array<u32, N>;\n@group(0) @binding(1) var<storage, read_write> o: array<u32>;\nfn f() {\n  var<private> no: u32;\n}\nstruct S {\n}\n";
        assert_eq!(declared(text).collect::<Vec<_>>(), ["T", "N", "s", "o", "f", "S"]);
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
