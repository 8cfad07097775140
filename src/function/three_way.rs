//! ThreeWay: the resources of three sides paired, and for each pair what the presence table says.

use std::collections::HashMap;

use super::run::{Fate, Merged, Numbering, Run, own_anchors};
use crate::config::{Config, Role};
use crate::limit::Budget;
use crate::policy::OnConflict;
use crate::resource::{Identity, Resource, all_whereabouts};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

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
    let (original, updated) = (roles.of(Role::Original), roles.of(Role::Updated));
    let mut run = Run::new(config, roles, budget);
    let mut counts = Counts::default();
    let triples = triples([original, updated, &roles.dest]).map_err(|m| Box::new(Outcome::new(Severity::Error, m)))?;
    let new = triples.iter().filter(|[o, _, d]| o.is_none() && d.is_none()).filter_map(|[_, u, _]| *u);
    run.numbering = Numbering::of(new.map(|i| &updated[i]), &roles.dest);
    let mut moves = Moves::default();
    for [o, u, d] in triples {
        let (o, u, d) = (o.map(|i| &original[i]), u.map(|i| &updated[i]), d.map(|i| &roles.dest[i]));
        match (o, u, d) {
            // Only in dest: kept untouched.
            (None, None, Some(dest)) => {
                run.keep(dest)?;
                counts.unchanged += 1;
            }
            // Added upstream.
            (None, Some(updated), None) => {
                moves.came.push(updated);
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
                    run.keep(dest)?;
                    moves.left.push((original, "is kept"));
                    counts.unchanged += 1;
                } else {
                    run.carry_out(dest, Fate::Gone)?;
                    moves.left.push((original, "is deleted"));
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
                run.results.tell(original.and_then(|o| moved_file(o, updated, dest)))?;
                let fate = run.upgrade(dest, original, updated)?;
                match fate {
                    Fate::Unchanged | Fate::Unmarked(_) => counts.unchanged += 1,
                    _ => counts.merged += 1,
                }
                run.carry_out(dest, fate)?;
            }
            // Gone on both sides.
            (original, None, None) => moves.left.extend(original.map(|o| (o, "was not here"))),
        }
    }
    run.results.tell(moves.results())?;
    let conflicts = run.results.count(|r| r.tags.contains_key("krm-merge.dev/reason"));
    let failed = conflicts > 0 && run.policy.on_conflict == OnConflict::Fail;
    if failed {
        counts = Counts { unchanged: roles.dest.len(), ..Counts::default() };
    }
    run.results.tell([counts.result(conflicts)])?;
    Ok((run.merged, run.results))
}

/// That upstream moved a resource to another file; dest's stays where it is.
fn moved_file(original: &Resource<'_>, updated: &Resource<'_>, dest: &Resource<'_>) -> Option<Outcome> {
    let (from, to, here) = (original.relative_path?, updated.relative_path?, dest.path?);
    let message = format!("upstream moved it from \"{from}\" to \"{to}\"; it stays in \"{here}\"");
    (from != to && to != here).then(|| Outcome::new(Severity::Info, message).about(dest))
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

/// Resources that left upstream and that came there: one of the same kind and name under another version or group may have moved.
#[derive(Default)]
struct Moves<'r, 'a> {
    left: Vec<(&'r Resource<'a>, &'static str)>,
    came: Vec<&'r Resource<'a>>,
}

impl Moves<'_, '_> {
    fn results(&self) -> Vec<Outcome> {
        fn key<'a>(resource: &Resource<'a>) -> Option<(&'a str, &'a str, &'a str)> {
            resource.identity.map(|i| (i.kind, i.namespace, i.name))
        }
        let left: HashMap<_, _> = self.left.iter().filter_map(|(r, fate)| Some((key(r)?, (*r, *fate)))).collect();
        let moved = self.came.iter().filter_map(|came| {
            let (left, fate) = left.get(&key(came)?)?;
            let message = format!(
                "`{}` is new and `{}` {fate}: it may be a move, and local edits of the old one are not carried over",
                came.identity?, left.identity?
            );
            Some(Outcome::new(Severity::Info, message).about(came))
        });
        moved.collect()
    }
}

/// A resource of original, of updated and of dest that are the same one, by their numbers.
type Triple = [Option<usize>; 3];

/// Pairs the resources of three sides: by identity, and by path where a side has several of one identity. In the order of dest, then of
/// updated, then of original.
///
/// # Errors
/// Two resources of a side with one identity and one path, or without a path: a message that names both.
fn triples(sides: [&[Resource<'_>]; 3]) -> Result<Vec<Triple>, String> {
    let mut groups: HashMap<Identity<'_>, [Vec<usize>; 3]> = HashMap::new();
    let mut order = Vec::new();
    let mut unnamed = Vec::new();
    for side in [2, 1, 0] {
        for (i, resource) in sides[side].iter().enumerate() {
            let Some(identity) = resource.package_identity() else {
                let mut alone = [None; 3];
                alone[side] = Some(i);
                unnamed.push(alone);
                continue;
            };
            groups.entry(identity).or_insert_with(|| {
                order.push(identity);
                Default::default()
            })[side]
                .push(i);
        }
    }
    let mut triples = unnamed;
    for identity in order {
        let Some(group) = groups.get(&identity) else { continue };
        if group.iter().all(|side| side.len() <= 1) {
            triples.push([0, 1, 2].map(|side| group[side].first().copied()));
            continue;
        }
        let mut by_path: Vec<(Option<&str>, Triple)> = Vec::new();
        for side in [2, 1, 0] {
            for &i in &group[side] {
                let resource = &sides[side][i];
                let path = resource.relative_path;
                let at = by_path.iter().position(|(p, _)| *p == path).unwrap_or_else(|| {
                    by_path.push((path, [None; 3]));
                    by_path.len() - 1
                });
                if let Some(other) = by_path[at].1[side].replace(i) {
                    let role = ["original", "updated", "dest"][side];
                    return Err(format!(
                        "`{identity}` must be one resource of {role}, or lie at different paths, not {} and {}",
                        sides[side][other].whereabouts(),
                        resource.whereabouts()
                    ));
                }
            }
        }
        // Several dest items of one identity: the one at the path of its partner is meant, and there must be one.
        let has_dest = !group[2].is_empty();
        let lone = |t: &Triple| match group[2].len() {
            1 => t[2].is_some() && t[0].is_none() && t[1].is_none(),
            _ => t[2].is_none(),
        };
        if has_dest && by_path.iter().any(|(_, t)| lone(t)) {
            let all = group.iter().zip(sides).flat_map(|(side, all)| side.iter().map(|i| &all[*i]));
            let places = all_whereabouts(all.collect::<Vec<_>>().into_iter());
            return Err(format!(
                "`{identity}` must be one resource on each side, or lie at the same path on each, not {places}"
            ));
        }
        triples.extend(by_path.into_iter().map(|(_, triple)| triple));
    }
    Ok(triples)
}
