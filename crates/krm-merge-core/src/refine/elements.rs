//! Three versions of a list without keys, merged element by element as diff3 does it.
//!
//! Elements are compared by meaning. A changed element that is still the same one is merged inside, by the walk that merges every other
//! node, so a conflict in it names its own place. An element that keeps its value keeps its node, and with it its layout; its comments are
//! merged.

use std::ops::Deref;
use std::ops::Range;

use krm_schema::schema::{Cursor, ListKind, Names};
use krm_tree::child::{By, Value as _};
use krm_tree::path::{FieldPath, Step};
use krm_tree::remarks::{Remarks, gap_of};
use krm_tree::sides::{Side, Sides};
use krm_tree::slots::BoxedSlots;
use krm_tree::tree::{Branch, Comments, Conflict, Entry, Layout, Pick, Taking, Tree, View, settle};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{NodeRef, Place, WrittenChild, same};

use super::additions::{AddedElements, BothAdded, MergedElement, WordOrder, counted, replaced};
use super::again::{AgainOutcome, Kept, MergedFrom};
use super::compared::{Compared, Ways, any_strays, compared};
use super::named::{ElementFate, NamedMerge};
use super::partners::FeaturesOf;
use super::three::{Anchor, Changed, Hunk, Part};
use super::{Refiner, Sources, Values, lines, name_of_field, overlap};
use crate::diff::{Paired, diff_paired, kind_of_list};
use crate::merge::{changed_upstream, merge_at};
use crate::stump::without_stumps;
use crate::warning::{Combined, Notice, Warning};

/// One version of a list.
struct Version<'a> {
    list: NodeRef<'a>,
    elements: Vec<NodeRef<'a>>,
    /// The same elements.
    views: Vec<View<'a, 'a>>,
    /// A number for each element. Elements that mean the same have the same number.
    numbers: Vec<u32>,
}

impl<'a> Version<'a> {
    fn all(&self) -> FeaturesOf<'_, 'a> {
        FeaturesOf(&self.numbers, &self.views)
    }
}

/// All versions of a list.
struct Versions<'a>(Sides<Version<'a>>);

