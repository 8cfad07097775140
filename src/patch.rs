//! From a patch and its directives to a [`Change`].
//!
//! Dest is asked only for what a patch alone cannot say: whether an unknown list merges (inference looks at all sides) and which element a
//! patch means that names it by fewer keys than the list has.

use std::collections::HashMap;

use crate::change::{By, Change, Child, ChildId, Emptied, Inside, Notes, Others, Wants};
use crate::merge::{Notice, Warning};
use crate::path::FieldPath;
use crate::schema::{Cursor, ListKind, element_key, list_kind, patch_key};
use crate::yaml::{Error, NodeRef, Place, comment_text};

/// The directive that says how a map, or as an element of a list the list, is patched.
const PATCH: &str = "$patch";

/// The values of `$patch`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// What a patch asks of dest, and what the user should hear of.
#[derive(Debug)]
pub struct Lowered<'a> {
    /// The change.
    pub change: Change<'a>,
    /// Lists that could not be merged by their keys.
    pub warnings: Vec<Warning<'a>>,
}

/// Lowers a two-way source: what it holds is set, null removes, lists merge by their kind.
///
/// # Errors
/// A repeated key in the patch; a `$patch` whose value is none of `merge`, `replace` and `delete`. Each with its place.
pub fn lower<'a>(patch: NodeRef<'a>, dest: Option<NodeRef<'a>>, cursor: Cursor<'a>) -> Result<Lowered<'a>, Error> {
    let mut lowering = Lowering { path: FieldPath::default(), warnings: Vec::new() };
    let change = lowering.node(patch, dest, cursor, Others::Stay)?;
    Ok(Lowered { change, warnings: lowering.warnings })
}

struct Lowering<'a> {
    path: FieldPath<'a>,
    warnings: Vec<Warning<'a>>,
}

impl<'a> Lowering<'a> {
    fn node(
        &mut self,
        patch: NodeRef<'a>,
        dest: Option<NodeRef<'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Change<'a>, Error> {
        let wants = if patch.is_map() {
            match directive(patch)? {
                Some(Directive::Delete) => Wants::Nothing,
                Some(Directive::Replace) => self.map(patch, dest, cursor, Others::Go)?,
                Some(Directive::Merge) | None => self.map(patch, dest, cursor, others)?,
            }
        } else if patch.is_list() {
            self.list(patch, dest, cursor, others)?
        } else if patch.is_null() {
            Wants::Nothing
        } else {
            Wants::Value(patch)
        };
        Ok(Change::patch(wants, None))
    }

    fn map(
        &mut self,
        patch: NodeRef<'a>,
        dest: Option<NodeRef<'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        if let Some(key) = patch.duplicate_key() {
            return Err(key.error(format!("the key `{}` must stand once in a map", key.string())));
        }
        let dest = dest.filter(|d| d.is_map());
        let mut children = Vec::new();
        for (key, value) in patch.entries() {
            let name = key.string();
            if name == PATCH {
                continue;
            }
            let id = ChildId::Field(name);
            self.path.push(id.step(&By::Field), None);
            let mut change = self.node(value, dest.and_then(|d| d.get(name)), cursor.field(name), others)?;
            change.notes = Notes::of_line(comment_text(&Place::of_entry(key, value), value));
            self.path.pop();
            children.push(Child { id, node: Some((Some(key), value)), change });
        }
        Ok(Wants::Inside(Inside { like: patch, by: By::Field, children, others, emptied: Emptied::Stays }))
    }

    fn list(
        &mut self,
        patch: NodeRef<'a>,
        dest: Option<NodeRef<'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        match list_directive(patch)? {
            Some(Directive::Delete) => return Ok(Wants::Nothing),
            by @ Some(Directive::Replace) => return self.atomic(patch, cursor, by),
            Some(Directive::Merge) | None if others == Others::Go => {
                return self.atomic(patch, cursor, Some(Directive::Replace));
            }
            Some(Directive::Merge) | None => {}
        }
        let dest = dest.filter(|d| d.is_list());
        let of_patch: Vec<NodeRef<'a>> = patch.elements().filter(|e| !e.is_map() || !is_list_directive(*e)).collect();
        let sides: Vec<Vec<NodeRef<'a>>> =
            [Some(of_patch), dest.map(|d| d.elements().collect())].into_iter().flatten().collect();
        let kind = list_kind(cursor, &sides).unwrap_or_else(|unkeyed| {
            let warning = Warning {
                path: self.path.clone(),
                notice: Notice::Unkeyed(unkeyed.reason),
                dest,
                proposed: Some(patch),
            };
            self.warnings.push(warning);
            ListKind::Atomic
        });
        match kind {
            ListKind::Atomic => self.atomic(patch, cursor, None),
            ListKind::Set => Ok(set(patch)),
            ListKind::Map(keys) => {
                let mut children: Vec<Child<'a>> = Vec::new();
                let mut seen: HashMap<_, usize> = HashMap::new();
                let (dest_keys, dest_elements): (Vec<_>, Vec<NodeRef<'a>>) = dest
                    .into_iter()
                    .flat_map(NodeRef::elements)
                    .filter_map(|e| Some((element_key(e, &keys)?, e)))
                    .unzip();
                let mut in_dest: HashMap<_, NodeRef<'a>> = HashMap::new();
                for (key, element) in dest_keys.iter().zip(dest_elements) {
                    in_dest.entry(key.clone()).or_insert(element);
                }
                let by = By::Keys(keys.clone());
                for element in patch.elements() {
                    let Some(key) = patch_key(element, &keys, &dest_keys) else { continue };
                    let id = ChildId::Key(key.clone());
                    self.path.push(id.step(&by), None);
                    let change = self.node(element, in_dest.get(&key).copied(), cursor, Others::Stay)?;
                    self.path.pop();
                    // Two elements of one key are merged one after the other.
                    match seen.get(&key) {
                        Some(&first) => follow(&mut children[first].change, change),
                        None => {
                            seen.insert(key, children.len());
                            children.push(Child { id, node: Some((None, element)), change });
                        }
                    }
                }
                Ok(Wants::Inside(Inside { like: patch, by, children, others, emptied: Emptied::Stays }))
            }
        }
    }

