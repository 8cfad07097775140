//! Maps with block scalars, with comments and blank lines between their fields, on each side of a merge.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Map, Value};

/// The fields of the map, in their order.
pub const FIELDS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// The headers of block scalars.
const HEADERS: [&str; 10] = ["|", "|+", "|-", ">", ">+", ">-", "|2", "|2+", "|2-", ">2+"];

/// The lines of block scalars, without their indentation, and what follows these.
const LINES: [&str; 6] = ["x\n", "x\n\n", "x\n\n\n", "\n", "x\n  y\nz\n\n", ""];

/// What stands between two fields.
const BETWEEN: [&str; 8] = ["", "", "\n", "  # why\n", "\n  # why\n", "  # why\n\n", "\n\n# end\n", "\n  # apart\n\n"];

/// The comments below a value that is no block scalar, which are deeper than its field.
const DEEPER: [&str; 5] = ["", "", "   # deeper\n", "      # far\n", "    # as deep\n\n     # and more\n"];

/// How a text ends: with another field, or with the last one, whose last line may lack its line break.
const ENDS: [&str; 4] = ["  end: z\n", "  end: z\n", "\n", ""];

/// A field of a side: the lines above it, and its value.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    between: usize,
    value: Option<Scalar>,
}

/// The form of a side.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    end: usize,
    is_turned: bool,
}

/// The forms of original, updated and dest.
pub fn forms() -> impl Strategy<Value = [Form; 3]> {
    let form = (0..ENDS.len(), proptest::bool::weighted(0.2)).prop_map(|(end, is_turned)| Form { end, is_turned });
    [form.clone(), form.clone(), form]
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Plain { number: u8, deeper: usize },
    Null { deeper: usize },
    Block { header: usize, lines: usize, last: u8 },
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        2 => (0..2u8, 0..DEEPER.len()).prop_map(|(number, deeper)| Scalar::Plain { number, deeper }),
        1 => (0..DEEPER.len()).prop_map(|deeper| Scalar::Null { deeper }),
        3 => (0..HEADERS.len(), 0..LINES.len(), 0..2u8).prop_map(|(header, lines, last)| Scalar::Block { header, lines, last }),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let value = proptest::option::weighted(0.8, scalar());
    (0..BETWEEN.len(), value).prop_map(|(between, value)| Written { between, value })
}

/// The fields of original, updated and dest: mostly, one side changes a field.
pub fn fields() -> impl Strategy<Value = Vec<[Written; 3]>> {
    proptest::collection::vec(field(), FIELDS.len())
}

fn field() -> impl Strategy<Value = [Written; 3]> {
    (written(), written(), written(), 0..8u8).prop_map(|(was, one, other, which)| match which {
        0 => [was, was, was],
        1..=3 => [was, one, was],
        4..=6 => [was, was, other],
        _ => [was, one, other],
    })
}

/// The text of a side.
pub fn text(fields: &[Written], form: Form) -> String {
    let mut out = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n".to_owned();
    let mut named: Vec<(&str, &Written)> = FIELDS.into_iter().zip(fields).collect();
    if form.is_turned {
        named.reverse();
    }
    for (name, Written { between, value }) in named {
        let Some(value) = value else { continue };
        out += BETWEEN[*between];
        match value {
            Scalar::Plain { number, deeper } => write!(out, "  {name}: p{number}\n{}", DEEPER[*deeper]),
            Scalar::Null { deeper } => write!(out, "  {name}:\n{}", DEEPER[*deeper]),
            Scalar::Block { header, lines, last } => {
                let lines = LINES[*lines].replace('x', &format!("x{last}"));
                let lines =
                    lines.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
                write!(out, "  {name}: {}\n{}", HEADERS[*header], lines.collect::<String>().trim_end_matches(' '))
            }
        }
        .expect("a string");
    }
    let end = ENDS[form.end];
    if end.is_empty() {
        out.truncate(out.trim_end_matches('\n').len());
    }
    out + end
}

/// The map of a text, to the other parser; `None` if it refuses the text.
pub fn read(text: &str) -> Option<Map<String, Value>> {
    let value: Value = yaml_serde::from_str(text).ok()?;
    value.get("data")?.as_object().cloned()
}

/// Whether a field may have a value, by the values of original, updated and dest. A text may be merged line by line if both sides changed it.
pub fn may_be(value: Option<&Value>, [original, updated, dest]: [Option<&Value>; 3]) -> bool {
    match () {
        () if updated == original || updated == dest => value == dest,
        () if dest == original => value == updated,
        () => value == dest || value == updated || (original.is_some() && value.is_some()),
    }
}
