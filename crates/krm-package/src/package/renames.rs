//! Which resources are one that moved: to another version or group, to another place, to another name or namespace, or to another kind.
//!
//! The decision compares original with each other side separately, so swapping updated and dest pairs the same resources, and a second run
//! pairs the same ones as the first. Only where both sides have other identities, the one that is known tells what the other may be. In doubt
//! nothing is joined: the old resource is deleted and the new one is added, so nothing is lost.
//!
//! If a side lacks the resource, a likeness is not enough: what dest alone has may be its own, and nobody may delete it. Such a resource is
//! found by the rename of its whole package. If dest deleted it, it is also found by its file and its text.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::Deref;

use krm_merge_core::policy::Renames;
use krm_tree::alike::alike;
use krm_tree::leaves::{HALF, Pairs};
use krm_tree::sides::{Side, Sides};
use krm_yaml::NodeRef;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::Member;
use super::package_rename::PackageRename;
use super::resource_lines::ResourceLines;
use super::triples::{Resources, Triple};
use crate::resource::{Identity, Resource};

/// Joins triples that are one resource although their identities differ, in one of these parts on each side.
pub(super) fn follow(
    triples: Vec<Triple>,
    sides: Resources<'_, '_>,
    renames: Renames,
    others: &[OtherPart],
) -> Vec<Triple> {
    let triples = joined(&triples, of_other_versions(&triples, sides));
    if renames == Renames::Ignore {
        return triples;
    }
    let spots = LazyCell::new(|| sides.map(spots));
    let triples = (1..=others.len()).fold(triples, |triples, count| {
        let triples = joined(&triples, of_others(others[count - 1], &triples, sides, &spots, Found::OnAll));
        joined(&triples, of_several(&others[..count], &triples, sides, &spots))
    });
    let triples = [Side::Updated, Side::Dest]
        .into_iter()
        .fold(triples, |triples, side| joined(&triples, of_package_rename(&triples, sides, side)));
    joined(&triples, renamed_upstream(&triples, sides))
}

/// What a side lacks, with what the side alone has under the name that its rename of the whole package gives to the first one.
fn of_package_rename(triples: &[Triple], sides: Resources<'_, '_>, side: Side) -> Vec<Same> {
    let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
    let is_own = |triple: &Triple| triple[side].is_some() && triple.original.or(triple[other]).is_none();
    if !triples.iter().any(is_own) || triples.iter().all(|triple| triple[side].is_some()) {
        return Vec::new();
    }
    let all = triples.iter().map(|triple| Sides::of(|of| triple[of].map(|number| &sides[of][number])));
    let rename = PackageRename::of(all, side);
    if rename.is_none() {
        return Vec::new();
    }
    let identity = |triple: &Triple, of: Side| sides[of][triple[of]?].identity;
    let own = |number: usize| identity(&triples[number], side).filter(|_| is_own(&triples[number]));
    let own = grouped(0..triples.len(), own).into_iter().filter_map(|same| <[usize; 1]>::try_from(same).ok());
    let own: HashMap<_, usize> = own.map(|[number]| (identity(&triples[number], side), number)).collect();
    let same = |(number, triple): (usize, &Triple)| {
        // What dest added is no resource of upstream's, unless dest has another name for it.
        let is_of_upstream = triple.original.is_some() || side == Side::Dest;
        let old = identity(triple, other).or_else(|| identity(triple, Side::Original))?;
        let new = rename.applied(old);
        let new = Identity { namespace: &new.namespace, name: &new.name, ..old };
        let partner = own.get(&Some(new)).filter(|_| triple[side].is_none() && is_of_upstream && new != old)?;
        Some(vec![number, *partner])
    };
    triples.iter().enumerate().filter_map(same).collect()
}

/// What dest deleted, with what updated alone has in the same file. Only the name or the namespace is different.
fn renamed_upstream(triples: &[Triple], sides: Resources<'_, '_>) -> Vec<Same> {
    let alone = |number: usize| match triples[number] {
        Sides { original: Some(at), updated: None, dest: None } => Some((Side::Original, at)),
        Sides { original: None, updated: Some(at), dest: None } => Some((Side::Updated, at)),
        _ => None,
    };
    let (left, came): (Vec<_>, Vec<_>) = (0..triples.len())
        .filter_map(|number| Some((number, alone(number)?)))
        .partition(|(_, (side, _))| *side == Side::Original);
    if left.is_empty() || came.is_empty() {
        return Vec::new();
    }
    let key = |number: usize| {
        let (side, at) = alone(number)?;
        let resource = &sides[side][at];
        let lines: Vec<u64> = ResourceLines::of(resource).hashes().iter().collect();
        let kept = OtherPart::Name.keeps(resource.package_identity()?);
        (!lines.is_empty()).then_some((resource.place()?, kept, lines))
    };
    let all = grouped(left.iter().chain(&came).map(|(number, _)| *number), key);
    all.into_iter().filter(|same| same.len() == 2).collect()
}

/// Resources that dest alone has and that may be renamed ones of original, which upstream deleted: each with original's. At least half of the
/// text is the same, and they are of one type.
pub fn left_behind<'m, 'r: 'm, 'a: 'm>(
    members: impl Iterator<Item = &'m Member<'r, 'a>> + Clone,
) -> Vec<[&'r Resource<'a>; 2]> {
    let alone = |side: Side| {
        let of = members.clone().map(move |member| member.sides);
        let of = of.filter(move |sides| Side::ALL.iter().all(|one| (*one == side) == sides[*one].is_some()));
        of.filter_map(move |sides| sides[side]).collect::<Vec<_>>()
    };
    let [gone, come] = [alone(Side::Original), alone(Side::Dest)];
    if gone.is_empty() || come.is_empty() {
        return Vec::new();
    }
    let candidates = |all: &[&'r Resource<'a>]| {
        let candidate = |(triple, resource): (usize, &&'r Resource<'a>)| {
            let spot = RenamedAt { file: resource.place(), name: None, count: 0, number: 0 };
            let lines = ResourceLines::of(resource);
            let identity = resource.package_identity()?;
            (lines.count() > 0).then_some(Candidate { triple, identity, spot, lines, pod: None })
        };
        all.iter().enumerate().filter_map(candidate).collect()
    };
    let found = Renamed { other: OtherPart::Name, gone: candidates(&gone), come: candidates(&come) };
    found.partners().into_iter().map(|(g, c)| [come[c], gone[g]]).collect()
}

