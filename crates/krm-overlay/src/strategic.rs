//! A strategic patch of kustomize over an object: what it makes of the object, and what a new release does to each thing that it says.
//!
//! The engine's own [`Change`] says what a patch asks for, so lists merge by the rule that a merge has. kustomize knows the built-in types
//! alone: every list of another type is replaced whole.

use std::collections::BTreeSet;
use std::ops::Range;

use krm_merge_core::change::{Change, Others, Wants};
use krm_merge_core::merge::merge;
use krm_merge_core::patch::{Missing, lower};
use krm_merge_core::policy::NewElements;
use krm_package::resource::{IDENTITY, Identity};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Inference, Types, builtin};
use krm_tree::child::{By, find};
use krm_tree::path::{FieldPath, KeyStep, Step};
use krm_tree::tree::{Tree, View};
use krm_yaml::{Kind, NodeRef};

use crate::compared::Compared;
use crate::objects::{Object, identity};
use crate::values::Value;
use crate::verdict::{KnownBy, Verdict};

/// Something that a patch says, and what the new release does to it.
#[derive(Debug)]
pub struct Said {
    /// The place in the object.
    pub place: FieldPath<'static>,
    /// The bytes of it in the patch.
    pub span: Range<usize>,
    /// What the new release does.
    pub verdict: Verdict,
}

/// The place of an object's type.
fn cursor<'t>(types: &'t Types<'t>, object: NodeRef<'_>) -> Cursor<'t> {
    match identity(object) {
        Some(Identity { api_version, kind, .. }) if builtin::root(api_version, kind).is_some() => {
            types.root(api_version, kind, Mode::Strategic)
        }
        _ => Cursor::unknown(Inference::Never),
    }
}

/// An object after a patch; `None` if the patch deletes it.
///
/// # Errors
/// The patch is not for such an object; the message says why.
pub fn patched(object: &Object, patch: NodeRef<'_>) -> Result<Option<Object>, String> {
    let Some(root) = object.node() else { return Ok(None) };
    let types = Types::new([], Inference::Never);
    let lowered = lower(patch, Some(View::Node(root)), cursor(&types, root), Missing::Made);
    let change = lowered.map_err(|e| e.to_string())?.change;
    let merged = merge(Some(Tree::Node(root)), &change, NewElements::Prepend).map_err(|e| e.to_string())?;
    Ok(merged.tree.as_ref().and_then(Tree::view).and_then(|view| object.with(&Value::of_view(view))))
}

/// What a new release does to each thing that a patch says of an object. `old` is the object of the old release, if it has it.
///
/// # Errors
/// The patch is not for such an object; the message says why.
pub fn review(patch: NodeRef<'_>, old: Option<&Object>, new: &Object) -> Result<Vec<Said>, String> {
    let types = Types::new([], Inference::Never);
    let Some(updated) = new.node() else { return Ok(Vec::new()) };
    let original = old.and_then(Object::node);
    let cursor = cursor(&types, updated);
    let mut leaves: Vec<Leaf<'_>> = Vec::new();
    let mut known = BTreeSet::new();
    // What one release has already is not asked of it, so each release is asked, and then none.
    for side in [original, Some(updated), None] {
        let lowered = lower(patch, side.map(View::Node), cursor, Missing::Made).map_err(|e| e.to_string())?;
        let mut found = Vec::new();
        let walk = Walk { keys: &[], span: patch.start()..patch.end() };
        walk.add(&lowered.change, &mut FieldPath::default(), &mut found);
        let new: Vec<Leaf<'_>> = found.into_iter().filter(|leaf| !known.contains(&leaf.id())).collect();
        known.extend(new.iter().map(Leaf::id));
        leaves.extend(new);
    }
    let at = |root: Option<NodeRef<'_>>, path: &FieldPath<'_>| root.and_then(|root| find(root, path)).map(Value::of);
    let is_lost = |leaf: &&Leaf<'_>| {
        matches!(leaf.says, Says::Element)
            && at(original, &leaf.path).is_some()
            && at(Some(updated), &leaf.path).is_none()
    };
    let lost: Vec<String> = leaves.iter().filter(is_lost).map(|leaf| leaf.path.keyed()).collect();
    let is_below = |leaf: &Leaf<'_>| {
        let path = leaf.path.keyed();
        lost.iter().any(|above| path.starts_with(above.as_str()) && path.len() > above.len())
    };
    let mut said = Vec::new();
    for leaf in leaves.iter().filter(|leaf| !is_below(leaf)) {
        let [was, is] = [original, Some(updated)].map(|root| at(root, &leaf.path));
        let verdict = match &leaf.says {
            Says::Element if is_lost(&leaf) => Verdict::Gone { moved_to: None, known_by: KnownBy::Chart },
            Says::Element => continue,
            Says::Nothing => match (was, is) {
                (Some(_), None) => Verdict::Gone { moved_to: None, known_by: KnownBy::Chart },
                (None, None) => Verdict::Nowhere,
                (_, Some(_)) => Verdict::Holds,
            },
            Says::Value(ours) => compared(was.as_ref(), is.as_ref(), ours, leaf.path.field().unwrap_or_default()),
        };
        said.push(Said { place: owned(&leaf.path), span: leaf.span.clone(), verdict });
    }
    said.sort_by_key(|said| said.span.start);
    Ok(said)
}

