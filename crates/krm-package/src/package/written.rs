//! [`Written`]: what a decided merge does to the items of a package, as edits of their texts.
//!
//! Here a resource gets what is not of its own content: its layout, its comment, and the annotations by which its host knows its place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_merge_core::lost::{Comments, Disputed, bytes_that_go, is_told};
use krm_merge_core::own_comments;
use krm_merge_core::warning::Warning;
use krm_tree::alias;
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_tree::splice::{self, Unwritable};
use krm_tree::tree::{Tree, View};
use krm_yaml::{Edit, NodeRef, TextEdits, extent};

use super::fault::{Fault, Why};
use super::merged::{Decided, Decisions, Merged, MergedList, MergedResource, Note, SettledTree};
use super::places::Places;
use super::text_file::{FileItem, NewResource};
use super::{Becomes, Move, Spot};
use crate::documents::{Item, NewDocument};
use crate::layout::{self, TextOf, Upstream};
use crate::resource::{Located, Origin, Resource};
use crate::rules::Rules;
use crate::transport::{self, NewPlace};
use krm_names::file_path;

/// What a merge does to the items of a package.
#[derive(Debug, Default)]
pub struct Written<'r, 'a> {
    /// What happens to each item, by its number.
    pub items: Vec<Item>,
    /// The resources that are new.
    pub added: Vec<Added<'a>>,
    /// The file that an item moves to, by the number of the item. If path annotations say where the item is, its edits change them, too.
    pub moved: BTreeMap<usize, &'a str>,
    /// The identity of an item in updated, by the item's number, if it differs from the identity in dest: apiVersion, kind, namespace and
    /// name.
    pub followed: BTreeMap<usize, [&'a str; 4]>,
    /// The edits of lists of resources beside their items, each with the number of an item of the list.
    pub lists: BTreeMap<usize, TextEdits>,
    /// The comment on the line of the `---` above an item, by its number, if it has no `---` and gets one.
    pub marks: BTreeMap<usize, &'a str>,
    /// The lines that come above items of dest, by their numbers, if those that they have stay at the top of the file.
    pub apart: BTreeMap<usize, &'a str>,
    /// The new place of an item, by its number, if it does not stay in its own place.
    pub spots: BTreeMap<usize, Spot>,
    /// What the merge did to each resource, in the order of [`Merged::resources`].
    pub effects: Vec<Effect<'r, 'a>>,
    /// What each list says besides its items after the merge, in the order of [`Merged::lists`]; `None` if nothing changed.
    pub changed_lists: Vec<Option<After<'r, 'a>>>,
}

/// What a merge did to a resource.
#[derive(Debug)]
pub struct Effect<'r, 'a> {
    /// What the package has of it after the merge, if anything.
    pub after: Option<After<'r, 'a>>,
    /// What happened to it.
    pub happened: Happened,
    /// What a conflict or upstream's text replaced. Nobody misses a comment there.
    pub replaced: Disputed<'a>,
}

/// A resource after the merge.
#[derive(Debug)]
pub enum After<'r, 'a> {
    /// A resource that is as it was, apart from its layout and the annotation of its role.
    Kept(&'r Resource<'a>),
    /// A resource that the merge made.
    Made(Tree<'a>),
}

impl<'a> After<'_, 'a> {
    /// Whether it is this resource as it was.
    pub fn is(&self, resource: &Resource<'a>) -> bool {
        matches!(self, Self::Kept(kept) if std::ptr::eq(*kept, resource))
    }

    /// Its content.
    pub fn view(&self) -> Option<View<'_, 'a>> {
        match self {
            Self::Kept(resource) => Some(View::Node(resource.node())),
            Self::Made(tree) => tree.view(),
        }
    }
}

/// What happened to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It was changed in dest.
    Changed,
    /// It is new in dest.
    Added,
    /// It was deleted from dest.
    Deleted,
    /// It stays in dest as it was.
    Unchanged,
    /// An open conflict has original's or updated's whole resource in its place.
    Drawn,
    /// Dest lacks it before and after.
    Absent,
}