impl<'a> Deref for Versions<'a> {
    type Target = Sides<Version<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A piece of the merged list.
enum ListPiece<'a> {
    /// The elements of the piece, the same for every winner.
    Settled(Vec<Entry<'a>>),
    /// The elements of the piece if dest wins, and if updated wins.
    Open([Vec<Entry<'a>>; 2]),
    /// Elements that both sides added: those of dest, those of updated, and both.
    Added { dest: Vec<Entry<'a>>, updated: Vec<Entry<'a>>, both: Vec<Entry<'a>> },
}

impl<'a> ListPiece<'a> {
    /// The elements of the piece if this side wins, with these additions.
    fn won_by(&self, winner: Side, additions: Kept) -> &[Entry<'a>] {
        match (self, additions) {
            (Self::Settled(entries), _) | (Self::Added { both: entries, .. }, Kept::Both) => entries,
            (Self::Open([_, updated]) | Self::Added { updated, .. }, _) if winner == Side::Updated => updated,
            (Self::Open([dest, _]) | Self::Added { dest, .. }, _) => dest,
        }
    }
}

impl<'a> Refiner<'a, '_> {
    /// The list of a conflict with the changes of both sides in it; `None` if that would be the same conflict.
    pub(super) fn list(&mut self, conflict: &Conflict<'a>, sides: Values<'a>, cursor: Cursor<'a>) -> Option<Tree<'a>> {
        let (versions, mut numbering) = numbered(conflict, sides);
        let (original, updated, dest) = (&versions.original, &versions.updated, &versions.dest);
        let views = [&original.views[..], &updated.views, &dest.views];
        let order = name_of_field(conflict).map_or(WordOrder::Free, |field| WordOrder::of(field, views));
        // Two sentences that both sides wrote are not one.
        if order == WordOrder::Sentence && conflict.original.is_none() {
            return None;
        }
        let names = cursor.names_of(&views).filter(|_| order == WordOrder::Free);
        if let Some(named) = names.and_then(|names| self.by_name(conflict, &versions, &mut numbering, (names, cursor)))
        {
            return Some(named);
        }
        // Scalars without names are like the lines of a text: where git merges them clean, its result counts.
        let is_plain = names.is_none()
            && order == WordOrder::Free
            && views.iter().all(|side| side.iter().all(|element| element.text().is_some()));
        let all = [original, updated, dest].map(|version| &version.numbers[..]);
        if is_plain && let Some((parts, _)) = lines::settled(all) {
            let (pieces, sources) = self.pieces(conflict, &versions, (&parts, None), cursor)?;
            self.tell(&conflict.path, sources, Combined::Elements);
            return joined(conflict, sides.dest, &pieces);
        }
        let found = [updated, dest].map(|side| Ways::of(original.all(), side.all()));
        let Compared { parts, in_updated, in_dest } = compared(original.all(), &found[0], &found[1]);
        let new =
            AddedElements::of(original.all(), [updated.all(), dest.all()], [&in_updated, &in_dest], (names, order));
        let told = (self.finer.len(), self.warnings.len());
        let (pieces, sources) = self.pieces(conflict, &versions, (&parts, Some(&new)), cursor)?;
        let of_both = if names.is_none() { versions.maps_of_both() } else { HashSet::new() };
        let mut is_any_twice = |winner| {
            let (elements, _) = outcome(&pieces, winner, Kept::Both);
            let made: Vec<u32> = elements.iter().filter_map(|e| Some(numbering.number(e.view()?))).collect();
            doubled(&made, [&updated.numbers, &dest.numbers]).any(|number| of_both.contains(&number))
        };
        if !of_both.is_empty() && (is_any_twice(Side::Dest) || is_any_twice(Side::Updated)) {
            // Each element is its own name, so that it is there once.
            self.finer.truncate(told.0);
            self.warnings.truncate(told.1);
            return self.by_name(conflict, &versions, &mut numbering, (Names::But(&[]), cursor));
        }
        let is_settled = pieces.iter().all(|piece| matches!(piece, ListPiece::Settled(_)));
        let is_open = pieces.iter().any(|piece| matches!(piece, ListPiece::Open(_)));
        let merged = versions.merged(&parts);
        let lists = Sides { original: original.all(), updated: updated.all(), dest: dest.all() };
        let policy = self.policy;
        // Whether a second run leaves the list alone that this side wins.
        let stays = |(winner, additions)| {
            let (elements, places) = outcome(&pieces, winner, additions);
            let views: Vec<View<'_, 'a>> = elements.iter().filter_map(Tree::view).collect();
            if is_keyed(cursor, [original, updated], &views) {
                return false;
            }
            let numbers: Vec<u32> = views.iter().map(|view| numbering.number(*view)).collect();
            // Beside a conflict, what a side moved may stand in its old place, too.
            if is_open && doubled(&numbers, [&updated.numbers, &dest.numbers]).next().is_some() {
                return false;
            }
            let result = FeaturesOf(&numbers, &views);
            if names.is_some_and(|names| !NamedMerge::allows(result, pick_of(winner), names, lists, policy)) {
                return false;
            }
            let is_plain_again = |side: &Version<'_>| {
                let lists = [&original.numbers[..], &side.numbers, &numbers];
                lines::settled(lists).is_some_and(|(_, merged)| merged != numbers)
            };
            if is_plain && (is_plain_again(updated) || is_plain_again(dest)) {
                return false;
            }
            if !is_open && any_strays(all, &numbers) {
                return false;
            }
            let from: Vec<_> = places.into_iter().map(|place| merged[place?]).collect();
            // Where a side won all conflicts, the outcome is often that side.
            let known = found.iter().find(|side| side.elements().0 == numbers).cloned();
            let this = known.unwrap_or_else(|| Ways::of(original.all(), result));
            let outcome = AgainOutcome { ways: &this, from: &from, names, order, winner, additions };
            outcome.stays(original.all(), Side::Updated, &found[0])
                && outcome.stays(original.all(), Side::Dest, &found[1])
        };
        let of_sides = |additions| [(Side::Updated, additions), (Side::Dest, additions)];
        let by_rules = if is_open || is_settled { None } else { Some(of_sides(Kept::OfWinner)) };
        if !of_sides(Kept::Both).into_iter().chain(by_rules.into_iter().flatten()).all(stays) {
            return None;
        }
        // If the list itself stays in conflict, the conflict reports the changes.
        if is_settled {
            self.tell(&conflict.path, sources, Combined::Elements);
        }
        joined(conflict, sides.dest, &pieces)
    }

    /// The pieces of the merged list, and whose changes they have; `None` if they are no finer than the conflict.
    fn pieces(
        &mut self,
        conflict: &Conflict<'a>,
        versions: &Versions<'a>,
        (parts, new): (&[Part], Option<&AddedElements<'_, 'a>>),
        cursor: Cursor<'a>,
    ) -> Option<(Vec<ListPiece<'a>>, Sources)> {
        let changed = parts.iter().filter_map(|part| match part {
            Part::Anchor(at) if matches!(versions.changed(*at), Changed::Updated | Changed::Apart) => {
                Some(versions.paired(*at))
            }
            _ => None,
        });
        let own = self.paired(conflict, versions, changed.collect(), cursor)?;
        let mut sources = Sources::default();
        let mut pieces = Vec::new();
        let mut is_finer = false;
        for part in parts {
            let piece = match part {
                Part::Anchor(at) => {
                    let entry = own.get(at.dest)?.clone();
                    match versions.changed(*at) {
                        Changed::Apart if !matches!(entry.value, Some(Tree::Conflict(_))) => {
                            sources.add(Changed::Updated);
                            sources.add(Changed::Dest);
                        }
                        changed => sources.add(changed),
                    }
                    is_finer |= matches!(entry.value, Some(Tree::Conflict(_)));
                    ListPiece::Settled(vec![entry])
                }
                Part::Hunk(hunk) => {
                    let added = new.and_then(|new| new.in_hunk(hunk));
                    if let Some(BothAdded::Apart(elements)) = added {
                        sources.add(Changed::Updated);
                        sources.add(Changed::Dest);
                        pieces.push(ListPiece::Settled(versions.entries(hunk, elements, &own)));
                        continue;
                    }
                    sources.add(versions.hunk(hunk));
                    let is_added = added.is_some();
                    let piece = self.hunk(conflict, versions, (hunk, added, &own), cursor);
                    is_finer |=
                        is_added || versions.hunk(hunk) == Changed::Apart && matches!(piece, ListPiece::Settled(_));
                    piece
                }
            };
            pieces.push(piece);
        }
        (sources.is_finer() || is_finer).then_some((pieces, sources))
    }

    /// Dest's elements. These elements, which upstream changed, are merged inside, and so are the comments of those that nobody changed.
    fn paired(
        &mut self,
        conflict: &Conflict<'a>,
        versions: &Versions<'a>,
        changed: Vec<Paired<'a>>,
        cursor: Cursor<'a>,
    ) -> Option<Vec<Entry<'a>>> {
        let mut paired = changed;
        // Updated may have dest's value elsewhere, where it is another element.
        let is_merged: HashSet<usize> = paired.iter().map(|pair| pair.place).collect();
        let unchanged = versions.unchanged().into_iter().filter(|at| !is_merged.contains(&at.dest));
        paired.extend(unchanged.map(|at| versions.paired(at)));
        let lists = [versions.original.list, versions.updated.list, versions.dest.list];
        let found = diff_paired(lists, &paired, &conflict.path, cursor, self.policy.renames).ok()?;
        let dest = Tree::Node(versions.dest.list);
        let tree = match &found.change {
            Some(change) => {
                let merged = merge_at(conflict.path.clone(), Some(dest), change, self.policy.new_elements).ok()?;
                self.warnings.extend(found.warnings.into_iter().chain(merged.warnings));
                self.visit(without_stumps(merged.tree?, cursor), cursor)
            }
            None => dest,
        };
        Some(tree.into_branch(&By::Index, 0)?.entries)
    }

    /// The list merged by the names of its elements; `None` if it has none, or if a second run would change it.
    fn by_name(
        &mut self,
        conflict: &Conflict<'a>,
        versions: &Versions<'a>,
        numbering: &mut ElementNumbers<'a>,
        (names, cursor): (Names, Cursor<'a>),
    ) -> Option<Tree<'a>> {
        let (original, updated) = (versions.original.all(), versions.updated.all());
        let policy = self.policy;
        let merge = NamedMerge::of(names, Sides { original, updated, dest: versions.dest.all() }, policy)?;
        let told = (self.finer.len(), self.warnings.len());
        let changed = merge.fates.iter().enumerate().filter_map(|(dest, fate)| match *fate {
            ElementFate::Merges(Some(original), updated) => {
                let at = Anchor { original, updated, dest };
                self.tell_renamed(conflict, versions, at, names);
                Some(versions.paired(at))
            }
            ElementFate::Merges(None, updated) => Some(versions.both_added(updated, dest)),
            _ => None,
        });
        let changed = changed.collect();
        let own = self.paired(conflict, versions, changed, cursor)?;
        let mut entries = Vec::with_capacity(merge.fates.len());
        for (at, fate) in merge.fates.iter().enumerate() {
            entries.push(match *fate {
                ElementFate::Stays | ElementFate::Merges(..) => own[at].clone(),
                ElementFate::Goes => Entry { value: None, ..own[at].clone() },
                ElementFate::Comes(place) => Entry::new(None, Tree::Node(versions.updated.elements[place])),
                ElementFate::Open(original, updated) => {
                    let places = Sides { original, updated, dest: (at < merge.of_dest).then_some(at) };
                    let index = places.dest.or(updated).unwrap_or_default();
                    self.element(conflict, versions, (places, index, &own), cursor)
                }
            });
        }
        let ordered = |pick: Pick| merge.order(pick).iter().map(|at| entries[*at].clone()).collect::<Vec<_>>();
        let stays = |pick: Pick| {
            let elements: Vec<Tree<'a>> =
                ordered(pick).into_iter().filter_map(|entry| won_by(entry.value?, pick, Kept::Both)).collect();
            let views: Vec<View<'_, 'a>> = elements.iter().filter_map(Tree::view).collect();
            let numbers: Vec<u32> = views.iter().map(|view| numbering.number(*view)).collect();
            let outcome = FeaturesOf(&numbers, &views);
            let stays = |updated, pick| {
                let again = NamedMerge::of(names, Sides { original, updated, dest: outcome }, policy);
                again.is_some_and(|again| again.changes_nothing(pick))
            };
            !is_keyed(cursor, [&versions.original, &versions.updated], &views)
                && stays(updated, pick)
                && stays(versions.dest.all(), Pick::Dest)
        };
        if ![Pick::Updated, Pick::Dest].into_iter().all(stays) {
            self.finer.truncate(told.0);
            self.warnings.truncate(told.1);
            return None;
        }
        let is_changed = merge.fates.iter().enumerate().any(|(at, fate)| match fate {
            ElementFate::Goes | ElementFate::Comes(_) => true,
            ElementFate::Merges(..) => !matches!(own[at].value, Some(Tree::Conflict(_))),
            ElementFate::Stays | ElementFate::Open(..) => false,
        });
        let sources = Sources {
            updated: is_changed || !merge.order(Pick::Dest).is_sorted(),
            dest: versions.original.numbers != versions.dest.numbers,
            apart: false,
        };
        let tree = |pick| Branch::with(versions.dest.list, By::Index, ordered(pick)).into_tree();
        let moved = merge.moved();
        if moved.is_empty() {
            self.tell(&conflict.path, sources, Combined::Elements);
            return Some(tree(Pick::Dest));
        }
        let paths = moved.into_iter().map(|at| FieldPath::from(Step::Index(at))).collect();
        let (dest, taken, taking) = (Some(tree(Pick::Dest)), Some(tree(Pick::Updated)), Taking::Order(paths));
        Some(Conflict { dest, taken, comments: None, taking, ..conflict.clone() }.into())
    }

    /// Reports that the changes of both sides are made in an element that one side renamed. After a first run, both have the new name.
    fn tell_renamed(&mut self, conflict: &Conflict<'a>, versions: &Versions<'a>, at: Anchor, names: Names) {
        let views = Sides::of(|side| versions[side].views[at.of(side)]);
        let Sides { original, updated, dest } = views.map(|view| names.of(view));
        if updated == dest || versions.changed(at) != Changed::Apart {
            return;
        }
        let side = if dest == original { Side::Updated } else { Side::Original };
        // Where all of an element is its name, or nearly all, it has no other name, but another value.
        let Some(name) = names.of(views[side]).filter(|name| name.contains('=')) else { return };
        let notice = Notice::Renamed { side, place: format!("{}[{name}]", conflict.path.shown()) };
        let mut path = conflict.path.clone();
        path.push(Step::Index(at.dest), Some(at.dest));
        self.warnings.push(Warning { path, notice, dest: None, proposed: None });
    }

    fn hunk(
        &mut self,
        conflict: &Conflict<'a>,
        versions: &Versions<'a>,
        (hunk, added, own): (&Hunk, Option<BothAdded>, &[Entry<'a>]),
        cursor: Cursor<'a>,
    ) -> ListPiece<'a> {
        let kept = || own[hunk.dest.clone()].to_vec();
        match versions.hunk(hunk) {
            Changed::Updated => ListPiece::Settled(versions.replaced(hunk, own)),
            Changed::Nowhere | Changed::Dest | Changed::Alike => ListPiece::Settled(kept()),
            Changed::Apart => {
                let entries = |elements| versions.entries(hunk, elements, own);
                let replaced = || versions.replaced(hunk, own);
                match added {
                    Some(BothAdded::Apart(elements)) => ListPiece::Settled(entries(elements)),
                    Some(BothAdded::Beside(outcomes)) => ListPiece::Open(outcomes.map(entries)),
                    Some(BothAdded::Together(both)) => {
                        ListPiece::Added { dest: kept(), updated: versions.instead(hunk, own), both: entries(both) }
                    }
                    None if versions.is_one_by_one(hunk) => {
                        let count = hunk.dest.len().max(hunk.updated.len());
                        let at = |range: &Range<usize>, n| range.clone().nth(n);
                        let places = |n| Sides {
                            original: at(&hunk.original, n),
                            updated: at(&hunk.updated, n),
                            dest: at(&hunk.dest, n),
                        };
                        let element =
                            |n| self.element(conflict, versions, (places(n), hunk.dest.start + n, own), cursor);
                        ListPiece::Settled((0..count).map(element).collect())
                    }
                    None => ListPiece::Open([kept(), replaced()]),
                }
            }
        }
    }

    /// An element that each side has in its own version at these places: a conflict, unless both versions mean the same. `index` is for its
    /// path.
    fn element(
        &mut self,
        whole: &Conflict<'a>,
        versions: &Versions<'a>,
        (places, index, own): (Sides<Option<usize>>, usize, &[Entry<'a>]),
        cursor: Cursor<'a>,
    ) -> Entry<'a> {
        let elements = versions.elements_at(places);
        if let (Some(updated), Some(dest), Some(place)) = (elements.updated, elements.dest, places.dest)
            && same(updated, dest)
        {
            return own[place].clone();
        }
        let conflict = versions.conflict(whole, (places, index));
        let value = Some(self.visit(conflict, cursor));
        let was = places.dest.zip(elements.dest).map(|(place, value)| WrittenChild::new(place, None, value));
        let comments = versions.comments_inside(elements).into();
        Entry { was, key: None, source: None, value, comments, layout: Layout::Host, is_contested: false }
    }
}

/// The list that these pieces make, or its conflict if some are open or hold additions of both sides. `None` if they are no finer than the
/// conflict.
fn joined<'a>(conflict: &Conflict<'a>, list: NodeRef<'a>, pieces: &[ListPiece<'a>]) -> Option<Tree<'a>> {
    let tree = |winner, additions| {
        let entries = pieces.iter().flat_map(|piece| piece.won_by(winner, additions)).cloned();
        Branch::with(list, By::Index, entries.collect()).into_tree()
    };
    if pieces.iter().any(|piece| matches!(piece, ListPiece::Open(_))) {
        let settled = |winner, pick| won_by(tree(winner, Kept::Both), pick, Kept::Both).unwrap_or(Tree::Node(list));
        return overlap(conflict, settled(Side::Dest, Pick::Dest), settled(Side::Updated, Pick::Updated));
    }
    let both = tree(Side::Dest, Kept::Both);
    if pieces.iter().all(|piece| matches!(piece, ListPiece::Settled(_))) {
        return Some(both);
    }
    let [dest, taken] = [Side::Dest, Side::Updated].map(|winner| Some(tree(winner, Kept::OfWinner)));
    Some(Conflict { dest, taken, comments: None, taking: Taking::Both(both), ..conflict.clone() }.into())
}

/// The elements that a list has more often than both sides have them.
fn doubled(numbers: &[u32], sides: [&[u32]; 2]) -> impl Iterator<Item = u32> {
    let [new, own] = sides.map(counted);
    let is_doubled = move |(number, count)| (Some(&count) > new.get(&number).max(own.get(&number))).then_some(number);
    counted(numbers).into_iter().filter_map(is_doubled)
}

/// Whether a second run merges the list with these elements by its keys.
fn is_keyed<'a>(cursor: Cursor<'a>, sides: [&Version<'a>; 2], outcome: &[View<'_, 'a>]) -> bool {
    let lists = sides.map(|version| Some(version.list));
    let [original, updated] = sides.map(|version| &version.views[..]);
    let kind = kind_of_list(cursor, lists, &[original, updated, outcome]);
    !matches!(kind, Ok(ListKind::Atomic) | Err(_))
}

/// The elements of the pieces if this side wins, and the place that each has in dest, if it has one.
fn outcome<'a>(pieces: &[ListPiece<'a>], winner: Side, additions: Kept) -> (Vec<Tree<'a>>, Vec<Option<usize>>) {
    let pick = pick_of(winner);
    let entries = pieces.iter().flat_map(|piece| piece.won_by(winner, additions));
    entries.filter_map(|entry| Some((won_by(entry.value.clone()?, pick, additions)?, entry.place()))).unzip()
}

