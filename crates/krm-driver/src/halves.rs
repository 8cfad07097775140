//! The halves of a merged resource: for each side, the merged resource if that side won every conflict.
//!
//! At a place in conflict, each half has the whole place of its side, including comments and order. A comment that the merge would lose
//! also makes a choice: if both sides changed the comment, or if one side deleted or replaced the value that the comment belongs to.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Branch, Comments, Entry, Layout, Pick, Taking, Tree, settle};
use krm_yaml::{Edit, NodeRef, Place, Style, WrittenChild, same_comment};

use crate::choices::Lines;
use crate::comments::{Free, fresh};
use crate::hunks::{Finer, Meaning, Value, is_of_lines};
use crate::part::Grain;
use crate::versions::{ChildrenAt, Here, VersionsAt};

/// A merged resource, for each side that may win.
pub struct Halves<'a, 'd> {
    /// The resource; `None` if it is deleted.
    pub trees: Sides<Option<Tree<'a>>>,
    /// The lines of our text that a person must choose.
    pub places: Vec<Lines<'a>>,
    /// The comments that the merge would lose, so a person must choose.
    pub asked: Vec<AskedComment<'a>>,
    /// The comments of theirs that belong to no child and that ours lacks.
    pub free: Vec<Free<'a>>,
    /// For each side, edits with comments below a value that comes from another side, because no tree has these comments.
    pub feet: Sides<Vec<Edit>>,
    /// The comments at decided places. They are dropped or kept with the value that they belong to.
    pub waived: Vec<&'a str>,
    /// The places whose conflicts are already decided, by key.
    decided: HashSet<&'d str>,
}

/// A comment that a person must choose.
#[derive(Clone, Debug)]
pub struct AskedComment<'a> {
    /// The place of the value that the comment belongs to, by key; empty for the resource.
    pub path: String,
    /// The lines of our text that are chosen; `None` if ours lacks the value that the comment belongs to.
    pub lines: Option<Range<usize>>,
    /// Why a person must choose it.
    pub why: WhyAsked<'a>,
}