/// The verdict on a value of a patch.
pub fn compared(original: Option<&Value>, updated: Option<&Value>, ours: &Value, name: &str) -> Verdict {
    Compared { original, updated, ours, name, lost_with: None, siblings: Vec::new() }.verdict()
}

/// A path that lives on.
pub fn owned(path: &FieldPath<'_>) -> FieldPath<'static> {
    let key = |key: &KeyStep<'_>| KeyStep {
        name: key.name.clone().into_owned().into(),
        value: key.value.clone().into_owned().into(),
        default: key.default.as_ref().map(krm_tree::path::KeyDefault::owned),
    };
    let mut out = FieldPath::default();
    for step in path.steps() {
        let step = match step {
            Step::Field(name) => Step::Field(name.clone().into_owned().into()),
            Step::Value(value) => Step::Value(value.clone().into_owned().into()),
            Step::Element(keys) => Step::Element(keys.iter().map(key).collect()),
            Step::Index(at) => Step::Index(*at),
        };
        out.push(step, None);
    }
    out
}

/// Something that a patch says.
struct Leaf<'a> {
    path: FieldPath<'a>,
    span: Range<usize>,
    says: Says,
}

enum Says {
    /// The place gets a value.
    Value(Value),
    /// The place goes.
    Nothing,
    /// Something of an element, which its merge key names.
    Element,
}

impl Leaf<'_> {
    /// What tells it from others: its place in the patch, and the elements that it is in. An anchor may have several.
    fn id(&self) -> (usize, bool, String) {
        let name = |step: &Step<'_>| match step {
            Step::Field(name) | Step::Value(name) => name.to_string(),
            Step::Element(keys) => keys.first().map(|key| key.value.to_string()).unwrap_or_default(),
            Step::Index(at) => at.to_string(),
        };
        let names: Vec<String> = self.path.steps().map(name).collect();
        (self.span.start, matches!(self.says, Says::Element), names.join("\0"))
    }
}

/// A walk through a change.
struct Walk<'w> {
    /// The merge keys of the element that is looked at, which say which one it is.
    keys: &'w [&'w str],
    span: Range<usize>,
}

impl Walk<'_> {
    fn add<'a>(&self, change: &Change<'a>, path: &mut FieldPath<'a>, out: &mut Vec<Leaf<'a>>) {
        let says = match &change.wants {
            Wants::Same => return,
            Wants::Nothing => Says::Nothing,
            Wants::Value(node) | Wants::Text(node) => Says::Value(Value::of(*node)),
            Wants::Made(made) => Says::Value(Value::string(&made.value)),
            Wants::Inside(inside) if inside.others == Others::Go || inside.by == By::Index => {
                let made = merge(None, change, NewElements::Append).ok().and_then(|made| made.tree);
                let empty =
                    if inside.like.resolve().kind() == Kind::List { Value::List(Vec::new()) } else { Value::empty() };
                Says::Value(made.as_ref().and_then(Tree::view).map_or(empty, Value::of_view))
            }
            Wants::Inside(inside) => {
                let keys: Vec<&str> = inside.by.keys().iter().map(|key| key.name).collect();
                for child in &inside.children {
                    let step = child.id.step(&inside.by);
                    if matches!(&step, Step::Field(name) if self.keys.contains(&&**name)) {
                        continue;
                    }
                    let own = child.node.map(|(key, value)| key.map_or(value.start(), NodeRef::start)..value.end());
                    let walk = Walk { keys: &keys, span: own.unwrap_or_else(|| self.span.clone()) };
                    path.push(step, None);
                    if !keys.is_empty() && !child.change.removes() {
                        out.push(Leaf { path: path.clone(), span: walk.span.clone(), says: Says::Element });
                    }
                    // The identity says which object the patch is for.
                    if !IDENTITY.iter().any(|names| path.is_fields(names)) {
                        walk.add(&child.change, path, out);
                    }
                    path.pop();
                }
                return;
            }
        };
        out.push(Leaf { path: path.clone(), span: self.span.clone(), says });
    }
}
