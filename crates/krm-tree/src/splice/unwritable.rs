//! Why new text cannot be written: it exceeds the limit, the resource is JSON and a value is a number that only YAML has, an anchor would be
//! there twice, or it would be wrong.
//!
//! `.inf` and `.nan` are no numbers in JSON. Written as a text, they would silently be another value.

use std::fmt;

use krm_yaml::{Kind, NodeRef, Number, Overlap, Scalar, WrittenChild};

use crate::limit::Exceeded;
use crate::path::{FieldPath, Step};
use crate::tree::{Branch, Tree};

/// New text that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unwritable {
    /// The text exceeds the limit.
    Exceeded(Exceeded),
    /// JSON lacks one of its values.
    NotJson(NotJson),
    /// It would have this anchor twice, although each side has it once.
    Anchor(String),
    /// The text would be wrong.
    Fault(WriteFault),
}

/// A fault of this crate. It must not become a fault of the user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteFault {
    /// Two edits of the text overlap.
    Overlap(Overlap),
    /// The new text means something else than the merge.
    Misread {
        /// The first place that differs; empty if it is the resource itself, or if nobody can read the text.
        path: String,
    },
}

/// A number that JSON lacks, and where it would be in a resource that is written as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotJson {
    path: String,
    value: String,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, value } = self;
        write!(
            f,
            "`{path}` must be a number that JSON has, not \"{value}\", because the resource is written as JSON: write the resource as YAML, or the value as a text"
        )
    }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exceeded(exceeded) => exceeded.fmt(f),
            Self::NotJson(not_json) => not_json.fmt(f),
            Self::Anchor(anchor) => write!(
                f,
                "an anchor must be in a document only once, but both sides' \"{anchor}\" would be in it: rename it on one side, or give it the same place on both"
            ),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Unwritable {}

impl fmt::Display for WriteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap(overlap) => overlap.fmt(f),
            Self::Misread { path } if path.is_empty() => {
                f.write_str("the new text must mean what was merged, but it does not")
            }
            Self::Misread { path } => write!(f, "the new text must mean what was merged, but `{path}` does not"),
        }?;
        f.write_str(": this is a fault of krm-merge, please report it")
    }
}

impl std::error::Error for WriteFault {}

impl WriteFault {
    /// Nobody can read the new text.
    pub fn unreadable() -> Self {
        Self::Misread { path: String::new() }
    }
}

impl From<WriteFault> for Unwritable {
    fn from(fault: WriteFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Overlap> for Unwritable {
    fn from(overlap: Overlap) -> Self {
        Self::Fault(WriteFault::Overlap(overlap))
    }
}

impl From<Exceeded> for Unwritable {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

/// Checks that JSON can express all new numbers of a tree: the numbers that the node `old` lacks, or all numbers if there is no node.
///
/// # Errors
/// JSON lacks one of the numbers.
pub(super) fn check_json(tree: &Tree<'_>, old: Option<NodeRef<'_>>) -> Result<(), NotJson> {
    of_tree(tree, old, &mut FieldPath::default())
}

fn of_tree<'a>(tree: &Tree<'a>, old: Option<NodeRef<'_>>, path: &mut FieldPath<'a>) -> Result<(), NotJson> {
    match tree {
        Tree::Node(node) if old.is_some_and(|old| node.is(old)) => Ok(()),
        Tree::Node(node) => of_node(node.resolve(), path),
        Tree::Branch(branch) => of_branch(branch, old, path),
        // A made scalar is a text.
        Tree::Made(_) => Ok(()),
        // Only settled trees are written. If a conflict is left, dest's side is written.
        Tree::Conflict(conflict) => conflict.dest.iter().try_for_each(|dest| of_tree(dest, old, path)),
    }
}

fn of_branch<'a>(branch: &Branch<'a>, old: Option<NodeRef<'_>>, path: &mut FieldPath<'a>) -> Result<(), NotJson> {
    let stays = old.is_some_and(|old| branch.like.is(old) && old.kind() != Kind::Alias);
    let present = branch.entries.iter().filter_map(|entry| Some((entry, entry.value.as_ref()?)));
    for (index, (entry, value)) in present.enumerate() {
        let old = entry.was.filter(|_| stays).map(WrittenChild::value);
        let step = entry.key.map_or(Step::Index(index), |key| Step::Field(key.name().into()));
        path.push(step, None);
        of_tree(value, old, path)?;
        path.pop();
    }
    Ok(())
}

fn of_node<'a>(node: NodeRef<'a>, path: &mut FieldPath<'a>) -> Result<(), NotJson> {
    let fields = node.fields().filter(|_| node.is_map());
    let fields = fields.map(|(key, value)| (Step::Field(key.string().into()), value));
    let elements = node.elements().enumerate().map(|(index, element)| (Step::Index(index), element));
    for (step, child) in fields.chain(elements) {
        path.push(step, None);
        of_node(child.resolve(), path)?;
        path.pop();
    }
    match node.scalar() {
        Some(Scalar::Number(Number::Infinity { .. } | Number::NotANumber)) => {
            Err(NotJson { path: path.shown(), value: node.string().to_owned() })
        }
        _ => Ok(()),
    }
}