fn pick_of(winner: Side) -> Pick {
    if winner == Side::Updated { Pick::Updated } else { Pick::Dest }
}

/// A tree in which this side won all conflicts, with these additions of both sides.
fn won_by(tree: Tree<'_>, pick: Pick, additions: Kept) -> Option<Tree<'_>> {
    settle(tree, &mut |conflict| match (&conflict.taking, additions) {
        (Taking::Both(_), Kept::Both) => Pick::Both,
        _ => pick,
    })
}

/// The place of each number; `None` if it is at several places.
fn once(numbers: &[u32]) -> HashMap<u32, Option<usize>> {
    let mut places = HashMap::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        places.entry(*number).and_modify(|at| *at = None).or_insert(Some(place));
    }
    places
}

/// The versions of a list with their elements numbered.
fn numbered<'a>(conflict: &Conflict<'a>, lists: Values<'a>) -> (Versions<'a>, ElementNumbers<'a>) {
    let with_elements = Sides { original: conflict.original, updated: Some(lists.updated), dest: Some(lists.dest) };
    let all = with_elements.map(|list| list.into_iter().flat_map(NodeRef::elements).collect::<Vec<_>>());
    let mut numbering = ElementNumbers::of(all.iter().map(|(_, elements)| elements.len()).sum());
    let versions = Versions(Sides::of(|side| {
        let (list, elements) = (lists[side], all[side].clone());
        let views: Vec<View<'_, '_>> = elements.iter().copied().map(View::Node).collect();
        let numbers = views.iter().map(|view| numbering.number(*view)).collect();
        Version { list, elements, views, numbers }
    }));
    (versions, numbering)
}

