//! What a merged resource is if one side wins all of its conflicts, for each side.
//!
//! At a place in conflict each half is that side's whole, comments and order included. A comment that a merge would lose makes a place
//! such a choice, too: one that both sides changed, and one of what the other side deleted or replaced.

use std::collections::{HashMap, HashSet};

use krm_merge::edits::Edit;
use krm_merge::sides::{Side, Sides};
use krm_merge::tree::{Branch, Entry, Pick, Tree, settle};
use krm_merge::yaml::{NodeRef, Place, same_comment};

use super::choices::{Grain, Lines};
use super::comments::{Free, fresh};
use super::versions::{Here, Spot};

/// A merged resource for each side that may win.
pub struct Halves<'a, 'd> {
    /// The resource; `None` where it goes.
    pub trees: Sides<Option<Tree<'a>>>,
    /// The lines of our text in which someone has to choose.
    pub places: Vec<Lines>,
    /// The places of comments that would be lost, by key.
    pub asked: Vec<String>,
    /// The comments of theirs that belong to nothing, and that ours lacks.
    pub free: Vec<Free<'a>>,
    /// The comments below a value that is another side's: no tree has them.
    pub feet: Sides<Vec<Edit>>,
    /// The comments at the places that were decided, which go with the value that they are of.
    pub waived: Vec<&'a str>,
    /// The places that are in conflict no more, by key.
    decided: HashSet<&'d str>,
}

impl<'a, 'd> Halves<'a, 'd> {
    /// Of a merged resource. At the places that were decided the comments of a side go with its value.
    pub fn of(tree: &Tree<'a>, root: &Spot<'a>, decided: HashSet<&'d str>) -> Self {
        let mut halves = Self {
            decided,
            trees: Sides::default(),
            places: Vec::new(),
            asked: Vec::new(),
            free: Vec::new(),
            feet: Sides::default(),
            waived: Vec::new(),
        };
        let trees = halves.value(tree, root);
        // Of the conflicts only those of order are left. A `<<` that everything came back to is written as it was.
        let mut trees = trees.map(Some);
        halves.trees = Sides::of(|side| settle(trees[side].take()?, &mut |_| pick(side)));
        halves
    }