/// Why a person must choose a comment.
#[derive(Clone, Debug)]
pub enum WhyAsked<'a> {
    /// Both sides changed the comment in different ways. An empty text is a missing comment.
    Contradiction(Sides<&'a str>),
    /// The same, in a resource whose comments no message may show.
    Secret(Sides<&'a str>),
    /// One side changed the comment, and the other side changed the comment or its value.
    Apart,
}

impl<'a, 'd> Halves<'a, 'd> {
    /// Computes the halves of a merged resource. At decided places, each comment follows its value.
    pub fn of(tree: &Tree<'a>, root: &VersionsAt<'a>, decided: HashSet<&'d str>) -> Self {
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
        // Only conflicts of order are left here. `settle` decides them. If everything that a `<<` brings in came back, the `<<` is written
        // again.
        let mut trees = trees.map(Some);
        halves.trees = Sides::of(|side| settle(trees[side].take()?, &mut |_| pick(side)));
        halves
    }

    /// The halves of a value that is not itself a conflict.
    fn value(&mut self, tree: &Tree<'a>, spot: &VersionsAt<'a>) -> Sides<Tree<'a>> {
        let is_settled = spot.is_alike(Side::Original, Side::Updated) || spot.is_alike(Side::Dest, Side::Updated);
        let ours = spot.here.dest.map(|here| here.value);
        let is_ours = tree.like().zip(ours).is_some_and(|(like, ours)| like.is(ours));
        match (tree, spot.children()) {
            (Tree::Branch(branch), Some(children)) if is_ours => self.children(branch, spot, children),
            (Tree::Node(node), Some(children)) if is_ours && !is_settled => {
                self.children(&Branch::of(*node, children.matched.by.clone()), spot, children)
            }
            (Tree::Branch(branch), _) => self.untold(branch),
            _ => Sides::of(|_| tree.clone()),
        }
    }

    /// The halves of a map or list of ours, from the halves of its children.
    fn children(
        &mut self,
        branch: &Branch<'a>,
        container: &VersionsAt<'a>,
        children: ChildrenAt<'_, 'a>,
    ) -> Sides<Tree<'a>> {
        // What has no place in ours comes from theirs.
        let new = LazyCell::new(|| -> HashMap<usize, usize> {
            let new = children.matched.rows.iter().enumerate();
            new.filter_map(|(number, row)| Some((row.on.updated?.value().start(), number))).collect()
        });
        // Children of ours come first, in their order.
        let number = |entry: &Entry<'a>| entry.place().or_else(|| new.get(&theirs(entry)?.start()).copied());
        let taken = branch.entries.iter().filter(|entry| entry.comments.gap.is_some());
        let taken = taken.filter_map(|entry| children.get(number(entry)?)?.here.updated?.gap());
        let free = Free::of(container, &children, &taken.collect::<Vec<_>>());
        for disputed in free.iter().filter(|free| free.is_disputed) {
            self.asked.push(AskedComment {
                path: container.path.keyed(),
                lines: Some(disputed.lines()),
                why: WhyAsked::Apart,
            });
        }
        self.free.extend(free);
        let mut halves = Sides::of(|_| Half::default());
        let mut seen = vec![false; children.matched.rows.len()];
        for (at, entry) in branch.entries.iter().enumerate() {
            let number = number(entry);
            let of_entry = match number.and_then(|number| children.get(number)) {
                Some(spot) => self.entry(entry, &spot),
                None => Sides::of(|_| entry.clone()),
            };
            number.and_then(|number| seen.get_mut(number)).into_iter().for_each(|seen| *seen = true);
            let Sides { original, updated, dest } = of_entry;
            halves.original.put(at, original);
            halves.updated.put(at, updated);
            halves.dest.put(at, dest);
        }
        let gone = seen.iter().enumerate().filter(|(_, seen)| !**seen).filter_map(|(number, _)| children.get(number));
        gone.for_each(|spot| self.only_theirs(&spot, &children, &mut halves));
        // If both sides moved elements, each half has that side's order, with all merged changes.
        if let Some(ours) = container.here.dest.filter(|_| branch.contested.is_some()) {
            self.places.push(Lines { range: ours.lines(), grain: Grain::Whole, finer: Finer::Never });
        }
        drop(children);
        // Mostly ours folds into a node, and takes no memory any more.
        let dest = halves.dest.of(branch);
        Sides { original: halves.original.of(branch), updated: halves.updated.of(branch), dest }
    }

    /// A child that ours deleted. If theirs changed a comment in it, the child is inserted after the sibling before it in theirs, so that a
    /// person chooses.
    fn only_theirs(&mut self, spot: &VersionsAt<'a>, siblings: &ChildrenAt<'_, 'a>, halves: &mut Sides<Half<'a>>) {
        let Sides { original: Some(original), updated: Some(updated), dest: None } = spot.here else { return };
        if self.is_decided(spot) || fresh(updated.all(), original.all()).is_empty() {
            return;
        }
        self.asked.push(AskedComment { path: spot.path.keyed(), lines: None, why: WhyAsked::Apart });
        let both = siblings.matched.rows.iter().filter_map(|other| other.on.dest.zip(other.on.updated));
        let before = both.filter(|(_, theirs)| theirs.place() < updated.index).max_by_key(|(_, theirs)| theirs.place());
        let before = before.map(|(ours, _)| ours.place());
        for side in Side::ALL {
            halves[side].inserted.push((before, spot.entry(side, None)));
        }
    }

    /// The halves of one child, with its comments.
    fn entry(&mut self, entry: &Entry<'a>, spot: &VersionsAt<'a>) -> Sides<Entry<'a>> {
        if !self.is_whole(entry, spot) {
            if self.is_decided(spot) {
                return Sides::of(|_| entry.clone());
            }
            let lost = Lost::of(entry, spot);
            if lost.is_nothing() {
                return self.inside(entry, spot);
            }
            if spot.is_alike(Side::Original, Side::Dest) && spot.here.updated.is_some() {
                return Sides::of(|side| {
                    self.feet[side].extend(spot.foot(Side::Updated));
                    whole(entry, spot, Side::Updated)
                });
            }
            if lost.is_beside(spot) {
                return self.beside(entry, spot, &lost);
            }
            self.ask(spot, &lost);
        }
        for side in [Side::Original, Side::Updated] {
            self.feet[side].extend(spot.foot(side));
        }
        if let Some(ours) = spot.here.dest {
            let grain = if spot.is_text() { Grain::Lines } else { Grain::Whole };
            self.places.push(Lines { range: ours.lines(), grain, finer: finer(entry, ours) });
        }
        Sides::of(|side| whole(entry, spot, side))
    }

    /// Whether each half has the side's whole child: if the child is in conflict, or if conflicts inside of it share a line.
    fn is_whole(&self, entry: &Entry<'a>, spot: &VersionsAt<'a>) -> bool {
        let (Some(ours), Some(_)) = (spot.here.dest, spot.here.updated) else {
            return matches!(entry.value, Some(Tree::Conflict(_)));
        };
        match &entry.value {
            Some(Tree::Conflict(_)) => true,
            Some(Tree::Branch(branch)) if ours.value.style() == Style::Flow && branch.has_conflicts() => {
                let path = spot.path.keyed();
                let is_within = |decided: &&str| decided.starts_with(&path);
                !self.decided.iter().any(is_within)
            }
            _ => false,
        }
    }

    /// The halves of one child with all merged changes in it.
    fn inside(&mut self, entry: &Entry<'a>, spot: &VersionsAt<'a>) -> Sides<Entry<'a>> {
        let Some(tree) = &entry.value else { return Sides::of(|_| entry.clone()) };
        // The value may be large, so it is not cloned with the entry.
        let Entry { was, key, source, comments, layout, is_contested, .. } = entry;
        let inside = |tree| Entry {
            was: *was,
            key: *key,
            source: *source,
            value: Some(tree),
            comments: comments.clone(),
            layout: *layout,
            is_contested: *is_contested,
        };
        self.value(tree, spot).map(inside)
    }

    /// The halves of one child in which a person chooses only the comments above and after it.
    fn beside(&mut self, entry: &Entry<'a>, spot: &VersionsAt<'a>, lost: &Lost<'a>) -> Sides<Entry<'a>> {
        self.ask(spot, lost);
        if let Some(ours) = spot.here.dest.filter(|_| lost.above.is_some()) {
            self.places.push(Lines { range: ours.lines_above(), grain: Grain::Whole, finer: Finer::Comments });
        }
        let halves = self.inside(entry, spot);
        let chosen = |side: Side, texts: Option<Sides<&'a str>>, was: Option<&'a str>| match texts {
            Some(texts) => Some(if is_contested(&texts) { texts[side] } else { merged(&texts) }),
            None => was,
        };
        Sides::of(|side| {
            let own = *halves[side].comments;
            let (above, behind) = (chosen(side, lost.above, own.above), chosen(side, lost.behind, own.behind));
            let comments = Comments { above, behind, ..own };
            Entry { comments: comments.into(), layout: Layout::Host, ..halves[side].clone() }
        })
    }

    /// Adds a question to the user for comments that the merge would lose.
    fn ask(&mut self, spot: &VersionsAt<'a>, lost: &Lost<'a>) {
        let ours = spot.here.dest;
        let whole = ours.map(|ours| ours.lines());
        let mut ask = |lines: Option<Range<usize>>, why: WhyAsked<'a>| {
            self.asked.push(AskedComment { path: spot.path.keyed(), lines, why });
        };
        let is_beside = lost.is_beside(spot);
        let above = ours.map(|ours| ours.lines_above()).filter(|_| is_beside).or_else(|| whole.clone());
        let behind = ours.map(|ours| ours.first_line()).filter(|_| is_beside).or_else(|| whole.clone());
        let own = [(above, lost.above), (behind, lost.behind)];
        let mut is_told = false;
        for (lines, texts) in own {
            let Some(texts) = texts.filter(is_contested) else { continue };
            is_told = true;
            ask(lines, WhyAsked::Contradiction(texts));
        }
        if lost.is_within || !is_told {
            ask(whole, WhyAsked::Apart);
        }
    }

    /// Whether a rule has already decided a place. If so, the user is not asked about its comments, and they count as waived.
    fn is_decided(&mut self, spot: &VersionsAt<'a>) -> bool {
        let is_decided = !self.decided.is_empty() && self.decided.contains(&*spot.path.keyed());
        if is_decided {
            self.waived.extend(spot.here.iter().filter_map(|(_, here)| here.as_ref()).flat_map(Here::all));
        }
        is_decided
    }

    /// The halves of a map or list whose children cannot be matched on every side, or share lines.
    fn untold(&mut self, branch: &Branch<'a>) -> Sides<Tree<'a>> {
        let mut out = Sides::of(|_| Vec::with_capacity(branch.entries.len()));
        for entry in &branch.entries {
            let (values, comments) = match &entry.value {
                Some(Tree::Conflict(conflict)) => {
                    let values = Sides {
                        original: conflict.original.map(Tree::Node),
                        updated: conflict.updated.map(Tree::Node),
                        dest: conflict.dest.clone(),
                    };
                    (values, conflict.comments.as_ref())
                }
                Some(Tree::Branch(branch)) => (self.untold(branch).map(Some), None),
                other => (Sides::of(|_| other.clone()), None),
            };
            Side::ALL.iter().for_each(|side| {
                let comments = comments.map_or_else(|| entry.comments.clone(), |comments| (*comments[*side]).into());
                let is_contested = entry.is_contested || values.updated.is_some() != values.dest.is_some();
                out[*side].push(Entry { value: values[*side].clone(), comments, is_contested, ..entry.clone() });
            });
        }
        Sides::of(|side| Branch::with(branch.like, branch.by.clone(), std::mem::take(&mut out[side])).into_tree())
    }
}

