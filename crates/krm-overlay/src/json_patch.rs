//! [`Operation`]: an operation of a JSON patch, and what it makes of a value.
//!
//! Source: RFC 6902, and the library of kustomize, `evanphx/json-patch` v4. That counts from the end of a list, too, lets `replace` add a field, and
//! reads a field that is not there as null.

use krm_tree::path::{PathPattern, PatternStep};
use krm_yaml::{NodeRef, Scalar};

use crate::values::Value;

/// An operation of a JSON patch.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The operation as it is written.
    pub node: NodeRef<'a>,
    /// What it does.
    pub does: Does,
    /// The names on the way to its place.
    pub path: Vec<String>,
}

/// What an operation does at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    Add(Value),
    Remove,
    Replace(Value),
    Test(Value),
    /// The place gets what is at another place, which then goes.
    Move(Vec<String>),
    /// The place gets what is at another place.
    Copy(Vec<String>),
}

/// The place behind the last element of a list.
const BEHIND: &str = "-";

impl<'a> Operation<'a> {
    /// The operations of a patch.
    ///
    /// # Errors
    /// One of them is none; the message says what it must be.
    pub fn all(patch: NodeRef<'a>) -> Result<Vec<Self>, String> {
        patch.elements().map(Self::read).collect()
    }

    fn read(node: NodeRef<'a>) -> Result<Self, String> {
        let pointer = |name: &str| {
            let text = node.get(name).and_then(NodeRef::as_str).ok_or(format!("an operation must have `{name}`"))?;
            let pattern = PathPattern::of_pointer(text).map_err(|why| format!("`{name}` \"{text}\": {why}"))?;
            let step =
                |step: &PatternStep| if let PatternStep::Member(name) = step { name.clone() } else { String::new() };
            Ok::<_, String>(pattern.steps().iter().map(step).collect::<Vec<_>>())
        };
        // A value may be null.
        let value = || {
            let value = node.fields().find(|(key, _)| key.is_called("value"));
            value.map(|(_, value)| Value::of(value)).ok_or("an operation must have `value`".to_owned())
        };
        let does = match node.get("op").and_then(NodeRef::as_str) {
            Some("add") => Does::Add(value()?),
            Some("remove") => Does::Remove,
            Some("replace") => Does::Replace(value()?),
            Some("test") => Does::Test(value()?),
            Some("move") => Does::Move(pointer("from")?),
            Some("copy") => Does::Copy(pointer("from")?),
            _ => return Err("`op` must be `add`, `remove`, `replace`, `move`, `copy` or `test`".to_owned()),
        };
        Ok(Self { node, does, path: pointer("path")? })
    }

    /// The value after the operation; `None` if it fails.
    pub fn applied(&self, to: &Value) -> Option<Value> {
        let mut value = to.clone();
        match &self.does {
            Does::Add(new) => add(&mut value, &self.path, new.clone())?,
            Does::Remove => _ = remove(&mut value, &self.path)?,
            Does::Replace(new) => replace(&mut value, &self.path, new.clone())?,
            Does::Test(is) => {
                let passes = at(&value, &self.path).map_or(is.is_null(), |found| found == is);
                passes.then_some(())?;
            }
            Does::Move(from) => {
                let moved = remove(&mut value, from)?;
                add(&mut value, &self.path, moved)?;
            }
            Does::Copy(from) => {
                let copied = at(&value, from).cloned().unwrap_or(Value::Scalar(Scalar::Null));
                add(&mut value, &self.path, copied)?;
            }
        }
        Some(value)
    }
}

/// The number of the element that a name means in a list of this length.
pub fn index(name: &str, len: usize) -> Option<usize> {
    let number: isize = name.parse().ok()?;
    let at = if number < 0 { len.checked_sub(number.unsigned_abs())? } else { number.unsigned_abs() };
    (at < len).then_some(at)
}

/// Where an element comes that is added to a list of this length under a name.
pub fn new_index(name: &str, len: usize) -> Option<usize> {
    match name {
        BEHIND => Some(len),
        _ => index(name, len + 1),
    }
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Map(fields) => fields.get(name),
        Value::List(elements) => elements.get(index(name, elements.len())?),
        Value::Scalar(_) => None,
    })
}