/// A resource that is new.
#[derive(Clone, Debug)]
pub struct Added<'a> {
    /// Its file, relative to the folder of the role that it comes from; `None` if it was in no file.
    pub path: Option<String>,
    /// The item, field or file that it came from.
    pub origin: Origin,
    /// The resource. If it came from an item of a ResourceList, it carries its path as an annotation.
    pub tree: Tree<'a>,
    /// Its place among the items.
    pub spot: Spot,
}

impl Added<'_> {
    /// The resource as one YAML document.
    ///
    /// # Errors
    /// The errors of [`splice::standalone`].
    pub fn text(&self, budget: &Budget) -> Result<String, Unwritable> {
        splice::standalone(&self.tree, budget)
    }

    /// The resource as a new one of a file.
    ///
    /// # Errors
    /// Same as [`Added::text`].
    pub fn in_file(&self, budget: &Budget) -> Result<NewResource, Unwritable> {
        let document = NewDocument::of_resource(&self.tree, budget)?;
        Ok(NewResource { path: self.path.clone(), origin: self.origin.clone(), document, spot: self.spot })
    }
}

impl Written<'_, '_> {
    /// The place of an item, by its number.
    pub fn spot(&self, item: usize) -> Spot {
        self.spots.get(&item).copied().unwrap_or_else(|| Spot::of_item(item))
    }

    /// The item of dest with this number, which is at this node.
    pub fn file_item<'w>(&'w self, number: usize, node: NodeRef<'w>) -> FileItem<'w> {
        FileItem {
            to: self.moved.get(&number).copied(),
            followed: self.followed.get(&number),
            list: self.lists.get(&number),
            mark: self.marks.get(&number).copied(),
            apart: self.apart.get(&number).copied(),
            ..FileItem::new(node, self.items.get(number).unwrap_or(&Item::Stays), self.spot(number))
        }
    }

    /// The places of the remaining items, followed by the places of the new resources.
    pub fn order(&self) -> Vec<Spot> {
        let left = self.items.iter().enumerate().filter(|(_, becomes)| **becomes != Item::Goes);
        let left = left.map(|(i, _)| self.spot(i));
        left.chain(self.added.iter().map(|added| added.spot)).collect()
    }
}

impl<'r, 'a> Merged<'r, 'a> {
    /// What the owner of the package should know of what was written: which resources go to another file, and which ones only upstream moved.
    pub fn notes_of<'s>(&'s self, written: &Written<'_, '_>) -> Vec<Note<'s, 'a>> {
        let of_dest = self.resources.iter().filter_map(|resource| Some((resource, resource.member.sides.dest?)));
        let notes = of_dest.filter_map(|(resource, dest)| {
            let item = resource.item();
            let stays = |item: usize| written.items.get(item).is_none_or(|becomes| *becomes != Item::Goes);
            match resource.member.moves {
                Move::To(to) if item.is_some_and(|item| written.moved.contains_key(&item)) => {
                    Some(Note::Moved { dest, to })
                }
                Move::Barred(to) if item.is_none_or(stays) => Some(Note::NotMoved { dest, to }),
                _ => None,
            }
        });
        notes.collect()
    }

    /// Writes the merge as these decisions have it. `items` says for each item of the host whether it stays before dest's resources change.
    /// The new text comes off `budget`.
    ///
    /// # Errors
    /// A text cannot be written, or a resource cannot come where it should.
    pub fn write(
        &self,
        decided: Decisions<'r, 'a>,
        items: Vec<Item>,
        budget: &'a Budget,
    ) -> Result<Written<'r, 'a>, Box<Fault<'a>>> {
        let mut writer = Writer {
            rules: Rules { budget, ..self.rules },
            places: self.places.clone(),
            written: Written { items, ..Written::default() },
        };
        for (number, (resource, decided)) in self.resources.iter().zip(decided.resources).enumerate() {
            if let (Some(item), Some(spot)) = (resource.item(), self.places.spots.get(&number)) {
                writer.written.spots.insert(item, *spot);
            }
            let effect = writer.resource(number, resource, decided)?;
            writer.written.effects.push(effect);
        }
        for (list, tree) in self.lists.iter().zip(decided.lists) {
            let changed = writer.list(list, tree)?;
            writer.written.changed_lists.push(changed);
        }
        Ok(writer.written)
    }
}

