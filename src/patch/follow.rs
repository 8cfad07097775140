//! One change after another: two elements of a patch that have one merge key.
//!
//! Applying the two in turn would need dest twice; composed, they are one change like any other.

use std::collections::HashMap;

use crate::change::{By, Change, Child, ChildId, Inside, Others, Wants};

/// Lets a second change of one node follow the first, so that applying the result is applying both in turn.
pub(super) fn follow<'a>(first: &mut Change<'a>, second: Change<'a>) {
    first.notes.behind = second.notes.behind.or(first.notes.behind);
    match (&mut first.wants, second.wants) {
        (_, Wants::Same) => {}
        (Wants::Inside(a), Wants::Inside(b)) if is_alike(a, &b) => follow_inside(a, b),
        (Wants::Value(list), Wants::Inside(b)) if list.is_list() && matches!(b.by, By::Value) => {
            let children = list.elements().filter_map(|e| Some((ChildId::Value(e.scalar()?), e)));
            let children = children.map(|(id, e)| Child {
                id,
                node: Some((None, e)),
                change: Change::patch(Wants::Value(e), None),
            });
            let mut a = Inside { others: Others::Go, ..Inside::of(*list, By::Value, children.collect()) };
            follow_inside(&mut a, b);
            first.wants = Wants::Inside(a);
        }
        (Wants::Nothing | Wants::Value(_) | Wants::Inside(_), Wants::Inside(mut b)) => {
            from_nothing(&mut b);
            first.wants = Wants::Inside(b);
        }
        (_, second) => first.wants = second,
    }
}

/// Whether two looks are into the same kind of map or list.
fn is_alike(a: &Inside<'_>, b: &Inside<'_>) -> bool {
    a.like.is_map() == b.like.is_map() && std::mem::discriminant(&a.by) == std::mem::discriminant(&b.by)
}

fn follow_inside<'a>(first: &mut Inside<'a>, second: Inside<'a>) {
    if !second.order.is_empty() {
        first.order = second.order;
    }
    match second.others {
        Others::Go => {
            first.others = Others::Go;
            // What the second one neither sets nor retains is gone, whatever the first one did.
            first.children.retain(|child| second.children.iter().any(|c| c.id == child.id));
        }
        Others::Once if first.others == Others::Stay => first.others = Others::Once,
        Others::Once | Others::Stay => {}
    }
    let mut known: HashMap<ChildId<'a>, usize> =
        first.children.iter().enumerate().map(|(i, child)| (child.id.clone(), i)).collect();
    for child in second.children {
        match known.get(&child.id) {
            // A directive about a list that has just gone has nothing to speak of.
            Some(&at) if child.node.is_none() && matches!(first.children[at].change.wants, Wants::Nothing) => {}
            Some(&at) => {
                let known = &mut first.children[at];
                known.node = known.node.or(child.node);
                follow(&mut known.change, child.change);
            }
            None => {
                known.insert(child.id.clone(), first.children.len());
                first.children.push(child);
            }
        }
    }
}

/// Asks a look for what it makes of nothing: nothing that dest has stays below it.
fn from_nothing(inside: &mut Inside<'_>) {
    inside.others = Others::Go;
    for child in &mut inside.children {
        match &mut child.change.wants {
            Wants::Inside(below) => from_nothing(below),
            wants @ Wants::Same => *wants = Wants::Nothing,
            Wants::Nothing | Wants::Value(_) => {}
        }
    }
}