/// The resources of original of which each side changed another part. After a first run, dest has the changes of both, and is like updated.
fn of_several<'a>(
    others: &[OtherPart],
    triples: &[Triple],
    sides: Resources<'_, 'a>,
    spots: &impl Deref<Target = Sides<Vec<RenamedAt<'a>>>>,
) -> Vec<Same> {
    let open: Vec<usize> = (0..triples.len()).filter(|number| is_open(&triples[*number], sides)).collect();
    if open.iter().all(|number| triples[*number].original.is_none()) {
        return Vec::new();
    }
    // What is found for one side tells what to look for on the other side.
    let halves = open.iter().map(|number| triples[*number]).collect();
    let halves = others.iter().chain(others).fold(halves, |halves: Vec<Triple>, other| {
        let halves = joined(&halves, of_others(*other, &halves, sides, spots, Found::OnOne));
        joined(&halves, of_other_versions(&halves, sides))
    });
    // Each resource is in one triple.
    let mut triple_of: HashMap<(Side, usize), usize> = HashMap::new();
    for number in &open {
        let resources = triples[*number].iter().filter_map(|(side, at)| Some((side, (*at)?)));
        triple_of.extend(resources.map(|resource| (resource, *number)));
    }
    let parts = |half: &Triple| -> Same {
        let resources = half.iter().filter_map(|(side, at)| Some((side, (*at)?)));
        let parts: BTreeSet<usize> = resources.filter_map(|resource| triple_of.get(&resource).copied()).collect();
        parts.into_iter().collect()
    };
    let is_whole = |half: &&Triple| half.iter().all(|(_, number)| number.is_some());
    halves.iter().filter(is_whole).map(parts).filter(|same| same.len() > 1).collect()
}

/// Whether a resource is not in original, or no other side has the identity that it has there.
fn is_open(triple: &Triple, sides: Resources<'_, '_>) -> bool {
    let identity = |side: Side| triple[side].map(|number| sides[side][number].package_identity());
    let was = identity(Side::Original);
    was.is_none() || was != identity(Side::Updated) && was != identity(Side::Dest)
}

/// Where a resource must be found to be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// On all sides. If a side does not have the resource at all, a likeness is not enough to delete a resource.
    OnAll,
    /// On one side besides original.
    OnOne,
}

/// What one resource has otherwise on two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherPart {
    /// Its place. Its identity is the same, and at least half of its text. Several resources have this identity, such as patches of overlays.
    Place,
    /// Its name or its namespace. Its type is the same, and at least half of its text.
    Name,
    /// Its kind, and perhaps its version and group. Its name and namespace are the same, so less of the rest may differ: it is in the same
    /// file, and at least half of its text is the same. git sees one changed line there.
    Kind,
    /// Its name or its namespace, and perhaps its text. Its type is the same, and its place. So nothing with its text may be elsewhere.
    NameInPlace,
    /// Its version or group, and its name or namespace. Its kind is the same, and at least half of its text. Only for resources of one
    /// file.
    VersionAndName,
}

impl OtherPart {
    /// What may differ in a package.
    pub(super) const IN_PACKAGE: [Self; 4] = [Self::Place, Self::Name, Self::Kind, Self::NameInPlace];
    /// What may differ between resources that are all in one file.
    pub(super) const IN_FILE: [Self; 5] =
        [Self::Place, Self::Name, Self::Kind, Self::NameInPlace, Self::VersionAndName];
}

/// Triples that are the same resource, by their numbers.
type Same = Vec<usize>;

/// Joins the triples of each entry, unless a triple would be joined twice, or a side has a resource in two of them. The joined triple takes
/// the place of the first one.
fn joined(triples: &[Triple], all: Vec<Same>) -> Vec<Triple> {
    let mut claims = vec![0_usize; triples.len()];
    for &number in all.iter().flatten() {
        claims[number] += 1;
    }
    let are_apart = |same: &Same| {
        Side::ALL.iter().all(|side| same.iter().filter(|number| triples[**number][*side].is_some()).count() <= 1)
    };
    let mut by_number: Vec<Option<Triple>> = triples.iter().copied().map(Some).collect();
    for same in all.iter().filter(|same| same.iter().all(|number| claims[*number] == 1) && are_apart(same)) {
        let whole = Sides::of(|side| same.iter().find_map(|number| triples[*number][side]));
        for number in same {
            by_number[*number] = None;
        }
        if let Some(first) = same.iter().min() {
            by_number[*first] = Some(whole);
        }
    }
    by_number.into_iter().flatten().collect()
}

/// The identity by which a package knows a resource of a triple: the newest one.
fn identity<'a>(triple: &Triple, sides: Resources<'_, 'a>) -> Option<Identity<'a>> {
    Side::DEST_FIRST.iter().find_map(|side| sides[*side][triple[*side]?].package_identity())
}

/// The place of all resources of a triple; `None` if it is unknown, or they are in several places.
fn place<'a>(triple: &Triple, sides: Resources<'_, 'a>) -> Option<&'a str> {
    let mut places = triple.iter().filter_map(|(side, number)| Some(sides[side][(*number)?].place()));
    let first = places.next()?;
    places.all(|place| place == first).then_some(first)?
}

/// Resources of one kind, namespace and name in several versions are one, if no side has several of them. Otherwise, only resources at one
/// path are one.
fn of_other_versions(triples: &[Triple], sides: Resources<'_, '_>) -> Vec<Same> {
    let identities: Vec<_> = triples.iter().map(|triple| identity(triple, sides)).collect();
    let called = |number: usize| identities[number].map(|i| (i.kind, i.namespace, i.name));
    let mut all = Vec::new();
    for alike in grouped(0..triples.len(), called).into_iter().filter(|alike| alike.len() > 1) {
        let versions: HashSet<_> = alike.iter().map(|number| identities[*number].map(|i| i.api_version)).collect();
        // Resources of one version are already paired.
        if versions.len() < 2 {
            continue;
        }
        let several =
            Side::ALL.iter().any(|side| alike.iter().filter(|number| triples[**number][*side].is_some()).count() > 1);
        match several {
            false => all.push(alike),
            true => all.extend(grouped(alike, |number| place(&triples[number], sides))),
        }
    }
    // A resource that both sides added did not move. But two versions of one group are one resource to the server.
    let group = |number: &usize| identities[*number].map(|i| i.api_version.rsplit_once('/').map(|(group, _)| group));
    let came_from_one = |same: &Same| {
        same.iter().any(|number| triples[*number].original.is_some())
            || same.windows(2).all(|two| group(&two[0]) == group(&two[1]))
    };
    all.retain(|same| same.len() > 1 && came_from_one(same));
    all
}

/// Numbers grouped by their keys, in their order. A number without a key is in no group.
fn grouped<K: Hash + Eq>(numbers: impl IntoIterator<Item = usize>, key: impl Fn(usize) -> Option<K>) -> Vec<Same> {
    let mut groups: Vec<Same> = Vec::new();
    let mut at: HashMap<K, usize> = HashMap::new();
    for number in numbers {
        let Some(key) = key(number) else { continue };
        let group = *at.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(number);
    }
    groups
}

