//! The words of a WGSL text, and which of them are names: naga forgets aliases and the constants that it folds, and
//! reads no text from its middle.

use std::ops::Range;

/// A piece of a text. All pieces together are the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name, a keyword or a number.
    Word(&'a str),
    /// White space, or a comment.
    Gap(&'a str),
    /// Any other character.
    Mark(&'a str),
}

/// What a piece is to the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The name of what is declared here, at module scope.
    Declared,
    /// The word that begins a directive.
    Directive,
    /// Any other word, unless it is a field or an attribute: those are no names of the module.
    Name,
    /// Everything else.
    Other,
}

/// The pieces of a text in order, with their roles.
pub(crate) fn pieces(text: &str) -> Vec<(&str, Role)> {
    let tokens: Vec<_> = tokens(text).collect();
    let (mut depth, mut in_struct) = (0u32, false);
    // Whether the keyword of a declaration was read and its name comes, maybe behind the `<storage>` of a variable.
    let (mut naming, mut in_template) = (false, false);
    let mut before = "";
    let mut pieces = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        let (piece, role) = match *token {
            Token::Gap(gap) => {
                pieces.push((gap, Role::Other));
                continue;
            }
            Token::Mark(mark) => {
                match mark {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    "<" => in_template = naming,
                    ">" => in_template = false,
                    _ => {}
                }
                in_struct &= mark != "}";
                (mark, Role::Other)
            }
            Token::Word(word) => {
                let at_module_scope = depth == 0 && before != "@";
                let is_field = || {
                    let after = tokens[i + 1..].iter().find(|token| !matches!(token, Token::Gap(_)));
                    in_struct && depth == 1 && after == Some(&Token::Mark(":"))
                };
                let role = match word {
                    _ if naming && !in_template => {
                        naming = false;
                        Role::Declared
                    }
                    "alias" | "const" | "fn" | "override" | "struct" | "var" if at_module_scope => {
                        naming = true;
                        in_struct |= word == "struct";
                        Role::Other
                    }
                    "diagnostic" | "enable" | "requires" if at_module_scope => Role::Directive,
                    _ if before == "." || before == "@" || is_field() => Role::Other,
                    _ => Role::Name,
                };
                (word, role)
            }
        };
        pieces.push((piece, role));
        before = piece;
    }
    pieces
}

/// The names that a text declares at module scope.
pub(crate) fn declared(text: &str) -> Vec<&str> {
    pieces(text).into_iter().filter(|(_, role)| *role == Role::Declared).map(|(name, _)| name).collect()
}

/// Where the directives of a text are, wherever they stand.
pub(crate) fn directives(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut directives: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (piece, role) in pieces(text) {
        if role == Role::Directive {
            open = true;
            directives.push(at..text.len());
        }
        at += piece.len();
        if open && piece == ";" {
            open = false;
            if let Some(directive) = directives.last_mut() {
                directive.end = at;
            }
        }
    }
    directives
}

/// How much of a text is directives, with the gaps before and between them.
pub(crate) fn head(text: &str) -> usize {
    let is_gap = |text: &str| tokens(text).all(|token| matches!(token, Token::Gap(_)));
    directives(text).into_iter().fold(0, |end, next| if is_gap(&text[end..next.start]) { next.end } else { end })
}

/// Whether a text is one identifier that WGSL does not keep for itself.
pub(crate) fn is_identifier(text: &str) -> bool {
    let is_word = text.chars().all(is_word) && !text.starts_with(|c: char| c.is_ascii_digit());
    is_word && !["", "_"].contains(&text) && !text.starts_with("__") && !naga::keywords::wgsl::RESERVED.contains(&text)
}

fn tokens<'a>(text: &'a str) -> impl Iterator<Item = Token<'a>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let up_to = |end: Option<usize>| end.unwrap_or(rest.len());
        let (make, end): (fn(&'a str) -> Token<'a>, usize) = if is_word(first) {
            (Token::Word, up_to(rest.find(|c| !is_word(c))))
        } else if is_blank(first) {
            (Token::Gap, up_to(rest.find(|c| !is_blank(c))))
        } else if rest.starts_with("//") {
            (Token::Gap, up_to(rest.find(is_line_break)))
        } else if rest.starts_with("/*") {
            (Token::Gap, block_comment(rest))
        } else {
            (Token::Mark, first.len_utf8())
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(make(token))
    })
}

/// The length of the block comment that begins a text. They nest.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && !is_blank(c)
}

/// White space as WGSL has it.
fn is_blank(c: char) -> bool {
    is_line_break(c) || matches!(c, ' ' | '\t' | '\u{200e}' | '\u{200f}')
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_in_any_form() {
        let text = "alias T = u32;const N=4u; const HALF = 9 /* abstract */;\n\
            var<workgroup> s: array<u32, N>;  var < private > p = 0;\n\
            @group(0) @binding(1)\n var<storage, read_write> o: array<u32>;\n\
            @id(3) override w: u32 = 2; const_assert N == 4;\n\
            @diagnostic(off, derivative_uniformity) fn f(a: u32) {\n  var no: u32; const not = 1; struct_.x = 2; }\n\
            struct S {\n @align(4) a: u32 }\nfn\n/* here */ größe() {}\n";
        assert_eq!(declared(text), ["T", "N", "HALF", "s", "p", "o", "w", "f", "S", "größe"]);
        assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
    }

    #[test]
    fn comments_declare_nothing() {
        for comment in ["// fn a() {}\u{2028}", "/* fn a() {} */", "/* /* */ fn a() {} // */", "/*/ fn a() {} */"] {
            assert_eq!(declared(&format!("{comment} fn b() {{}} {comment}")), ["b"], "{comment}");
        }
        assert_eq!(declared("/* open fn a() {}"), [""; 0]);
    }

    #[test]
    fn directives_are_found_and_the_first_are_the_head() {
        let text = "// f16\nenable f16;\n requires a, b; /* */ fn f() {}\ndiagnostic(off, d);";
        let found: Vec<_> = directives(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["enable f16;", "requires a, b;", "diagnostic(off, d);"]);
        assert_eq!(&text[..head(text)], "// f16\nenable f16;\n requires a, b;");
        assert_eq!(head("fn f() {} enable f16;"), 0);
        assert_eq!(directives("@diagnostic(off, d) fn f() {} /* enable f16; */"), []);
    }

    #[test]
    fn identifiers_are_words_that_wgsl_leaves_free() {
        for good in ["x", "_x", "x2", "größe", "Workgroup"] {
            assert!(is_identifier(good), "{good}");
        }
        for bad in ["", "_", "__x", "2x", "a b", "a.b", "r#fn", "fn", "from", "NULL"] {
            assert!(!is_identifier(bad), "{bad}");
        }
    }

    #[test]
    fn fields_and_attributes_are_no_names() {
        let text = "struct S { @align(align) x: x, y : f32 } fn f(s: S) -> f32 { return s . x + x; }";
        let names: Vec<_> = pieces(text).into_iter().filter(|(_, role)| *role == Role::Name).map(|(n, _)| n).collect();
        assert_eq!(names, ["align", "x", "f32", "s", "S", "f32", "return", "s", "x"]);
    }
}
