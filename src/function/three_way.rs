//! ThreeWay: merges each resource, carries out the result in dest, and reports it.

use krm_merge::edits::Edit;
use krm_merge::hashed::{Empty, HashMap};
use krm_merge::item_comment::ItemComment;
use krm_merge::layout::{self, Text};
use krm_merge::limit::Budget;
use krm_merge::merge::Merged as Merging;
use krm_merge::package::{Becomes, FileOrder, Member, MergeAll, Move, Spot, members, orders, spots};
use krm_merge::resource::{Located, Origin, Resource};
use krm_merge::sides::Sides;
use krm_merge::tree::{Pick, Tree};
use krm_merge::yaml::extent;

use super::after::After;
use super::broken::{self, Lost};
use super::lists;
use super::run::{Fate, Merged, Numbering, Run, Stand, own_aliases};
use crate::config::{Config, Role};
use crate::decision::{Ruling, Verdict};
use crate::report::{Counts, LeftUpstream, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// Applies to dest the changes from original to updated.
pub(super) fn three_way<'a>(
    roles: &Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
    merge_all: Option<MergeAll>,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    for role in Role::of(config.mode()) {
        roles.require(*role)?;
    }
    own_aliases(roles)?;
    let sides = Sides { original: roles.of(Role::Original), updated: roles.of(Role::Updated), dest: &roles.dest[..] };
    let all = members(sides, config.renames()).map_err(|e| Box::new(Outcome::new(Severity::Error, e.to_string())))?;
    let mut run = Run::new(config, roles, budget);
    let new = all.iter().filter(|m| m.is_new()).filter_map(|m| m.sides.updated);
    let moved: Vec<_> = all.iter().filter_map(|m| m.sides.dest.zip(m.moves_to())).collect();
    run.numbering = Numbering::of(new, &moved, &roles.dest);
    let mut counts = Counts::default();
    let mut upstream = Upstream::default();
    let mut lost = Lost::default();
    let mut result = Vec::with_capacity(all.len());
    let stands = stands(&all, &mut run, config);
    let mut ahead = merge_all.map(|merge_all| merge_all(&all, run.rules));
    for (number, member) in all.iter().enumerate() {
        // If nothing was merged ahead, the text may tell that there is nothing to merge, and the nodes of a merge need not stay.
        let done = ahead.as_mut().and_then(Iterator::next);
        result.push(match (done, member.sides.updated, member.sides.dest) {
            (None, Some(updated), Some(dest)) if member.is_untouched() => {
                tell_moves(member, [dest, updated], &mut run)?;
                keep(dest, member.moves_to(), &mut run, &mut counts)?;
                Some(After::Kept(dest))
            }
            (None, Some(updated), Some(dest)) if dest.is_unread() => {
                merge_unread(member, [dest, updated], &mut run, &mut counts, &mut lost)?
            }
            (done, ..) => {
                let done = done.unwrap_or_else(|| member.merged(&run.rules));
                let becomes = done.map_err(|e| Box::new(Outcome::unmergeable(&e)))?;
                let stand = stands.get(&number).copied().unwrap_or_default();
                let after = settle(member, becomes, stand, &mut run, &mut counts, &mut upstream)?;
                lost.note(member.sides, after.as_ref());
                after
            }
        });
    }
    lists::merge(&all, &mut run)?;
    upstream.tell(&mut run)?;
    broken::tell(&lost, (&all, &result), &run.merged.items, roles, &mut run.results)?;
    run.tell_grounds()?;
    let conflicts = run.results.count(Outcome::is_conflict);
    if run.results.count(|result| result.severity == Severity::Error) > 0 {
        counts = Counts { unchanged: roles.dest.len(), ..Counts::default() };
    }
    run.results.report(&Report::Counts(Counts { conflicts, ..counts }))?;
    // These come after the counts, because a host that shows only a few lines must show the counts.
    for idle in run.decisions.idle() {
        run.results.report(&Report::IdleDecision(idle))?;
    }
    Ok((run.merged, run.results))
}

