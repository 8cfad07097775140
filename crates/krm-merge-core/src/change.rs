//! [`Change`]: the request of the other side for one node of dest, in every mode.
//!
//! A patch is a difference. TwoWay and Strategic lower a patch to a `Change` (`patch.rs`), ThreeWay finds the `Change` from original to
//! updated, and one walker (`merge.rs`) applies it. So each merge rule is written once, and the walker knows no mode.

use krm_tree::child::{By, ChildId, ids_of_both};
use krm_tree::path::{FieldPath, Trail};
use krm_tree::remarks::Remarks;
use krm_tree::sides::{Side, Sides};
use krm_tree::slots::{BoxedSlots, Slots};
use krm_tree::tree::{Made, View};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{NodeRef, are_written_alike, same_comment};

use crate::host::{holds_protected, is_protected};

/// The request of the other side for one node of dest.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The value that the other side expects in dest.
    pub expects: Expects<'a>,
    /// The value that the other side wants there.
    pub wants: Wants<'a>,
    /// The comments that the other side wants for the node itself.
    pub notes: BoxedSlots<NoteChange<'a>>,
}

impl<'a> Change<'a> {
    /// The change of a patch, which expects nothing, with the patch's comment on the line.
    pub fn patch(wants: Wants<'a>, comment: Option<&'a str>) -> Self {
        Self { expects: Expects::Anything, wants, notes: notes_of_line(comment).into() }
    }
}

