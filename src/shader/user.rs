//! WGSL that a caller passes in: checked by naga on its own, before it meets a kernel.

use super::module::printed;
use super::{Assembled, assemble::Assembler, assemble::Fragment, assemble::Renames, lex};
use crate::element::{ElementType, Struct};
use crate::error::{Error, Result};

/// A caller's WGSL that passed the checks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UserText {
    pub(crate) text: String,
    /// What it declares at module scope.
    pub(crate) names: Vec<String>,
    /// Whether it can do what wgpu's run-time checks guard against.
    pub(crate) needs_checks: bool,
}

impl UserText {
    pub(crate) fn fragment(&self, file: &str) -> Fragment {
        Fragment { file: file.into(), text: self.text.clone() }
    }
}

/// Checks an operator's text: `identity() -> T` and `combine(a: T, b: T) -> T`.
pub(crate) fn check_operator(text: &str, element: &ElementType) -> Result<UserText> {
    check_layout(element)?;
    let ty = element.wgsl();
    let expected =
        [("identity", format!("fn identity() -> {ty}")), ("combine", format!("fn combine(a: {ty}, b: {ty}) -> {ty}"))];
    check(text, "(operator)", element, &operator_calls(&ty), &expected)
}

/// How the kernels call an operator's text.
pub(crate) fn operator_calls(ty: &str) -> String {
    format!(
        "fn op_identity() -> {ty} {{\n  return identity();\n}}\nfn op_combine(a: {ty}, b: {ty}) -> {ty} {{\n  return combine(a, b);\n}}\n"
    )
}

/// Checks a predicate: an expression of `x`, the item, and `i`, its index in the input.
pub(crate) fn check_predicate(expression: &str, element: &ElementType) -> Result<UserText> {
    check_layout(element)?;
    let text = format!("fn predicate(x: {}, i: u32) -> bool {{\n  return bool({expression});\n}}\n", element.wgsl());
    if expression.trim().is_empty() {
        return Err(Error::shader("(predicate): the expression is empty; 'true' keeps everything"));
    }
    if expression.contains([';', '{', '}']) || expression.contains("//") || expression.contains("/*") {
        return Err(Error::shader(format!(
            "(predicate): '{expression}' is no single expression; give statements as a function with Predicate::function"
        )));
    }
    check_predicate_function(&text, element)
}

/// Checks a predicate's text: `predicate(x: T, i: u32) -> bool`.
pub(crate) fn check_predicate_function(text: &str, element: &ElementType) -> Result<UserText> {
    check_layout(element)?;
    let ty = element.wgsl();
    let expected = [("predicate", format!("fn predicate(x: {ty}, i: u32) -> bool"))];
    check(text, "(predicate)", element, &predicate_call(&ty), &expected)
}

/// How the kernels call a predicate's text.
pub(crate) fn predicate_call(ty: &str) -> String {
    format!("fn dev_keep(x: {ty}, i: u32) -> bool {{\n  return predicate(x, i);\n}}\n")
}

fn check(text: &str, file: &str, element: &ElementType, calls: &str, expected: &[(&str, String)]) -> Result<UserText> {
    if let Some(directive) = lex::directives(text).into_iter().next() {
        let line = text[..directive.start].matches('\n').count() + 1;
        return Err(Error::shader(format!(
            "{file}:{line}: '{}' has no place here: directives begin a module, and this text stands inside one; what \
             the element needs is enabled for it",
            &text[directive]
        )));
    }
    let alone = assembled(text, file, element, "");
    let (module, info) = alone.validate()?;
    for (name, signature) in expected {
        if !module.functions.iter().any(|(_, f)| f.name.as_deref() == Some(name)) {
            return Err(Error::shader(format!("{file}: the function '{name}' is missing: {signature}")));
        }
    }
    if let Some(entry) = module.entry_points.first() {
        return Err(Error::shader(format!("{file}: entry points have no place here ('{}')", entry.name)));
    }
    for (_, global) in module.global_variables.iter() {
        if global.space != naga::AddressSpace::Private {
            return Err(Error::shader(format!(
                "{file}: only private variables have a place here, '{}' is in another address space",
                global.name.as_deref().unwrap_or("?")
            )));
        }
    }
    if !module.overrides.is_empty() {
        return Err(Error::shader(format!("{file}: overrides have no place here; write the value, or a const")));
    }
    if let Some(what) = module.functions.iter().find_map(|(_, f)| meeting(&f.body)) {
        return Err(Error::shader(format!(
            "{file}: {what} have no place here: the kernels call this text from some invocations only"
        )));
    }
    // The calls that the kernel will make: wrong types show here.
    if let Err(error) = assembled(text, file, element, calls).validate() {
        let signatures: Vec<_> = expected.iter().map(|(_, signature)| signature.as_str()).collect();
        return Err(Error::shader(format!("{file}: expected {}: {error}", signatures.join(" and "))));
    }
    let own: Option<&str> = match element {
        ElementType::Struct(Struct { name, .. }) => Some(name),
        ElementType::Vector(_) => None,
    };
    let names: Vec<String> =
        lex::declared(text).into_iter().filter(|name| Some(*name) != own).map(String::from).collect();
    if let Some(name) = names.iter().find(|name| is_reserved(name)) {
        return Err(Error::shader(format!("{file}: the name '{name}' is used by the kernels; choose another")));
    }
    let needs_checks = needs_checks(&module, &info);
    Ok(UserText { text: text.into(), names, needs_checks })
}