/// The places of the new resources, by their members. The run notes the items that get another place or another number.
fn stands(members: &[Member<'_, '_>], run: &mut Run<'_>, config: &Config<'_>) -> HashMap<usize, Stand> {
    // For a list among the items, the host gives the place of the list, but not of the resources in it.
    let is_listed = |dest: &Resource<'_>| {
        dest.located == Located::Nowhere && matches!(dest.origin, Origin::Listed { .. }) && dest.path.is_some()
    };
    let mut orders: Vec<FileOrder> = orders(members, config.policy().new_elements);
    orders.retain(|order| !order.iter().any(|number| members[*number].sides.dest.is_some_and(is_listed)));
    let item = |number: usize| members[number].sides.dest.and_then(|dest| dest.origin.item());
    let mut stands: HashMap<usize, Stand> = HashMap::new();
    for (number, spot) in spots(&orders, members) {
        match item(number) {
            Some(item) if spot == Spot::of_item(item) => {}
            Some(item) => _ = run.merged.spots.insert(item, spot),
            None => stands.entry(number).or_default().spot = Some(spot),
        }
    }
    for (number, in_file) in orders.iter().flat_map(|order| run.numbering.in_order(order, members)) {
        match item(number) {
            Some(item) => _ = run.numbers.insert(item, in_file),
            None => stands.entry(number).or_default().number = Some(in_file),
        }
    }
    stands
}

/// Merges a resource that updated and dest have. Its nodes are read for this merge, and dropped after it.
fn merge_unread<'r, 'a>(
    member: &Member<'r, 'a>,
    [dest, updated]: [&'r Resource<'a>; 2],
    run: &mut Run<'a>,
    counts: &mut Counts,
    lost: &mut Lost,
) -> Result<Option<After<'r, 'a>>, Box<Outcome>> {
    let nodes_of_original = member.sides.original.map(|original| (original, original.nodes()));
    let [nodes_of_updated, nodes_of_dest] = [updated, dest].map(Resource::nodes);
    let original = nodes_of_original.as_ref().map(|(original, nodes)| original.with(nodes));
    let (updated, read) = (updated.with(&nodes_of_updated), dest.with(&nodes_of_dest));
    let sides = Sides { original: original.as_ref(), updated: Some(&updated), dest: Some(&read) };
    let member = Member { sides, moves: member.moves };
    let merged = run.rules.upgraded(sides.original, &updated, &read).map_err(|e| Box::new(Outcome::unmergeable(&e)))?;
    let tree = upgrade(&member, [&read, &updated], merged, run, counts)?;
    lost.note_content(sides, tree.as_ref().and_then(Tree::view));
    Ok(tree.map(|tree| After::of_merged(dest, read.node(), &tree)))
}