/// The resources of original that have another name, or another kind, in updated, in dest, or in both.
fn of_others<'a>(
    other: OtherPart,
    triples: &[Triple],
    sides: Resources<'_, 'a>,
    spots: &impl Deref<Target = Sides<Vec<RenamedAt<'a>>>>,
    found: Found,
) -> Vec<Same> {
    let is_on_both = |number: &usize| triples[*number].updated.is_some() && triples[*number].dest.is_some();
    let mut partners: HashMap<usize, Same> = HashMap::new();
    for side in [Side::Updated, Side::Dest] {
        for (number, partner) in Renamed::between(other, triples, sides, spots, side).partners() {
            let others = partners.entry(number).or_default();
            if !others.contains(&partner) {
                others.push(partner);
            }
        }
    }
    let same = |number: usize| {
        let mut others = partners.get(&number)?.clone();
        // A candidate that both sides have counts more than any likeness.
        if others.iter().any(is_on_both) {
            others.retain(is_on_both);
        }
        let same: Same = [number].into_iter().chain(others).collect();
        let is_on = |side: &Side| same.iter().any(|number| triples[*number][*side].is_some());
        (found == Found::OnOne || Side::ALL.iter().all(is_on)).then_some(same)
    };
    (0..triples.len()).filter_map(same).collect()
}

/// The candidates for one side: resources of original that it lacks, as original and as the third side have them, and resources that only the
/// side has.
struct Renamed<'a> {
    other: OtherPart,
    gone: Vec<Candidate<'a>>,
    come: Vec<Candidate<'a>>,
}

/// A resource that may have another name on another side.
struct Candidate<'a> {
    /// The number of its triple.
    triple: usize,
    identity: Identity<'a>,
    spot: RenamedAt<'a>,
    lines: ResourceLines,
    /// Where it has the containers of a Pod.
    pod: Option<usize>,
}

/// The place of a resource in its file: its number among the resources of its type, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RenamedAt<'a> {
    file: Option<&'a str>,
    /// The name of a file that was given without its folder.
    name: Option<&'a str>,
    count: usize,
    number: usize,
}

impl RenamedAt<'_> {
    /// Whether it may be the same place on another side. Files with different names are different places; a text without a name may be in
    /// any file.
    fn fits(self, other: Self) -> bool {
        let is_another = matches!((self.name, other.name), (Some(own), Some(others)) if own != others);
        !is_another && self.without_name() == other.without_name()
    }

    /// How many of the last names of both paths are the same.
    fn names_shared(self, other: Self) -> usize {
        let names = |spot: Self| spot.file.into_iter().flat_map(|file| file.rsplit('/'));
        names(self).zip(names(other)).take_while(|(own, others)| own == others).count()
    }

    fn without_name(self) -> Self {
        Self { name: None, ..self }
    }
}

/// How similar two resources are, with the stronger evidence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    /// How many of a thousand lines are the same.
    lines: u32,
    is_in_place: bool,
    /// How many of the last names of their paths are the same.
    names_of_path: usize,
    has_name: bool,
    has_namespace: bool,
}

/// The greatest number of lines that are compared, which takes about a second. A group that needs more is compared by place alone, and the
/// other groups have what is left.
const MOST_COMPARED: usize = 200_000_000;

/// A share of lines, in thousandths, that most renamed resources keep.
const MOST: u32 = 750;

impl<'a> Renamed<'a> {
    /// The candidates for a side.
    fn between(
        other: OtherPart,
        triples: &[Triple],
        sides: Resources<'_, 'a>,
        spots: &impl Deref<Target = Sides<Vec<RenamedAt<'a>>>>,
        side: Side,
    ) -> Self {
        let third = if side == Side::Dest { Side::Updated } else { Side::Dest };
        let identity = |triple: &Triple, of: Side| sides[of][triple[of]?].package_identity();
        let alone = |of: Side, not_of: Side| {
            let all = triples.iter().enumerate().filter(move |(_, triple)| triple[not_of].is_none());
            all.filter_map(move |(number, triple)| Some((number, of, identity(triple, of)?)))
        };
        let kept = |one: &(usize, Side, Identity<'a>)| other.keeps(one.2);
        let is_of_third = |one: &(usize, Side, Identity<'a>)| {
            identity(&triples[one.0], Side::Original).is_some_and(|was| other.keeps(was) != kept(one))
        };
        let mut gone: Vec<_> = alone(Side::Original, side).chain(alone(third, side).filter(is_of_third)).collect();
        let mut come: Vec<_> = alone(side, Side::Original).collect();
        let [left, came] = [&gone, &come].map(|all| all.iter().map(kept).collect::<HashSet<_>>());
        gone.retain(|one| came.contains(&kept(one)));
        come.retain(|one| left.contains(&kept(one)));
        let candidate = |(triple, of, identity): (usize, Side, Identity<'a>)| {
            let number = triples[triple][of]?;
            let resource = &sides[of][number];
            let (lines, pod) = (ResourceLines::of(resource), pod_in(resource.node()));
            Some(Candidate { triple, identity, spot: spots[of][number], lines, pod })
        };
        let [gone, come] = [gone, come].map(|all| all.into_iter().filter_map(candidate).collect());
        Self { other, gone, come }
    }

    /// The partners of the triples that have one, by their numbers. Partners are each the only one that is most like the other.
    fn partners(&self) -> Vec<(usize, usize)> {
        let mut left = MOST_COMPARED;
        let all: Vec<&Candidate<'a>> = self.gone.iter().chain(&self.come).collect();
        let mut partners = Vec::new();
        for same in grouped(0..all.len(), |number| Some(self.other.keeps(all[number].identity))) {
            let (gone, come): (Same, Same) = same.into_iter().partition(|number| *number < self.gone.len());
            let [gone, come] = [gone, come].map(|of| of.into_iter().map(|number| all[number]).collect::<Vec<_>>());
            let group = RenamedGroup { other: self.other, gone, come };
            let pairs = group.by_text(&mut left).unwrap_or_else(|| group.by_place());
            partners.extend(pairs.found().map(|(g, c)| (group.gone[g].triple, group.come[c].triple)));
        }
        partners
    }
}

/// Candidates that share the part of the identity that must stay the same.
struct RenamedGroup<'c, 'a> {
    other: OtherPart,
    gone: Vec<&'c Candidate<'a>>,
    come: Vec<&'c Candidate<'a>>,
}

impl<'c, 'a> RenamedGroup<'c, 'a> {
    fn no_pairs(&self) -> Pairs<Likeness> {
        Pairs::of(self.gone.len(), self.come.len())
    }

    /// How much each is like those in its place.
    fn by_place(&self) -> Pairs<Likeness> {
        let mut pairs = self.no_pairs();
        for (g, c) in self.in_place() {
            self.offer(g, c, 0, &mut pairs);
        }
        pairs
    }

