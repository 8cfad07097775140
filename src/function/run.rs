//! One run over the items: for each resource, it records whether the resource is merged, loses its role, is added, or is deleted.
//!
//! Items may be in one text or in many. The result for an item is edits of the text that contains it, so the code that read the text can
//! write it.

use std::collections::{BTreeMap, BTreeSet};

use krm_merge::child::find;
use krm_merge::documents::Item;
use krm_merge::edits::{Edit, TextEdits};
use krm_merge::file_path::{self, Fault};
use krm_merge::grounds::Ground;
use krm_merge::hashed::{Empty, HashMap, HashSet};
use krm_merge::immutable::refused;
use krm_merge::item_comment;
use krm_merge::layout::{self, Text, Upstream};
use krm_merge::limit::Budget;
use krm_merge::lost::{self, lost_comments};
use krm_merge::merge::{self, Merging};
use krm_merge::package::{FileOrder, Member, Spot, number_of};
use krm_merge::path::FieldPath;
use krm_merge::resource::{Located, Origin, Resource};
use krm_merge::review::{Found, review};
use krm_merge::rules::{Rules, Unmergeable};
use krm_merge::schema::Basis;
use krm_merge::sides::Sides;
use krm_merge::splice::{self, Unwritable};
use krm_merge::transport::{self, NewPlace};
use krm_merge::tree::{Tree, settle};
use krm_merge::warning::{Notice, Warning};
use krm_merge::yaml::NodeRef;

use crate::config::{Config, Role};
use crate::decision::{Clash, Decisions, Ruling};
use crate::report::Report;
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// What a merge does to the items of a package.
#[derive(Debug, Default)]
pub struct Merged<'a> {
    /// What happens to each item, by its number.
    pub items: Vec<Item>,
    /// The resources that are new.
    pub added: Vec<Added<'a>>,
    /// The file that an item moves to, by the number of the item. If path annotations say where the item is, its edits change them, too.
    pub moved: BTreeMap<usize, String>,
    /// The identity of an item in updated, by the item's number, if it differs from the identity in dest: apiVersion, kind, namespace and
    /// name.
    pub followed: BTreeMap<usize, [String; 4]>,
    /// The edits of lists of resources beside their items, each with the number of an item of the list.
    pub lists: BTreeMap<usize, TextEdits>,
    /// The new place of an item, by its number, if it does not stay in its own place.
    pub spots: BTreeMap<usize, Spot>,
}

impl Merged<'_> {
    /// The place of an item, by its number.
    pub fn spot(&self, item: usize) -> Spot {
        self.spots.get(&item).copied().unwrap_or_else(|| Spot::of_item(item))
    }

    /// The places of the remaining items, followed by the places of the new resources.
    pub fn order(&self) -> Vec<Spot> {
        let left = self.items.iter().enumerate().filter(|(_, becomes)| **becomes != Item::Goes);
        let left = left.map(|(i, _)| self.spot(i));
        left.chain(self.added.iter().map(|added| added.spot)).collect()
    }
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
}

/// Checks that no alias connects an item that moves with another item.
fn moves_alone(item: &Resource<'_>) -> Result<(), Box<Outcome>> {
    item.shared_alias().map_or(Ok(()), |alias| Err(apart_from_anchor(item, alias)))
}

/// Checks that the aliases in other items still stand for what they stood for, if the item becomes this tree, or goes.
pub(super) fn leaves_anchors<'i>(item: &Resource<'i>, becomes: Option<&Tree<'i>>) -> Result<(), Box<Outcome>> {
    item.broken_elsewhere(becomes).map_or(Ok(()), |alias| Err(apart_from_anchor(item, alias)))
}

/// Checks that no item that stays has an alias of an anchor in an item that is consumed. In the items of another role than dest, an alias is
/// the value that it stands for, wherever its anchor is.
pub(super) fn own_aliases(roles: &Roles<'_>) -> Result<(), Box<Outcome>> {
    let is_gone = |item: &Resource<'_>| item.origin.item().is_some_and(|i| roles.gone.get(i) == Some(&true));
    let others: Vec<&Resource<'_>> =
        roles.others.iter().flat_map(|(_, items)| items).filter(|item| is_gone(item)).collect();
    for item in &others {
        let stays = |alias: &NodeRef<'_>| !others.iter().any(|other| other.holds(*alias));
        if let Some(alias) = item.aliases_elsewhere().find(stays) {
            return Err(apart_from_anchor(item, alias));
        }
    }
    Ok(())
}