/// Warns of the comments of a resource that the merge loses: those that only dest has and that it removes, and those that upstream added and
/// that it does not take. `items` says what happens to each item. For `replaced` see [`Effect::replaced`].
pub fn lost<'a>(
    resource: &MergedResource<'_, 'a>,
    items: &[Item],
    replaced: &Disputed<'_>,
    rules: Rules<'a>,
) -> Vec<Warning<'a>> {
    let sides = resource.member.sides;
    let Some(dest) = sides.dest.filter(|dest| !replaced.nodes.iter().any(|node| node.is(dest.node()))) else {
        return Vec::new();
    };
    let (none, all);
    let edits = match dest.origin.item().and_then(|item| items.get(item)) {
        Some(Item::Edited(edits)) => edits,
        Some(Item::Goes) => {
            all = Edit { range: bytes_that_go(dest.node()), text: String::new() }.into();
            &all
        }
        Some(Item::Stays) | None => {
            none = TextEdits::default();
            &none
        }
    };
    let [original, updated] = [sides.original, sides.updated].map(|side| side.map(Resource::node));
    let upstream: Vec<_> = original.into_iter().chain(updated).collect();
    let comments = Comments { dest: dest.node(), edits, disputed: &replaced.nodes, told: &replaced.comments };
    let mut found = comments.lost(&upstream, || rules.cursor(dest));
    if let (Becomes::Merged(_, Upstream::Changed | Upstream::Unknown), Some(original), Some(updated)) =
        (&resource.becomes, original, updated)
    {
        let not_taken = comments.not_taken(original, updated, || rules.cursor(dest));
        let told: Vec<&Warning<'_>> = resource.warnings().collect();
        found.extend(not_taken.into_iter().filter(|warning| !is_told(warning, told.iter().copied())));
    }
    found
}

impl<'a> MergedResource<'_, 'a> {
    /// The warnings of its merge.
    fn warnings(&self) -> impl Iterator<Item = &Warning<'a>> {
        self.notes.iter().filter_map(|note| if let Note::Warning { warning, .. } = note { Some(warning) } else { None })
    }

    /// The number of dest's item.
    fn item(&self) -> Option<usize> {
        self.member.sides.dest.and_then(|dest| dest.origin.item())
    }
}

