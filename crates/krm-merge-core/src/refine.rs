//! Makes the conflicts of a tree finer: lists without keys element by element, texts line by line or as documents.
//!
//! The walker treats such a value as one: if both sides changed it, all of it is in conflict. This module compares the three versions as
//! diff3 does. Changes of only one side are taken, and changes that overlap or touch stay a conflict: of one element if possible, otherwise
//! of the value, whose two outcomes then differ only in the overlap. So code that settles conflicts need not know about lines, and swapping
//! the sides finds the same conflicts.

mod additions;
mod again;
mod compared;
mod document;
mod elements;
mod histogram;
mod keys;
mod lines;
mod moved;
mod named;
mod partners;
mod scalar_lines;
pub mod three;

use std::borrow::Cow;

use krm_schema::schema::{Cursor, Names};
use krm_tree::limit::Budget;
use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Conflict, Made, Pick, Quotes, Taking, Tree};
use krm_yaml::{NodeRef, trim_end};

use crate::merge::Walked;
use crate::parts::{Composed, MergedParts};
use crate::policy::{ConflictLevel, Policy};
use crate::stump::without_stumps;
use crate::warning::{Combined, Notice, Warning};
pub use document::{has_twins, twins};
pub use lines::apart as lines_apart;
pub use scalar_lines::source_lines;
use three::Changed;

/// Makes the conflicts of a merge finer, as far as the policy asks for it. Values that now combine changes of both sides are reported among
/// the warnings. `cursor` is at the root of the tree.
pub fn refine<'a>(merged: Walked<'a>, cursor: Cursor<'a>, policy: Policy, budget: &Budget) -> Walked<'a> {
    refined(merged, cursor, policy, budget, Depth::default())
}

/// Goes through the conflicts of a document, and asks who wins each.
pub type ByConflict<'w, 'a> = dyn FnMut(&mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) + 'w;

/// Something about the merge of a document that is no conflict.
#[derive(Clone, Debug)]
pub struct DocumentNote<'a> {
    /// What it is.
    pub warning: Warning<'a>,
    /// The side that wins the conflicts that are open; `None` if it does not matter.
    pub winner: Option<Side>,
}

/// Whoever has a document that is not a resource: decides its conflicts, and gets its results.
pub trait DocumentOwner {
    /// Decides the conflicts of a document. It gets the document on each side, and calls the other function once, with who wins a conflict;
    /// `None` leaves it open.
    fn decide<'a>(&mut self, roots: Sides<NodeRef<'a>>, by_conflict: &mut ByConflict<'_, 'a>);

    /// Takes notice of what is no conflict.
    fn note<'a>(&mut self, roots: Sides<NodeRef<'a>>, notes: Vec<DocumentNote<'a>>);

    /// What becomes of additions of both sides that are in conflict, if nobody decides it.
    fn additions(&self) -> Additions;
}

/// What becomes of elements that both sides added at one place of a list, in the text for a winner of all open conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Additions {
    /// Both stay, because no policy drops what a side added.
    Stay,
    /// Those of the winner stay, because a person decides.
    OfWinner,
}

/// A document in a text of a resource. Who decides the conflict of the text decides those in it.
struct NoOwner;

impl DocumentOwner for NoOwner {
    fn decide<'a>(&mut self, _: Sides<NodeRef<'a>>, by_conflict: &mut ByConflict<'_, 'a>) {
        by_conflict(&mut |_| None);
    }

    fn note<'a>(&mut self, _: Sides<NodeRef<'a>>, _: Vec<DocumentNote<'a>>) {}

    fn additions(&self) -> Additions {
        Additions::OfWinner
    }
}

/// Merges three versions of a text that is not a resource: as a document if `name` says that it is one, otherwise line by line. `None` if
/// the result is the same conflict. `cursor` is at the root of the document. What the owner hears holds if the text was merged as a document.
pub fn refine_text(
    name: Option<&str>,
    [original, updated, dest]: [&str; 3],
    cursor: Cursor<'_>,
    policy: Policy,
    budget: &Budget,
    owner: &mut dyn DocumentOwner,
) -> Option<RefinedText> {
    if policy.conflict_level == ConflictLevel::Value {
        return None;
    }
    RefinedText::merged(name, [original, updated, dest], cursor, policy, budget, Depth::default(), Some(owner))
}

/// Whether the name of a text, or the path of a file, says that it is YAML or JSON. kpt, kustomize and `kubectl diff` have names without an
/// ending.
pub fn names_document(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    ["Kptfile", "Kustomization"].contains(&last)
        || [".yaml", ".yml", ".json"].iter().any(|end| last.ends_with(end))
        || names_object(last)
}