/// The half of a side of a map or list of ours. It has only the children that are not as ours writes them, because the others may be many.
#[derive(Default)]
struct Half<'a> {
    /// Children, each with its number among the children of the merged map or list.
    changed: Vec<(usize, Entry<'a>)>,
    /// New children, each with the place in ours of the child before it.
    inserted: Vec<(Option<usize>, Entry<'a>)>,
}

impl<'a> Half<'a> {
    fn put(&mut self, at: usize, entry: Entry<'a>) {
        let is_key = |key: NodeRef<'a>| entry.key.and_then(|key| key.node()).is_some_and(|own| own.is(key));
        let has_key = entry.was.and_then(WrittenChild::key).is_none_or(is_key);
        let is_as_written = entry.is_untouched() && has_key && entry.source.is_none() && entry.layout == Layout::Host;
        if !is_as_written {
            self.changed.push((at, entry));
        }
    }

    /// The half of a merged map or list.
    fn of(self, branch: &Branch<'a>) -> Tree<'a> {
        let mut changed = self.changed.into_iter().peekable();
        let of_entry = |(at, entry): (usize, &Entry<'a>)| match changed.next_if(|changed| changed.0 == at) {
            Some((_, changed)) => Some(changed),
            None => entry.was.map(|was| Entry::kept(was.place(), was.key(), was.value())),
        };
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(branch.entries.len() + self.inserted.len());
        entries.extend(branch.entries.iter().enumerate().filter_map(of_entry));
        for (before, entry) in self.inserted {
            let at = entries.iter().position(|entry| before.is_some() && entry.place() == before);
            entries.insert(at.map_or(0, |at| at + 1), entry);
        }
        let mut half = Branch::with(branch.like, branch.by.clone(), entries);
        half.contested.clone_from(&branch.contested);
        half.into_tree()
    }
}

/// The winner in the half of a side.
fn pick(side: Side) -> Pick {
    match side {
        Side::Original => Pick::Original,
        Side::Updated => Pick::Updated,
        Side::Dest => Pick::Dest,
    }
}

/// A side's whole child in the place of a merged one. The lines above it that belong to no child are merged for all sides. Of a value with
/// parts, such as an image, it has the parts that only the other side changed.
fn whole<'a>(merged: &Entry<'a>, spot: &VersionsAt<'a>, side: Side) -> Entry<'a> {
    let own = spot.entry(side, merged.was);
    let won = match (&merged.value, side) {
        (Some(Tree::Conflict(conflict)), Side::Updated) if matches!(conflict.taking, Taking::Value) => &conflict.taken,
        (Some(Tree::Conflict(conflict)), Side::Dest) if matches!(conflict.taking, Taking::Value) => &conflict.dest,
        _ => &None,
    };
    let value = won.clone().filter(|won| matches!(won, Tree::Made(_))).or(own.value);
    Entry { comments: Comments { gap: merged.comments.gap, ..*own.comments }.into(), value, ..own }
}

/// The node in theirs of a child that ours lacks.
fn theirs<'a>(entry: &Entry<'a>) -> Option<NodeRef<'a>> {
    match entry.value.as_ref()? {
        Tree::Conflict(conflict) => conflict.updated,
        tree => tree.like(),
    }
}

