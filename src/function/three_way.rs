//! ThreeWay: carries out in dest what the merge makes of each resource, and tells it.

use std::collections::HashMap;

use krm_merge::edits::{Edit, TextEdits};
use krm_merge::limit::Budget;
use krm_merge::package::{Becomes, Member, Move, members};
use krm_merge::resource::Resource;
use krm_merge::sides::Sides;
use krm_merge::tree::Pick;
use krm_merge::yaml::extent;

use super::run::{Fate, Merged, Numbering, Run, own_anchors};
use crate::config::{Config, Role};
use crate::decision::{Ruling, Verdict};
use crate::report::{Counts, LeftUpstream, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// Makes in dest what changed from original to updated.
pub(super) fn three_way<'a>(
    roles: &'a Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    for role in config.mode().roles() {
        roles.require(*role)?;
    }
    for side in roles.others.iter().flat_map(|o| &o.1) {
        own_anchors(side, side.node)?;
    }
    let sides = Sides { original: roles.of(Role::Original), updated: roles.of(Role::Updated), dest: &roles.dest[..] };
    let all = members(sides, config.renames()).map_err(|e| Box::new(Outcome::new(Severity::Error, e.to_string())))?;
    let mut run = Run::new(config, roles, budget);
    let is_new = |m: &&Member<'_, '_>| m.sides.original.is_none() && m.sides.dest.is_none();
    let new = all.iter().filter(is_new).filter_map(|m| m.sides.updated);
    let moved: Vec<_> = all.iter().filter_map(|m| m.sides.dest.zip(m.moves_to())).collect();
    run.numbering = Numbering::of(new, &moved, &roles.dest);
    let mut counts = Counts::default();
    let mut upstream = Upstream::default();
    for member in &all {
        settle(member, &mut run, &mut counts, &mut upstream)?;
    }
    upstream.tell(&mut run)?;
    for rule in run.decisions.idle() {
        run.results.report(&Report::IdleDecision(rule))?;
    }
    let conflicts = run.results.count(Outcome::is_conflict);
    if run.results.count(|result| result.severity == Severity::Error) > 0 {
        counts = Counts { unchanged: roles.dest.len(), ..Counts::default() };
    }
    run.results.report(&Report::Counts(Counts { conflicts, ..counts }))?;
    Ok((run.merged, run.results))
}

/// Carries out what the merge makes of a resource.
fn settle<'r, 'a>(
    member: &Member<'r, 'a>,
    run: &mut Run<'a>,
    counts: &mut Counts,
    upstream: &mut Upstream<'r, 'a>,
) -> Result<(), Box<Outcome>> {
    let becomes = member.merged(&run.rules).map_err(|e| Box::new(Outcome::unmergeable(&e)))?;
    match (becomes, member.sides.original, member.sides.updated, member.sides.dest) {
        (Becomes::Kept, _, _, Some(dest)) => keep(dest, member.moves_to(), run, counts)?,
        (Becomes::Arrived(tree), _, Some(updated), _) => {
            upstream.came.push(updated);
            if let Some(tree) = tree {
                run.add(updated, tree)?;
                counts.added += 1;
            }
        }
        // It goes. What dest changed in it is a conflict, and stays under KeepDest.
        (Becomes::Deleted(places), Some(original), _, Some(dest)) => {
            let ruling = (!places.is_empty()).then(|| run.rule(dest, member.sides)).transpose()?;
            if let Some(ruling) = ruling {
                let original = run.own_json(original)?;
                run.results.report(&Report::DeletedUpstream { dest, places: &places, original, ruling })?;
            }
            let left = leave(dest, original, member.moves_to(), ruling, run, counts)?;
            upstream.left.push((original, left));
        }
        // It stays deleted. What upstream changed in it is a conflict, which may bring it back while it is open.
        (Becomes::StaysDeleted(places), Some(original), Some(updated), _) if !places.is_empty() => {
            let ruling = run.rule(updated, member.sides)?;
            let json = run.own_json(original)?;
            run.results.report(&Report::DeletedHere { updated, places: &places, original: json, ruling })?;
            if let Some(back) = brought_back(ruling.verdict, original, updated) {
                run.bring_back(updated, back)?;
            }
        }
        (Becomes::Merged(merged), _, Some(updated), Some(dest)) => {
            match member.moves {
                Move::Apart([from, to]) => {
                    let ruling = run.rule(dest, member.sides)?;
                    run.results.report(&Report::MovedApart { dest, from, to, ruling })?;
                }
                Move::Barred(to) => run.results.report(&Report::NotMoved { dest, to })?,
                Move::Stays | Move::To(_) => {}
            }
            if let Some([dest, updated]) = member.moved() {
                run.follow(dest, updated)?;
            }
            let place = member.moves_to().map(|to| run.relocate(dest, to)).transpose()?.flatten();
            let fate = run.upgrade(member.sides, [dest, updated], merged, place)?;
            let fate = run.laid_out(member.sides, fate)?;
            match fate {
                Fate::Unchanged | Fate::Unmarked(_) if member.moves_to().is_none() => counts.unchanged += 1,
                _ => counts.merged += 1,
            }
            run.carry_out(dest, fate)?;
        }
        (Becomes::Gone, original, ..) => upstream.left.extend(original.map(|o| (o, LeftUpstream::WasNotHere))),
        _ => {}
    }
    Ok(())
}

/// Carries out that upstream deleted a resource of dest, unless dest wins.
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
        Some(Pick::Original) => run.carry_out(dest, replaced(dest, original))?,
        Some(Pick::Updated) | None => {
            run.carry_out(dest, Fate::Gone)?;
            counts.deleted += 1;
            return Ok(LeftUpstream::Deleted);
        }
    }
    Ok(LeftUpstream::Kept)
}

/// The version of a resource that comes back though dest deleted it: one while the conflict is open, none where a policy settles it.
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

/// What becomes of a document of dest that is as original has it.
fn replaced<'a>(dest: &Resource<'a>, original: &Resource<'a>) -> Fate<'a> {
    if !dest.node.is_root() || !original.node.is_root() {
        return Fate::Unchanged;
    }
    let text = original.node.document().source()[extent(original.node)].to_owned();
    TextEdits::of(vec![Edit { range: extent(dest.node), text }]).map_or(Fate::Unchanged, Fate::Written)
}

/// A resource of dest stays, or goes along with its file.
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

/// Resources that left upstream and that came there, and that are not followed. One of the same kind and name under another version or
/// group, or in another file, may have moved.
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