/// Whether `kubectl diff` gives an object this file name: `apps.v1.Deployment.default.web`. Source: `InfoObject.Name` in kubectl's
/// pkg/cmd/diff/diff.go.
fn names_object(name: &str) -> bool {
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let parts: Vec<&str> = name.split('.').collect();
    parts.windows(4).any(|four| is_version(four[0]) && four[1].starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The number of documents around a text that is itself a document.
#[derive(Clone, Copy, Debug, Default)]
struct Depth(usize);

impl Depth {
    /// The most levels of documents in texts. Nobody writes more, and each level costs stack.
    const MOST: usize = 4;

    fn deeper(self) -> Option<Self> {
        (self.0 < Self::MOST).then_some(Self(self.0 + 1))
    }
}

fn refined<'a>(merged: Walked<'a>, cursor: Cursor<'a>, policy: Policy, budget: &Budget, depth: Depth) -> Walked<'a> {
    // If a part of a value cannot stand alone, the value is taken whole, at any conflict level.
    let merged = Walked { tree: merged.tree.map(|tree| without_stumps(tree, cursor)), ..merged };
    if policy.conflict_level == ConflictLevel::Value {
        return merged;
    }
    let mut refiner = Refiner { root: cursor, policy, budget, depth, finer: Vec::new(), warnings: merged.warnings };
    let tree = merged.tree.map(|tree| refiner.visit(tree, cursor));
    let Refiner { finer, mut warnings, .. } = refiner;
    // A list that was merged by element was not replaced whole. The winner of a refined conflict does not get its whole value, so the comments
    // are in conflict on their own.
    let is_of_whole = |notice: &Notice| matches!(notice, Notice::Unkeyed(_) | Notice::Contradiction { .. });
    warnings.retain(|warning| !is_of_whole(&warning.notice) || !finer.contains(&warning.path));
    Walked { tree, warnings }
}

/// The changes that a merged value has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sources {
    /// Whether it has changes that only updated made.
    updated: bool,
    /// Whether it has changes that only dest made.
    dest: bool,
    /// Whether it has changes that both made, in different ways.
    apart: bool,
}

impl Sources {
    fn add(&mut self, changed: Changed) {
        self.updated |= changed == Changed::Updated;
        self.dest |= changed == Changed::Dest;
        self.apart |= changed == Changed::Apart;
    }

    /// Whether the result differs from both sides.
    fn is_combined(self) -> bool {
        self.updated && self.dest
    }

    /// Whether the result is finer than a conflict of the whole value.
    fn is_finer(self) -> bool {
        self.updated || self.dest || !self.apart
    }
}

/// A text with the changes of both sides in it.
#[derive(Debug)]
pub struct RefinedText {
    /// The text if dest wins the conflicts.
    pub dest: String,
    /// The text if updated wins them.
    pub updated: String,
    /// The text with original's values in conflict, if it was merged as a document for a person who decides.
    pub original: Option<String>,
    /// The way in which it was merged.
    pub how: Combined,
    /// The places of the conflicts, if it was merged as a document.
    pub places: Vec<String>,
    sources: Sources,
}

impl RefinedText {
    /// Whether changes of both sides overlap in it.
    pub fn is_in_conflict(&self) -> bool {
        self.sources.apart
    }

    /// Whether the result differs from both sides.
    pub fn is_combined(&self) -> bool {
        self.sources.is_combined()
    }

    fn merged(
        name: Option<&str>,
        sides: [&str; 3],
        cursor: Cursor<'_>,
        policy: Policy,
        budget: &Budget,
        depth: Depth,
        owner: Option<&mut dyn DocumentOwner>,
    ) -> Option<Self> {
        let [original, updated, dest] = sides;
        let document = depth.deeper().filter(|_| name.is_some_and(names_document));
        let document = document.and_then(|depth| document::merged(sides, cursor, policy, budget, depth, owner));
        // TODO: a text that has one line on a side should also merge by line, as in git. But a second run must not add blank lines at its end again.
        let has_lines = sides.iter().all(|text| trim_end(text).contains('\n'));
        if !has_lines || !budget.take(dest.len().max(updated.len())) {
            return document;
        }
        let document = document.map(|document| document.settled_again([original, updated]));
        let lines = lines::merged(original, updated, dest);
        let keys = if lines.sources.apart { keys::merged(original, updated, dest) } else { None };
        let how = if keys.is_some() { Combined::Keys } else { Combined::Lines };
        let lines::TextLines { dest, updated, sources } = keys.unwrap_or(lines);
        let lines = Self { dest, updated, original: None, how, places: Vec::new(), sources };
        match document {
            // If both merges mean the same, the one by line has all comments and blank lines of both sides, too.
            Some(document) if !document.is_in_conflict() => {
                let is_same = !lines.is_in_conflict() && document::mean_the_same(&document.dest, &lines.dest);
                Some(if is_same { Self { how: document.how, ..lines } } else { document })
            }
            Some(document) if lines.is_in_conflict() || !document::is_document(&lines.dest, sides) => Some(document),
            _ => Some(lines).filter(|lines| lines.sources.is_finer()),
        }
    }
}

/// What a merge makes of a text of dest.
struct Outcome<'a> {
    /// The text if dest wins the conflicts.
    dest: Tree<'a>,
    /// The text if updated wins them.
    updated: Tree<'a>,
    sources: Sources,
    how: Combined,
}

