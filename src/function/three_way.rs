//! ThreeWay: for the resources of three sides that are one, what the presence table says.

use std::collections::HashMap;

use super::moves::{Move, MovedFiles};
use super::run::{Fate, Merged, Numbering, Run, own_anchors};
use super::triples::{Sides, Triple, triples};
use crate::config::{Config, Role};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;
use krm_merge::limit::Budget;
use krm_merge::policy::OnConflict;
use krm_merge::resource::Resource;

/// Makes in dest what changed from original to updated.
pub(super) fn three_way<'a>(
    roles: &'a Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    for role in config.mode.roles() {
        roles.require(*role)?;
    }
    for side in roles.others.iter().flat_map(|o| &o.1) {
        own_anchors(side, side.node)?;
    }
    let sides = [roles.of(Role::Original), roles.of(Role::Updated), roles.dest.as_slice()];
    let triples = triples(sides).map_err(|m| Box::new(Outcome::new(Severity::Error, m)))?;
    let files = MovedFiles::of(&triples, sides);
    let all: Vec<Member<'_, '_>> = triples.iter().map(|triple| Member::of(*triple, sides, &files)).collect();
    let mut run = Run::new(config, roles, budget);
    let new = all.iter().filter(|m| m.original.is_none() && m.dest.is_none()).filter_map(|m| m.updated);
    let moved: Vec<_> = all.iter().filter_map(|m| m.dest.zip(m.moves_to())).collect();
    run.numbering = Numbering::of(new, &moved, &roles.dest);
    let mut counts = Counts::default();
    let mut upstream = Upstream::default();
    for member in &all {
        settle(member, &mut run, &mut counts, &mut upstream)?;
    }
    run.results.tell(upstream.results())?;
    let conflicts = run.results.count(Outcome::is_conflict);
    let failed = conflicts > 0 && run.policy.on_conflict == OnConflict::Fail;
    if failed {
        counts = Counts { unchanged: roles.dest.len(), ..Counts::default() };
    }
    run.results.tell([counts.result(conflicts)])?;
    Ok((run.merged, run.results))
}

/// A resource as each side has it, and where dest's goes.
struct Member<'r, 'a> {
    original: Option<&'r Resource<'a>>,
    updated: Option<&'r Resource<'a>>,
    dest: Option<&'r Resource<'a>>,
    moves: Move<'a>,
}

impl<'r, 'a> Member<'r, 'a> {
    fn of([original, updated, dest]: Triple, sides: Sides<'r, 'a>, files: &MovedFiles<'a>) -> Self {
        let (original, updated) = (original.map(|i| &sides[0][i]), updated.map(|i| &sides[1][i]));
        let dest = dest.map(|i| &sides[2][i]);
        let moves = dest.map_or(Move::Stays, |dest| files.of_resource(original, updated, dest));
        Self { original, updated, dest, moves }
    }

    fn moves_to(&self) -> Option<&'a str> {
        match self.moves {
            Move::To(path) => Some(path),
            Move::Stays | Move::Apart(_) | Move::Barred(_) => None,
        }
    }
}