fn apart_from_anchor(item: &Resource<'_>, alias: NodeRef<'_>) -> Box<Outcome> {
    let message = format!(
        "the alias `{}` must stand in the same item as its anchor, for one of the two is to be changed",
        alias.text()
    );
    Box::new(Outcome::unreadable(&item.origin.text(), &alias.error(message)).about(item))
}

fn unmergeable(error: Box<Unmergeable<'_>>) -> Box<Outcome> {
    Box::new(Outcome::unmergeable(&error))
}

/// Refuses a new item whose path annotation names a place where the host must not write.
fn misplaced(source: &Resource<'_>, path: &str, fault: Fault) -> Box<Outcome> {
    let origin = &source.origin;
    let message =
        format!("the path {path:?} of {origin}, which is new, must {fault}; correct its path annotation, or remove it");
    Box::new(Outcome::new(Severity::Error, message).about(source))
}

/// What happens to one resource.
pub(super) enum Fate<'a> {
    /// It stays unchanged.
    Unchanged,
    /// It stays unchanged, but this tree no longer has the annotation of its role.
    Unmarked(Tree<'a>),
    /// It stays, with this content.
    Changed(Tree<'a>),
    /// It stays, with this content and these edits of the text that contains it.
    Written(Tree<'a>, TextEdits),
    /// It is deleted, or was never there.
    Gone,
}

/// The numbers (`config.kubernetes.io/index`) for resources that are put into a file. kpt accepts one item without a number in a file, and
/// refuses a second one. It also refuses two items with the same number.
#[derive(Default)]
pub(super) struct Numbering {
    next: HashMap<String, u64>,
    /// Files to which resources of other files move, unless all come from one file and dest has nothing in the new file.
    mixed: HashSet<String>,
}

impl Numbering {
    /// The numbering for resources that dest lacks, and for resources of dest that move to a file. In a file that gets several of them,
    /// their numbers come after dest's. Resources that move from one file to a new one keep their numbers.
    pub(super) fn of<'r, 'a: 'r>(
        new: impl Iterator<Item = &'r Resource<'a>>,
        moved: &[(&Resource<'_>, &str)],
        dest: &[Resource<'_>],
    ) -> Self {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for path in new.filter_map(|r| r.relative_path) {
            *count.entry(path).or_default() += 1;
        }
        count.retain(|_, n| *n > 1);
        let mut sources: HashMap<&str, HashSet<Option<&str>>> = HashMap::new();
        for (item, to) in moved {
            sources.entry(to).or_default().insert(item.path);
        }
        let several = sources.iter().filter(|(_, from)| from.len() > 1).map(|(to, _)| *to);
        let taken = dest.iter().filter_map(|item| item.path).filter(|path| sources.contains_key(path));
        let mixed: HashSet<String> = several.chain(taken).map(str::to_owned).collect();
        let numbered = count.into_keys().map(str::to_owned).chain(mixed.iter().cloned());
        let mut next: HashMap<String, u64> = numbered.map(|path| (path, 0)).collect();
        let dest = if next.is_empty() { &[] } else { dest };
        let there = dest.iter().filter_map(|item| Some((item.path?, item)));
        let alone = moved.iter().filter(|(_, to)| !mixed.contains(*to)).map(|(item, to)| (*to, *item));
        for (path, item) in there.chain(alone) {
            if let Some(next) = next.get_mut(path) {
                *next = (*next).max(number_of(item).saturating_add(1));
            }
        }
        Self { next, mixed }
    }

    /// The numbers of the resources of a file in this order, each with its member. A resource that can keep its number is left out.
    pub(super) fn in_order(&self, order: &FileOrder, members: &[Member<'_, '_>]) -> Vec<(usize, u64)> {
        let comes = |member: &Member<'_, '_>| member.moves_to().is_some_and(|to| self.mixed.contains(to));
        let own = |member: &Member<'_, '_>| member.sides.dest.filter(|_| !comes(member)).map(number_of);
        let own: Vec<Option<u64>> = order.iter().map(|number| own(&members[*number])).collect();
        let mut next = 0;
        let fitting = own.iter().map(|own| {
            let number = own.unwrap_or(next);
            let is_free = number >= next;
            next = number.saturating_add(1);
            is_free.then_some(number)
        });
        let numbers = fitting.collect::<Option<Vec<u64>>>().unwrap_or_else(|| (0..).take(own.len()).collect());
        let all = order.iter().zip(own).zip(numbers);
        all.filter(|((_, own), number)| *own != Some(*number)).map(|((member, _), number)| (*member, number)).collect()
    }

    /// The number of a new resource in a file, if it needs one.
    fn next(&mut self, path: &str) -> Option<u64> {
        let next = self.next.get_mut(path)?;
        *next += 1;
        Some(*next - 1)
    }

    /// The number of a resource that moves to a file, if it cannot keep its own.
    fn of_moved(&mut self, path: &str) -> Option<u64> {
        if self.mixed.contains(path) { self.next(path) } else { None }
    }
}

/// One run over the items of a package.
pub(super) struct Run<'a> {
    pub rules: Rules<'a>,
    pub decisions: Decisions<'a>,
    /// The budget that is left for new text and results.
    budget: &'a Budget,
    pub results: Results<'a>,
    pub merged: Merged<'a>,
    pub numbering: Numbering,
    /// The new numbers of items that cannot keep their number in their file, by item.
    pub numbers: HashMap<usize, u64>,
    /// The lists of each type whose merge keys come neither from the user nor from a schema of the type.
    grounds: BTreeMap<(String, String), BTreeSet<Ground>>,
}

/// The place of a new resource. By default it comes after all other resources.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stand {
    /// Its place among the items.
    pub spot: Option<Spot>,
    /// Its number in its file.
    pub number: Option<u64>,
}

impl<'a> Run<'a> {
    /// A run in which nothing has happened yet.
    pub(super) fn new(config: &'a Config<'a>, roles: &Roles<'a>, budget: &'a Budget) -> Self {
        Self {
            rules: config.rules(budget),
            decisions: config.task.decisions(),
            budget,
            results: Results::new(budget),
            merged: Merged {
                items: roles.gone.iter().map(|gone| if *gone { Item::Goes } else { Item::Stays }).collect(),
                added: Vec::new(),
                moved: BTreeMap::new(),
                followed: BTreeMap::new(),
                lists: BTreeMap::new(),
                spots: BTreeMap::new(),
            },
            numbering: Numbering::default(),
            numbers: HashMap::new(),
            grounds: BTreeMap::new(),
        }
    }

    pub(super) fn set_gone(&mut self, item: &Resource<'_>) {
        self.set(item, Item::Goes);
    }

    /// Sets the result for an item; a deleted item stays deleted.
    fn set(&mut self, item: &Resource<'_>, becomes: Item) {
        let slot = item.origin.item().and_then(|i| self.merged.items.get_mut(i));
        if let Some(slot) = slot.filter(|s| **s != Item::Goes) {
            *slot = becomes;
        }
    }

    /// Adds a resource that dest lacks.
    ///
    /// # Errors
    /// A path annotation names a place where no host may write.
    pub(super) fn add(&mut self, source: &Resource<'a>, tree: Tree<'a>, at: Stand) -> Result<(), Box<Outcome>> {
        let is_file = matches!(source.origin, Origin::File { .. });
        let tree = match source.relative_path.filter(|_| !is_file) {
            Some(path) => {
                file_path::of_new_file(path).map_err(|fault| misplaced(source, path, fault))?;
                transport::with_path(tree, path, at.number.or_else(|| self.numbering.next(path)))
            }
            None => tree,
        };
        let path = source.relative_path.map(str::to_owned);
        let spot = at.spot.unwrap_or_else(|| Spot::last(self.merged.added.len()));
        self.merged.added.push(Added { path, origin: source.origin.clone(), tree, spot });
        Ok(())
    }

    /// Adds a resource that dest deleted. It has the content of `side` and the place of `updated`.
    pub(super) fn bring_back(
        &mut self,
        updated: &Resource<'a>,
        side: &Resource<'a>,
        at: Stand,
    ) -> Result<(), Box<Outcome>> {
        let tree = self.rules.own(side).map_err(unmergeable)?;
        self.add(updated, tree, at)
    }

    /// Decides who wins a conflict of a resource as a whole.
    pub(super) fn rule<'i>(
        &mut self,
        about: &Resource<'i>,
        sides: Sides<Option<&Resource<'i>>>,
    ) -> Result<Ruling<'a>, Box<Outcome>>
    where
        'a: 'i,
    {
        let rules: Rules<'i> = self.rules;
        let mut own = Sides::default();
        for (side, resource) in sides.iter() {
            own[side] = resource.map(|resource| rules.own(resource)).transpose().map_err(unmergeable)?;
        }
        Ok(self.decisions.of(&Clash::of_whole(about, &FieldPath::default(), own)))
    }

    /// Notes that a dest item moves to another file. Returns the new values of its path annotations, if it has such annotations.
    ///
    /// # Errors
    /// An alias connects its text with the text of another item, so the item cannot be moved.
    pub(super) fn relocate<'i>(
        &mut self,
        dest: &Resource<'i>,
        to: &'i str,
    ) -> Result<Option<NewPlace<'i>>, Box<Outcome>> {
        moves_alone(dest)?;
        self.results.report(&Report::Moved { dest, to })?;
        if let Some(item) = dest.origin.item() {
            self.merged.moved.insert(item, to.to_owned());
        }
        let path = transport::path_in_package(dest, to).filter(|_| dest.located == Located::ByAnnotation);
        Ok(path.map(|path| NewPlace { path: Some(path), number: self.numbering.of_moved(to) }))
    }

    /// Notes that a dest item has another identity in updated.
    pub(super) fn follow(&mut self, dest: &Resource<'_>, updated: &Resource<'_>) -> Result<(), Box<Outcome>> {
        self.results.report(&Report::Followed { dest, updated })?;
        if let (Some(item), Some(i)) = (dest.origin.item(), updated.identity) {
            self.merged.followed.insert(item, [i.api_version, i.kind, i.namespace, i.name].map(str::to_owned));
        }
        Ok(())
    }

    /// Keeps a dest item and writes its new place into the annotations of the host.
    pub(super) fn keep_at(&mut self, dest: &Resource<'a>, place: NewPlace<'a>) -> Result<(), Box<Outcome>> {
        let fate = self.finish(dest, Some(Tree::Node(dest.node())), Some(place));
        self.carry_out(dest, fate).map(drop)
    }

    /// Keeps a dest item, without the annotation of its role, and with its new number if it got one.
    pub(super) fn keep(&mut self, dest: &Resource<'a>) -> Result<(), Box<Outcome>> {
        let has_number = dest.origin.item().is_some_and(|i| self.numbers.contains_key(&i));
        if dest.role.is_none() && !has_number {
            return Ok(());
        }
        if let Some(edits) = dest.without_role().filter(|_| !has_number) {
            self.set(dest, Item::Edited(edits));
            return Ok(());
        }
        let fate = self.finish(dest, Some(Tree::Node(dest.node())), None);
        self.carry_out(dest, fate).map(drop)
    }

    /// A resource as JSON, without the annotations of the host.
    pub(super) fn own_json(&self, resource: &Resource<'a>) -> Result<String, Box<Outcome>> {
        let own = self.rules.own(resource).map_err(unmergeable)?;
        splice::json_of(&own, self.budget).map_err(|e| Outcome::unwritable(e, resource))
    }

    /// Merges sources into a dest item, one after the other. Their nodes are dropped after it, unless other items need them.
    pub(super) fn merge_item(&mut self, item: &Resource<'a>, sources: &[&Resource<'a>]) -> Result<(), Box<Outcome>> {
        let read: Vec<_> = [item].iter().chain(sources).map(|resource| resource.nodes()).collect();
        let mut resources = [item].into_iter().chain(sources.iter().copied()).zip(&read).map(|(r, read)| r.with(read));
        match resources.next() {
            Some(item) => self.merge_read(&item, &resources.collect::<Vec<_>>()),
            None => Ok(()),
        }
    }

    fn merge_read<'i>(&mut self, item: &Resource<'i>, sources: &[Resource<'i>]) -> Result<(), Box<Outcome>>
    where
        'a: 'i,
    {
        let mut merging = Merging::of(Some(Tree::Node(item.node())));
        for source in sources {
            if merging.tree().is_some() {
                self.merge_source(item, &mut merging, source)?;
            } else if source.target.is_none() {
                self.results.report(&Report::DeletedBefore(item))?;
                break;
            }
            // A source with a target is skipped without an error: a target selects only items that still exist when the source is applied.
        }
        let tree = merging.finish();
        self.review(item, tree.as_ref(), sources.iter(), Role::Source)?;
        let fate = self.finish(item, tree, None);
        self.carry_out(item, fate).map(drop)
    }

    /// Merges sources of one identity that dest lacks into one resource.
    pub(super) fn merge_new(&mut self, sources: &[&Resource<'a>]) -> Result<Option<Tree<'a>>, Box<Outcome>> {
        let mut merging = Merging::of(None);
        for source in sources {
            if merging.tree().is_some() {
                self.merge_source(source, &mut merging, source)?;
            } else {
                merging = Merging::of(self.rules.added(source).map_err(unmergeable)?);
            }
        }
        Ok(merging.finish())
    }

    /// Carries out the fate of a dest item, and returns its content if it stays.
    pub(super) fn carry_out<'i>(
        &mut self,
        item: &Resource<'i>,
        fate: Fate<'i>,
    ) -> Result<Option<Tree<'i>>, Box<Outcome>> {
        match &fate {
            Fate::Unchanged => {}
            Fate::Unmarked(tree) | Fate::Changed(tree) | Fate::Written(tree, _) => leaves_anchors(item, Some(tree))?,
            Fate::Gone => leaves_anchors(item, None)?,
        }
        Ok(match fate {
            Fate::Unchanged => Some(Tree::Node(item.node())),
            // To the package, a resource without its role is the same resource, and its node takes less memory than the tree.
            Fate::Unmarked(tree) => {
                let (edits, _) = self.edits(item, &tree, None)?;
                self.set(item, Item::Edited(edits));
                Some(Tree::Node(item.node()))
            }
            Fate::Changed(tree) => {
                let (edits, _) = self.edits(item, &tree, None)?;
                self.set(item, Item::Edited(edits));
                Some(tree)
            }
            Fate::Written(tree, edits) => {
                self.set(item, Item::Edited(edits));
                Some(tree)
            }
            Fate::Gone => {
                self.set_gone(item);
                None
            }
        })
    }

    /// The fate of an item that also gets another comment. If the edits of its content are where the comment is, its comment stays, and the
    /// user is told.
    pub(super) fn commented<'i>(
        &mut self,
        item: &Resource<'i>,
        fate: Fate<'i>,
        comment: &str,
    ) -> Result<Fate<'i>, Box<Outcome>>
    where
        'a: 'i,
    {
        let whole = Tree::Node(item.node());
        let (tree, edits) = match fate {
            Fate::Unchanged => (whole, TextEdits::default()),
            Fate::Unmarked(tree) => (whole, self.edits(item, &tree, None)?.0),
            Fate::Changed(tree) => {
                let edits = self.edits(item, &tree, None)?.0;
                (tree, edits)
            }
            Fate::Written(tree, edits) => (tree, edits),
            Fate::Gone => return Ok(Fate::Gone),
        };
        let both = item_comment::edit(item.node(), comment, self.budget)
            .map(|edit| splice::with_comment(item.node(), &edits, edit, self.budget))
            .transpose()
            .map_err(|e| Outcome::unwritable(e, item))?;
        if let Some(both) = both.flatten() {
            return Ok(Fate::Written(tree, both));
        }
        let notice = Notice::CommentNotTaken(comment.to_owned());
        let warning = Warning { path: FieldPath::default(), notice, dest: None, proposed: None };
        self.results.report(&Report::Warning { about: item, warning: &warning, side: Role::Updated })?;
        Ok(Fate::Written(tree, edits))
    }

    /// The edits of an item's text that give it the content of a tree, perhaps in the layout of another document.
    pub(super) fn edits<'i>(
        &self,
        item: &Resource<'i>,
        tree: &Tree<'i>,
        like: Option<NodeRef<'i>>,
    ) -> Result<(TextEdits, Text), Box<Outcome>> {
        layout::edits(item.node(), tree, like, self.budget).map_err(|e| Outcome::unwritable(e, item))
    }

    /// Merges one source into a resource. `about` is the resource that warnings name.
    fn merge_source<'i>(
        &mut self,
        about: &Resource<'i>,
        resource: &mut Merging<'i>,
        source: &Resource<'i>,
    ) -> Result<(), Box<Outcome>>
    where
        'a: 'i,
    {
        let rules: Rules<'i> = self.rules;
        for warning in &rules.patched(about, resource, source).map_err(unmergeable)? {
            self.results.report(&Report::Warning { about, warning, side: Role::Source })?;
        }
        Ok(())
    }

    /// The result for a dest item, from the tree of its three-way merge: settles the conflicts and reports them. It comes with dest's nodes
    /// that were in conflict.
    pub(super) fn upgrade<'i>(
        &mut self,
        sides: Sides<Option<&Resource<'i>>>,
        [dest, updated]: [&Resource<'i>; 2],
        merged: merge::Merged<'i>,
        place: Option<NewPlace<'i>>,
    ) -> Result<(Fate<'i>, Vec<NodeRef<'i>>), Box<Outcome>>
    where
        'a: 'i,
    {
        for warning in &merged.warnings {
            self.results.report(&Report::Warning { about: dest, warning, side: Role::Updated })?;
        }
        let mut all_told = Ok(());
        let mut disputed = Vec::new();
        let tree = merged.tree.and_then(|tree| {
            settle(tree, &mut |conflict| {
                disputed.extend(conflict.dest.as_ref().and_then(Tree::like));
                let ruling = self.decisions.of(&Clash::of_place(conflict, sides, dest));
                if all_told.is_ok() {
                    all_told = self.results.report(&Report::Conflict { dest, conflict, ruling });
                }
                ruling.verdict.pick()
            })
        });
        all_told?;
        // Mostly a resource stays as it is, and there is nothing to look at.
        let changed = tree.as_ref().filter(|tree| !tree.is(dest.node()));
        self.review(dest, changed, [updated].into_iter(), Role::Updated)?;
        if let Some(tree) = changed {
            for refused in &refused(dest.node(), tree, self.rules.cursor(dest)) {
                self.results.report(&Report::Refused { dest, refused })?;
            }
        }
        Ok((self.finish(dest, tree, place), disputed))
    }

    /// Reports the comments that only dest has and that the run removes from a dest item. `disputed` are its nodes in conflict.
    pub(super) fn tell_lost<'i>(
        &mut self,
        sides: Sides<Option<&Resource<'i>>>,
        disputed: &[NodeRef<'i>],
    ) -> Result<(), Box<Outcome>>
    where
        'a: 'i,
    {
        let Some(dest) = sides.dest else { return Ok(()) };
        let all;
        let edits = match dest.origin.item().and_then(|i| self.merged.items.get(i)) {
            Some(Item::Edited(edits)) => edits,
            Some(Item::Goes) => {
                let range = lost::bytes_of(dest.node());
                all = Edit { range, text: String::new() }.into();
                &all
            }
            Some(Item::Stays) | None => return Ok(()),
        };
        let upstream: Vec<_> = [sides.original, sides.updated].into_iter().flatten().map(|side| side.node()).collect();
        for warning in &lost_comments(dest.node(), edits, &upstream, disputed, || self.rules.cursor(dest)) {
            self.results.report(&Report::Warning { about: dest, warning, side: Role::Updated })?;
        }
        Ok(())
    }

    /// The result for a dest item, and whose text it has: if dest left the item alone, it takes the text of updated. The text then loses
    /// kpt's ids for comments, or kpt would put the old comments back.
    pub(super) fn laid_out<'i>(
        &self,
        sides: Sides<Option<&Resource<'i>>>,
        upstream: Upstream,
        fate: Fate<'i>,
    ) -> Result<(Fate<'i>, Text), Box<Outcome>> {
        let (Some(dest), Some(like)) = (sides.dest, layout::of(sides, upstream, self.budget)) else {
            return Ok((fate, Text::Own));
        };
        let whole = Tree::Node(dest.node());
        let tree = match &fate {
            Fate::Unchanged => &whole,
            Fate::Unmarked(tree) | Fate::Changed(tree) => tree,
            Fate::Written(..) | Fate::Gone => return Ok((fate, Text::Own)),
        };
        let mut laid = self.edits(dest, tree, Some(like))?;
        if laid.1 == Text::Upstream && transport::has_ids(tree) {
            laid = self.edits(dest, &transport::without_ids(tree.clone()), Some(like))?;
            if laid.1 == Text::Own {
                return Ok((fate, Text::Own));
            }
        }
        let (edits, text) = laid;
        let fate = match fate {
            Fate::Unchanged if text == Text::Own => Fate::Unchanged,
            Fate::Changed(tree) => Fate::Written(tree, edits),
            _ => Fate::Written(whole, edits),
        };
        Ok((fate, text))
    }

    /// Reports what the owner of a merged resource should check. The last source that has a value at the place gives the proposed value.
    fn review<'r, 'i: 'r>(
        &mut self,
        about: &Resource<'i>,
        tree: Option<&Tree<'i>>,
        sources: impl DoubleEndedIterator<Item = &'r Resource<'i>> + Clone,
        side: Role,
    ) -> Result<(), Box<Outcome>>
    where
        'a: 'i,
    {
        let Some(tree) = tree else { return Ok(()) };
        let rules: Rules<'i> = self.rules;
        let Found { warnings, grounds } = review(tree, rules.cursor(about), Some(about.node()));
        if let Some(identity) = about.identity.filter(|_| !grounds.is_empty()) {
            let of_type = (identity.api_version.to_owned(), identity.kind.to_owned());
            self.grounds.entry(of_type).or_default().extend(grounds);
        }
        for warning in warnings {
            let proposed = sources.clone().rev().find_map(|source| find(source.node(), &warning.path));
            let warning = Warning { proposed: proposed.or(warning.proposed), ..warning };
            self.results.report(&Report::Warning { about, warning: &warning, side })?;
        }
        Ok(())
    }

    /// Reports once for each type which source gave the merge keys of its lists, unless it was the user or a schema of the type. If all
    /// keys were inferred, nothing is reported, because a user expects inference for an unknown type.
    pub(super) fn tell_grounds(&mut self) -> Result<(), Box<Outcome>> {
        let mut grounds = std::mem::take(&mut self.grounds);
        grounds.retain(|_, lists| lists.iter().any(|list| list.basis != Basis::Inferred));
        for ((api_version, kind), lists) in grounds {
            let instead = self.rules.types.instead(&api_version, &kind);
            let (api_version, kind) = (api_version.as_str(), kind.as_str());
            self.results.report(&Report::Grounds { api_version, kind, instead, lists: &lists })?;
        }
        Ok(())
    }

    /// The result for an item with this merged content. It corrects the annotations of the host.
    fn finish<'i>(&self, item: &Resource<'i>, tree: Option<Tree<'i>>, place: Option<NewPlace<'i>>) -> Fate<'i> {
        let Some(tree) = tree.filter(|tree| tree.like().is_some_and(|like| like.is(item.node()))) else {
            return Fate::Gone;
        };
        let number = item.origin.item().and_then(|i| self.numbers.get(&i).copied());
        let place = match number.filter(|_| item.located == Located::ByAnnotation) {
            None => place,
            number => Some(NewPlace { path: place.and_then(|place| place.path), number }),
        };
        let tree = match place {
            Some(place) => transport::at(tree, place),
            None => tree,
        };
        let is_untouched = tree.is(item.node());
        let tree = transport::without_misleading_ids(transport::without_role(tree), item.node());
        match (is_untouched, tree.is(item.node())) {
            (_, true) => Fate::Unchanged,
            (true, false) => Fate::Unmarked(tree),
            (false, false) => Fate::Changed(tree),
        }
    }
}
