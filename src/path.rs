//! Places inside a resource, and the two ways of writing them.
//!
//! Messages name an element by its merge key (`containers[name=app].image`), because an index says nothing once the list has
//! changed; the `field.path` of a result names it by index, as the KRM functions specification has it.

use std::borrow::Cow;
use std::fmt;

use crate::shown::{misleads, quoted};

/// The values of an element's merge keys, in the order of the keys. Numbers are in decimal, so `80`, `"80"` and `0x50` agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementKey<'a>(pub Vec<Cow<'a, str>>);

/// One step down from a map or list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The field of a map.
    Field(Cow<'a, str>),
    /// The element of a list with these merge keys: name and value of each.
    Element(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    /// The element of a set.
    Value(Cow<'a, str>),
    /// The element at this index.
    Index(usize),
}

/// A step, with the index of the element in dest where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stride<'a> {
    step: Step<'a>,
    index: Option<usize>,
}

/// A path from the root of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath<'a>(Vec<Stride<'a>>);

impl<'a> FieldPath<'a> {
    /// Goes down one step; `index` is the element's place in dest.
    pub fn push(&mut self, step: Step<'a>, index: Option<usize>) {
        self.0.push(Stride { step, index });
    }

    /// Goes up one step.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The steps from the root.
    pub fn steps(&self) -> impl Iterator<Item = &Step<'a>> {
        self.0.iter().map(|stride| &stride.step)
    }

    /// Whether it names the resource itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `spec.template.spec.containers[name=app].image`, for messages.
    pub fn keyed(&self) -> String {
        self.write(|stride, out| match &stride.step {
            Step::Field(_) => {}
            Step::Element(keys) => {
                let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={}", value(v))).collect();
                out.push_str(&format!("[{}]", keys.join(",")));
            }
            Step::Value(v) => out.push_str(&format!("[={}]", value(v))),
            Step::Index(i) => out.push_str(&format!("[{i}]")),
        })
    }

    /// `spec.template.spec.containers[0].image`, for `field.path`; an element that dest lacks stands as in [`FieldPath::keyed`].
    pub fn indexed(&self) -> String {
        self.write(|stride, out| match (&stride.step, stride.index) {
            (Step::Field(_), _) => {}
            (Step::Index(i), None) => out.push_str(&format!("[{i}]")),
            (_, Some(i)) => out.push_str(&format!("[{i}]")),
            (Step::Element(keys), None) => {
                let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={}", value(v))).collect();
                out.push_str(&format!("[{}]", keys.join(",")));
            }
            (Step::Value(v), None) => out.push_str(&format!("[={}]", value(v))),
        })
    }

    fn write(&self, element: impl Fn(&Stride<'a>, &mut String)) -> String {
        let mut out = String::new();
        for stride in &self.0 {
            match &stride.step {
                Step::Field(name) if must_be_quoted(name) => {
                    out.push_str(&format!("[{}]", quoted(name)));
                }
                Step::Field(name) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(name);
                }
                _ => element(stride, &mut out),
            }
        }
        out
    }
}

/// Whether a name would not stand for itself in a path, or would mislead.
fn must_be_quoted(name: &str) -> bool {
    name.is_empty() || name.contains(|c: char| matches!(c, '.' | '[' | ']' | '"' | ' ') || misleads(c))
}

/// The value of an element, quoted where it would break the path or mislead.
fn value(text: &str) -> String {
    if text.contains(|c: char| matches!(c, '[' | ']' | ',' | '"') || misleads(c)) {
        quoted(text)
    } else {
        text.to_owned()
    }
}

impl<'a> From<Step<'a>> for FieldPath<'a> {
    fn from(step: Step<'a>) -> Self {
        Self(vec![Stride { step, index: None }])
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.keyed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_by_key_and_by_index() {
        let mut path = FieldPath::default();
        path.push(Step::Field("spec".into()), None);
        path.push(Step::Field("ports".into()), None);
        path.push(Step::Element(vec![("port".into(), "80".into()), ("protocol".into(), "TCP".into())]), Some(2));
        path.push(Step::Field("a.b/c".into()), None);
        assert_eq!(path.keyed(), "spec.ports[port=80,protocol=TCP][\"a.b/c\"]");
        assert_eq!(path.indexed(), "spec.ports[2][\"a.b/c\"]");
        path.pop();
        path.pop();
        path.push(Step::Value("x".into()), None);
        assert_eq!((path.keyed(), path.indexed()), ("spec.ports[=x]".into(), "spec.ports[=x]".into()));
    }
}
