//! Which resources of three sides are the same: by identity, and by path if a side has several of one identity.
//!
//! In a package with overlays, several resources may have one identity, because each overlay may have a patch with it. Then the path
//! decides: a resource without a partner at its path counts as added or deleted. But if two sides have one resource each, it is the same
//! one even at different paths: one of them moved it.

use std::cell::LazyCell;
use std::fmt;

use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::resource_lines::ResourceLines;
use crate::resource::{Identity, Located, Resource};

/// The resources of original, updated and dest that are the same, by their numbers.
pub(super) type Triple = Sides<Option<usize>>;

/// The resources of each side.
pub(super) type Resources<'s, 'a> = Sides<&'s [Resource<'a>]>;

/// The resources of one identity, side by side, by their numbers.
type AlikeGroup = Sides<Vec<usize>>;

/// Resources of one identity that cannot be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ambiguous {
    /// A file holds the identity several times, and the counts differ between sides.
    Unequal {
        /// The identity.
        identity: String,
        /// For each side with such resources, their places.
        places: Vec<(Side, Vec<String>)>,
    },
    /// Several have the identity, and no path says which one is meant.
    WithoutPath {
        /// The identity.
        identity: String,
        /// The places of the resources.
        places: Vec<String>,
    },
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unequal { identity, places } => {
                let count = |(side, places): &(Side, Vec<String>)| {
                    format!("{} in {} ({})", places.len(), side.name(), places.join(" and "))
                };
                let counts = places.iter().map(count).collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "`{identity}` must stand once in a file, or equally often in the file of each side, not {counts}: remove those that are too many, or give them other names"
                )
            }
            Self::WithoutPath { identity, places } => write!(
                f,
                "`{identity}` must be one resource on each side, or lie in the same folders on each, so that its path says which one is meant, not {}: give original and updated as folders, with the paths that dest has",
                places.join(", ")
            ),
        }
    }
}

impl std::error::Error for Ambiguous {}

/// Pairs the resources of three sides. The triples are in the order of dest, then of updated, then of original.
///
/// # Errors
/// A file that holds an identity several times, with different counts on the sides; several resources of an identity, and a side without a
/// path that says which one is meant.
pub(super) fn triples(sides: Resources<'_, '_>) -> Result<Vec<Triple>, Ambiguous> {
    let mut groups: HashMap<Identity<'_>, AlikeGroup> = HashMap::with_capacity(sides.dest.len());
    let mut order = Vec::new();
    let mut triples = Vec::new();
    for side in Side::DEST_FIRST {
        for (i, resource) in sides[side].iter().enumerate() {
            let Some(identity) = resource.package_identity() else {
                let mut alone = Triple::default();
                alone[side] = Some(i);
                triples.push(alone);
                continue;
            };
            groups.entry(identity).or_insert_with(|| {
                order.push(identity);
                Default::default()
            })[side]
                .push(i);
        }
    }
    for identity in order {
        let Some(group) = groups.get(&identity) else { continue };
        match in_one_place(group, sides) {
            Some(triple) => triples.push(triple),
            None => triples.extend(of_group(identity, group, sides)?),
        }
    }
    Ok(triples)
}

/// The resources of one identity, if each side has at most one, and all are in one place. Most are like that.
fn in_one_place(group: &AlikeGroup, sides: Resources<'_, '_>) -> Option<Triple> {
    let is_one = Side::ALL.iter().all(|side| group[*side].len() <= 1);
    let triple = Triple::of(|side| group[side].first().copied());
    let in_dest = triple.dest.and_then(|i| sides.dest[i].place());
    let mut places =
        triple.iter().filter_map(|(side, i)| Some(place(side, &sides[side][(*i)?], |path| in_dest == Some(path))));
    let first = places.next()?;
    (is_one && places.all(|place| place == first)).then_some(triple)
}

/// The path by which the package knows a resource. The name of a file that was given without its folder is not a place in the package, unless
/// dest has a file of that name.
fn place<'a>(side: Side, resource: &Resource<'a>, is_in_dest: impl Fn(&str) -> bool) -> Option<&'a str> {
    let is_known = |path: &&str| resource.located != Located::Nowhere || (side != Side::Dest && is_in_dest(path));
    resource.relative_path.filter(is_known)
}