/// Carries out the result of the merge for a resource. Returns what the package then has of it, if anything.
fn settle<'r, 'a>(
    member: &Member<'r, 'a>,
    becomes: Becomes<'a>,
    stand: Stand,
    run: &mut Run<'a>,
    counts: &mut Counts,
    upstream: &mut Upstream<'r, 'a>,
) -> Result<Option<After<'r, 'a>>, Box<Outcome>> {
    Ok(match (becomes, member.sides.original, member.sides.updated, member.sides.dest) {
        (Becomes::Kept, _, _, Some(dest)) => {
            keep(dest, member.moves_to(), run, counts)?;
            // A role whose line goes alone takes no comment along.
            if dest.without_role().is_none() {
                run.tell_lost(member.sides, &[])?;
            }
            Some(After::Kept(dest))
        }
        (Becomes::Arrived(tree), _, Some(updated), _) => {
            upstream.came.push(updated);
            if let Some(tree) = tree.clone() {
                run.add(updated, tree, stand)?;
                counts.added += 1;
            }
            tree.map(After::Made)
        }
        // Upstream deleted it. If dest changed it, that is a conflict, and it stays under KeepDest.
        (Becomes::Deleted(places), Some(original), _, Some(dest)) => {
            let ruling = (!places.is_empty()).then(|| run.rule(dest, member.sides)).transpose()?;
            if let Some(ruling) = ruling {
                let original = run.own_json(original)?;
                run.results.report(&Report::DeletedUpstream { dest, places: &places, original, ruling })?;
            }
            let left = leave(dest, original, member.moves_to(), ruling, run, counts)?;
            if places.is_empty() {
                run.tell_lost(member.sides, &[])?;
            }
            upstream.left.push((original, left));
            (left == LeftUpstream::Kept).then_some(After::Kept(dest))
        }
        // Dest deleted it, and it stays deleted. If upstream changed it, that is a conflict. While the conflict is open, the resource may
        // come back.
        (Becomes::StaysDeleted(places), Some(original), Some(updated), _) if !places.is_empty() => {
            let ruling = run.rule(updated, member.sides)?;
            let json = run.own_json(original)?;
            run.results.report(&Report::DeletedHere { updated, places: &places, original: json, ruling })?;
            let back = brought_back(ruling.verdict, original, updated);
            if let Some(back) = back {
                run.bring_back(updated, back, stand)?;
            }
            back.map(After::Kept)
        }
        (Becomes::Merged(merged, changed), _, Some(updated), Some(dest)) => {
            upgrade(member, [dest, updated], (merged, changed), run, counts)?.map(After::Made)
        }
        (Becomes::Gone, original, ..) => {
            upstream.left.extend(original.map(|o| (o, LeftUpstream::WasNotHere)));
            None
        }
        _ => None,
    })
}

/// Reports that a resource has another place or another identity in updated.
fn tell_moves<'i, 'a: 'i>(
    member: &Member<'_, 'i>,
    [dest, updated]: [&Resource<'i>; 2],
    run: &mut Run<'a>,
) -> Result<(), Box<Outcome>> {
    match member.moves {
        Move::Apart([from, to]) => {
            let ruling = run.rule(dest, member.sides)?;
            run.results.report(&Report::MovedApart { dest, from, to, ruling })?;
        }
        Move::Barred(to) => run.results.report(&Report::NotMoved { dest, to })?,
        Move::Stays | Move::To(_) => {}
    }
    if member.moved().is_some() {
        run.follow(dest, updated)?;
    }
    Ok(())
}

/// Merges a resource that updated and dest have, and returns what it becomes.
fn upgrade<'i, 'a: 'i>(
    member: &Member<'_, 'i>,
    [dest, updated]: [&Resource<'i>; 2],
    (mut merged, upstream): (Merging<'i>, layout::Upstream),
    run: &mut Run<'a>,
    counts: &mut Counts,
) -> Result<Option<Tree<'i>>, Box<Outcome>> {
    tell_moves(member, [dest, updated], run)?;
    let place = member.moves_to().map(|to| run.relocate(dest, to)).transpose()?.flatten();
    let comment = match ItemComment::of(member.sides.map(|side| side.map(Resource::node))) {
        ItemComment::Contested(warning) => {
            merged.warnings.push(warning);
            None
        }
        ItemComment::Becomes(comment) => Some(comment),
        ItemComment::Stays => None,
    };
    // A new number changes only the place of a resource, so such a resource still counts as unchanged.
    let is_same = merged.tree.as_ref().is_some_and(|tree| tree.is(dest.node())) && member.moves_to().is_none();
    let (fate, disputed) = run.upgrade(member.sides, [dest, updated], merged, place)?;
    let is_unchanged = match fate {
        Fate::Unchanged | Fate::Unmarked(_) => member.moves_to().is_none(),
        Fate::Changed(_) => is_same,
        Fate::Written(..) | Fate::Gone => false,
    };
    let (fate, text) = run.laid_out(member.sides, upstream, fate)?;
    // Upstream's text has its comment, too.
    let comment = comment.filter(|_| text == Text::Own);
    let fate = match comment {
        Some(comment) => run.commented(dest, fate, comment)?,
        None => fate,
    };
    match text {
        Text::Own if is_unchanged && comment.is_none() => counts.unchanged += 1,
        Text::Own | Text::Upstream => counts.merged += 1,
    }
    let becomes = run.carry_out(dest, fate)?;
    // What takes upstream's text had original's, so it has no comments of its own.
    if text == Text::Own {
        run.tell_lost(member.sides, &disputed)?;
    }
    Ok(becomes)
}