impl RefinedText {
    /// The text in the place of dest's. If dest already has the result, its node stays.
    fn in_place_of(self, dest: NodeRef<'_>) -> Outcome<'_> {
        let made = |value| made(value, dest);
        Outcome { dest: made(self.dest), updated: made(self.updated), sources: self.sources, how: self.how }
    }

    /// The text of a document as a second run leaves it. A document that is upgraded merges by line, too, which takes what stands outside of the
    /// values: blank lines, and a `---` at the top. So the first run takes it as well.
    fn settled_again(self, [original, updated]: [&str; 2]) -> Self {
        let again = lines::merged(original, updated, &self.updated);
        if again.sources.apart || !document::mean_the_same(&self.updated, &again.dest) {
            return self;
        }
        let dest = if self.is_in_conflict() { self.dest } else { again.dest.clone() };
        Self { dest, updated: again.dest, ..self }
    }
}

/// A text in the place of dest's, written like it.
fn made(value: String, dest: NodeRef<'_>) -> Tree<'_> {
    match value == dest.string() {
        true => Tree::Node(dest),
        false => Made { value: Cow::Owned(value), quotes: Quotes::As(dest) }.into(),
    }
}

/// The name of the field whose value is in conflict; `None` for an element of a list.
fn name_of_field<'c>(conflict: &'c Conflict<'_>) -> Option<&'c str> {
    match conflict.path.steps().last() {
        Some(Step::Field(name)) => Some(name),
        _ => None,
    }
}

/// The kind of value that is in conflict, if its place says that it has parts.
fn composed(conflict: &Conflict<'_>, cursor: Cursor<'_>) -> Option<Composed> {
    Composed::of_place(&conflict.path)
        .filter(|kind| *kind == Composed::Image || matches!(cursor.names(), Some(Names::Reference(_))))
}

struct Refiner<'a, 'b> {
    /// The root of the type.
    root: Cursor<'a>,
    policy: Policy,
    budget: &'b Budget,
    depth: Depth,
    /// The places of the conflicts that were made finer.
    finer: Vec<FieldPath<'a>>,
    warnings: Vec<Warning<'a>>,
}

impl<'a> Refiner<'a, '_> {
    /// Makes the conflicts of a tree finer. `cursor` is at the place of the tree in its type.
    fn visit(&mut self, tree: Tree<'a>, cursor: Cursor<'a>) -> Tree<'a> {
        match tree {
            Tree::Conflict(conflict) => self.conflict(conflict, cursor),
            Tree::Branch(mut branch) => {
                cursor.replace_below(&mut branch, |value, below| self.visit(value, below));
                branch.into_tree()
            }
            tree @ (Tree::Node(_) | Tree::Made(_)) => tree,
        }
    }

