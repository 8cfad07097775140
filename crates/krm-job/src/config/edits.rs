//! Edits by path, as users write them; a JSON patch (RFC 6902) is read into the same.

use krm_tree::path::PathPattern;
use krm_yaml::{Error, NodeRef};

use super::deserialize::{from_node, one_of};
use super::written::{Op, WrittenEdit};

/// An edit, checked.
#[derive(Clone, Debug)]
pub struct EditInput<'a> {
    /// The edit as it is written.
    pub node: NodeRef<'a>,
    /// The places.
    pub path: PathPattern,
    /// What happens there.
    pub action: Action<'a>,
}

/// What an edit does.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// The place gets a value.
    Set(NodeRef<'a>),
    /// A list gets an element.
    Append(NodeRef<'a>),
    /// The place goes.
    Delete,
    /// The place gets a value, or the list an element before it.
    Add(NodeRef<'a>),
    /// The place, which must be there, gets a value.
    Replace(NodeRef<'a>),
    /// The place must have a value.
    Test(NodeRef<'a>),
}

/// Whether a node is a list of edits, not of resources.
pub fn are_edits(node: NodeRef<'_>) -> bool {
    let is_edit =
        |element: NodeRef<'_>| ["op", "set", "append", "delete"].iter().any(|name| element.get(name).is_some());
    node.elements().next().is_some_and(is_edit)
}

/// Reads a list of edits. `field` is its name in messages.
///
/// # Errors
/// One of them is none.
pub fn edits_in<'a>(list: NodeRef<'a>, field: &str) -> Result<Vec<EditInput<'a>>, Error> {
    list.elements().enumerate().map(|(i, node)| read(node, &format!("{field}[{i}]"))).collect()
}

fn read<'a>(node: NodeRef<'a>, field: &str) -> Result<EditInput<'a>, Error> {
    let written: WrittenEdit = from_node(node, field)?;
    let given = [("set", &written.set), ("append", &written.append), ("delete", &written.delete)];
    let given: Vec<(&str, &str)> = given.iter().filter_map(|(kind, path)| Some((*kind, path.as_deref()?))).collect();
    let value = node.entries().find(|(key, _)| key.string() == "value").map(|(_, value)| value);
    let needed = || value.ok_or_else(|| node.error(format!("`{field}` must have a `value`")));
    let none = |at: Option<NodeRef<'a>>, name: &str| match at {
        Some(at) => Err(at.error(format!("`{field}.{name}` must not be given here"))),
        None => Ok(()),
    };
    let (name, text, action) = match (given.as_slice(), written.op) {
        ([(kind, path)], None) => {
            none(node.get("path"), "path")?;
            let action = match *kind {
                "set" => Action::Set(needed()?),
                "append" => Action::Append(needed()?),
                _ => none(value, "value").map(|()| Action::Delete)?,
            };
            (*kind, *path, action)
        }
        ([], Some(op)) => {
            let Some(path) = written.path.as_deref() else {
                return Err(node.error(format!("`{field}.path` must be given, as `/spec/replicas`")));
            };
            let action = match op {
                Op::Add => Action::Add(needed()?),
                Op::Replace => Action::Replace(needed()?),
                Op::Test => Action::Test(needed()?),
                Op::Remove => none(value, "value").map(|()| Action::Delete)?,
            };
            ("path", path, action)
        }
        _ => {
            let kinds = one_of(&["set", "append", "delete", "op"]);
            return Err(node.error(format!("`{field}` must have exactly one of {kinds}")));
        }
    };
    let path = if name == "path" { PathPattern::of_pointer(text) } else { PathPattern::parse(text) };
    let example = if name == "path" { "/spec/replicas" } else { "spec.replicas" };
    let at = node.get(name).unwrap_or(node);
    let path = path
        .map_err(|why| at.error(format!("`{field}.{name}` must be a path, as `{example}`, not \"{text}\": {why}")))?;
    Ok(EditInput { node, path, action })
}