/// Resources of one identity that are known to be the same so far.
struct Known<'p> {
    /// The path of all of them; `None` if it is unknown.
    place: Option<&'p str>,
    triple: Triple,
}

impl Known<'_> {
    fn has(&self, side: Side) -> bool {
        self.triple[side].is_some()
    }

    /// Whether no side has a resource in both. Only then can the two be the same.
    fn is_apart_from(&self, other: &Self) -> bool {
        Side::ALL.iter().all(|side| !self.has(*side) || !other.has(*side))
    }
}

/// Pairs the resources of one identity.
fn of_group(identity: Identity<'_>, group: &AlikeGroup, sides: Resources<'_, '_>) -> Result<Vec<Triple>, Ambiguous> {
    let mut known: Vec<Known<'_>> = Vec::new();
    for (place, here) in by_place(group, sides) {
        let count = here.iter().map(|(_, side)| side.len()).max().unwrap_or_default();
        if here.iter().any(|(_, side)| !side.is_empty() && side.len() != count) {
            return Err(unequal(identity, &here, sides));
        }
        known.extend((0..count).map(|n| Known { place, triple: Sides::of(|side| here[side].get(n).copied()) }));
    }
    join_moved(&mut known, group, sides);
    // A resource without a path could be any of the resources that have a path.
    let nowhere = known.iter().filter(|k| k.place.is_none());
    if nowhere.into_iter().any(|n| known.iter().any(|k| k.is_apart_from(n))) {
        return Err(without_path(identity, group, sides));
    }
    Ok(known.into_iter().map(|k| k.triple).collect())
}

/// The resources of one identity by path, in the order of dest, then of updated, then of original.
fn by_place<'a>(group: &AlikeGroup, sides: Resources<'_, 'a>) -> Vec<(Option<&'a str>, AlikeGroup)> {
    let dest = LazyCell::new(|| group.dest.iter().filter_map(|i| sides.dest[*i].place()).collect::<HashSet<_>>());
    let place = |side: Side, i: usize| place(side, &sides[side][i], |path| dest.contains(path));
    let of_side = |side: Side| group[side].iter().map(move |i| (side, *i));
    let all: Vec<(Side, usize, Option<&str>)> =
        Side::DEST_FIRST.into_iter().flat_map(of_side).map(|(side, i)| (side, i, place(side, i))).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| all[*at].2);
    let mut places: Vec<&[usize]> = order.chunk_by(|a, b| all[*a].2 == all[*b].2).collect();
    places.sort_by_key(|here| here[0]);
    let group_of = |here: &[usize]| {
        let mut group = AlikeGroup::default();
        for (side, i, _) in here.iter().map(|at| all[*at]) {
            group[side].push(i);
        }
        (all[here[0]].2, group)
    };
    places.into_iter().map(group_of).collect()
}

/// Joins resources at different paths if two sides have one resource of the identity each, because then one of them moved it. If the third
/// side has none, one of the two may instead have deleted it and added another one of its own, an overlay. So they must be similar, too.
fn join_moved(known: &mut Vec<Known<'_>>, group: &AlikeGroup, sides: Resources<'_, '_>) {
    let len = |side: Side| group[side].len();
    let are_one = |other: Side, third: Side| {
        let lines = |side: Side| group[side].iter().map(|i| ResourceLines::of(&sides[side][*i])).next();
        len(third) > 0 || lines(Side::Original).zip(lines(other)).is_some_and(|(a, b)| a.is_like(&b))
    };
    if len(Side::Original) == 1 && len(Side::Updated) == 1 {
        join(
            known,
            |k| k.has(Side::Original) && !k.has(Side::Updated),
            |k| k.has(Side::Updated) && !k.has(Side::Original),
            || are_one(Side::Updated, Side::Dest),
        );
    }
    // A resource that updated added and dest already has is not the one that original has.
    let arrived = known.iter().filter(|k| k.has(Side::Updated) && k.has(Side::Dest) && !k.has(Side::Original)).count();
    if len(Side::Original) == 1 && len(Side::Dest) == arrived + 1 {
        join(
            known,
            |k| k.has(Side::Original) && !k.has(Side::Dest),
            |k| k.has(Side::Dest) && !k.has(Side::Original) && !k.has(Side::Updated),
            || are_one(Side::Dest, Side::Updated),
        );
    }
    if len(Side::Original) == 0 && len(Side::Updated) == 1 && len(Side::Dest) == 1 {
        join(
            known,
            |k| k.has(Side::Updated) && !k.has(Side::Dest),
            |k| k.has(Side::Dest) && !k.has(Side::Updated),
            || true,
        );
    }
}