/// How the lines of a child are merged if they are merged line by line.
fn finer<'a>(entry: &Entry<'a>, ours: Here<'a>) -> Finer<'a> {
    let key = ours.key.map(NodeRef::string);
    let of = |value| Finer::Value(Box::new(Meaning { key, value }));
    if ours.value.is_list() && matches!(&entry.value, Some(Tree::Conflict(conflict)) if is_of_lines(conflict)) {
        return of(Value::List);
    }
    let by = |side: Side| match entry.value.clone()? {
        Tree::Conflict(conflict) if matches!(conflict.taking, Taking::Overlap | Taking::Both(_)) => {
            let won = if side == Side::Dest { conflict.dest } else { conflict.taken };
            settle(won?, &mut |_| pick(side))
        }
        Tree::Conflict(_) => None,
        tree => settle(tree, &mut |_| pick(side)),
    };
    let (Some(dest), Some(updated)) = (by(Side::Dest), by(Side::Updated)) else { return Finer::Never };
    of(Value::These { ours: dest, theirs: updated })
}

/// The new comments of the sides that the merged child would lose. The child itself has no conflict.
struct Lost<'a> {
    /// The comment above the child on each side, if it would be lost.
    above: Option<Sides<&'a str>>,
    /// The comment after the child on each side, if it would be lost.
    behind: Option<Sides<&'a str>>,
    /// Whether a comment inside of the child would be lost.
    is_within: bool,
}

