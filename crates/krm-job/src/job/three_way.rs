//! ThreeWay: merges the changes from original to updated into dest, and reports what became of whole resources.

use krm_merge_core::policy::Renames;
use krm_package::package::{Becomes, Happened, MergeAll, Merged, Move, Written, left_behind, members};
use krm_package::resource::Resource;
use krm_package::rules::Rules;
use krm_tree::sides::Sides;
use krm_yaml::hashed::HashMap;

use crate::event::{Counts, Event, LeftUpstream, MovedResource, Severity, What, named};
use crate::forms::WhyStays;
use crate::results::Results;
use crate::role::Role;
use crate::roles::Roles;

/// The merge of the changes from original to updated into dest.
pub(super) fn three_way<'r, 'a>(
    roles: &'r Roles<'a>,
    rules: Rules<'a>,
    merge_all: MergeAll,
    why_stays: WhyStays<'_>,
) -> Result<Merged<'r, 'a>, Box<Event>> {
    for role in Role::of(rules.mode) {
        roles.require(*role)?;
    }
    roles.own_aliases()?;
    let sides = Sides { original: roles.of(Role::Original), updated: roles.of(Role::Updated), dest: &roles.dest[..] };
    let all = members(sides, rules.policy.renames);
    let mut all = all.map_err(|e| Box::new(Event::new(Severity::Error, e.to_string())))?;
    for member in &mut all {
        if let (Move::To(to), Some(dest)) = (member.moves, member.sides.dest)
            && why_stays(dest.relative_path.unwrap_or_default(), to).is_some()
        {
            member.moves = Move::Barred(to);
        }
    }
    Merged::three_way(&roles.dest, all, rules, merge_all).map_err(Event::fault)
}

/// How many resources came, went and changed.
pub(super) fn counts(written: &Written<'_, '_>) -> Counts {
    let mut counts = Counts::default();
    for effect in &written.effects {
        match effect.happened {
            Happened::Changed => counts.merged += 1,
            Happened::Added => counts.added += 1,
            Happened::Deleted => counts.deleted += 1,
            Happened::Unchanged => counts.unchanged += 1,
            Happened::Drawn | Happened::Absent => {}
        }
    }
    counts
}

/// Reports new resources of upstream that may be moved ones: they have the kind and name of one that left upstream, but another version,
/// group or file. Reports resources of dest, too, that may be renamed ones of those that left upstream. Renames that the merge follows are not
/// among them.
pub(super) fn tell_moves(
    merged: &Merged<'_, '_>,
    written: &Written<'_, '_>,
    results: &mut Results<'_>,
) -> Result<(), Box<Event>> {
    fn key<'a>(resource: &Resource<'a>) -> Option<(&'a str, &'a str, &'a str)> {
        resource.identity.map(|i| (i.kind, i.namespace, i.name))
    }
    let (mut left, mut came) = (HashMap::default(), Vec::new());
    for (resource, effect) in merged.resources.iter().zip(&written.effects) {
        let sides = resource.member.sides;
        let fate = match (&resource.becomes, effect.happened) {
            (Becomes::Arrived(_), _) => {
                came.extend(sides.updated);
                continue;
            }
            (Becomes::Deleted(_), Happened::Deleted) => LeftUpstream::Deleted,
            (Becomes::Deleted(_), _) => LeftUpstream::Kept,
            (Becomes::Gone, _) => LeftUpstream::WasNotHere,
            _ => continue,
        };
        left.extend(sides.original.and_then(|original| Some((key(original)?, (original, fate)))));
    }
    for came in came {
        let Some((left, fate)) = key(came).and_then(|key| left.get(&key)) else { continue };
        // Resources of one identity are told apart by their files.
        let is_same = came.identity == left.identity;
        let called = |resource: &Resource<'_>| {
            let path = resource.relative_path.filter(|_| is_same).map(str::to_owned);
            MovedResource { name: named(resource), path }
        };
        let what = What::MayHaveMoved { came: called(came), left: called(left), fate: *fate };
        results.tell([Event::of(what).about(came)])?;
    }
    if merged.rules.policy.renames == Renames::Ignore {
        return Ok(());
    }
    let left = left_behind(merged.resources.iter().map(|resource| &resource.member));
    results.tell(left.into_iter().map(Event::left_behind))
}