/// What becomes of a resource: the presence table.
fn settle<'r, 'a>(
    member: &Member<'r, 'a>,
    run: &mut Run<'a>,
    counts: &mut Counts,
    upstream: &mut Upstream<'r, 'a>,
) -> Result<(), Box<Outcome>> {
    match (member.original, member.updated, member.dest) {
        // Only in dest: kept untouched.
        (None, None, Some(dest)) => keep(dest, member.moves_to(), run, counts)?,
        // Added upstream.
        (None, Some(updated), None) => {
            upstream.came.push(updated);
            if let Some(tree) = run.arrived(updated)? {
                run.add(updated, tree)?;
                counts.added += 1;
            }
        }
        // Deleted upstream: it goes. What dest changed in it is a conflict, and stays under KeepDest.
        (Some(original), None, Some(dest)) => {
            let places = run.differs(original, dest)?;
            if !places.is_empty() {
                let json = run.own_json(original)?;
                run.results.tell([Outcome::deleted_upstream(dest, &places, json, run.policy.on_conflict)])?;
            }
            if !places.is_empty() && run.policy.on_conflict != OnConflict::TakeUpdated {
                upstream.left.push((original, "is kept"));
                keep(dest, member.moves_to(), run, counts)?;
            } else {
                run.carry_out(dest, Fate::Gone)?;
                upstream.left.push((original, "is deleted"));
                counts.deleted += 1;
            }
        }
        // Deleted in dest: it stays deleted. What upstream changed in it is a conflict.
        (Some(original), Some(updated), None) => {
            let places = run.differs(original, updated)?;
            if !places.is_empty() {
                let json = run.own_json(original)?;
                run.results.tell([Outcome::deleted_here(updated, &places, json, run.policy.on_conflict)])?;
            }
        }
        // In updated and dest: fields are merged. Without an original both added it.
        (original, Some(updated), Some(dest)) => {
            match member.moves {
                Move::Apart(from_to) => {
                    run.results.tell([Outcome::moved_apart(dest, from_to, run.policy.on_conflict)])?;
                }
                Move::Barred(to) => run.results.tell([Outcome::not_moved(dest, to)])?,
                Move::Stays | Move::To(_) => {}
            }
            let place = member.moves_to().map(|to| run.relocate(dest, to)).transpose()?.flatten();
            let fate = run.upgrade(dest, original, updated, place)?;
            match fate {
                Fate::Unchanged | Fate::Unmarked(_) if member.moves_to().is_none() => counts.unchanged += 1,
                _ => counts.merged += 1,
            }
            run.carry_out(dest, fate)?;
        }
        // Gone on both sides.
        (original, None, None) => upstream.left.extend(original.map(|o| (o, "was not here"))),
    }
    Ok(())
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

/// What a three-way merge did to resources.
#[derive(Default)]
struct Counts {
    merged: usize,
    added: usize,
    deleted: usize,
    unchanged: usize,
}

impl Counts {
    fn result(&self, conflicts: usize) -> Outcome {
        let Self { merged, added, deleted, unchanged } = self;
        let message = format!(
            "{merged} merged, {added} added, {deleted} deleted, {unchanged} unchanged, {conflicts} in conflict"
        );
        Outcome::new(Severity::Info, message)
    }
}

/// Resources that left upstream and that came there. One of the same kind and name under another version or group, or in another file,
/// may have moved.
#[derive(Default)]
struct Upstream<'r, 'a> {
    left: Vec<(&'r Resource<'a>, &'static str)>,
    came: Vec<&'r Resource<'a>>,
}

impl Upstream<'_, '_> {
    fn results(&self) -> Vec<Outcome> {
        fn key<'a>(resource: &Resource<'a>) -> Option<(&'a str, &'a str, &'a str)> {
            resource.identity.map(|i| (i.kind, i.namespace, i.name))
        }
        let left: HashMap<_, _> = self.left.iter().filter_map(|(r, fate)| Some((key(r)?, (*r, *fate)))).collect();
        let moved = self.came.iter().filter_map(|came| {
            let (left, fate) = left.get(&key(came)?)?;
            let is_same = came.identity == left.identity;
            let named = |r: &Resource<'_>| {
                let path = r.relative_path.filter(|_| is_same).map(|path| format!(" (\"{path}\")"));
                Some(format!("`{}`{}", r.identity?, path.unwrap_or_default()))
            };
            let (came_as, left_as) = (named(came)?, named(left)?);
            let message = format!(
                "{came_as} is new and {left_as} {fate}: it may be a move, and local edits of the old one are not carried over"
            );
            Some(Outcome::new(Severity::Info, message).about(came))
        });
        moved.collect()
    }
}