/// Deletes a resource of dest that upstream deleted, unless a ruling on the conflict keeps it.
fn leave<'a>(
    dest: &Resource<'a>,
    original: &Resource<'a>,
    to: Option<&'a str>,
    ruling: Option<Ruling<'_>>,
    run: &mut Run<'a>,
    counts: &mut Counts,
) -> Result<LeftUpstream, Box<Outcome>> {
    match ruling.map(|ruling| ruling.verdict.pick()) {
        Some(Pick::Dest) => keep(dest, to, run, counts)?,
        Some(Pick::Original) => run.carry_out(dest, replaced(dest, original)).map(drop)?,
        Some(Pick::Updated) | None => {
            run.carry_out(dest, Fate::Gone)?;
            counts.deleted += 1;
            return Ok(LeftUpstream::Deleted);
        }
    }
    Ok(LeftUpstream::Kept)
}

/// The version in which a resource comes back although dest deleted it; `None` if it stays deleted. Only an open conflict brings it back.
fn brought_back<'r, 'a>(
    verdict: Verdict,
    original: &'r Resource<'a>,
    updated: &'r Resource<'a>,
) -> Option<&'r Resource<'a>> {
    match verdict {
        Verdict::Open(Pick::Updated) => Some(updated),
        Verdict::Open(Pick::Original) => Some(original),
        Verdict::Open(Pick::Dest) | Verdict::By(_) => None,
    }
}

/// The fate of a document of dest that is replaced with the text of original.
fn replaced<'a>(dest: &Resource<'a>, original: &Resource<'a>) -> Fate<'a> {
    if !dest.node().is_root() || !original.node().is_root() {
        return Fate::Unchanged;
    }
    let text = original.node().document().source()[extent(original.node())].to_owned();
    Fate::Written(Tree::Node(original.node()), Edit { range: extent(dest.node()), text }.into())
}

/// Keeps a resource of dest, or moves it with its file.
fn keep<'a>(
    dest: &Resource<'a>,
    to: Option<&'a str>,
    run: &mut Run<'a>,
    counts: &mut Counts,
) -> Result<(), Box<Outcome>> {
    match to.map(|to| run.relocate(dest, to)).transpose()?.flatten() {
        Some(place) => run.keep_at(dest, place)?,
        None => run.keep(dest)?,
    }
    match to {
        Some(_) => counts.merged += 1,
        None => counts.unchanged += 1,
    }
    Ok(())
}

/// Resources that left upstream, and resources that are new there. Renames that the merge follows are in neither. A new resource may be a
/// moved one: it has the kind and name of one that left, but another version, group or file.
#[derive(Default)]
struct Upstream<'r, 'a> {
    left: Vec<(&'r Resource<'a>, LeftUpstream)>,
    came: Vec<&'r Resource<'a>>,
}

impl Upstream<'_, '_> {
    fn tell(&self, run: &mut Run<'_>) -> Result<(), Box<Outcome>> {
        fn key<'a>(resource: &Resource<'a>) -> Option<(&'a str, &'a str, &'a str)> {
            resource.identity.map(|i| (i.kind, i.namespace, i.name))
        }
        let left: HashMap<_, _> = self.left.iter().filter_map(|(r, fate)| Some((key(r)?, (*r, *fate)))).collect();
        for came in &self.came {
            let Some((left, fate)) = key(came).and_then(|key| left.get(&key)) else { continue };
            run.results.report(&Report::MayHaveMoved { came, left, fate: *fate })?;
        }
        Ok(())
    }
}