fn at_mut<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Map(fields) => fields.get_mut(name),
        Value::List(elements) => {
            let at = index(name, elements.len())?;
            elements.get_mut(at)
        }
        Value::Scalar(_) => None,
    })
}

fn add(value: &mut Value, path: &[String], new: Value) -> Option<()> {
    let (name, above) = path.split_last()?;
    match at_mut(value, above)? {
        Value::Map(fields) => _ = fields.insert(name.clone(), new),
        Value::List(elements) => elements.insert(new_index(name, elements.len())?, new),
        Value::Scalar(_) => return None,
    }
    Some(())
}

/// A field that is not there is added.
fn replace(value: &mut Value, path: &[String], new: Value) -> Option<()> {
    let (name, above) = path.split_last()?;
    match at_mut(value, above)? {
        Value::Map(fields) => _ = fields.insert(name.clone(), new),
        Value::List(elements) => {
            let at = index(name, elements.len())?;
            *elements.get_mut(at)? = new;
        }
        Value::Scalar(_) => return None,
    }
    Some(())
}

fn remove(value: &mut Value, path: &[String]) -> Option<Value> {
    let (name, above) = path.split_last()?;
    match at_mut(value, above)? {
        Value::Map(fields) => fields.remove(name),
        Value::List(elements) => {
            let at = index(name, elements.len())?;
            Some(elements.remove(at))
        }
        Value::Scalar(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;

    #[test]
    fn operations_do_what_the_rfc_says() {
        for (text, operation, want) in [
            ("a: 1", "{op: add, path: /b, value: 2}", Some("a: 1\nb: 2")),
            ("a: 1", "{op: add, path: /b/c, value: 2}", None),
            ("a: [1, 2]", "{op: add, path: /a/1, value: 3}", Some("a: [1, 3, 2]")),
            ("a: [1, 2]", "{op: add, path: /a/-, value: 3}", Some("a: [1, 2, 3]")),
            ("a: [1, 2]", "{op: add, path: /a/2, value: 3}", Some("a: [1, 2, 3]")),
            ("a: [1, 2]", "{op: add, path: /a/3, value: 3}", None),
            ("a/b: {'c~': 1}", "{op: replace, path: /a~1b/c~0, value: 2}", Some("a/b: {'c~': 2}")),
            ("a: 1", "{op: replace, path: /b, value: 2}", Some("a: 1\nb: 2")),
            ("a: 1", "{op: replace, path: /b/c, value: 2}", None),
            ("a: [1]", "{op: replace, path: /a/1, value: 2}", None),
            ("a: 1", "{op: test, path: /b, value: null}", Some("a: 1")),
            ("a: 1", "{op: test, path: /b, value: 1}", None),
            ("a: 1", "{op: copy, from: /c, path: /b}", Some("a: 1\nb: null")),
            ("a: [1, 2]", "{op: remove, path: /a/0}", Some("a: [2]")),
            ("a: [1, 2]", "{op: remove, path: /a/-}", None),
            ("a: [1, 2]", "{op: remove, path: /a/-1}", Some("a: [1]")),
            ("a: 1", "{op: test, path: /a, value: 1}", Some("a: 1")),
            ("a: 1", "{op: test, path: /a, value: 2}", None),
            ("a: 1", "{op: move, from: /a, path: /b}", Some("b: 1")),
            ("a: {x: 1}", "{op: copy, from: /a, path: /b}", Some("a: {x: 1}\nb: {x: 1}")),
            ("a: 1", "{op: replace, path: /a, value: null}", Some("a: null")),
        ] {
            let documents = [text, operation].map(|text| Document::parse(text).expect("YAML"));
            let [value, operation] = documents.each_ref().map(|document| document.roots().next().expect("a root"));
            let operation = Operation::read(operation).expect("an operation");
            let want = want.map(|want| Document::parse(want).expect("YAML"));
            let want = want.as_ref().map(|want| Value::of(want.roots().next().expect("a root")));
            assert_eq!(operation.applied(&Value::of(value)), want, "{text} {operation:?}");
        }
        for wrong in
            ["{op: add, path: /a}", "{op: ad, path: /a, value: 1}", "{op: remove, path: a}", "{op: copy, path: /a}"]
        {
            let document = Document::parse(wrong).expect("YAML");
            assert!(Operation::read(document.roots().next().expect("a root")).is_err(), "{wrong}");
        }
    }
}
