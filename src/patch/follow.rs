//! One change after another: two elements of a patch that have one merge key.
//!
//! Applying the two in turn would need dest twice; composed, they are one change like any other.

use std::collections::HashMap;

use crate::change::{By, Change, Child, ChildId, Inside, Others, Wants};
use crate::yaml::NodeRef;

/// Lets a second change of one node follow the first, so that applying the result is applying both in turn.
pub(super) fn follow<'a>(first: &mut Change<'a>, second: Change<'a>) {
    first.notes.behind = second.notes.behind.or(first.notes.behind);
    match second.wants {
        Wants::Same => {}
        Wants::Inside(mut second) => {
            let before = std::mem::replace(&mut first.wants, Wants::Same);
            let is_untouched = matches!(before, Wants::Same);
            first.wants = Wants::Inside(match looked_into(before, &second) {
                Some(mut inside) => {
                    follow_inside(&mut inside, second);
                    inside
                }
                None if is_untouched => second,
                None => {
                    from_nothing(&mut second);
                    second
                }
            });
        }
        second => first.wants = second,
    }
}

/// What is wanted, as a look that the second one can follow: into the same kind of map or list, by the same identities. `None` where nothing
/// of it is left to be looked into.
fn looked_into<'a>(first: Wants<'a>, second: &Inside<'a>) -> Option<Inside<'a>> {
    if matches!(second.by, By::Index) {
        return None;
    }
    let is_alike = |node: NodeRef<'a>| node.resolve().kind() == second.like.resolve().kind();
    let (like, children): (_, Vec<Child<'a>>) = match first {
        Wants::Same | Wants::Nothing => return None,
        Wants::Inside(inside) if !is_alike(inside.like) => return None,
        Wants::Inside(inside) if !matches!(inside.by, By::Index) => return Some(inside),
        // A list that is replaced, by place: its elements have identities all the same.
        Wants::Inside(inside) => {
            let id = |child: Child<'a>| Some(Child { id: second.by.id_of(child.node?.1)?, ..child });
            (inside.like, inside.children.into_iter().filter_map(id).collect())
        }
        Wants::Value(value) if !is_alike(value) => return None,
        Wants::Value(value) => {
            let whole = |id, key, value| Child {
                id,
                node: Some((key, value)),
                change: Change::patch(Wants::Value(value), None),
            };
            let fields = value.entries().map(|(key, value)| whole(ChildId::Field(key.string()), Some(key), value));
            let elements = value.elements().filter_map(|e| Some(whole(second.by.id_of(e)?, None, e)));
            (value, fields.chain(elements).collect())
        }
    };
    let mut inside = Inside { others: Others::Go, ..Inside::of(like, second.by.clone(), children) };
    order_as_written(&mut inside);
    Some(inside)
}

fn follow_inside<'a>(first: &mut Inside<'a>, second: Inside<'a>) {
    let is_ordered = !second.order.is_empty();
    if is_ordered {
        first.order = second.order;
    }
    let had_gone = first.others == Others::Go;
    match second.others {
        Others::Go => {
            first.others = Others::Go;
            // What the second one neither sets nor retains is gone, whatever the first one did.
            first.children.retain(|child| second.children.iter().any(|c| c.id == child.id));
        }
        Others::Once if first.others == Others::Stay => first.others = Others::Once,
        Others::Once | Others::Stay => {}
    }
    // Of two with one identity, which a list that is replaced may have, the first is meant, as in dest.
    let mut known: HashMap<ChildId<'a>, usize> =
        first.children.iter().enumerate().rev().map(|(i, child)| (child.id.clone(), i)).collect();
    for mut child in second.children {
        let at = known.get(&child.id).copied();
        let is_gone = at.map_or(had_gone, |at| matches!(first.children[at].change.wants, Wants::Nothing));
        match at {
            // A directive about what has just gone has nothing to speak of.
            _ if is_gone && child.node.is_none() => {}
            Some(at) => {
                let known = &mut first.children[at];
                known.node = known.node.or(child.node);
                follow(&mut known.change, child.change);
            }
            None => {
                if is_gone && let Wants::Inside(inside) = &mut child.change.wants {
                    from_nothing(inside);
                }
                // A list that stands for the whole has its own order, whatever dest's was.
                if had_gone && first.like.is_list() && !is_ordered {
                    first.order.push(child.id.clone());
                }
                known.insert(child.id.clone(), first.children.len());
                first.children.push(child);
            }
        }
    }
}

/// Asks a look for what it makes of nothing: nothing that dest has stays below it, and directives have nothing to speak of.
fn from_nothing(inside: &mut Inside<'_>) {
    inside.others = Others::Go;
    inside.children.retain(|child| child.node.is_some());
    order_as_written(inside);
    for child in &mut inside.children {
        if let Wants::Inside(below) = &mut child.change.wants {
            from_nothing(below);
        }
    }
}

/// A list that stands for the whole has its own order, whatever dest's was.
fn order_as_written(inside: &mut Inside<'_>) {
    if inside.like.is_list() && inside.order.is_empty() {
        inside.order = inside.children.iter().map(|child| child.id.clone()).collect();
    }
}