    /// A value that is no conflict itself.
    fn value(&mut self, tree: &Tree<'a>, spot: &Spot<'a>) -> Sides<Tree<'a>> {
        let is_settled = spot.is_alike(Side::Original, Side::Updated) || spot.is_alike(Side::Dest, Side::Updated);
        let ours = spot.here.dest.map(|here| here.value);
        let is_ours = tree.like().zip(ours).is_some_and(|(like, ours)| like.is(ours));
        match (tree, spot.children()) {
            (Tree::Branch(branch), Some((_, children))) if is_ours => {
                self.children((**branch).clone(), spot, &children)
            }
            (Tree::Node(node), Some((by, children))) if is_ours && !is_settled => {
                self.children(Branch::of(*node, by), spot, &children)
            }
            (Tree::Branch(branch), _) => self.untold(branch),
            _ => Sides::of(|_| tree.clone()),
        }
    }

    /// The children of a map or list of ours.
    fn children(&mut self, branch: Branch<'a>, container: &Spot<'a>, children: &[Spot<'a>]) -> Sides<Tree<'a>> {
        self.free.extend(Free::of(container, children));
        let new = children.iter().enumerate().filter_map(|(n, spot)| Some((spot.here.updated?.value.start(), n)));
        let new: HashMap<usize, usize> = new.collect();
        let mut out = Sides::of(|_| Vec::with_capacity(branch.entries.len()));
        let mut seen = HashSet::new();
        for entry in branch.entries {
            // The children of ours come first, in their order.
            let number = entry.place.or_else(|| new.get(&theirs(&entry)?.start()).copied());
            let halves = match number.and_then(|number| children.get(number)) {
                Some(spot) => self.entry(entry, spot),
                None => Sides::of(|_| entry.clone()),
            };
            seen.extend(number);
            Side::ALL.iter().for_each(|side| out[*side].push(halves[*side].clone()));
        }
        let gone = children.iter().enumerate().filter(|(n, _)| !seen.contains(n)).map(|(_, spot)| spot);
        gone.for_each(|spot| self.only_theirs(spot, children, &mut out));
        // Elements that both sides moved are in each side's order in its half, with all that is merged in them.
        if let Some(ours) = container.here.dest.filter(|_| branch.contested.is_some()) {
            self.places.push(Lines { range: ours.lines(), grain: Grain::Whole });
        }
        Sides::of(|side| {
            let mut half = Branch::with(branch.like, branch.by.clone(), std::mem::take(&mut out[side]));
            half.contested.clone_from(&branch.contested);
            half.into_tree()
        })
    }

    /// A child that we deleted. Where they changed a comment in it, it goes behind the sibling that it stands behind in theirs.
    fn only_theirs(&mut self, spot: &Spot<'a>, siblings: &[Spot<'a>], out: &mut Sides<Vec<Entry<'a>>>) {
        let Sides { original: Some(original), updated: Some(updated), dest: None } = spot.here else { return };
        if self.is_decided(spot) || fresh(updated.all(), original.all()).is_empty() {
            return;
        }
        self.asked.push(spot.path.keyed());
        let both = siblings.iter().filter_map(|other| other.here.dest.zip(other.here.updated));
        let before = both.filter(|(_, theirs)| theirs.index < updated.index).max_by_key(|(_, theirs)| theirs.index);
        let before = before.map(|(ours, _)| ours.index);
        for side in Side::ALL {
            let at = out[side].iter().position(|entry| before.is_some() && entry.place == before);
            out[side].insert(at.map_or(0, |at| at + 1), spot.entry(side, None));
        }
    }

    /// One child, with its comments.
    fn entry(&mut self, entry: Entry<'a>, spot: &Spot<'a>) -> Sides<Entry<'a>> {
        if !matches!(entry.value, Some(Tree::Conflict(_))) {
            if self.is_decided(spot) {
                return Sides::of(|_| entry.clone());
            }
            if !loses(&entry, spot) {
                let Some(tree) = &entry.value else { return Sides::of(|_| entry.clone()) };
                let trees = self.value(tree, spot);
                return trees.map(|tree| Entry { value: Some(tree), ..entry.clone() });
            }
            if spot.is_alike(Side::Original, Side::Dest) && spot.here.updated.is_some() {
                return Sides::of(|side| {
                    self.feet[side].extend(spot.foot(Side::Updated));
                    spot.entry(Side::Updated, entry.place)
                });
            }
            self.asked.push(spot.path.keyed());
        }
        for side in [Side::Original, Side::Updated] {
            self.feet[side].extend(spot.foot(side));
        }
        if let Some(ours) = spot.here.dest {
            let grain = if spot.is_text() { Grain::Lines } else { Grain::Whole };
            self.places.push(Lines { range: ours.lines(), grain });
        }
        Sides::of(|side| spot.entry(side, entry.place))
    }

    /// Whether someone has said who wins there: nobody is asked about the comments then.
    fn is_decided(&mut self, spot: &Spot<'a>) -> bool {
        let is_decided = !self.decided.is_empty() && self.decided.contains(&*spot.path.keyed());
        if is_decided {
            self.waived.extend(spot.here.iter().filter_map(|(_, here)| here.as_ref()).flat_map(Here::all));
        }
        is_decided
    }

    /// A map or list of which the children cannot be told apart on every side, or share their lines.
    fn untold(&mut self, branch: &Branch<'a>) -> Sides<Tree<'a>> {
        let mut out = Sides::of(|_| Vec::with_capacity(branch.entries.len()));
        for entry in &branch.entries {
            let values = match &entry.value {
                Some(Tree::Conflict(conflict)) => Sides {
                    original: conflict.original.map(Tree::Node),
                    updated: conflict.updated.map(Tree::Node),
                    dest: conflict.dest.clone(),
                },
                Some(Tree::Branch(branch)) => self.untold(branch).map(Some),
                other => Sides::of(|_| other.clone()),
            };
            Side::ALL.iter().for_each(|side| out[*side].push(Entry { value: values[*side].clone(), ..entry.clone() }));
        }
        Sides::of(|side| Branch::with(branch.like, branch.by.clone(), std::mem::take(&mut out[side])).into_tree())
    }
}