    /// How much each is like those in its place, and those with half of its text. `None` if more lines must be compared than are `left`: a
    /// pair that is not compared might be the better one.
    fn by_text(&self, left: &mut usize) -> Option<Pairs<Likeness>> {
        let mut pairs = self.no_pairs();
        let numbered =
            |all: &[&'c Candidate<'a>]| all.iter().map(|one| one.lines.hashes()).enumerate().collect::<Vec<_>>();
        let (gone, come) = (numbered(&self.gone), numbered(&self.come));
        self.compare(self.in_place(), left, &mut pairs)?;
        self.compare(self.without_text(), left, &mut pairs)?;
        // Most renames keep most of the text. Whoever has such a partner is not more like another one that has less of its text.
        self.compare(alike(&gone, &come, MOST), left, &mut pairs)?;
        let is_settled = |best: Option<Likeness>| best.is_some_and(|best| best.lines >= MOST);
        let (settled, others): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|(g, _)| is_settled(pairs.best_of_old(*g)));
        let open: Vec<_> = come.iter().filter(|(c, _)| !is_settled(pairs.best_of_new(*c))).copied().collect();
        self.compare(alike(&others, &come, HALF), left, &mut pairs)?;
        self.compare(alike(&settled, &open, HALF), left, &mut pairs)?;
        Some(pairs)
    }

    /// Those that have no text but their identity, and share it.
    fn without_text(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_bare = |one: &Candidate<'a>| self.other == OtherPart::Place && one.lines.count() == 0;
        let bare = |all: &[&'c Candidate<'a>]| (0..all.len()).filter(|at| is_bare(all[*at])).collect::<Vec<_>>();
        let (gone, come) = (bare(&self.gone), bare(&self.come));
        gone.into_iter().flat_map(move |g| come.clone().into_iter().map(move |c| (g, c)))
    }

    fn compare(
        &self,
        found: impl IntoIterator<Item = (usize, usize)>,
        left: &mut usize,
        pairs: &mut Pairs<Likeness>,
    ) -> Option<()> {
        for (g, c) in found {
            let [gone, come] = [self.gone[g], self.come[c]].map(|candidate| &candidate.lines);
            *left = left.checked_sub((gone.count() + come.count()).max(1))?;
            self.offer(g, c, gone.same_of_thousand(come), pairs);
        }
        Some(())
    }

    fn offer(&self, g: usize, c: usize, lines: u32, pairs: &mut Pairs<Likeness>) {
        if let Some(likeness) = self.gone[g].likeness(self.come[c], self.other, lines) {
            pairs.offer(g, c, likeness);
        }
    }

    /// The pairs that are in the same place.
    fn in_place(&self) -> Vec<(usize, usize)> {
        let mut by_spot: HashMap<RenamedAt<'_>, Vec<usize>> = HashMap::new();
        for (c, come) in self.come.iter().enumerate() {
            by_spot.entry(come.spot.without_name()).or_default().push(c);
        }
        let mut found = Vec::new();
        for (g, gone) in self.gone.iter().enumerate() {
            let others = by_spot.get(&gone.spot.without_name()).into_iter().flatten();
            found.extend(others.map(|c| (g, *c)));
        }
        found
    }
}

/// Where a resource has the containers of a Pod: in its `spec`, or in a template below it.
fn pod_in(resource: NodeRef<'_>) -> Option<usize> {
    const WAYS: [&[&str]; 3] =
        [&["spec"], &["spec", "template", "spec"], &["spec", "jobTemplate", "spec", "template", "spec"]];
    WAYS.iter().position(|way| resource.at(way).is_some_and(|spec| spec.get("containers").is_some()))
}

/// The spot of each resource of a side.
fn spots<'a>(resources: &[Resource<'a>]) -> Vec<RenamedAt<'a>> {
    let mut groups: HashMap<_, usize> = HashMap::with_capacity(resources.len());
    let mut counts: Vec<usize> = Vec::new();
    let mut number = |r: &Resource<'a>| {
        let group = *groups.entry((r.place(), r.identity.map(|i| (i.api_version, i.kind)))).or_insert(counts.len());
        counts.resize(counts.len().max(group + 1), 0);
        counts[group] += 1;
        (group, counts[group])
    };
    let numbers: Vec<(usize, usize)> = resources.iter().map(&mut number).collect();
    let spot = |(r, (group, number)): (&Resource<'a>, (usize, usize))| RenamedAt {
        file: r.place(),
        name: r.relative_path.filter(|_| r.place().is_none()).map(|path| path.rsplit('/').next().unwrap_or(path)),
        count: counts[group],
        number,
    };
    resources.iter().zip(numbers).map(spot).collect()
}

impl OtherPart {
    /// The part of an identity that must stay the same if this part differs.
    fn keeps(self, identity: Identity<'_>) -> Identity<'_> {
        match self {
            Self::Place => identity,
            Self::Name | Self::NameInPlace => Identity { namespace: "", name: "", ..identity },
            Self::Kind => Identity { api_version: "", kind: "", ..identity },
            Self::VersionAndName => Identity { kind: identity.kind, api_version: "", namespace: "", name: "" },
        }
    }
}

impl Candidate<'_> {
    /// How similar it is to another candidate that has this share of its lines; `None` if the two are not one resource: the rest of the
    /// identity differs, or neither the place nor the text shows that they are one.
    fn likeness(&self, with: &Self, other: OtherPart, lines: u32) -> Option<Likeness> {
        let (own, others) = (self.identity, with.identity);
        let differs = match other {
            OtherPart::Place => own == others,
            OtherPart::Name | OtherPart::NameInPlace => own != others,
            // One that upstream wrapped into a template, or took out of it, has no field in common with the other one.
            OtherPart::Kind => {
                own.kind != others.kind && self.pod.zip(with.pod).is_none_or(|(own, other)| own == other)
            }
            OtherPart::VersionAndName => own.api_version != others.api_version,
        };
        if !differs {
            return None;
        }
        let is_in_place = self.spot.fits(with.spot);
        let are_bare = self.lines.count() == 0 && with.lines.count() == 0;
        let is_one = match other {
            OtherPart::Place => lines >= HALF || are_bare,
            OtherPart::NameInPlace => is_in_place || lines >= HALF,
            OtherPart::Kind => self.spot.file.is_some() && self.spot.file == with.spot.file && lines >= HALF,
            OtherPart::Name | OtherPart::VersionAndName => lines >= HALF,
        };
        let has_name = own.name == others.name;
        let names_of_path = self.spot.names_shared(with.spot);
        let has_namespace = own.namespace == others.namespace;
        let likeness = Likeness { lines, is_in_place, names_of_path, has_name, has_namespace };
        is_one.then_some(likeness)
    }
}

#[cfg(test)]
mod tests {
    use super::super::triples::triples;
    use super::*;
    use crate::resource::{Located, Origin};
    use krm_yaml::Document;

