//! [`Change`]: what the other side asks of one node of dest, whichever mode it comes from.
//!
//! A patch is a difference. TwoWay and Strategic lower a patch to a `Change` (`patch.rs`), ThreeWay finds the `Change` from original to
//! updated, and one walker (`merge.rs`) applies it. So no rule of merging is written twice, and the walker knows no mode.

use std::collections::HashSet;

use crate::child::{By, ChildId, ids_of_both};
use crate::host::{holds_protected, is_protected};
use crate::path::FieldPath;
use crate::tree::View;
use crate::yaml::NodeRef;

/// What the other side asks of one node.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// What it thinks that dest holds.
    pub expects: Expects<'a>,
    /// What shall stand there.
    pub wants: Wants<'a>,
    /// What shall become of the comments that are the node's own.
    pub notes: Notes<'a>,
}

impl<'a> Change<'a> {
    /// A patch's change, which expects nothing, with the comment that it has on the line.
    pub fn patch(wants: Wants<'a>, comment: Option<&'a str>) -> Self {
        Self { expects: Expects::Anything, wants, notes: Notes::of_line(comment) }
    }
}

impl<'a> Change<'a> {
    /// Lets fields stay as dest has them, whatever is asked of them.
    pub fn keep_fields(&mut self, paths: &[&[&'static str]]) {
        for path in paths {
            self.keep_field(path);
        }
    }

    fn keep_field(&mut self, path: &[&'static str]) {
        let (Some((name, below)), Wants::Inside(inside)) = (path.split_first(), &mut self.wants) else { return };
        let id = ChildId::Field(name);
        match inside.children.iter_mut().find(|c| c.id == id) {
            Some(child) if !below.is_empty() && matches!(child.change.wants, Wants::Inside(_)) => {
                child.change.keep_field(below);
            }
            Some(child) => child.change = Change::patch(Wants::Same, None),
            None if inside.others == Others::Go => {
                inside.children.push(Child { id, node: None, change: Change::patch(Wants::Same, None) });
            }
            None => {}
        }
    }

    /// Whether it asks for more than comments.
    pub fn asks_for_values(&self) -> bool {
        match &self.wants {
            Wants::Same => false,
            Wants::Inside(inside) if matches!(self.expects, Expects::Exactly(Some(_))) => {
                inside.emptied == Emptied::Goes
                    || inside.children.iter().any(|c| c.change.asks_for_values())
                    || inside.asks_for_order()
                    || !inside.renamed.is_empty()
            }
            _ => true,
        }
    }

    /// The places below at which it asks for another value, in their order, by key.
    pub fn places(&self) -> Vec<String> {
        fn collect<'a>(change: &Change<'a>, path: &mut FieldPath<'a>, out: &mut Vec<String>) {
            match &change.wants {
                Wants::Inside(inside) if matches!(change.expects, Expects::Exactly(Some(_))) => {
                    if inside.asks_for_order() {
                        out.push(path.shown());
                    }
                    for (name, _) in &inside.renamed {
                        path.push(ChildId::Field(name).step(&By::Field), None);
                        out.push(path.shown());
                        path.pop();
                    }
                    for child in &inside.children {
                        path.push(child.id.step(&inside.by), None);
                        collect(&child.change, path, out);
                        path.pop();
                    }
                }
                Wants::Same => {}
                _ => out.push(path.shown()),
            }
        }
        let mut out = Vec::new();
        collect(self, &mut FieldPath::default(), &mut out);
        out
    }

    /// Whether it asks for a value that is new or other than before. One that only removes is at peace with a side that
    /// removed all.
    pub fn adds_values(&self) -> bool {
        match &self.wants {
            Wants::Same | Wants::Nothing => false,
            Wants::Value(_) | Wants::Text(_) => true,
            Wants::Inside(inside) => {
                !matches!(self.expects, Expects::Exactly(Some(_)))
                    || inside.children.iter().any(|c| c.change.adds_values())
                    || !inside.renamed.is_empty()
            }
        }
    }
}

/// What shall become of the comments of a node; `None` where the other side says nothing of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes<'a> {
    /// The comment lines above it.
    pub above: Option<NoteChange<'a>>,
    /// The comment on its line.
    pub behind: Option<NoteChange<'a>>,
}

impl<'a> Notes<'a> {
    /// A patch's: the comment that it has on the line, whatever dest has there.
    pub fn of_line(comment: Option<&'a str>) -> Self {
        Self { above: None, behind: comment.map(|wants| NoteChange { expects: None, wants }) }
    }
}

/// A comment that the other side wants otherwise.
#[derive(Clone, Copy, Debug)]
pub struct NoteChange<'a> {
    /// The comment for which it asks this; another one in dest stays. `None`: whatever dest has.
    pub expects: Option<&'a str>,
    /// The comment, empty for none.
    pub wants: &'a str,
}