fn assembled(text: &str, file: &str, element: &ElementType, calls: &str) -> Assembled {
    let mut assembler = Assembler::new(false);
    assembler.printed(element.directives());
    assembler.printed(&element.declaration());
    assembler.fragment(&Fragment { file: file.into(), text: text.into() }, &Renames::default());
    assembler.fragment(&printed(calls.into()), &Renames::default());
    assembler.finish()
}

/// What a block holds that all invocations, or all lanes of a subgroup, must come to together.
fn meeting(block: &naga::Block) -> Option<&'static str> {
    block.iter().find_map(|statement| match statement {
        naga::Statement::ControlBarrier(_)
        | naga::Statement::MemoryBarrier(_)
        | naga::Statement::WorkGroupUniformLoad { .. } => Some("barriers"),
        naga::Statement::SubgroupBallot { .. }
        | naga::Statement::SubgroupGather { .. }
        | naga::Statement::SubgroupCollectiveOperation { .. } => Some("subgroup operations"),
        naga::Statement::Block(block) => meeting(block),
        naga::Statement::If { accept, reject, .. } => meeting(accept).or_else(|| meeting(reject)),
        naga::Statement::Switch { cases, .. } => cases.iter().find_map(|case| meeting(&case.body)),
        naga::Statement::Loop { body, continuing, .. } => meeting(body).or_else(|| meeting(continuing)),
        _ => None,
    })
}