    type Written<'t> = [&'t [&'static str]; 3];

    /// A resource of `apiVersion:name` or `apiVersion:namespace/name`, its data (one letter per line), its file (default `f`) and its kind
    /// (default `A`).
    fn document(written: &str) -> Document<'static> {
        let mut words = written.split(' ');
        let (api_version, name) = words.next().and_then(|head| head.split_once(':')).expect("a head");
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let data: Vec<String> = words.next().unwrap_or_default().chars().map(|letter| format!("{letter}: 1")).collect();
        let kind = words.nth(1).unwrap_or("A");
        let text = format!(
            "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: {name}, namespace: '{namespace}'}}, data: {{{}}}}}",
            data.join(", ")
        );
        Document::parse(text).expect("valid")
    }

    /// The expected pairs, as the heads of original, updated and dest.
    fn paired(sides: Written<'_>, renames: Renames) -> Vec<String> {
        paired_by(&OtherPart::IN_PACKAGE, sides, renames)
    }

    fn paired_by(others: &[OtherPart], sides: Written<'_>, renames: Renames) -> Vec<String> {
        let documents = sides.map(|side| side.iter().map(|written| document(written)).collect::<Vec<_>>());
        let read = |side: usize| {
            let resource = |(written, document): (&&'static str, _)| {
                let path = Some(written.split(' ').nth(2).unwrap_or("f"));
                let root = Document::roots(document).next().expect("a root");
                Resource {
                    path,
                    relative_path: path,
                    located: Located::ByFile,
                    ..Resource::read(root, Origin::Item(0))
                }
            };
            sides[side].iter().zip(&documents[side]).map(resource).collect::<Vec<_>>()
        };
        let [original, updated, dest] = [read(0), read(1), read(2)];
        let resources = Sides { original: &original[..], updated: &updated, dest: &dest };
        let all = follow(triples(resources).expect("paired"), resources, renames, others);
        let head = |side: usize, number: Option<usize>| {
            number.and_then(|number| sides[side][number].split(' ').next()).unwrap_or("-")
        };
        let shown = |t: Triple| [head(0, t.original), head(1, t.updated), head(2, t.dest)].join(" ");
        let mut all: Vec<String> = all.into_iter().map(shown).collect();
        all.sort();
        all
    }

    /// Checks the pairs, also with updated and dest swapped, and in a second run whose dest is the result of the first one.
    fn check(sides: Written<'_>, want: &[&str]) {
        assert_eq!(paired(sides, Renames::Follow), want, "{sides:?}");
        let swap = |triple: &String| {
            let [o, u, d] = triple.split(' ').collect::<Vec<_>>()[..] else { return String::new() };
            [o, d, u].join(" ")
        };
        let mut swapped: Vec<String> =
            paired([sides[0], sides[2], sides[1]], Renames::Follow).iter().map(swap).collect();
        swapped.sort();
        assert_eq!(swapped, want, "{sides:?} with updated and dest swapped");
    }

    #[test]
    fn another_version_or_group_is_one_resource() {
        for (sides, want) in [
            // Only upstream changed the version, both sides did alike, only dest did, and both did in different ways.
            ([&["v1:a"][..], &["v2:a"][..], &["v1:a"][..]], &["v1:a v2:a v1:a"][..]),
            ([&["v1:a"], &["v2:a"], &["v2:a"]], &["v1:a v2:a v2:a"]),
            ([&["v1:a"], &["v1:a"], &["g/v1:a"]], &["v1:a v1:a g/v1:a"]),
            ([&["v1:a"], &["v2:a"], &["v3:a"]], &["v1:a v2:a v3:a"]),
            // Upstream changed the version, and dest deleted the resource.
            ([&["v1:a"], &["v2:a"], &[]], &["v1:a v2:a -"]),
            // Neither the file nor the text matters.
            ([&["v1:a x f"], &["v2:a y g"], &["v1:a z h"]], &["v1:a v2:a v1:a"]),
            // A side has both versions, so it is ambiguous which one is original's resource.
            ([&["v1:a"], &["v1:a", "v2:a"], &["v2:a"]], &["- v2:a v2:a", "v1:a v1:a -"]),
            ([&["v1:a"], &["v2:a"], &["v1:a", "v2:a"]], &["- v2:a v2:a", "v1:a - v1:a"]),
            // In a base and an overlay, the resources at one path are one.
            (
                [&["v1:a x b", "v1:a x o"], &["v2:a x b", "v2:a x o"], &["v1:a x b", "v1:a x o"]],
                &["v1:a v2:a v1:a", "v1:a v2:a v1:a"],
            ),
            // Both sides added the resource: the versions are one resource to the server only within a group.
            ([&[], &["g/v1:a"], &["g/v2:a"]], &["- g/v1:a g/v2:a"]),
            ([&[], &["g/v1:a"], &["v1:a"]], &["- - v1:a", "- g/v1:a -"]),
        ] {
            check(sides, want);
            assert_eq!(paired(sides, Renames::Ignore), want, "{sides:?}");
        }
    }

    #[test]
    fn another_name_is_one_resource_in_its_place_or_with_half_of_its_text() {
        for (sides, want) in [
            // In its place, any content will do: only upstream changed the name, both sides did alike, only dest did, and both did in
            // different ways.
            ([&["v1:a xy"][..], &["v1:b z"][..], &["v1:a xy"][..]], &["v1:a v1:b v1:a"][..]),
            ([&["v1:a xy"], &["v1:b z"], &["v1:b z"]], &["v1:a v1:b v1:b"]),
            ([&["v1:a x"], &["v1:a x"], &["v1:b z"]], &["v1:a v1:a v1:b"]),
            ([&["v1:a x"], &["v1:b y"], &["v1:c z"]], &["v1:a v1:b v1:c"]),
            ([&["v1:n/a x"], &["v1:m/a y"], &["v1:n/a x"]], &["v1:n/a v1:m/a v1:n/a"]),
            // In another file, half of its text must be the same.
            ([&["v1:a xy f"], &["v1:b xz g"], &["v1:a xy f"]], &["v1:a v1:b v1:a"]),
            ([&["v1:a xyz f"], &["v1:b xvw g"], &["v1:a xyz f"]], &["- v1:b -", "v1:a - v1:a"]),
            // If the number of resources in the file differs, the most similar one is the partner.
            ([&["v1:a xyz"], &["v1:b xyv", "v1:c xyz"], &["v1:a xyz"]], &["- v1:b -", "v1:a v1:c v1:a"]),
            // Of several that are as similar, the partner is in the same file.
            (
                [
                    &["v1:a x f", "v1:b x g"],
                    &["v1:e y f", "v1:c x f", "v1:d x g", "v1:f y g"],
                    &["v1:a x f", "v1:b x g"],
                ],
                &["- v1:e -", "- v1:f -", "v1:a v1:c v1:a", "v1:b v1:d v1:b"],
            ),
            // If there are as many as before, the partner is in the same place.
            (
                [&["v1:a x", "v1:b x"], &["v1:c x", "v1:d x"], &["v1:a x", "v1:b x"]],
                &["v1:a v1:c v1:a", "v1:b v1:d v1:b"],
            ),
            // What has the same identity elsewhere has no other name.
            (
                [&["v1:a x b", "v1:a yz o"], &["v1:a x b", "v1:a yz n", "v1:b yz n"], &["v1:a x b", "v1:a yz o"]],
                &["- v1:b -", "v1:a v1:a v1:a", "v1:a v1:a v1:a"],
            ),
            // Another type and another name together are never one resource.
            ([&["v1:a x"], &["v2:b x"], &["v1:a x"]], &["- v2:b -", "v1:a - v1:a"]),
            ([&["v1:a x"], &["v1:b x f B"], &["v1:a x"]], &["- v1:b -", "v1:a - v1:a"]),
            // A new version and a new name on different sides.
            ([&["v1:a x"], &["v2:a x"], &["v1:b x"]], &["v1:a v2:a v1:b"]),
        ] {
            check(sides, want);
        }
    }