/// Who wins in the half of a side.
fn pick(side: Side) -> Pick {
    match side {
        Side::Original => Pick::Original,
        Side::Updated => Pick::Updated,
        Side::Dest => Pick::Dest,
    }
}

/// Their node of a child that ours lacks.
fn theirs<'a>(entry: &Entry<'a>) -> Option<NodeRef<'a>> {
    match entry.value.as_ref()? {
        Tree::Conflict(conflict) => conflict.updated,
        tree => tree.like(),
    }
}

/// Whether a child that is in no conflict lacks a comment that a side added.
fn loses<'a>(entry: &Entry<'a>, spot: &Spot<'a>) -> bool {
    let Sides { original, updated, dest } = spot.here;
    let Some(ours) = dest else { return false };
    let Some(theirs) = updated else {
        return entry.value.is_none() && original.is_some_and(|was| !fresh(ours.all(), was.all()).is_empty());
    };
    let own = |here: Option<Here<'a>>| {
        let comments = here.map(|here| here.comments()).unwrap_or_default();
        [comments.above.unwrap_or_default(), comments.behind.unwrap_or_default()]
    };
    let sides = [own(original), own(Some(theirs)), own(Some(ours))];
    let asked = [entry.comments.above, entry.comments.behind];
    let is_lost = |i: usize| {
        let [was, theirs, ours] = sides.map(|own| own[i]);
        let stands = asked[i].unwrap_or(ours);
        let is_new = |own: &str| !own.is_empty() && !same_comment(own, was);
        [theirs, ours].into_iter().any(|own| is_new(own) && !same_comment(own, stands))
    };
    if is_lost(0) || is_lost(1) {
        return true;
    }
    let Some(tree) = entry.value.as_ref().filter(|_| spot.children().is_none()) else { return false };
    let stands = comments_in(tree, spot);
    let inner = |here: Here<'a>| here.inner().map(|comment| comment.1).collect::<Vec<_>>();
    let was = original.map(inner).unwrap_or_default();
    [inner(theirs), inner(ours)].into_iter().any(|own| !fresh(fresh(own, was.clone()), stands.clone()).is_empty())
}

/// The comments in a value whose children are not told apart.
fn comments_in<'a>(tree: &Tree<'a>, spot: &Spot<'a>) -> Vec<&'a str> {
    let of_side = |here: Option<Here<'a>>, node: NodeRef<'a>| here.filter(|here| here.value.is(node));
    match tree {
        Tree::Node(node) => {
            let own = of_side(spot.here.dest, *node).or_else(|| of_side(spot.here.updated, *node));
            own.into_iter().flat_map(|here| here.inner()).map(|comment| comment.1).collect()
        }
        Tree::Branch(branch) => {
            let of_entry = |entry: &Entry<'a>| {
                let Some(tree) = &entry.value else { return Vec::new() };
                let container = if entry.place.is_some() { spot.here.dest } else { spot.here.updated };
                let place = |value| match entry.key.and_then(|key| key.node()) {
                    Some(key) => Some(Place::of_entry(key, value)),
                    None => container.map(|list| Place::of_element(list.value, value)),
                };
                let own = tree.like().and_then(|value| Some(Here::of_child(0, None, value, place(value)?).all()));
                let own = own.unwrap_or_default();
                let asked = [entry.comments.above, entry.comments.behind].into_iter().flatten();
                own.into_iter().chain(asked.flat_map(str::lines).map(str::trim)).collect()
            };
            branch.entries.iter().flat_map(of_entry).collect()
        }
        Tree::Made(_) | Tree::Conflict(_) => Vec::new(),
    }
}
