//! Unions: maps of which one field may be set at a time.
//!
//! Two sides that each set another member are no conflict, for they touch no common field; only the API server refuses what comes of it.
//! Source: the patch strategy `retainKeys`, semantics.md section 2.

use super::{Children, New, Notice, Plan, Planned, Slot};
use crate::change::ChildId;
use crate::schema::Members;
use crate::yaml::NodeRef;

/// The fields of a map as they will be, those among them that `<<` brings in.
pub(super) fn fields_after<'p, 'a>(
    map: NodeRef<'a>,
    old: &'p Children<'a>,
    plans: &'p Planned<'a>,
    new: &'p [(&ChildId<'a>, New<'a>)],
) -> impl Iterator<Item = (&'a str, NodeRef<'a>)> + use<'p, 'a> {
    let stays = old.written.iter().zip(plans).filter_map(|((key, value), plan)| match plan {
        Some((Plan::Remove, _)) => None,
        Some((Plan::Put(new), _)) => Some((key.filter(|k| !k.is_merge_key())?.string(), new.value)),
        _ => Some((key.filter(|k| !k.is_merge_key())?.string(), *value)),
    });
    let comes = new.iter().filter_map(|(_, new)| Some((new.key?.string(), new.value)));
    let is_own = |name: &str| old.written.iter().any(|(key, _)| key.is_some_and(|k| k.string() == name));
    let merged = map.fields().map(|(key, value)| (key.string(), value));
    let merged: Vec<_> =
        if map.document().has_merge_keys() { merged.filter(|(n, _)| !is_own(n)).collect() } else { Vec::new() };
    stays.chain(comes).chain(merged)
}

/// The fields of a new map that are left of it.
pub(super) fn fields_of<'p, 'a>(
    like: NodeRef<'a>,
    slots: &'p [Slot<'a>],
) -> impl Iterator<Item = (&'a str, NodeRef<'a>)> + use<'p, 'a> {
    let written: Vec<_> = like.written().collect();
    slots.iter().filter_map(move |slot| match slot {
        Slot::Dest { plan: Plan::Remove, .. } => None,
        Slot::Dest { plan: Plan::Put(new), index, .. } => Some((written.get(*index)?.0?.string(), new.value)),
        Slot::Dest { index, .. } => Some((written.get(*index)?.0?.string(), written.get(*index)?.1)),
        Slot::New(new) => Some((new.key?.string(), new.value)),
    })
}

/// Which members of a union stand side by side.
pub(super) fn crowded<'a>(
    members: Members<'_>,
    fields: impl Iterator<Item = (&'a str, NodeRef<'a>)>,
) -> Option<Notice> {
    let beside = match members {
        Members::Any => return None,
        Members::OneBeside(key) => key,
        Members::NamedByType => "type",
    };
    let (key, mut set): (Vec<_>, Vec<_>) =
        fields.filter(|(_, value)| !value.is_null()).partition(|(name, _)| *name == beside);
    let mut names: Vec<String> = Vec::new();
    if members == Members::NamedByType {
        let named = key.first()?.1.as_str()?;
        let mut rest = named.chars();
        let field: String = rest.next().into_iter().flat_map(char::to_lowercase).chain(rest).collect();
        set.retain(|(name, _)| *name != field);
        names.push(format!("`type: {named}`"));
    }
    names.extend(set.iter().map(|(name, _)| format!("`{name}`")));
    (names.len() > 1).then(|| Notice::Union(names.join(" and ")))
}