impl<'a> Change<'a> {
    /// Keeps fields as dest has them and where dest has them, even if the change asks for other values.
    pub fn keep_fields(&mut self, paths: &[&[&'static str]]) {
        for path in paths {
            self.keep_field(path);
        }
    }

    fn keep_field(&mut self, path: &[&'static str]) {
        let (Some((name, below)), Wants::Inside(inside)) = (path.split_first(), &mut self.wants) else { return };
        let id = ChildId::Field(name);
        if below.is_empty() {
            inside.order = Order::OfDest;
        }
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

    /// Whether it changes anything, comments included.
    pub fn asks(&self) -> bool {
        !self.notes.is_empty() || !matches!(self.wants, Wants::Same)
    }

    /// The lines above the node that belong to no child and that come: they are new there, or dest has those of original.
    pub fn gap_to_be(&self) -> Option<&'a str> {
        self.notes.gap.and_then(NoteChange::comes)
    }

    /// Asks for other lines above the node that belong to no child.
    pub fn set_gap(&mut self, gap: Option<NoteChange<'a>>) {
        self.notes = Notes { gap, ..*self.notes }.into();
    }

    /// Whether it removes the node.
    pub fn removes(&self) -> bool {
        matches!(self.wants, Wants::Nothing)
    }

    /// Whether it asks for more than comments.
    pub fn asks_for_values(&self) -> bool {
        match &self.wants {
            Wants::Same => false,
            Wants::Inside(inside) if matches!(self.expects, Expects::Exactly(Some(_))) => {
                inside.emptied == Emptied::Goes
                    || inside.children.iter().any(|c| c.change.asks_for_values())
                    || inside.asks_for_order()
                    || inside.new_names().next().is_some()
            }
            _ => true,
        }
    }

    /// The paths at which it asks for another value, by merge keys, in order.
    pub fn places(&self) -> Vec<String> {
        fn collect<'a>(change: &Change<'a>, path: &mut FieldPath<'a>, out: &mut Vec<String>) {
            match &change.wants {
                Wants::Inside(inside) if matches!(change.expects, Expects::Exactly(Some(_))) => {
                    if inside.asks_for_order() {
                        out.push(path.shown());
                    }
                    for names in inside.new_names() {
                        path.push(names.dest.step(&inside.by), None);
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
                // A new map of which no field is asked for: see [`Change::keep_fields`].
                Wants::Inside(inside)
                    if !inside.children.is_empty() && !inside.children.iter().any(|child| child.change.asks()) => {}
                _ => out.push(path.shown()),
            }
        }
        let mut out = Vec::new();
        collect(self, &mut FieldPath::default(), &mut out);
        out
    }

    /// Whether it asks for a value that is new or changed. A change that only removes does not conflict with a side that removed
    /// everything.
    pub fn adds_values(&self) -> bool {
        match &self.wants {
            Wants::Same | Wants::Nothing => false,
            Wants::Value(_) | Wants::Made(_) | Wants::Text(_) => true,
            Wants::Inside(inside) => {
                !matches!(self.expects, Expects::Exactly(Some(_)))
                    || inside.children.iter().any(|c| c.change.adds_values())
                    || inside.new_names().next().is_some()
            }
        }
    }
}

/// The comments that the other side wants for a node; `None` if it asks for no change of a comment. A change of the gap expects a text only if
/// both sides changed it, in different ways.
pub type Notes<'a> = Slots<Option<NoteChange<'a>>>;

/// The comments that a child lost or got.
pub fn notes_between<'a>(old: Remarks<'a>, new: Remarks<'a>) -> Notes<'a> {
    old.slots().zip(new.slots()).map(|(old, new)| {
        let (expects, wants) = old.zip(new)?;
        (!same_comment(expects, wants)).then_some(NoteChange { expects: Some(expects), wants })
    })
}

/// The request of a patch: its comment on the line replaces any comment of dest there.
pub fn notes_of_line(comment: Option<&str>) -> Notes<'_> {
    Notes { behind: comment.map(NoteChange::anyway), ..Notes::default() }
}

/// A change of a comment that the other side asks for.
#[derive(Clone, Copy, Debug)]
pub struct NoteChange<'a> {
    /// The comment that the change replaces: any other comment of dest stays. `None` replaces every comment.
    pub expects: Option<&'a str>,
    /// The new comment; empty if there is to be none.
    pub wants: &'a str,
}

impl<'a> NoteChange<'a> {
    /// A change that replaces every comment.
    pub fn anyway(wants: &'a str) -> Self {
        Self { expects: None, wants }
    }

    /// The new comment, if it replaces every comment.
    pub fn comes(self) -> Option<&'a str> {
        self.expects.is_none().then_some(self.wants)
    }
}

/// The value that the other side expects in dest.
#[derive(Clone, Copy, Debug)]
pub enum Expects<'a> {
    /// Any value: a patch expects nothing, so it cannot conflict.
    Anything,
    /// This value, or no value if it is `None`. Any other value in dest is a conflict, unless it is the wanted one.
    Exactly(Option<NodeRef<'a>>),
}

impl<'a> Expects<'a> {
    /// The expected value.
    pub fn value(self) -> Option<NodeRef<'a>> {
        match self {
            Self::Anything => None,
            Self::Exactly(value) => value,
        }
    }

    /// The expectation for a field of the expected map.
    #[must_use]
    pub fn of_field(self, name: &str) -> Self {
        match self {
            Self::Anything => Self::Anything,
            Self::Exactly(map) => Self::Exactly(map.and_then(|map| map.get(name))),
        }
    }

    /// Whether dest differs from what the other side expects. A null differs from an absent field: it says that the field must be absent.
    pub fn finds_another(self, dest: Option<View<'_, 'a>>) -> bool {
        match (self, dest) {
            (Self::Anything, _) | (Self::Exactly(None), None) => false,
            (Self::Exactly(Some(value)), Some(dest)) => !dest.same(value),
            (Self::Exactly(_), _) => true,
        }
    }
}