    fn conflict(&mut self, conflict: Box<Conflict<'a>>, cursor: Cursor<'a>) -> Tree<'a> {
        let told = (self.finer.len(), self.warnings.len());
        let finer = match (lists_of(&conflict), values_of(&conflict)) {
            (Some(lists), _) => self.list(&conflict, lists, cursor),
            (None, Some(sides)) => self.text(&conflict, sides, cursor),
            (None, None) => None,
        };
        match finer {
            Some(tree) => {
                self.finer.push(conflict.path);
                tree
            }
            None => {
                // What was found inside of the value does not happen.
                self.finer.truncate(told.0);
                self.warnings.truncate(told.1);
                // What both outcomes have is told once.
                let mut told = None;
                let outcomes = conflict.with_outcomes(|tree| {
                    let tree = self.visit(tree, cursor);
                    let first = *told.get_or_insert(self.warnings.len());
                    self.warnings.truncate(first);
                    tree
                });
                outcomes.into()
            }
        }
    }

    fn text(&mut self, conflict: &Conflict<'a>, sides: Values<'a>, cursor: Cursor<'a>) -> Option<Tree<'a>> {
        let texts = [sides.original.as_str()?, sides.updated.as_str()?, sides.dest.as_str()?];
        if let Some(kind) = composed(conflict, cursor)
            && let Some(merged) = kind.merged(Sides { original: texts[0], updated: texts[1], dest: texts[2] })
        {
            let MergedParts { dest, updated, place } = merged;
            if dest != updated {
                // If each part is the winner's, it is a conflict of the whole value.
                let is_finer = [&*updated, &*dest] != [texts[1], texts[2]];
                let (dest, taken) = (Some(made(dest, sides.dest)), Some(made(updated, sides.dest)));
                return is_finer.then(|| Conflict { dest, taken, comments: None, ..conflict.clone() }.into());
            }
            let is_combined = !texts.contains(&&*dest);
            let sources = Sources { updated: true, dest: is_combined, apart: false };
            self.tell(&conflict.path, sources, Combined::Parts(kind, place));
            return Some(made(dest, sides.dest));
        }
        let name = name_of_field(conflict);
        let merged = |owner: Option<&mut dyn DocumentOwner>| {
            RefinedText::merged(name, texts, self.root.untyped(), self.policy, self.budget, self.depth, owner)
        };
        // Who decides the conflict of the value decides those in it.
        let text = merged(None);
        let are_additions = text.as_ref().is_some_and(|text| text.is_in_conflict() && text.dest == text.updated);
        let of_winner = if are_additions { merged(Some(&mut NoOwner)) } else { None };
        let text = text.map(|text| text.in_place_of(sides.dest));
        if let (Some(both), Some(of_winner)) = (&text, of_winner.filter(|text| text.dest != text.updated)) {
            let Outcome { dest, updated, .. } = of_winner.in_place_of(sides.dest);
            let taking = Taking::Both(both.dest.clone());
            let (dest, taken) = (Some(dest), Some(updated));
            return Some(Conflict { dest, taken, comments: None, taking, ..conflict.clone() }.into());
        }
        let is_document = text.as_ref().is_some_and(|text| text.how == Combined::Document);
        let written = if is_document { None } else { scalar_lines::merged(sides, self.budget) };
        // A text in double quotes may have several lines of its value on one line.
        let Outcome { dest, updated, sources, how } = match (written, text) {
            (Some(written), Some(text)) if written.sources.apart && !text.sources.apart => text,
            (written, text) => written.or(text)?,
        };
        if !sources.apart {
            self.tell(&conflict.path, sources, how);
            return Some(dest);
        }
        overlap(conflict, dest, updated)
    }

    fn tell(&mut self, path: &FieldPath<'a>, sources: Sources, how: Combined) {
        if sources.is_combined() {
            let notice = Notice::Combined(how);
            self.warnings.push(Warning { path: path.clone(), notice, dest: None, proposed: None });
        }
    }
}

/// The conflict of a value whose outcomes differ only where the changes of both sides overlap; `None` if they are the same value. Then there would
/// be nothing to choose, though the changes are in conflict.
fn overlap<'a>(conflict: &Conflict<'a>, dest: Tree<'a>, updated: Tree<'a>) -> Option<Tree<'a>> {
    let is_choice = dest.view()?.meaning() != updated.view()?.meaning();
    let (dest, taken) = (Some(dest), Some(updated));
    is_choice.then(|| Conflict { dest, taken, comments: None, taking: Taking::Overlap, ..conflict.clone() }.into())
}

/// The values of a conflict, if all versions have one.
type Values<'a> = Sides<NodeRef<'a>>;

/// The values of a conflict; `None` if a version lacks one, or if a win of updated does not take its whole value.
fn values_of<'a>(conflict: &Conflict<'a>) -> Option<Values<'a>> {
    let (Some(Tree::Node(dest)), Taking::Value) = (&conflict.dest, &conflict.taking) else { return None };
    Some(Sides { original: conflict.original?, updated: conflict.updated?, dest: *dest })
}

/// The lists of a conflict. `None` for other values, for lists of several tags, or if a win of updated does not take its whole list. If
/// original lacks the list, dest's stands in its place, and none of its elements are original's.
fn lists_of<'a>(conflict: &Conflict<'a>) -> Option<Values<'a>> {
    let (Some(Tree::Node(dest)), Taking::Value) = (&conflict.dest, &conflict.taking) else { return None };
    let lists = Sides { original: conflict.original.unwrap_or(*dest), updated: conflict.updated?, dest: *dest };
    let is_one_kind = dest.is_list() && lists.iter().all(|(_, list)| list.is_kind_of(*dest));
    is_one_kind.then_some(lists)
}

#[cfg(test)]
mod tests;