/// What the other side thinks that dest holds.
#[derive(Clone, Copy, Debug)]
pub enum Expects<'a> {
    /// A patch does not say, so it cannot conflict.
    Anything,
    /// This value; `None`: nothing. Another value in dest, unless it is the wanted one, is a conflict.
    Exactly(Option<NodeRef<'a>>),
}

impl<'a> Expects<'a> {
    /// The value that it thinks is there.
    pub fn value(self) -> Option<NodeRef<'a>> {
        match self {
            Self::Anything => None,
            Self::Exactly(value) => value,
        }
    }

    /// What it thinks of a field of a map.
    #[must_use]
    pub fn of_field(self, name: &str) -> Self {
        match self {
            Self::Anything => Self::Anything,
            Self::Exactly(map) => Self::Exactly(map.and_then(|map| map.get(name))),
        }
    }

    /// Whether dest holds something else than the other side thinks. A null is something else than no field: it says that there shall be
    /// none.
    pub fn finds_another(self, dest: Option<View<'_, 'a>>) -> bool {
        match (self, dest) {
            (Self::Anything, _) | (Self::Exactly(None), None) => false,
            (Self::Exactly(Some(value)), Some(dest)) => !dest.same(value),
            (Self::Exactly(_), _) => true,
        }
    }
}