    #[test]
    fn one_of_several_with_an_identity_is_at_another_place_with_half_of_its_text() {
        let stays = "v1:a v1:a v1:a";
        for (sides, want) in [
            // Only upstream moved it, both sides did alike, and both moved it apart.
            (
                [&["v1:a x b", "v1:a yz o"][..], &["v1:a x b", "v1:a yw n"][..], &["v1:a x b", "v1:a yz o"][..]],
                &[stays, stays][..],
            ),
            ([&["v1:a x b", "v1:a yz o"], &["v1:a x b", "v1:a yw n"], &["v1:a x b", "v1:a yz n"]], &[stays, stays]),
            ([&["v1:a x b", "v1:a yz o"], &["v1:a x b", "v1:a yw n"], &["v1:a x b", "v1:a yz m"]], &[stays, stays]),
            // With less than half of its text, it is another one.
            (
                [&["v1:a x b", "v1:a xyz o"], &["v1:a x b", "v1:a xvw n"], &["v1:a x b", "v1:a xyz o"]],
                &["- v1:a -", "v1:a - v1:a", stays],
            ),
            // What has nothing but its identity is known by it.
            ([&["v1:a x b", "v1:a  o"], &["v1:a x b", "v1:a  n"], &["v1:a x b", "v1:a  o"]], &[stays, stays]),
            // Of two that are alike, the path tells which one it is.
            (
                [
                    &["v1:a x s/b/f", "v1:a x s/o/f"],
                    &["v1:a x d/o/f", "v1:a x d/b/f"],
                    &["v1:a x s/b/f", "v1:a xy s/o/f"],
                ],
                &[stays, stays],
            ),
            (
                [&["v1:a x b", "v1:a y o"], &["v1:a x b", "v1:a y n", "v1:a y m"], &["v1:a x b", "v1:a y o"]],
                &["- v1:a -", "- v1:a -", "v1:a - v1:a", stays],
            ),
        ] {
            check(sides, want);
        }
    }

    #[test]
    fn another_version_and_name_is_one_resource_in_one_file_with_half_of_its_text() {
        for (sides, want) in [
            // Only upstream changed version and name, only dest did, both did, and upstream changed the namespace.
            ([&["v1:a xy"][..], &["v2:b xz"][..], &["v1:a xy"][..]], &["v1:a v2:b v1:a"][..]),
            ([&["v1:a xy"], &["v1:a xy"], &["g/v1:b xz"]], &["v1:a v1:a g/v1:b"]),
            ([&["v1:a xy"], &["v2:b xz"], &["v2:b xw"]], &["v1:a v2:b v2:b"]),
            ([&["v1:n/a xy"], &["v2:m/a xz"], &["v1:n/a xy"]], &["v1:n/a v2:m/a v1:n/a"]),
            // It is another resource with less than half of the text, with another kind, and if two are equally similar.
            ([&["v1:a xy"], &["v2:b zw"], &["v1:a xy"]], &["- v2:b -", "v1:a - v1:a"]),
            ([&["v1:a xy"], &["v2:b xy f B"], &["v1:a xy"]], &["- v2:b -", "v1:a - v1:a"]),
            ([&["v1:a xy"], &["v2:b xy", "v2:c xy"], &["v1:a xy"]], &["- v2:b -", "- v2:c -", "v1:a - v1:a"]),
            // Each of several resources is paired with the one that is most like it.
            (
                [&["v1:a xy", "v1:b zw"], &["v2:c zw", "v2:d xy"], &["v1:a xy", "v1:b zw"]],
                &["v1:a v2:d v1:a", "v1:b v2:c v1:b"],
            ),
        ] {
            let all = paired_by(&OtherPart::IN_FILE, sides, Renames::Follow);
            assert_eq!(all, want, "{sides:?}");
            assert_eq!(
                paired_by(&OtherPart::IN_FILE, sides, Renames::Ignore),
                paired(sides, Renames::Ignore),
                "{sides:?}"
            );
        }
    }

    #[test]
    fn another_kind_is_one_resource_in_its_file_with_half_of_its_text() {
        for (sides, want) in [
            // Only upstream changed the kind, only dest did, both sides did alike, and both did in different ways.
            ([&["v1:a xy"][..], &["v1:a xz f B"][..], &["v1:a xy"][..]], &["v1:a v1:a v1:a"][..]),
            ([&["v1:a xy"], &["v1:a xy"], &["v1:a xz f B"]], &["v1:a v1:a v1:a"]),
            ([&["v1:a xy"], &["v1:a xz f B"], &["v1:a xw f B"]], &["v1:a v1:a v1:a"]),
            ([&["v1:a xy"], &["v1:a xz f B"], &["v1:a xw f C"]], &["v1:a v1:a v1:a"]),
            // The version or group may change, too.
            ([&["v1:a xy"], &["g/v1:a xz f B"], &["v1:a xy"]], &["v1:a g/v1:a v1:a"]),
            // It is another resource with less than half of the text, and in another file.
            ([&["v1:a xy"], &["v1:a zw f B"], &["v1:a xy"]], &["- v1:a -", "v1:a - v1:a"]),
            ([&["v1:a xy"], &["v1:a xy g B"], &["v1:a xy"]], &["- v1:a -", "v1:a - v1:a"]),
            // It is another resource in another namespace.
            ([&["v1:n/a xy"], &["v1:m/a xy f B"], &["v1:n/a xy"]], &["- v1:m/a -", "v1:n/a - v1:n/a"]),
            // The resource that is most like it is the partner; it has no partner if two are equally similar.
            ([&["v1:a xyz"], &["v1:a xyw f B", "v1:a xyz f C"], &["v1:a xyz"]], &["- v1:a -", "v1:a v1:a v1:a"]),
            ([&["v1:a xy"], &["v1:a xy f B", "v1:a xy f C"], &["v1:a xy"]], &["- v1:a -", "- v1:a -", "v1:a - v1:a"]),
            // Another resource is in its place.
            ([&["v1:a xy"], &["v1:b zw", "v1:a xy f B"], &["v1:a xz"]], &["- v1:b -", "v1:a v1:a v1:a"]),
            // Upstream keeps the old resource, too.
            ([&["v1:a xy"], &["v1:a xy", "v1:a xy f B"], &["v1:a xy"]], &["- v1:a -", "v1:a v1:a v1:a"]),
            // Dest deleted the resource.
            ([&["v1:a xy"], &["v1:a xy f B"], &[]], &["- v1:a -", "v1:a - -"]),
        ] {
            check(sides, want);
        }
    }