/// What is written of a resource that dest has.
enum Fate<'a> {
    /// It stays unchanged.
    Unchanged,
    /// It stays unchanged, but this tree no longer has the annotation of its role.
    Unmarked(Tree<'a>),
    /// It stays, with this content.
    Changed(Tree<'a>),
    /// It stays, with this content and these edits of the text that contains it.
    Edited(Tree<'a>, TextEdits),
    /// It goes.
    Gone,
}

struct Writer<'r, 'a> {
    rules: Rules<'a>,
    places: Places,
    written: Written<'r, 'a>,
}

impl<'r, 'a> Writer<'r, 'a> {
    fn resource(
        &mut self,
        number: usize,
        resource: &MergedResource<'r, 'a>,
        decided: Decided<'r, 'a>,
    ) -> Result<Effect<'r, 'a>, Box<Fault<'a>>> {
        let member = &resource.member;
        if let (Some([_, updated]), Some(item)) = (member.moved(), resource.item())
            && let Some(i) = updated.identity
        {
            self.written.followed.insert(item, [i.api_version, i.kind, i.namespace, i.name]);
        }
        // In conflict, the whole resource is told.
        let whole = member.sides.dest.filter(|_| resource.is_disputed()).map(Resource::node);
        let replaced = Disputed { nodes: whole.into_iter().collect(), comments: Vec::new() };
        let effect = |after, happened| Ok(Effect { after, happened, replaced });
        match (decided, member.sides.updated, member.sides.dest) {
            (Decided::Kept, _, Some(dest)) => {
                let happened = self.keep(number, resource, dest)?;
                effect(Some(After::Kept(dest)), happened)
            }
            (Decided::Merged(settled), _, Some(dest)) => self.merge(number, resource, dest, settled),
            (Decided::Added(tree), Some(updated), _) => {
                self.add(number, updated, tree.clone())?;
                effect(Some(After::Made(tree)), Happened::Added)
            }
            (Decided::BroughtBack(side), Some(updated), _) => {
                self.add(number, updated, self.rules.own(side)?)?;
                effect(Some(After::Kept(side)), Happened::Drawn)
            }
            (Decided::Restored(original), _, Some(dest)) => {
                self.carry_out(dest, None, restored(dest, original))?;
                effect(Some(After::Kept(dest)), Happened::Drawn)
            }
            (Decided::Deleted, _, Some(dest)) => {
                self.carry_out(dest, None, Fate::Gone)?;
                effect(None, Happened::Deleted)
            }
            _ => effect(None, Happened::Absent),
        }
    }

    /// The number in its file that a resource gets, if it cannot keep its own.
    fn number(&self, member: usize) -> Option<u64> {
        self.places.numbers.get(&member).copied()
    }

    /// Keeps a resource of dest, or moves it to another file.
    fn keep(
        &mut self,
        number: usize,
        resource: &MergedResource<'r, 'a>,
        dest: &Resource<'a>,
    ) -> Result<Happened, Box<Fault<'a>>> {
        let to = resource.member.moves_to();
        let place = to.map(|to| self.relocate(dest, to)).transpose()?.flatten();
        let in_file = self.number(number);
        if dest.role.is_some() || place.is_some() || in_file.is_some() {
            let fate = self.finish(dest, Some(Tree::Node(dest.node())), place, in_file);
            self.carry_out(dest, None, fate)?;
        }
        Ok(if to.is_some() { Happened::Changed } else { Happened::Unchanged })
    }

    /// Writes a resource that dest has with a merged content.
    fn merge(
        &mut self,
        number: usize,
        resource: &MergedResource<'r, 'a>,
        dest: &'r Resource<'a>,
        settled: SettledTree<'a>,
    ) -> Result<Effect<'r, 'a>, Box<Fault<'a>>> {
        let member = &resource.member;
        let to = member.moves_to();
        let place = to.map(|to| self.relocate(dest, to)).transpose()?.flatten();
        // A new number changes only the place of a resource, so such a resource still counts as unchanged.
        let is_same = settled.is_same && to.is_none();
        let fate = self.finish(dest, settled.tree, place, self.number(number));
        let is_unchanged = match fate {
            Fate::Unchanged | Fate::Unmarked(_) => to.is_none(),
            Fate::Changed(_) => is_same,
            Fate::Edited(..) | Fate::Gone => false,
        };
        let (fate, text) = self.laid_out(member.sides, resource.becomes.upstream(), fate)?;
        // Upstream's text has its comment, too.
        let comments = if text == TextOf::Own { resource.comments } else { resource.comments.outside(dest.node()) };
        if let Some(item) = resource.item() {
            self.written.marks.extend(comments.mark_to_be(dest.node()).map(|mark| (item, mark)));
            self.written.apart.extend(comments.apart.map(|apart| (item, apart)));
        }
        let comments = comments.edits(dest.node(), self.rules.budget);
        let is_unchanged = is_unchanged && text == TextOf::Own && comments.is_empty();
        let fate = if comments.is_empty() { fate } else { self.commented(dest, fate, comments)? };
        let after = self.carry_out(dest, member.sides.updated, fate)?;
        // What takes upstream's text had original's, so it has no comments of its own.
        let replaced = if text == TextOf::Own {
            settled.disputed
        } else {
            Disputed { nodes: vec![dest.node()], comments: Vec::new() }
        };
        let happened = if is_unchanged { Happened::Unchanged } else { Happened::Changed };
        Ok(Effect { after: after.map(|tree| after_of(dest, tree)), happened, replaced })
    }

    /// Adds a resource that dest lacks.
    fn add(&mut self, number: usize, source: &Resource<'a>, tree: Tree<'a>) -> Result<(), Box<Fault<'a>>> {
        let is_file = matches!(source.origin, Origin::File { .. });
        let path = source.path_in_dest();
        let tree = match path.clone().filter(|_| !is_file) {
            Some(path) => {
                if let Err(fault) = file_path::of_new_file(&path) {
                    return Err(Fault::of(source, Why::Misplaced { path: path.into_owned(), fault }));
                }
                let number = self.number(number).or_else(|| self.places.numbering.next(&path));
                transport::with_path(tree, path, number)
            }
            None => tree,
        };
        let path = path.map(Cow::into_owned);
        let spot = self.places.spots.get(&number).copied();
        let spot = spot.unwrap_or_else(|| Spot::last(self.written.added.len()));
        self.written.added.push(Added { path, origin: source.origin.clone(), tree, spot });
        Ok(())
    }

    /// Moves a resource of dest to another file. Returns the new values of its path annotations, if it has some.
    fn relocate(&mut self, dest: &Resource<'a>, to: &'a str) -> Result<Option<NewPlace<'a>>, Box<Fault<'a>>> {
        if let Some(alias) = alias::shared(dest.node()) {
            return Err(Fault::of(dest, Why::Apart(alias)));
        }
        if let Some(item) = dest.origin.item() {
            self.written.moved.insert(item, to);
        }
        let path = transport::path_in_package(dest, to).filter(|_| dest.located == Located::ByAnnotation);
        Ok(path.map(|path| NewPlace { path: Some(path), number: self.places.numbering.of_moved(to) }))
    }

    /// What is written of a resource of dest with this content. It corrects the annotations of the host.
    fn finish(
        &self,
        dest: &Resource<'a>,
        tree: Option<Tree<'a>>,
        place: Option<NewPlace<'a>>,
        in_file: Option<u64>,
    ) -> Fate<'a> {
        let Some(tree) = tree.filter(|tree| tree.like().is_some_and(|like| like.is(dest.node()))) else {
            return Fate::Gone;
        };
        let place = match in_file.filter(|_| dest.located == Located::ByAnnotation) {
            None => place,
            number => Some(NewPlace { path: place.and_then(|place| place.path), number }),
        };
        let tree = match place {
            Some(place) => transport::at(tree, place),
            None => tree,
        };
        let is_untouched = tree.is(dest.node());
        let tree = transport::without_role(tree);
        match (is_untouched, tree.is(dest.node())) {
            (_, true) => Fate::Unchanged,
            (true, false) => Fate::Unmarked(tree),
            (false, false) => Fate::Changed(tree),
        }
    }

    /// A fate, and whose text the resource has: if dest left the resource alone, it takes the text of updated. The text then loses kpt's
    /// ids for comments, or kpt would put the old comments back.
    fn laid_out(
        &self,
        sides: Sides<Option<&Resource<'a>>>,
        upstream: Upstream,
        fate: Fate<'a>,
    ) -> Result<(Fate<'a>, TextOf), Box<Fault<'a>>> {
        let (Some(dest), Some(like)) = (sides.dest, layout::of(sides, upstream, self.rules.budget)) else {
            return Ok((fate, TextOf::Own));
        };
        let whole = Tree::Node(dest.node());
        let tree = match &fate {
            Fate::Unchanged => &whole,
            Fate::Unmarked(tree) | Fate::Changed(tree) => tree,
            Fate::Edited(..) | Fate::Gone => return Ok((fate, TextOf::Own)),
        };
        let mut laid = self.edits(dest, tree, Some(like))?;
        if laid.1 == TextOf::Upstream && transport::has_ids(tree) {
            laid = self.edits(dest, &transport::without_ids(tree.clone()), Some(like))?;
            if laid.1 == TextOf::Own {
                return Ok((fate, TextOf::Own));
            }
        }
        let (edits, text) = laid;
        let fate = match fate {
            Fate::Unchanged if text == TextOf::Own => Fate::Unchanged,
            Fate::Changed(tree) => Fate::Edited(tree, edits),
            _ => Fate::Edited(whole, edits),
        };
        Ok((fate, text))
    }

    /// The fate of a resource that also gets other comments of its own. Where the edits of its content are in the way, its comment stays, and
    /// the other one is not taken.
    fn commented(&self, item: &Resource<'a>, fate: Fate<'a>, comments: Vec<Edit>) -> Result<Fate<'a>, Box<Fault<'a>>> {
        let whole = Tree::Node(item.node());
        let (tree, edits) = match fate {
            Fate::Unchanged => (whole, TextEdits::default()),
            Fate::Unmarked(tree) => (whole, self.edits(item, &tree, None)?.0),
            Fate::Changed(tree) => {
                let edits = self.edits(item, &tree, None)?.0;
                (tree, edits)
            }
            Fate::Edited(tree, edits) => (tree, edits),
            Fate::Gone => return Ok(Fate::Gone),
        };
        let mut all = edits;
        for comment in comments {
            let both = splice::with_comment(item.node(), &all, comment, self.rules.budget);
            all = both.unwrap_or(all);
        }
        Ok(Fate::Edited(tree, all))
    }

    /// Carries out the fate of a resource of dest, and returns its content if it stays. `updated` is what was merged into it.
    fn carry_out(
        &mut self,
        dest: &Resource<'a>,
        updated: Option<&Resource<'a>>,
        fate: Fate<'a>,
    ) -> Result<Option<Tree<'a>>, Box<Fault<'a>>> {
        let same = || Tree::Node(dest.node());
        let (tree, edits, after) = match fate {
            Fate::Unchanged => return Ok(Some(same())),
            Fate::Gone => {
                leaves_anchors(dest, None)?;
                self.set(dest, Item::Goes);
                return Ok(None);
            }
            // To the package, a resource without its role is the same resource.
            Fate::Unmarked(tree) => (tree, None, Some(same())),
            Fate::Changed(tree) => (tree, None, None),
            Fate::Edited(tree, edits) => (tree, Some(edits), None),
        };
        leaves_anchors(dest, Some(&tree))?;
        let edits = match edits {
            Some(edits) => edits,
            None => self.edits(dest, &tree, None)?.0,
        };
        let edits = self.without_misleading_ids(dest, updated, &tree, edits)?;
        self.set(dest, Item::Edited(edits));
        Ok(Some(after.unwrap_or(tree)))
    }

    /// The edits of a resource. They also change the annotations by which kpt finds the old state of an item, if kpt would change what the edits
    /// make. Updated's item has the same licence above it, which kpt does not show, and often the elements in the same places. If kpt would
    /// change the result by that, too, it finds no old state.
    fn without_misleading_ids(
        &self,
        dest: &Resource<'a>,
        updated: Option<&Resource<'a>>,
        tree: &Tree<'a>,
        edits: TextEdits,
    ) -> Result<TextEdits, Box<Fault<'a>>> {
        let (own, budget) = (Tree::Node(dest.node()), self.rules.budget);
        let misleads = |before: NodeRef<'_>| {
            splice::written(dest.node(), &edits, budget, |after| {
                let loses_own = !own_comments::above(before).is_empty() && own_comments::above(after).is_empty();
                loses_own || transport::misleads(before, after)
            })
        };
        if !transport::has_ids(&own) || !misleads(dest.node()) {
            return Ok(edits);
        }
        let updated = updated.map(Resource::node).filter(|node| transport::has_ids(&Tree::Node(*node)));
        let with_ids = |tree: Tree<'a>| match updated.filter(|updated| !misleads(*updated)) {
            Some(updated) => transport::with_ids_of(tree, updated),
            None => transport::without_ids(tree),
        };
        let (ids, made) = (self.edits(dest, &with_ids(own), None)?.0, with_ids(tree.clone()));
        let both = edits.clone().union([ids]).ok().filter(|all| splice::means(dest.node(), &made, all, budget));
        // Other edits of the annotations may be in the way.
        both.map_or_else(|| Ok(self.edits(dest, &made, None)?.0), Ok)
    }

    /// Sets what happens to an item; an item that goes stays gone.
    fn set(&mut self, item: &Resource<'_>, becomes: Item) {
        let slot = item.origin.item().and_then(|i| self.written.items.get_mut(i));
        if let Some(slot) = slot.filter(|slot| **slot != Item::Goes) {
            *slot = becomes;
        }
    }

    /// The edits of a resource's text that give it the content of a tree, perhaps in the layout of another document.
    fn edits(
        &self,
        dest: &Resource<'a>,
        tree: &Tree<'a>,
        like: Option<NodeRef<'a>>,
    ) -> Result<(TextEdits, TextOf), Box<Fault<'a>>> {
        layout::edits(dest.node(), tree, like, self.rules.budget).map_err(|e| Fault::of(dest, Why::Unwritable(e)))
    }

    /// Writes what a list of dest says besides its items.
    fn list(&mut self, list: &MergedList<'a>, tree: Option<Tree<'a>>) -> Result<Option<After<'r, 'a>>, Box<Fault<'a>>> {
        let dest = &list.sides.dest;
        let (tree, mut edits) = match self.finish(dest, tree, None, None) {
            Fate::Changed(tree) => {
                let edits = self.edits(dest, &tree, None)?.0;
                (tree, edits)
            }
            _ => (Tree::Node(dest.node()), TextEdits::default()),
        };
        for comment in list.comments.edits(dest.node(), self.rules.budget) {
            edits = edits.clone().union([comment.into()]).unwrap_or(edits);
        }
        if tree.is(dest.node()) && edits.is_empty() {
            return Ok(None);
        }
        if let Some(item) = dest.origin.item().filter(|_| !edits.is_empty()) {
            self.written.lists.insert(item, edits);
        }
        Ok(Some(After::Made(tree)))
    }
}

fn after_of<'r, 'a>(dest: &'r Resource<'a>, tree: Tree<'a>) -> After<'r, 'a> {
    if tree.is(dest.node()) { After::Kept(dest) } else { After::Made(tree) }
}

/// Checks that the aliases in other resources still stand for what they stood for, if the resource becomes this tree, or goes.
///
/// # Errors
/// An alias would mean something else.
pub fn leaves_anchors<'a>(resource: &Resource<'a>, becomes: Option<&Tree<'a>>) -> Result<(), Box<Fault<'a>>> {
    match alias::breaks_elsewhere(resource.node(), becomes) {
        Some(alias) => Err(Fault::of(resource, Why::Apart(alias))),
        None => Ok(()),
    }
}

/// What is written of a document of dest that gets the text of original again.
fn restored<'a>(dest: &Resource<'a>, original: &Resource<'a>) -> Fate<'a> {
    if !dest.node().is_root() || !original.node().is_root() {
        return Fate::Unchanged;
    }
    let text = original.node().document().source()[extent(original.node())].to_owned();
    Fate::Edited(Tree::Node(original.node()), Edit { range: extent(dest.node()), text }.into())
}