/// The value that the other side wants in the place of a node.
#[derive(Clone, Debug)]
pub enum Wants<'a> {
    /// The value that dest has: only a comment may change.
    Same,
    /// No value: the node is removed.
    Nothing,
    /// This value, whole.
    Value(NodeRef<'a>),
    /// This text, which no document holds.
    Made(Box<Made<'a>>),
    /// This value as it is written, with its comments: dest still has the text that the other side changed.
    Text(NodeRef<'a>),
    /// A map or list, with changes to only these children.
    Inside(Box<Inside<'a>>),
}

impl<'a> From<Inside<'a>> for Wants<'a> {
    fn from(inside: Inside<'a>) -> Self {
        Self::Inside(Box::new(inside))
    }
}

impl<'a> Wants<'a> {
    /// Removes the value at a path, but keeps dest's host annotations there.
    pub fn nothing_at(trail: &Trail<'a>, dest: Option<View<'_, 'a>>, expects: Expects<'a>) -> Self {
        let kept = dest.filter(|dest| !trail.is_empty() && holds_protected(trail, *dest));
        let Some(like) = kept.and_then(View::like) else { return Self::Nothing };
        let all = Inside { others: Others::Go, ..Inside::nothing_of(like.resolve()) };
        all.sparing(trail, dest, expects).into()
    }

    /// Whether it is a scalar that dest has in the same writing. `false` proves nothing: dest may have the value in another writing.
    pub fn is_there(&self, dest: Option<View<'_, 'a>>) -> bool {
        match (self, dest) {
            // One alias may stand for different values in two documents.
            (Self::Value(node), Some(View::Node(there))) => {
                !node.is_container() && are_written_alike(there.resolve(), node.resolve())
            }
            _ => false,
        }
    }
}

/// The changes inside of a map or list.
#[derive(Clone, Debug)]
pub struct Inside<'a> {
    /// The other side's map or list. If dest has none, this one is added, cut down to the requested children.
    pub like: NodeRef<'a>,
    /// How its children are identified.
    pub by: By<'a>,
    /// The requests for its children, in the order of `like`. Children that `like` lacks come last.
    pub children: Vec<Child<'a>>,
    /// What happens to dest's other children.
    pub others: Others,
    /// What happens to the map or list when nothing is left in it.
    pub emptied: Emptied,
    /// The order of the children.
    pub order: Order<'a>,
    /// The identity on each side of each child that a side renamed.
    pub names: Vec<Sides<ChildId<'a>>>,
    /// The children that are one conflict: dest's stay, or all of the other side's are taken.
    pub apart: Vec<ChildId<'a>>,
}

impl<'a> Inside<'a> {
    /// The changes of these children of a map or list that merges.
    pub fn of(like: NodeRef<'a>, by: By<'a>, children: Vec<Child<'a>>) -> Self {
        Self {
            like,
            by,
            children,
            others: Others::Stay,
            emptied: Emptied::Stays,
            order: Order::OfDest,
            names: Vec::new(),
            apart: Vec::new(),
        }
    }

    /// No changes inside of a map yet.
    pub fn nothing_of(like: NodeRef<'a>) -> Self {
        Self::of(like, By::Field, Vec::new())
    }

    /// If the change removes all other fields of dest's map, names them one by one instead, so that annotations of the host stay.
    #[must_use]
    pub fn sparing(mut self, trail: &Trail<'a>, dest: Option<View<'_, 'a>>, expects: Expects<'a>) -> Self {
        let Some(dest) = dest.filter(|dest| self.others == Others::Go && holds_protected(trail, *dest)) else {
            return self;
        };
        let asked: HashSet<ChildId<'a>> = self.children.iter().map(|child| child.id.clone()).collect();
        for (name, value) in dest.fields() {
            let id = ChildId::Field(name);
            if is_protected(trail, name) || asked.contains(&id) {
                continue;
            }
            let (mut below, expects) = (Trail::from(trail.path()), expects.of_field(name));
            below.push(id.step(&self.by), None);
            let wants = Wants::nothing_at(&below, Some(value), expects);
            self.children.push(Child {
                id,
                node: None,
                change: Change { expects, wants, notes: BoxedSlots::default() },
            });
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

    /// The names of the fields that get a new key. An element gets a new name as a change inside of it.
    pub fn new_names(&self) -> impl Iterator<Item = &Sides<ChildId<'a>>> {
        let is_new = |names: &&Sides<ChildId<'a>>| names.updated != names.original && names.updated != names.dest;
        self.names.iter().filter(|_| self.by == By::Field).filter(is_new)
    }

    /// The identities after the merge of the children with these identities on a side.
    pub fn names_after(&self, side: Side, ids: Vec<ChildId<'a>>) -> Vec<ChildId<'a>> {
        if self.names.is_empty() {
            return ids;
        }
        let mut renamed: HashMap<&ChildId<'a>, &Sides<ChildId<'a>>> = HashMap::with_capacity(self.names.len());
        self.names.iter().for_each(|names| _ = renamed.entry(&names[side]).or_insert(names));
        let after = |id: ChildId<'a>| match renamed.get(&id) {
            None => id,
            Some(names) if names.dest == names.original => names.updated.clone(),
            // What both sides renamed, differently, has dest's name as long as nobody decided.
            Some(names) => names.dest.clone(),
        };
        ids.into_iter().map(after).collect()
    }

    /// Asks for no other lines between the children if the other side put them into another order: then no lines are between the same
    /// children as before.
    pub fn keep_gaps_in_new_order(&mut self) {
        if self.children.iter().any(|child| child.change.notes.gap.is_some()) && self.has_new_order() {
            self.children.iter_mut().for_each(|child| child.change.set_gap(None));
            self.children.retain(|child| child.change.asks());
        }
    }

    /// Whether the other side put children into another order.
    pub fn has_new_order(&self) -> bool {
        let Order::From(Some(original)) = &self.order else { return false };
        let Some([was, is]) = ids_of_both([*original, self.like], &self.by) else { return false };
        let (was, is) = (self.names_after(Side::Original, was), self.names_after(Side::Updated, is));
        let [in_original, in_like] = [&was, &is].map(|ids| ids.iter().collect::<HashSet<_>>());
        let was = was.iter().filter(|id| in_like.contains(id));
        was.ne(is.iter().filter(|id| in_original.contains(id)))
    }
}

/// The order of the children of a map or list.
#[derive(Clone, Debug)]
pub enum Order<'a> {
    /// Dest's order; new children go where the user wants new elements.
    OfDest,
    /// The named children in this order, and the others relative to their neighbours: `$setElementOrder`.
    Asked(Vec<ChildId<'a>>),
    /// The order is merged like a value: the other side changed it from the order of this map or list to that of `like`.
    From(Option<NodeRef<'a>>),
}

impl<'a> Order<'a> {
    /// The order of a `$setElementOrder`; an empty one asks for nothing.
    pub fn asked(ids: Vec<ChildId<'a>>) -> Self {
        if ids.is_empty() { Self::OfDest } else { Self::Asked(ids) }
    }
}

/// What happens to the children of dest for which there is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They stay: a merge.
    Stay,
    /// They stay, and a repeated value stays once: a set, as `kubectl patch` merges it.
    Once,
    /// They are removed: `$patch: replace`.
    Go,
}

/// What happens to a map or list in which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// It stays, as `{}` or `[]`: to Kubernetes `emptyDir: {}` differs from an absent field.
    Stays,
    /// It is removed, because the other side dropped it whole; `like` is the dropped map or list.
    Goes,
}

/// The request for one child.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// The identity of the child.
    pub id: ChildId<'a>,
    /// The other side's key and value, if it has the child.
    pub node: Option<(Option<NodeRef<'a>>, NodeRef<'a>)>,
    /// The change that is asked for.
    pub change: Change<'a>,
}

impl<'a> Child<'a> {
    /// Whether it is an element that has a different key on the other side than in dest.
    pub fn is_renamed(&self, by: &By<'a>) -> bool {
        self.node.and_then(|(_, element)| by.id_of(element)).is_some_and(|id| id != self.id)
    }
}