    #[test]
    fn each_side_may_have_changed_another_part() {
        for (sides, want) in [
            // Upstream changed the namespace, or the name, and dest the kind: the first and the second run.
            ([&["v1:n/a xy"][..], &["v1:m/a xz"][..], &["v1:n/a xw f B"][..]], &["v1:n/a v1:m/a v1:n/a"][..]),
            ([&["v1:n/a xy"], &["v1:m/a xz"], &["v1:m/a xw f B"]], &["v1:n/a v1:m/a v1:m/a"]),
            ([&["v1:a xy"], &["v1:b xy"], &["v1:a xy f B"]], &["v1:a v1:b v1:a"]),
            ([&["v1:a xy"], &["v1:b xy"], &["v1:b xy f B"]], &["v1:a v1:b v1:b"]),
            // Upstream changed the kind, and dest the name: the first and the second run.
            ([&["v1:a xy"], &["v1:a xz f B"], &["v1:b xy"]], &["v1:a v1:a v1:b"]),
            ([&["v1:a xy"], &["v1:a xz f B"], &["v1:b xz f B"]], &["v1:a v1:a v1:b"]),
            // A new version and a new name, after a first run.
            ([&["v1:a xy"], &["v2:a xy"], &["v2:b xy"]], &["v1:a v2:a v2:b"]),
            // Upstream changed the kind, and dest the group: the first and the second run.
            ([&["g/v1:a xy"], &["g/v1:a xz f B"], &["h/v1:a xy"]], &["g/v1:a g/v1:a h/v1:a"]),
            ([&["g/v1:a xy"], &["g/v1:a xz f B"], &["h/v1:a xz f B"]], &["g/v1:a g/v1:a h/v1:a"]),
            // Each of several is followed.
            (
                [&["v1:a xy", "v1:b zw"], &["v1:c xy", "v1:d zw"], &["v1:a xy f B", "v1:b zw f B"]],
                &["v1:a v1:c v1:a", "v1:b v1:d v1:b"],
            ),
            // In doubt nothing is joined: it is another one with less than half of the text, in another file, if two are equally similar, if
            // a side changed both parts, or if a side has none.
            ([&["v1:a xy"], &["v1:b xz"], &["v1:a zw f B"]], &["- - v1:a", "- v1:b -", "v1:a - -"]),
            ([&["v1:a xy"], &["v1:b xz"], &["v1:a xy g B"]], &["- - v1:a", "- v1:b -", "v1:a - -"]),
            (
                [&["v1:a xy"], &["v1:b xz"], &["v1:a xy f B", "v1:a xy f C"]],
                &["- - v1:a", "- - v1:a", "- v1:b -", "v1:a - -"],
            ),
            ([&["v1:a xy"], &["v1:a xy"], &["v1:b xy f B"]], &["- - v1:b", "v1:a v1:a -"]),
            ([&["v1:a xy"], &["v1:b xy f B"], &["v1:a xy f C"]], &["- - v1:a", "- v1:b -", "v1:a - -"]),
            ([&["v1:a xy"], &["v1:b xz"], &[]], &["- v1:b -", "v1:a - -"]),
            ([&["v1:a xy"], &["v1:b xz"], &["v1:c xy f B"]], &["- - v1:c", "- v1:b -", "v1:a - -"]),
        ] {
            check(sides, want);
        }
    }

    #[test]
    fn what_upstream_renamed_and_dest_deleted_is_one_resource() {
        for (sides, want) in [
            ([&["v1:a x"][..], &["v1:b x"][..], &[][..]], &["v1:a v1:b -"][..]),
            ([&["v1:n/a x"], &["v1:m/a x"], &[]], &["v1:n/a v1:m/a -"]),
            // A second run, and a resource of dest's own.
            (
                [&["v1:a x", "v1:c z"], &["v1:b x", "v1:c z"], &["v1:c z", "v1:d y g"]],
                &["- - v1:d", "v1:a v1:b -", "v1:c v1:c v1:c"],
            ),
            // In doubt nothing is joined: another text, no text at all, another file, or two that are the same.
            ([&["v1:a xy"], &["v1:b xz"], &[]], &["- v1:b -", "v1:a - -"]),
            ([&["v1:a"], &["v1:b"], &[]], &["- v1:b -", "v1:a - -"]),
            ([&["v1:a x"], &["v1:b x g"], &[]], &["- v1:b -", "v1:a - -"]),
            ([&["v1:a x"], &["v1:b x", "v1:c x"], &[]], &["- v1:b -", "- v1:c -", "v1:a - -"]),
            ([&["v1:a x", "v1:b x"], &["v1:c x"], &[]], &["- v1:c -", "v1:a - -", "v1:b - -"]),
            // What dest alone has may be its own: upstream's deletion never takes it.
            ([&["v1:a x"], &[], &["v1:b x"]], &["- - v1:b", "v1:a - -"]),
        ] {
            assert_eq!(paired(sides, Renames::Follow), want, "{sides:?}");
        }
    }

    #[test]
    fn the_rename_of_a_whole_package_says_which_resource_is_which() {
        for (sides, want) in [
            // Upstream deletes a resource whose text says nothing, in another file.
            (
                [
                    &["v1:n/a x", "v1:n/b y", "v1:n/c  g"][..],
                    &["v1:n/a x", "v1:n/b y"][..],
                    &["v1:m/a x", "v1:m/b y", "v1:m/c  h"][..],
                ],
                &["v1:n/a v1:n/a v1:m/a", "v1:n/b v1:n/b v1:m/b", "v1:n/c - v1:m/c"][..],
            ),
            (
                [&["v1:a x", "v1:b y", "v1:c  g"], &["v1:a x", "v1:b y"], &["v1:t-a x", "v1:t-b y", "v1:t-c w h"]],
                &["v1:a v1:a v1:t-a", "v1:b v1:b v1:t-b", "v1:c - v1:t-c"],
            ),
            // What goes has no vote, for it has none in a second run.
            (
                [
                    &["v1:a x", "v1:b y", "v1:c  g", "v1:d  g"],
                    &["v1:a x", "v1:b y"],
                    &["v1:t-a x", "v1:t-b y", "v1:t-c w h", "v1:d  g"],
                ],
                &["v1:a v1:a v1:t-a", "v1:b v1:b v1:t-b", "v1:c - v1:t-c", "v1:d - v1:d"],
            ),
            // Not all have the new names.
            (
                [
                    &["v1:a x", "v1:b y", "v1:c  g", "v1:d  g"],
                    &["v1:a x", "v1:b y", "v1:d  g"],
                    &["v1:t-a x", "v1:t-b y", "v1:t-c w h", "v1:d  g"],
                ],
                &["- - v1:t-c", "v1:a v1:a v1:t-a", "v1:b v1:b v1:t-b", "v1:c - -", "v1:d v1:d v1:d"],
            ),
            // What both sides added, as after a first run.
            (
                [&["v1:n/a x"], &["v1:n/a x", "v1:n/b z"], &["v1:m/a x", "v1:m/b z"]],
                &["- v1:n/b v1:m/b", "v1:n/a v1:n/a v1:m/a"],
            ),
            // One new name says nothing about the other names.
            (
                [&["v1:a x", "v1:b  g"], &["v1:a x"], &["v1:t-a x", "v1:t-b  h"]],
                &["- - v1:t-b", "v1:a v1:a v1:t-a", "v1:b - -"],
            ),
        ] {
            assert_eq!(paired(sides, Renames::Follow), want, "{sides:?}");
        }
    }