    /// A list that replaces dest's: as it stands, unless a directive has to be taken out of it. `by` is the directive that says so;
    /// under `$patch: replace` any further directive in the list is ignored.
    fn atomic(&mut self, patch: NodeRef<'a>, cursor: Cursor<'a>, by: Option<Directive>) -> Result<Wants<'a>, Error> {
        if !has_directives(patch) {
            return Ok(Wants::Value(patch));
        }
        let mut children = Vec::new();
        for element in patch.elements() {
            if element.is_map() && is_list_directive(element) {
                continue;
            }
            if element.is_map() && directive(element)? == Some(Directive::Delete) {
                if by == Some(Directive::Replace) {
                    continue;
                }
                return Err(element.error(format!(
                    "an element with `$patch: delete` must stand in a list that merges by a key, which `{}` does not",
                    self.path
                )));
            }
            let mut change = if has_directives(element) {
                self.node(element, None, cursor, Others::Go)?
            } else {
                Change::patch(Wants::Value(element), None)
            };
            change.notes = Notes::of_line(comment_text(&Place::of_element(patch, element), element));
            children.push(Child { id: ChildId::Index(children.len()), node: Some((None, element)), change });
        }
        Ok(Wants::Inside(Inside { like: patch, by: By::Index, children, others: Others::Go, emptied: Emptied::Stays }))
    }
}

fn set(patch: NodeRef<'_>) -> Wants<'_> {
    let mut children = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for element in patch.elements() {
        let Some(value) = element.scalar() else { continue };
        if seen.insert(value.clone()) {
            let comment = comment_text(&Place::of_element(patch, element), element);
            children.push(Child {
                id: ChildId::Value(value),
                node: Some((None, element)),
                change: Change::patch(Wants::Value(element), comment),
            });
        }
    }
    Wants::Inside(Inside { like: patch, by: By::Value, children, others: Others::Stay, emptied: Emptied::Stays })
}

/// Lets a second change of one node follow the first, so that applying the result is applying both in turn.
fn follow<'a>(first: &mut Change<'a>, second: Change<'a>) {
    first.notes.behind = second.notes.behind.or(first.notes.behind);
    match (&mut first.wants, second.wants) {
        (Wants::Inside(a), Wants::Inside(b)) if b.others == Others::Stay && a.like.is_map() == b.like.is_map() => {
            for child in b.children {
                match a.children.iter_mut().find(|c| c.id == child.id) {
                    Some(known) => follow(&mut known.change, child.change),
                    None => a.children.push(child),
                }
            }
        }
        // What the first one removed or replaced, the second one sets anew.
        (Wants::Nothing | Wants::Value(_), Wants::Inside(mut b)) => {
            b.others = Others::Go;
            first.wants = Wants::Inside(b);
        }
        (wants, second) => *wants = second,
    }
}

/// The `$patch` of a map.
fn directive(map: NodeRef<'_>) -> Result<Option<Directive>, Error> {
    let Some((_, value)) = map.entries().find(|(k, _)| k.string() == PATCH) else {
        return Ok(None);
    };
    match value.as_str() {
        Some("merge") => Ok(Some(Directive::Merge)),
        Some("replace") => Ok(Some(Directive::Replace)),
        Some("delete") => Ok(Some(Directive::Delete)),
        _ => Err(value.error(format!(
            "`$patch` must be `merge`, `replace` or `delete`, not \"{}\"",
            value.text().lines().next().unwrap_or_default()
        ))),
    }
}

/// Whether an element speaks of its list: `$patch` is all that it holds. Source: kyaml's `determineSequenceNodePatchStrategy`.
fn is_list_directive(element: NodeRef<'_>) -> bool {
    let mut entries = element.entries();
    entries.next().is_some_and(|(k, _)| k.string() == PATCH) && entries.next().is_none()
}

/// What the elements of a list say of the list itself.
fn list_directive(list: NodeRef<'_>) -> Result<Option<Directive>, Error> {
    match list.elements().find(|e| e.is_map() && is_list_directive(*e)) {
        Some(element) => directive(element),
        None => Ok(None),
    }
}

/// Whether any map of a subtree carries `$patch`.
fn has_directives(node: NodeRef<'_>) -> bool {
    fn any(node: NodeRef<'_>) -> bool {
        node.entries().any(|(k, v)| k.string() == PATCH || any(v)) || node.elements().any(any)
    }
    node.text().contains('$') && any(node)
}