/// Names that the kernels declare, and names of WGSL that they use and that a declaration would hide.
fn is_reserved(name: &str) -> bool {
    let prefixes =
        ["sg_", "wg_", "dev_", "op_", "el_", "float_", "Sg", "Wg", "Dev", "Key_", "Wide_", "T_", "SG_", "WG_"];
    let names = [
        "T",
        "In",
        "Key",
        "Wide",
        "Pack",
        "Items",
        "Place",
        "PACK",
        "ROWS",
        "ITEMS",
        "TILE_PACKS",
        "WORKGROUP",
        "LANE_STEPS",
        "BUCKETS",
        "BUCKET_BITS",
        "FINISH_APART",
        "DEV_PARTS",
        // WGSL's words for how the kernels bind buffers: a declaration would hide them.
        "uniform",
        "storage",
        "read",
        "read_write",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || names.contains(&name) || hides_wgsl(name)
}

/// Names of WGSL that this crate's text uses and that a declaration of the same name would hide from it.
pub(crate) fn hides_wgsl(name: &str) -> bool {
    // `subgroupAdd`, but not `subgroup_sum`; `vec4`, but not `vectors`.
    let families = ["subgroup", "atomic", "vec"];
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
    let names = [
        "u32",
        "i32",
        "f32",
        "u64",
        "i64",
        "f16",
        "bool",
        "array",
        "atomic",
        "ptr",
        "function",
        "private",
        "workgroup",
        "min",
        "max",
        "select",
        "bitcast",
        "any",
        "all",
        "countOneBits",
        "firstTrailingBit",
        "firstLeadingBit",
        "workgroupBarrier",
        "storageBarrier",
        "workgroupUniformLoad",
    ];
    families.iter().any(|family| name.strip_prefix(family).is_some_and(goes_on)) || names.contains(&name)
}

/// Whether text can loop for ever, index out of range, divide by zero or keep state: what wgpu's checks are for.
fn needs_checks(module: &naga::Module, info: &naga::valid::ModuleInfo) -> bool {
    !module.global_variables.is_empty()
        || module.functions.iter().any(|(handle, function)| {
            let loops = has_loop(&function.body);
            let accesses = function.expressions.iter().any(|(_, expression)| match *expression {
                naga::Expression::Access { .. } => true,
                naga::Expression::Binary {
                    op: naga::BinaryOperator::Divide | naga::BinaryOperator::Modulo,
                    right,
                    ..
                } => {
                    let ty = info[handle][right].ty.inner_with(&module.types);
                    ty.scalar_kind() != Some(naga::ScalarKind::Float) && !divides_safely(function, right)
                }
                _ => false,
            });
            loops || accesses
        })
}

/// Whether a divisor is a literal by which every integer can be divided: neither 0 nor -1.
fn divides_safely(function: &naga::Function, divisor: naga::Handle<naga::Expression>) -> bool {
    use naga::Literal::{I32, I64, U32, U64};
    match function.expressions[divisor] {
        naga::Expression::Literal(U32(x)) => x != 0,
        naga::Expression::Literal(U64(x)) => x != 0,
        naga::Expression::Literal(I32(x)) => x > 0,
        naga::Expression::Literal(I64(x)) => x > 0,
        _ => false,
    }
}

fn has_loop(block: &naga::Block) -> bool {
    block.iter().any(|statement| match statement {
        naga::Statement::Loop { .. } => true,
        naga::Statement::Block(block) => has_loop(block),
        naga::Statement::If { accept, reject, .. } => has_loop(accept) || has_loop(reject),
        naga::Statement::Switch { cases, .. } => cases.iter().any(|case| has_loop(&case.body)),
        _ => false,
    })
}

/// Refuses names of a struct and its fields that WGSL or the kernels have another use for.
fn check_names(s: &Struct) -> Result<()> {
    if let Some(name) = std::iter::once(s.name).chain(s.fields.iter().map(|f| f.name)).find(|n| !lex::is_identifier(n))
    {
        let whose = if name == s.name { "the element".into() } else { format!("a field of {}", s.name) };
        return Err(Error::argument(format!("{whose} is called '{name}', which WGSL keeps for itself; rename it")));
    }
    if is_reserved(s.name) {
        return Err(Error::argument(format!("the element's name '{}' is used by the kernels; choose another", s.name)));
    }
    // The kernels' variables and a caller's functions are not, so that none of them hides the struct.
    if !s.name.starts_with(char::is_uppercase) {
        return Err(Error::argument(format!(
            "the element's name '{}' does not begin with a capital letter, by which the kernels tell types from variables",
            s.name
        )));
    }
    Ok(())
}

/// Checks a struct's names, and compares its offsets and size in Rust with those that WGSL gives it.
pub(crate) fn check_layout(element: &ElementType) -> Result<()> {
    for (part, vector) in element.parts() {
        if ![1, 2, 4].contains(&vector.components) {
            return Err(Error::argument(format!(
                "{} ({part}) has {} components; 1, 2 and 4 have the same layout on both sides",
                element.wgsl(),
                vector.components
            )));
        }
    }
    let ElementType::Struct(s) = element else { return Ok(()) };
    check_names(s)?;
    let (module, _) = assembled("", "(element)", element, "").validate()?;
    let ty = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(s.name));
    let Some(naga::TypeInner::Struct { members, span }) = ty.map(|(_, ty)| &ty.inner) else {
        return Err(Error::shader(format!("the struct {} is none in WGSL", s.name)));
    };
    for (field, member) in s.fields.iter().zip(members) {
        if field.offset != member.offset {
            return Err(Error::argument(format!(
                "{}.{} is at byte {} in Rust and at byte {} in WGSL; reorder the fields or add one of padding",
                s.name, field.name, field.offset, member.offset
            )));
        }
    }
    if s.bytes != *span {
        return Err(Error::argument(format!(
            "{} takes {} bytes in Rust and {span} in WGSL; add a field of padding",
            s.name, s.bytes
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::element::{Element, Field, Scalar, Vector};
    use crate::error::ErrorKind;
    use crate::gpu::SubgroupPath;
    use crate::op::OperatorKind;
    use crate::primitive::{Held, KernelTarget, ScanKind, Tuning, reduce_text, scan_text, select_text};
    use crate::shader::Checks;
    use crate::shader::module::{ModuleBuilder, Piece, Target};

    #[test]
    fn only_what_wgsl_has_is_hidden() {
        for name in ["subgroupAdd", "atomicLoad", "vec2", "vec4", "min", "workgroupBarrier"] {
            assert!(hides_wgsl(name), "{name}");
        }
        for name in ["subgroup_sum", "subgroup", "atomics", "vectors", "vec", "minimum"] {
            assert!(!hides_wgsl(name), "{name}");
        }
    }

    const GOOD: &str = "fn identity() -> f32 { return 0.0; } fn combine(a: f32, b: f32) -> f32 { return a + b; }";

    fn refused(text: &str, part: &str) {
        let error = check_operator(text, &f32::TYPE).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::InvalidShader);
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn a_plain_operator_is_trusted() {
        let user = check_operator(GOOD, &f32::TYPE).expect("a valid operator");
        assert_eq!((user.names, user.needs_checks), (vec!["identity".into(), "combine".into()], false));
    }

    #[test]
    fn what_is_not_an_operator_is_refused_with_the_reason() {
        refused("fn identity() -> f32 { return 0.0; }", "'combine' is missing");
        refused(
            "fn identity() -> u32 { return 0u; } fn combine(a: f32, b: f32) -> f32 { return a; }",
            "fn identity() -> f32",
        );
        refused("fn identity() -> f32 { return 0.0 }", "(operator):1:");
        refused(&format!("{GOOD}\n@group(0) @binding(0) var<storage> stolen: u32;"), "address space");
        refused(&format!("{GOOD}\n@compute @workgroup_size(1) fn main() {{}}"), "entry points");
        refused(&format!("{GOOD}\noverride o: f32 = 1.0;"), "overrides");
        refused(&format!("{GOOD}\nfn sg_lane() {{}}"), "'sg_lane'");
        refused(&format!("{GOOD}\nalias Pack = f32;"), "'Pack'");
        refused(&format!("{GOOD}\nfn meet() {{ workgroupBarrier(); }}"), "barriers have no place");
        refused(
            &format!("{GOOD}\nfn sum(x: f32) -> f32 {{ if x > 0.0 {{ return subgroupAdd(x); }} return x; }}"),
            "subgroup operations",
        );
        refused(&format!("{GOOD}\nfn select() {{}}"), "'select'");
        refused(
            "fn identity() -> f32 { return dev_params; } fn combine(a: f32, b: f32) -> f32 { return a; }",
            "dev_params",
        );
    }

    #[test]
    fn names_of_the_kernels_are_refused_however_they_are_declared() {
        for declaration in [
            "const PACK = 9;",
            "/* */ const\nPACK=1.5;",
            "alias /**/ PACK = f32;",
            "struct PACK { a: f32 }",
            "fn PACK() {}",
        ] {
            refused(&format!("{GOOD}\n{declaration}"), "the name 'PACK' is used by the kernels");
        }
        for free in
            ["fn f() -> i32 { const PACK = 9; let max = PACK; return max; }", "/* const PACK = 9; /* */ alias */"]
        {
            check_operator(&format!("{GOOD}\n{free}"), &f32::TYPE).expect("a local name, or none");
        }
    }

    #[test]
    fn directives_are_refused_where_they_stand() {
        for directive in
            ["enable f16;", "diagnostic(off, derivative_uniformity);", "requires packed_4x8_integer_dot_product;"]
        {
            refused(&format!("// sum\n{directive}\n{GOOD}"), &format!("(operator):2: '{directive}' has no place here"));
            refused(&format!("{GOOD} {directive}"), &format!("(operator):1: '{directive}' has no place here"));
        }
        let predicate = "enable f16; fn predicate(x: f32, i: u32) -> bool { return true; }";
        let error = check_predicate_function(predicate, &f32::TYPE).expect_err("a directive");
        assert!(error.to_string().contains("(predicate):1: 'enable f16;'"), "{error}");
    }

    #[test]
    fn every_name_of_the_kernels_is_reserved() {
        let callers = ["identity", "combine", "predicate", "Affine"];
        for variant in crate::shader::catalog::variants() {
            let text = variant.assemble().expect("it ships");
            let is_free = |name: &&str| !is_reserved(name) && !callers.iter().any(|own| name.starts_with(own));
            let free: Vec<_> = lex::declared(text.text()).into_iter().filter(is_free).collect();
            assert_eq!(free, [""; 0], "{}", variant.name());
        }
    }

    /// A caller's text declares everything that is not refused, and the kernels still mean what they say.
    #[test]
    fn no_other_name_hides_what_the_kernels_use() {
        let scan = ScanKind { inclusive: true, in_place: false, initial: true };
        for path in [SubgroupPath::Native, SubgroupPath::DEFAULT_EMULATED] {
            let (checks, tuning) = (Checks::Trusted, Tuning::new(128, 2, 64));
            let target = KernelTarget { path, lanes: (32, 32), checks, tuning, unroll: true, gpu_count: true };
            let texts = |own: &str| {
                let operator =
                    "fn identity() -> u32 { return 0u; } fn combine(a: u32, b: u32) -> u32 { return a + b; }";
                let user = check_operator(&format!("{operator}{own}"), &u32::TYPE).expect("free names");
                let predicate = format!("fn predicate(x: u32, i: u32) -> bool {{ return true; }}{own}");
                let predicate = check_predicate_function(&predicate, &u32::TYPE).expect("free names");
                let operator = OperatorKind::User { user, commutative: false };
                let held = Held::new(u32::TYPE, Some(&operator), false);
                [
                    reduce_text(&target, &held, &operator, false).text,
                    scan_text(&target, &held, &operator, scan).text,
                    select_text(&target, &Held::new(u32::TYPE, None, false), &predicate).text,
                    kernels(&u32::TYPE, &operator),
                ]
            };
            let plain = texts("");
            let words: BTreeSet<_> =
                plain.iter().flat_map(|text| lex::pieces(text.text())).map(|(word, _)| word).collect();
            let is_free = |word: &&str| lex::is_identifier(word) && !is_reserved(word);
            let is_given = |word: &&str| ["identity", "combine", "predicate"].contains(word);
            let free = words.into_iter().filter(|word| is_free(word) && !is_given(word));
            let own: String = free.map(|word| format!("\nfn {word}() {{}}")).collect();
            assert!(own.contains("fn rows() {}"), "{own}");
            for text in texts(&own) {
                text.validate().expect("nothing is hidden");
            }
        }
    }

    #[test]
    fn text_that_could_run_away_is_checked() {
        for body in [
            "var x = a; while x < b { x += 1.0; } return x;",
            "var t = array<f32, 2>(a, b); return t[u32(a)];",
            "return f32(u32(a) / u32(b));",
            "return f32(u32(a) % u32(b));",
        ] {
            let text = format!("fn identity() -> f32 {{ return 0.0; }} fn combine(a: f32, b: f32) -> f32 {{ {body} }}");
            assert!(check_operator(&text, &f32::TYPE).expect("valid").needs_checks, "{body}");
        }
        let global = format!("var<private> kept: f32; {GOOD}");
        assert!(check_operator(&global, &f32::TYPE).expect("valid").needs_checks);
        let float = "fn identity() -> f32 { return 1.0; } fn combine(a: f32, b: f32) -> f32 { return a / b; }";
        assert!(!check_operator(float, &f32::TYPE).expect("valid").needs_checks);
    }

    #[test]
    fn predicates() {
        assert!(check_predicate("x > 10u", &u32::TYPE).is_ok());
        let every_other = check_predicate("x > 0.5 && i % 2u == 0u", &f32::TYPE).expect("valid");
        assert!(!every_other.needs_checks, "2 divides every number");
        assert!(check_predicate("x / i == 0u", &u32::TYPE).expect("valid").needs_checks);
        for empty in ["", " \n\t"] {
            let error = check_predicate(empty, &u32::TYPE).expect_err("no expression");
            assert!(error.to_string().contains("the expression is empty"), "{error}");
        }
        for bad in ["x > ", "y", "true; } fn f() { return", "x", "x // no"] {
            assert!(check_predicate(bad, &<[f32; 2]>::TYPE).is_err(), "{bad}");
        }
    }

    #[test]
    fn operators_of_16_bit_floats_are_read() {
        let text = "fn identity() -> f16 { return 0.0h; } fn combine(a: f16, b: f16) -> f16 { return a + b; }";
        check_operator(text, &crate::element::F16::TYPE).expect("valid where the device has the type");
    }

    #[test]
    fn names_of_elements_are_checked() {
        const WORD: Vector = Vector { scalar: Scalar::U32, components: 1 };
        let refused = |name, field, part: &str| {
            let fields: &'static [Field] = vec![Field { name: field, ty: WORD, offset: 0 }].leak();
            let element = ElementType::Struct(Struct { name, fields, bytes: 4 });
            let error = check_layout(&element).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(part), "{error}");
        };
        for name in ["from", "NULL", "r#type", "__Hidden"] {
            refused(name, "a", &format!("the element is called '{name}', which WGSL keeps"));
            refused("Fine", name, &format!("a field of Fine is called '{name}', which WGSL keeps"));
        }
        for name in ["Pack", "T", "DevParams", "Place"] {
            refused(name, "a", &format!("name '{name}' is used by the kernels"));
        }
        for name in ["place", "x", "identity", "combine", "predicate"] {
            refused(name, "a", &format!("name '{name}' does not begin with a capital"));
        }
        // A field's name is looked up in its value, so it may be any.
        for field in ["workgroup", "x", "identity", "combine", "predicate", "T", "max"] {
            let fields: &'static [Field] = vec![Field { name: field, ty: WORD, offset: 0 }].leak();
            let element = ElementType::Struct(Struct { name: "Fine", fields, bytes: 4 });
            let text = format!(
                "fn identity() -> Fine {{ return Fine(); }} fn combine(x: Fine, y: Fine) -> Fine {{ return Fine(x.{field} + y.{field}); }}"
            );
            let user = check_operator(&text, &element).expect(field);
            let operator = OperatorKind::User { user, commutative: false };
            kernels(&element, &operator).validate().unwrap_or_else(|error| panic!("{field}: {error}"));
        }
    }

    /// Kernels and building blocks of an operator, all in one text.
    fn kernels(element: &ElementType, operator: &OperatorKind) -> Assembled {
        let target = Target { path: SubgroupPath::Native, lanes: (4, 128), workgroup: 128, unroll: true };
        let mut builder = ModuleBuilder::new(target, element.directives());
        let instance = builder.named_operator(*element, operator.clone(), "user");
        for piece in [Piece::WgReduce(instance), Piece::WgScan(instance), Piece::Segmented(instance)] {
            builder.add(piece);
        }
        builder.finish()
    }

    /// So no variable of theirs hides an element.
    #[test]
    fn only_names_at_module_scope_begin_with_a_capital_letter() {
        for variant in crate::shader::catalog::variants() {
            let text = variant.assemble().expect("it ships");
            let declared = lex::declared(text.text());
            let is_local = |name: &&str| name.starts_with(char::is_uppercase) && !declared.contains(name);
            let words = lex::pieces(text.text()).into_iter().filter(|(_, role)| *role == lex::Role::Name);
            assert_eq!(words.map(|(word, _)| word).find(is_local), None, "{}", variant.name());
        }
    }

    #[test]
    fn layouts_that_differ_are_refused() {
        let vec2 = Vector { scalar: Scalar::F32, components: 2 };
        let word = Vector { scalar: Scalar::U32, components: 1 };
        let of = |fields, bytes| ElementType::Struct(Struct { name: "Mixed", fields, bytes });
        const fn field(name: &'static str, ty: Vector, offset: u32) -> Field {
            Field { name, ty, offset }
        }
        let rust_order: &'static [Field] = vec![field("a", word, 0), field("b", vec2, 4)].leak();
        let error = check_layout(&of(rust_order, 12)).expect_err("vec2 is at 8 in WGSL");
        assert!(error.to_string().contains("at byte 4 in Rust and at byte 8"), "{error}");
        let short: &'static [Field] = vec![field("b", vec2, 0), field("a", word, 8)].leak();
        let error = check_layout(&of(short, 12)).expect_err("the size is rounded up");
        assert!(error.to_string().contains("12 bytes in Rust and 16"), "{error}");
        check_layout(&of(short, 16)).expect("both agree");
    }
}