    #[test]
    fn in_doubt_nothing_is_joined() {
        for (sides, want) in [
            // Two resources are equally similar.
            (
                [&["v1:a x"][..], &["v1:b x", "v1:c x"][..], &["v1:a x"][..]],
                &["- v1:b -", "- v1:c -", "v1:a - v1:a"][..],
            ),
            ([&["v1:a x", "v1:b x"], &["v1:c x"], &["v1:a x", "v1:b x"]], &["- v1:c -", "v1:a - v1:a", "v1:b - v1:b"]),
            // A second run, on the result.
            ([&["v1:a x"], &["v1:b x", "v1:c x"], &["v1:b x", "v1:c x"]], &["- v1:b v1:b", "- v1:c v1:c", "v1:a - -"]),
            // Dest already has the new resource and the old one.
            ([&["v1:a x"], &["v1:b x"], &["v1:a x", "v1:b x"]], &["- v1:b v1:b", "v1:a - v1:a"]),
        ] {
            check(sides, want);
        }
    }

    #[test]
    fn what_both_sides_have_says_more_than_a_likeness() {
        // Dest has a copy of the old resource under a name of its own: the first and the second run.
        check([&["v1:a xyz"], &["v1:b xyv"], &["v1:a xyz", "v1:m xyz"]], &["- - v1:m", "v1:a v1:b v1:a"]);
        check([&["v1:a xyz"], &["v1:b xyv"], &["v1:b xyv", "v1:m xyz"]], &["- - v1:m", "v1:a v1:b v1:b"]);
        // Dest renamed the resource, and upstream adds a similar one: the first and the second run.
        check([&["v1:a xyz"], &["v1:a xyz", "v1:c xy"], &["v1:b xyz"]], &["- v1:c -", "v1:a v1:a v1:b"]);
        check([&["v1:a xyz"], &["v1:a xyz", "v1:c xy"], &["v1:b xyz", "v1:c xy"]], &["- v1:c v1:c", "v1:a v1:a v1:b"]);
    }

    #[test]
    fn renames_can_be_ignored() {
        let sides: Written<'_> = [&["v1:a xy"], &["v1:b xy"], &["v1:a xy"]];
        assert_eq!(paired(sides, Renames::Ignore), ["- v1:b -", "v1:a - v1:a"]);
        let sides: Written<'_> = [&["v1:a xy"], &["v1:a xy f B"], &["v1:a xy"]];
        assert_eq!(paired(sides, Renames::Ignore), ["- v1:a -", "v1:a - v1:a"]);
    }

    #[test]
    fn partners_are_those_that_all_comparisons_find() {
        let mut state = 1_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let (mut found, mut by_text) = (0, 0);
        for round in 0..3000 {
            let other = [OtherPart::NameInPlace, OtherPart::Kind, OtherPart::VersionAndName][round % 3];
            // Some rounds have many equal lines, and some have few.
            let letters = 2 + below(40);
            let mut side = |from: usize| {
                let mut candidate = |number: usize| Candidate {
                    triple: from + number,
                    identity: Identity {
                        api_version: ["v1", "v2"][below(2) as usize],
                        kind: ["A", "B"][below(2) as usize],
                        namespace: "",
                        name: ["a", "b", "c", "d"][below(4) as usize],
                    },
                    spot: RenamedAt {
                        file: ["f", "g"].get(below(3) as usize).copied(),
                        name: ["h", "i"].get(below(3) as usize).copied(),
                        count: 4,
                        number: below(4) as usize,
                    },
                    lines: (0..below(9)).map(|_| below(letters)).collect::<Vec<_>>().into(),
                    pod: None,
                };
                (0..8).map(&mut candidate).collect::<Vec<_>>()
            };
            let renamed = Renamed { other, gone: side(0), come: side(100) };
            let mut all = Pairs::of(renamed.gone.len(), renamed.come.len());
            for (g, gone) in renamed.gone.iter().enumerate() {
                for (c, come) in renamed.come.iter().enumerate() {
                    let lines = gone.lines.same_of_thousand(&come.lines);
                    let is_kept = other.keeps(gone.identity) == other.keeps(come.identity);
                    let likeness = gone.likeness(come, other, lines).filter(|_| is_kept);
                    likeness.into_iter().for_each(|likeness| all.offer(g, c, likeness));
                }
            }
            let want: HashMap<usize, usize> = all.found().map(|(g, c)| (g, c + 100)).collect();
            found += want.len();
            by_text += usize::from(want.iter().any(|(g, c)| !renamed.gone[*g].spot.fits(renamed.come[c - 100].spot)));
            assert_eq!(renamed.partners().into_iter().collect::<HashMap<_, _>>(), want, "round {round}");
        }
        assert!(found > 1500 && by_text > 500, "{found} partners, by text in {by_text} rounds");
    }

    #[test]
    fn only_the_place_counts_where_too_many_lines_would_be_compared() {
        let candidate = |name: &'static str, number: usize, lines: [u64; 2]| Candidate {
            triple: number,
            identity: Identity { api_version: "v1", kind: "A", namespace: "", name },
            spot: RenamedAt { file: Some("f"), name: None, count: 2, number },
            lines: lines.to_vec().into(),
            pod: None,
        };
        let (a, b) = (candidate("a", 0, [1, 2]), candidate("b", 1, [3, 4]));
        let (c, d) = (candidate("c", 0, [3, 4]), candidate("d", 1, [1, 2]));
        let group = RenamedGroup { other: OtherPart::NameInPlace, gone: vec![&a, &b], come: vec![&c, &d] };
        let found = |pairs: Pairs<Likeness>| pairs.found().collect::<Vec<_>>();
        assert_eq!(group.by_text(&mut 100).map(found), Some(vec![(0, 1), (1, 0)]));
        assert_eq!(group.by_text(&mut 15).map(found), None);
        assert_eq!(found(group.by_place()), [(0, 0), (1, 1)]);
    }
}