/// What shall stand in the place of a node.
#[derive(Clone, Debug)]
pub enum Wants<'a> {
    /// What stands there: only a comment is asked for.
    Same,
    /// Nothing.
    Nothing,
    /// This value, whole.
    Value(NodeRef<'a>),
    /// This value as it is written, with its comments: dest's text is what the other side changed.
    Text(NodeRef<'a>),
    /// A map or list, of which only these children are asked for.
    Inside(Inside<'a>),
}

impl<'a> Wants<'a> {
    /// Nothing at a path, but for what dest has of the host there: that stays.
    pub fn nothing_at(path: &FieldPath<'a>, dest: Option<View<'_, 'a>>, expects: Expects<'a>) -> Self {
        let kept = dest.filter(|dest| !path.is_empty() && holds_protected(path, *dest));
        let Some(like) = kept.and_then(View::like) else { return Self::Nothing };
        let all = Inside { others: Others::Go, ..Inside::nothing_of(like.resolve()) };
        Self::Inside(all.sparing(path, dest, expects))
    }
}

/// A look inside a map or list.
#[derive(Clone, Debug)]
pub struct Inside<'a> {
    /// The other side's map or list. Where dest has none it is put, cut down to the children that are asked for.
    pub like: NodeRef<'a>,
    /// How its children are told apart.
    pub by: By<'a>,
    /// What is asked of them, in the order of `like`; those that `like` does not have come last.
    pub children: Vec<Child<'a>>,
    /// What becomes of dest's other children.
    pub others: Others,
    /// What becomes of the map or list when nothing is left in it.
    pub emptied: Emptied,
    /// In which order they stand.
    pub order: Order<'a>,
    /// Fields that get another key, each by its name in dest.
    pub renamed: Vec<(&'a str, NodeRef<'a>)>,
}

impl<'a> Inside<'a> {
    /// A look inside a map or list that merges, at these children.
    pub fn of(like: NodeRef<'a>, by: By<'a>, children: Vec<Child<'a>>) -> Self {
        Self {
            like,
            by,
            children,
            others: Others::Stay,
            emptied: Emptied::Stays,
            order: Order::OfDest,
            renamed: Vec::new(),
        }
    }

    /// A look inside a map of which nothing is asked yet.
    pub fn nothing_of(like: NodeRef<'a>) -> Self {
        Self::of(like, By::Field, Vec::new())
    }

    /// Where the others go: lets those of dest that are the host's stay, and names the rest.
    #[must_use]
    pub fn sparing(mut self, path: &FieldPath<'a>, dest: Option<View<'_, 'a>>, expects: Expects<'a>) -> Self {
        let Some(dest) = dest.filter(|dest| self.others == Others::Go && holds_protected(path, *dest)) else {
            return self;
        };
        let asked: HashSet<ChildId<'a>> = self.children.iter().map(|child| child.id.clone()).collect();
        for (name, value) in dest.fields() {
            let id = ChildId::Field(name);
            if is_protected(path, name) || asked.contains(&id) {
                continue;
            }
            let (mut below, expects) = (path.clone(), expects.of_field(name));
            below.push(id.step(&self.by), None);
            let wants = Wants::nothing_at(&below, Some(value), expects);
            self.children.push(Child { id, node: None, change: Change { expects, wants, notes: Notes::default() } });
        }
        self.others = Others::Stay;
        self
    }

    /// Whether the other side put elements of a list into another order. In a map the order means nothing.
    pub fn asks_for_order(&self) -> bool {
        self.by != By::Field && self.has_new_order()
    }

    /// Whether the other side has children that original lacks.
    pub fn adds(&self) -> bool {
        self.children.iter().any(|child| matches!(child.change.expects, Expects::Exactly(None)))
    }

    /// Whether the other side put children into another order.
    pub fn has_new_order(&self) -> bool {
        let Order::From(Some(original)) = &self.order else { return false };
        let Some([was, is]) = ids_of_both([*original, self.like], &self.by) else { return false };
        let [in_original, in_like] = [&was, &is].map(|ids| ids.iter().collect::<HashSet<_>>());
        let was = was.iter().filter(|id| in_like.contains(id));
        was.ne(is.iter().filter(|id| in_original.contains(id)))
    }
}

/// In which order the children of a map or list shall stand.
#[derive(Clone, Debug)]
pub enum Order<'a> {
    /// As dest has them; what is new goes where the user wants new elements.
    OfDest,
    /// The named ones in this order, and the others relative to their neighbours: `$setElementOrder`.
    Asked(Vec<ChildId<'a>>),
    /// The order is merged like a value: it changed from that of this map or list to that of `like`.
    From(Option<NodeRef<'a>>),
}

impl<'a> Order<'a> {
    /// The order of a `$setElementOrder`; an empty one asks for nothing.
    pub fn asked(ids: Vec<ChildId<'a>>) -> Self {
        if ids.is_empty() { Self::OfDest } else { Self::Asked(ids) }
    }
}

/// What becomes of the children of dest that are not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They stay: a merge.
    Stay,
    /// They stay, and a value that stands several times stays once: a set, as `kubectl patch` merges it.
    Once,
    /// They go: `$patch: replace`.
    Go,
}

/// What becomes of a map or list in which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// It stays, as `{}` or `[]`: to Kubernetes `emptyDir: {}` is not the same as none.
    Stays,
    /// It goes: the other side dropped it whole, and `like` is what it dropped.
    Goes,
}

/// What is asked of one child.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Which child.
    pub id: ChildId<'a>,
    /// The other side's key and value, where it has the child.
    pub node: Option<(Option<NodeRef<'a>>, NodeRef<'a>)>,
    /// What is asked of it.
    pub change: Change<'a>,
}

impl<'a> Child<'a> {
    /// Whether it is an element that the other side calls otherwise than dest.
    pub fn is_renamed(&self, by: &By<'a>) -> bool {
        self.node.and_then(|(_, element)| by.id_of(element)).is_some_and(|id| id != self.id)
    }
}