/// Joins the first entry that fits `one` with the first entry that fits `other`, if no side has a resource in both, and both are one
/// resource.
fn join(
    known: &mut Vec<Known<'_>>,
    one: impl Fn(&Known<'_>) -> bool,
    other: impl Fn(&Known<'_>) -> bool,
    are_one: impl FnOnce() -> bool,
) {
    let (Some(a), Some(b)) = (known.iter().position(one), known.iter().position(other)) else { return };
    if !known[a].is_apart_from(&known[b]) || !are_one() {
        return;
    }
    let joined = known.remove(a.max(b));
    let known = &mut known[a.min(b)];
    known.place = known.place.or(joined.place);
    known.triple = Sides::of(|side| known.triple[side].or(joined.triple[side]));
}

fn unequal(identity: Identity<'_>, here: &AlikeGroup, sides: Resources<'_, '_>) -> Ambiguous {
    let places = here
        .iter()
        .filter(|(_, numbers)| !numbers.is_empty())
        .map(|(side, numbers)| (side, numbers.iter().map(|i| sides[side][*i].whereabouts()).collect()));
    Ambiguous::Unequal { identity: identity.to_string(), places: places.collect() }
}

fn without_path(identity: Identity<'_>, group: &AlikeGroup, sides: Resources<'_, '_>) -> Ambiguous {
    let places = group.iter().flat_map(|(side, numbers)| numbers.iter().map(move |i| sides[side][*i].whereabouts()));
    Ambiguous::WithoutPath { identity: identity.to_string(), places: places.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;
    use krm_yaml::Document;

    /// The expected pairs, as the paths of original, updated and dest. All have one identity. The name of a file that was given without its
    /// folder comes after `n:`.
    fn paired([original, updated, dest]: [&[&'static str]; 3]) -> Result<Vec<String>, String> {
        let doc = Document::parse("{apiVersion: v1, kind: A, metadata: {name: a}}").expect("valid");
        let node = doc.roots().next().expect("a root");
        let read = |path: &&'static str| {
            let (located, path) = match path.strip_prefix("n:") {
                Some(name) => (Located::Nowhere, name),
                None => (Located::ByFile, *path),
            };
            let resource = Resource::read(node, Origin::Item(0));
            Resource { path: Some(path), relative_path: Some(path), located, ..resource }
        };
        let sides = Sides { original, updated, dest }.map(|side| side.iter().map(read).collect::<Vec<_>>());
        let all = triples(Sides { original: &sides.original, updated: &sides.updated, dest: &sides.dest });
        let shown = |triple: Triple| {
            let path = |side: Side| triple[side].and_then(|i| sides[side][i].relative_path).unwrap_or("-");
            Side::ALL.map(path).join(" ")
        };
        let all = all.map_err(|e| e.to_string())?;
        Ok(all.into_iter().map(shown).collect())
    }

    #[test]
    fn one_on_each_side_is_one_wherever_it_lies() {
        for (paths, want) in [
            ([&["a"][..], &["b"][..], &["c"][..]], "a b c"),
            ([&["a"], &["b"], &[]], "a b -"),
            ([&["a"], &[], &["c"]], "a - c"),
            ([&[], &["b"], &["c"]], "- b c"),
            ([&["a"], &["b"], &["b"]], "a b b"),
            ([&["n:a"], &["n:b"], &["c"]], "a b c"),
        ] {
            assert_eq!(paired(paths).expect("paired"), [want]);
        }
    }

    #[test]
    fn of_several_those_at_one_path_are_one_and_the_others_come_and_go() {
        for (paths, want) in [
            // Upstream adds an overlay: the first and the second run.
            ([&["b", "o"][..], &["b", "o", "n"][..], &["b", "o"][..]], &["b b b", "o o o", "- n -"][..]),
            ([&["b", "o"], &["b", "o", "n"], &["b", "o", "n"]], &["b b b", "o o o", "- n n"]),
            // Upstream deletes an overlay: the first and the second run.
            ([&["b", "o"], &["b"], &["b", "o"]], &["b b b", "o - o"]),
            ([&["b", "o"], &["b"], &["b"]], &["b b b", "o - -"]),
            // Dest deleted an overlay, or has overlays of its own.
            ([&["b", "o"], &["b", "o"], &["b"]], &["b b b", "o o -"]),
            ([&["b"], &["b"], &["b", "mine"]], &["b b b", "- - mine"]),
            ([&["c"], &["c"], &["x", "y"]], &["- - x", "- - y", "c c -"]),
            // It is ambiguous whether `o` became `n`, or `o` was deleted and `n` was added.
            ([&["b", "o"], &["b", "n"], &["b", "o"]], &["b b b", "o - o", "- n -"]),
            ([&["b", "o"], &["b", "n"], &["b", "n"]], &["b b b", "- n n", "o - -"]),
            ([&["b", "o"], &["b", "o"], &["b", "mine"]], &["b b b", "- - mine", "o o -"]),
        ] {
            assert_eq!(paired(paths).expect("paired"), want, "{paths:?}");
        }
    }

    #[test]
    fn where_two_sides_have_one_it_is_one_that_moved() {
        for (paths, want) in [
            // Upstream moved the resource, and dest has an overlay: the first and the second run. Then dest has the resource at both
            // places.
            ([&["a"][..], &["b"][..], &["a", "mine"][..]], &["a b a", "- - mine"][..]),
            ([&["a"], &["b"], &["b", "mine"]], &["a b b", "- - mine"]),
            ([&["a"], &["b"], &["a", "b"]], &["a - a", "- b b"]),
            // Dest moved the resource, and upstream adds an overlay: the first and the second run.
            ([&["a"], &["a", "n"], &["c"]], &["a a c", "- n -"]),
            ([&["a"], &["a", "n"], &["c", "n"]], &["a a c", "- n n"]),
            ([&["a"], &["b", "n"], &["a"]], &["a - a", "- b -", "- n -"]),
        ] {
            assert_eq!(paired(paths).expect("paired"), want, "{paths:?}");
        }
    }

    #[test]
    fn those_of_one_file_are_paired_by_their_order_if_all_sides_have_as_many() {
        for (paths, want) in [
            ([&["a", "a"][..], &["a", "a"][..], &["a", "a"][..]], &["a a a", "a a a"][..]),
            ([&["a", "a"], &["a", "a"], &[]], &["a a -", "a a -"]),
            ([&[], &["a", "a"], &[]], &["- a -", "- a -"]),
            ([&["b"], &["b"], &["b", "a", "a"]], &["b b b", "- - a", "- - a"]),
            ([&["n:v1", "n:v1"], &["n:v2", "n:v2"], &["n:d", "n:d"]], &["v1 v2 d", "v1 v2 d"]),
        ] {
            assert_eq!(paired(paths).expect("paired"), want, "{paths:?}");
        }
        for paths in [[&["a"][..], &["a", "a"][..], &["a"][..]], [&["a", "a"], &["a", "a"], &["a"]]] {
            assert!(paired(paths).expect_err("refused").contains("must stand once in a file"), "{paths:?}");
        }
    }

    #[test]
    fn a_file_that_was_named_alone_says_no_path_but_that_of_a_file_of_dest() {
        for (paths, want) in [
            ([&["n:a"][..], &["n:a"][..], &["a", "o/a"][..]], ["a a a", "- - o/a"]),
            ([&["n:a"], &["n:b"], &["a", "o/a"]], ["a b a", "- - o/a"]),
        ] {
            assert_eq!(paired(paths).expect("paired"), want, "{paths:?}");
        }
        for paths in [[&["n:x"][..], &["n:y"][..], &["a", "o"][..]], [&[], &["n:y"], &["a", "o"]]] {
            assert!(paired(paths).expect_err("refused").contains("so that its path says"), "{paths:?}");
        }
    }
}