impl<'a> Versions<'a> {
    fn elements_at(&self, places: Sides<Option<usize>>) -> Sides<Option<NodeRef<'a>>> {
        Sides::of(|side| places[side].map(|at| self[side].elements[at]))
    }

    /// The conflict of the elements at these places; `index` is for its path.
    fn conflict(&self, whole: &Conflict<'a>, (places, index): (Sides<Option<usize>>, usize)) -> Tree<'a> {
        let Sides { original, updated, dest } = self.elements_at(places);
        let mut path = whole.path.clone();
        path.push(Step::Index(index), places.dest);
        let here = dest.map(|dest| (Place::of_element(self.dest.list, dest), dest.document()));
        let gap = here.map_or("", |(place, doc)| gap_of(&place, doc));
        let comments = |element: Option<NodeRef<'a>>, version: &Version<'a>| {
            let remarks = element.map(|element| Remarks::of_element(version.list, element));
            remarks.unwrap_or_default().along_with_value(gap)
        };
        let conflict = Conflict {
            path,
            original,
            updated,
            dest: dest.map(Tree::Node),
            taken: updated.map(Tree::Node),
            key: None,
            comments: places.dest.map(|_| Sides {
                original: comments(original, &self.original).into(),
                updated: comments(updated, &self.updated).into(),
                dest: BoxedSlots::default(),
            }),
            required: None,
            taking: if updated.is_some() { Taking::Value } else { Taking::Deletion },
        };
        conflict.into()
    }

    /// The comments of elements that merge inside. Where the whole value of a side wins, its comments come with it.
    fn comments_inside(&self, elements: Sides<Option<NodeRef<'a>>>) -> Comments<'a> {
        let of = |side| Some(Remarks::of_element(self[side].list, elements[side]?));
        let upstream = of(Side::Original).zip(of(Side::Updated));
        of(Side::Dest).zip(upstream).map(|(own, (old, new))| changed_upstream(own, old, new)).unwrap_or_default()
    }

    fn paired(&self, at: Anchor) -> Paired<'a> {
        Paired { original: Some(self.original.elements[at.original]), ..self.both_added(at.updated, at.dest) }
    }

    /// An element that both sides added.
    fn both_added(&self, updated: usize, dest: usize) -> Paired<'a> {
        Paired { original: None, updated: self.updated.elements[updated], dest: self.dest.elements[dest], place: dest }
    }

    /// For each element of dest that may be merged from three versions, how, and the places of these.
    fn merged(&self, parts: &[Part]) -> Vec<Option<(MergedFrom, Anchor)>> {
        let mut merged = vec![None; self.dest.elements.len()];
        for part in parts {
            match part {
                Part::Anchor(at) => merged[at.dest] = Some((MergedFrom::Inside, *at)),
                Part::Hunk(hunk) if self.is_one_by_one(hunk) => {
                    for ((original, updated), dest) in
                        hunk.original.clone().zip(hunk.updated.clone()).zip(hunk.dest.clone())
                    {
                        merged[dest] = Some((MergedFrom::Whole, Anchor { original, updated, dest }));
                    }
                }
                Part::Hunk(_) => {}
            }
        }
        merged
    }

    /// The elements of dest that the other versions have with the same value. An element that original or updated repeats is left out: it is
    /// unclear which of its comments became which.
    fn unchanged(&self) -> Vec<Anchor> {
        let [original, updated] = [&self.original, &self.updated].map(|version| once(&version.numbers));
        let in_all = self.dest.numbers.iter().enumerate().filter_map(|(dest, number)| {
            Some(Anchor { original: (*original.get(number)?)?, updated: (*updated.get(number)?)?, dest })
        });
        in_all.collect()
    }

    /// The maps that both sides added, by their numbers.
    fn maps_of_both(&self) -> HashSet<u32> {
        let new = |side: Side| {
            let elements = self[side].numbers.iter().zip(&self[side].views);
            elements.filter(|(_, element)| element.is_map()).map(|(number, _)| *number).collect::<HashSet<u32>>()
        };
        let was: HashSet<u32> = self.original.numbers.iter().copied().collect();
        new(Side::Updated).intersection(&new(Side::Dest)).filter(|number| !was.contains(number)).copied().collect()
    }

    fn changed(&self, at: Anchor) -> Changed {
        let [original, updated, dest] = [&self.original, &self.updated, &self.dest].map(|version| &version.numbers);
        Changed::of(&original[at.original], &updated[at.updated], &dest[at.dest])
    }

    fn hunk(&self, hunk: &Hunk) -> Changed {
        hunk.changed(&self.original.numbers, &self.updated.numbers, &self.dest.numbers)
    }

    /// Whether each side has its own version of each element of a hunk, or the hunk has a single element on one side and none on the other.
    fn is_one_by_one(&self, hunk: &Hunk) -> bool {
        let (original, updated, dest) = (hunk.original.len(), hunk.updated.len(), hunk.dest.len());
        let is_changed_twice = |n: usize| {
            let number = |version: &Version<'a>, range: &Range<usize>| version.numbers[range.start + n];
            let original = number(&self.original, &hunk.original);
            original != number(&self.updated, &hunk.updated) && original != number(&self.dest, &hunk.dest)
        };
        match original {
            0 => updated == dest,
            1 if updated + dest == 1 => true,
            _ => original == updated && original == dest && (0..original).all(is_changed_twice),
        }
    }

    /// Dest's elements of a hunk, replaced by updated's.
    fn replaced(&self, hunk: &Hunk, own: &[Entry<'a>]) -> Vec<Entry<'a>> {
        let (updated, dest) = (&self.updated.numbers[hunk.updated.clone()], &self.dest.numbers[hunk.dest.clone()]);
        self.entries(hunk, replaced(updated, dest), own)
    }

    /// Updated's elements of a hunk, each in the place of one of dest's, as far as there are any.
    fn instead(&self, hunk: &Hunk, own: &[Entry<'a>]) -> Vec<Entry<'a>> {
        let mut new = hunk.updated.clone().map(|at| self.updated.elements[at]);
        let replaced = own[hunk.dest.clone()].iter().map(|own| {
            let new = new.next();
            let comments = new.map(|element| Remarks::of_element(self.updated.list, element).along_with_value(""));
            Entry { value: new.map(Tree::Node), comments: comments.unwrap_or_default().into(), ..own.clone() }
        });
        let mut out: Vec<Entry<'a>> = replaced.collect();
        out.extend(new.map(|element| Entry::new(None, Tree::Node(element))));
        out
    }

    /// The entries for elements of a hunk.
    fn entries(&self, hunk: &Hunk, elements: Vec<MergedElement>, own: &[Entry<'a>]) -> Vec<Entry<'a>> {
        let own = &own[hunk.dest.clone()];
        // In dest's layout, what takes the place of original's elements could look as in original, and a second run would take it for
        // something that dest left alone: see `Conflict::layout_of_taken`.
        let layout = if hunk.original.is_empty() { Layout::Host } else { Layout::Value };
        let new = |at: usize| Tree::Node(self.updated.elements[hunk.updated.start + at]);
        let entry = |element| match element {
            MergedElement::Kept(at) => own[at].clone(),
            MergedElement::Removed(at) => Entry { value: None, ..own[at].clone() },
            MergedElement::New(at) => Entry { layout, ..Entry::new(None, new(at)) },
        };
        elements.into_iter().map(entry).collect()
    }
}

/// Numbers for elements. Elements that mean the same have the same number.
struct ElementNumbers<'a> {
    known: HashMap<u64, Vec<(NodeRef<'a>, u32)>>,
    next: u32,
    by: Likely,
}

/// The elements with which an element is compared.
enum Likely {
    /// All elements.
    Any,
    /// Elements with the same hash.
    OfOneHash,
}

/// Up to this number of elements, each is compared with all others. Even if they are large, such as the versions of a definition, finding a
/// difference or equal texts costs less than hashing them.
const FEW: usize = 12;

impl<'a> ElementNumbers<'a> {
    /// A numbering for this many elements.
    fn of(count: usize) -> Self {
        Self { known: HashMap::new(), next: 0, by: if count <= FEW { Likely::Any } else { Likely::OfOneHash } }
    }

    fn number(&mut self, element: View<'_, 'a>) -> u32 {
        let hash = match self.by {
            Likely::Any => 0,
            Likely::OfOneHash => element.meaning(),
        };
        let alike = self.known.entry(hash).or_default();
        if let Some((_, number)) = alike.iter().find(|(other, _)| element.same(*other)) {
            return *number;
        }
        self.next += 1;
        // An element that was made here is asked for once.
        if let View::Node(node) = element {
            alike.push((node, self.next));
        }
        self.next
    }
}