impl<'a> Lost<'a> {
    fn of(entry: &Entry<'a>, spot: &VersionsAt<'a>) -> Self {
        let within = |is_within: bool| Self { above: None, behind: None, is_within };
        let Sides { original, updated, dest } = spot.here;
        let Some(ours) = dest else { return within(false) };
        let Some(theirs) = updated else {
            let is_fresh = original.is_some_and(|was| !fresh(ours.all(), was.all()).is_empty());
            return within(entry.value.is_none() && is_fresh);
        };
        let comments = spot.here.map(|here| here.map(|here| here.comments()).unwrap_or_default());
        let lost = |of: fn(Comments<'a>) -> Option<&'a str>| {
            let texts = comments.map(|own| of(own).unwrap_or_default());
            let stands = of(*entry.comments).unwrap_or(texts.dest);
            let is_new = |own: &str| !own.is_empty() && !same_comment(own, texts.original);
            let is_lost = |own: &str| is_new(own) && !same_comment(own, stands);
            (is_lost(texts.updated) || is_lost(texts.dest)).then_some(texts)
        };
        let (above, behind) = (lost(|own| own.above), lost(|own| own.behind));
        let Some(tree) = entry.value.as_ref().filter(|_| spot.children().is_none()) else {
            return Self { above, behind, is_within: false };
        };
        let stands = comments_in(tree, spot);
        let inner = |here: Here<'a>| here.inner().map(|comment| comment.1).collect::<Vec<_>>();
        let was = original.map(inner).unwrap_or_default();
        let is_within = [inner(theirs), inner(ours)]
            .into_iter()
            .any(|own| !fresh(fresh(own, was.clone()), stands.clone()).is_empty());
        Self { above, behind, is_within }
    }

    fn is_nothing(&self) -> bool {
        self.above.is_none() && self.behind.is_none() && !self.is_within
    }

    /// Whether the comments can be chosen separately from the value. They cannot if a comment is inside of the value or on its line.
    fn is_beside(&self, spot: &VersionsAt<'_>) -> bool {
        !self.is_within && (self.behind.is_none() || spot.children().is_some())
    }
}

/// Whether both sides changed a comment in different ways.
fn is_contested(Sides { original, updated, dest }: &Sides<&str>) -> bool {
    !same_comment(updated, dest) && !same_comment(updated, original) && !same_comment(dest, original)
}

/// A comment that is not contested.
fn merged<'a>(texts: &Sides<&'a str>) -> &'a str {
    if same_comment(texts.updated, texts.original) { texts.dest } else { texts.updated }
}

/// The comments that a merged value keeps, if its children are not matched.
fn comments_in<'a>(tree: &Tree<'a>, spot: &VersionsAt<'a>) -> Vec<&'a str> {
    let of_side = |here: Option<Here<'a>>, node: NodeRef<'a>| here.filter(|here| here.value.is(node));
    match tree {
        Tree::Node(node) => {
            let own = of_side(spot.here.dest, *node).or_else(|| of_side(spot.here.updated, *node));
            own.into_iter().flat_map(|here| here.inner()).map(|comment| comment.1).collect()
        }
        Tree::Branch(branch) => {
            let of_entry = |entry: &Entry<'a>| {
                let Some(tree) = &entry.value else { return Vec::new() };
                let container = if entry.was.is_some() { spot.here.dest } else { spot.here.updated };
                let place = |value| match entry.key_of_value() {
                    Some(key) => Place::of_pair(key, value),
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
