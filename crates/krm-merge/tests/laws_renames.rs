//! A resource is the same one under another identity: what a merge makes of packages in which the sides changed identities is what it makes
//! of the packages without these changes, with the new identities.
//!
//! A case is made from its number, so it can be made again.

use std::collections::BTreeMap;

use krm_merge::{EmptyUpdated, Merge, Package, Pick};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The parts of an identity.
const PARTS: [&str; 4] = ["apiVersion: ", "kind: ", "namespace: ", "name: "];

/// What a side made of a resource.
#[derive(Clone, Default)]
struct Made {
    /// The values that a side may change.
    values: [usize; 2],
    /// The part of the identity that it changed.
    part: Option<usize>,
}

/// A resource: its name, and the file in which it is.
type Named = (String, &'static str);

type Files = BTreeMap<String, String>;

/// A line of an identity. Only names tell resources apart.
fn line(part: usize, word: &str, name: &str) -> String {
    match PARTS[part] {
        part @ "apiVersion: " => format!("{part}{word}.example.com/v1\n"),
        part @ "name: " => format!("{part}{word}-{name}\n"),
        part => format!("{part}{word}\n"),
    }
}

/// The text of a resource without changes of its identity.
fn text(name: &str, [v, w]: [usize; 2]) -> String {
    let [version, kind, namespace, called] = [0, 1, 2, 3].map(|part| line(part, "was", name));
    let data = ["a", "b", "c"].map(|key| format!("  {key}: {key}-{name}\n")).concat();
    format!("{version}{kind}metadata:\n  {namespace}  {called}data:\n{data}  v: {v}\n  w: {w}\n")
}

/// The files with another part in the identity of a resource.
fn renamed(files: Files, name: &str, part: usize, word: &str) -> Files {
    let rename = |document: &str| match document.contains(&format!("a: a-{name}\n")) {
        true => document.replace(&line(part, "was", name), &line(part, word, name)),
        false => document.to_owned(),
    };
    let all = |text: String| text.split("---\n").map(rename).collect::<Vec<_>>().join("---\n");
    files.into_iter().map(|(path, text)| (path, all(text))).collect()
}

fn files(resources: &[(&Named, [usize; 2])]) -> Files {
    let mut files = Files::new();
    for ((name, file), values) in resources {
        let all = files.entry((*file).to_owned()).or_default();
        if !all.is_empty() {
            all.push_str("---\n");
        }
        all.push_str(&text(name, *values));
    }
    files
}

fn package(files: &Files) -> Package {
    Package::of_files(files.clone()).unwrap_or_else(|error| panic!("{error}\n{files:?}"))
}

/// The files if updated wins and if dest wins, and the number of conflicts.
fn merged([original, updated, dest]: [&Files; 3]) -> ([Files; 2], usize) {
    let [original, updated, dest] = [original, updated, dest].map(package);
    let merge = Merge::three_way(&original, &updated, &dest).empty_updated(EmptyUpdated::Deletes);
    let merged = merge.run().expect("merged");
    let mut conflicts = 0;
    conflicts += merged.conflicts().count();
    ([Pick::Updated, Pick::Dest].map(|pick| merged.files(pick).expect("within the limit")), conflicts)
}

#[test]
fn random_changes_of_identities_change_nothing_else() {
    let times =
        std::env::var("KRM_MERGE_LAWS").map_or(1, |n| n.parse::<usize>().expect("`KRM_MERGE_LAWS` is a number"));
    let mut random = Random(7);
    let (mut of_both, mut in_conflict, mut followed) = (0, 0, 0);
    for case in 0..600 * times {
        let mut file = || ["f.yaml", "g.yaml"][random.below(3) / 2];
        let [own, mine] = [("u".to_owned(), file()), ("d".to_owned(), file())];
        let named: Vec<Named> = (0..4).map(|at| (format!("o{at}"), file())).collect();
        let named = &named[..1 + random.below(4)];
        let mut made = |number: usize| {
            let mut one = || {
                let mut made = Made::default();
                if random.below(2) == 0 {
                    made.values[random.below(2)] = number;
                }
                made.part = (random.below(3) > 0).then(|| random.below(PARTS.len()));
                made
            };
            let all: Vec<Made> = named.iter().map(|_| one()).collect();
            (all, random.below(3) == 0)
        };
        let [(in_updated, has_own), (mut in_dest, has_mine)] = [made(1), made(2)];
        // A team renames a package as a whole.
        if random.below(4) == 0 {
            let part = Some(2 + random.below(2));
            in_dest.iter_mut().for_each(|made| made.part = part);
        }
        let side = |made: &[Made], added: Option<&Named>| {
            let all = named.iter().zip(made).map(|(named, made)| (named, made.values));
            files(&all.chain(added.map(|named| (named, [9, 9]))).collect::<Vec<_>>())
        };
        let original = side(&vec![Made::default(); named.len()], None);
        let plain = [side(&in_updated, has_own.then_some(&own)), side(&in_dest, has_mine.then_some(&mine))];
        let (want, conflicts) = merged([&original, &plain[0], &plain[1]]);

        let rename = |files: Files, made: &[Made], new: &str| {
            let all = named.iter().zip(made).filter_map(|((name, _), made)| Some((name, made.part?)));
            all.fold(files, |files, (name, part)| renamed(files, name, part, new))
        };
        let [updated, dest] = plain;
        let (updated, dest) = (rename(updated, &in_updated, "new"), rename(dest, &in_dest, "own"));
        let [if_updated, if_dest] = want;
        // Of a part that both changed, the winner's is there: the other one finds nothing left to replace.
        let if_updated = rename(rename(if_updated, &in_updated, "new"), &in_dest, "own");
        let if_dest = rename(rename(if_dest, &in_dest, "own"), &in_updated, "new");
        // What upstream added follows if dest changed the same part of all resources, and upstream left it alone. One new name says nothing about
        // others, and a namespace in which dest has something of its own is not left.
        let is_all = |part: usize| {
            in_dest.iter().all(|made| made.part == Some(part)) && in_updated.iter().all(|made| made.part != Some(part))
        };
        let follows = match () {
            () if is_all(2) && !has_mine => Some(2),
            () if is_all(3) && named.len() > 1 => Some(3),
            () => None,
        };
        let of_own = follows.filter(|_| has_own);
        let follow = |files: Files| of_own.iter().fold(files, |files, part| renamed(files, "u", *part, "own"));
        let (if_updated, if_dest) = (follow(if_updated), follow(if_dest));
        let parts = || in_updated.iter().zip(&in_dest).filter_map(|(one, other)| Some((one.part?, other.part?)));
        let apart = parts().filter(|(one, other)| one == other).count();

        let (found, all) = merged([&original, &updated, &dest]);
        let what = format!("{case}: {original:#?}{updated:#?}{dest:#?}");
        assert_eq!(found, [if_updated.clone(), if_dest.clone()], "{what}");
        assert_eq!(all, conflicts + apart, "{what}");
        assert_eq!(merged([&original, &updated, &if_updated]).0[0], if_updated, "again: {what}");
        assert_eq!(merged([&original, &updated, &if_dest]).0[1], if_dest, "again: {what}");
        followed += usize::from(of_own.is_some());
        (of_both, in_conflict) = (of_both + parts().count() - apart, in_conflict + apart);
    }
    assert!(of_both > 300 && in_conflict > 100 && followed > 5, "{of_both} {in_conflict} {followed}");
}

/// The documents of all files, in order.
fn documents(files: &Files) -> Vec<&str> {
    let mut all: Vec<&str> =
        files.values().flat_map(|text| text.split("---\n")).filter(|one| !one.is_empty()).collect();
    all.sort_unstable();
    all
}

/// Upstream renames, deletes and adds resources of a package in which dest renamed all resources, or most. Nothing of dest's own goes, and a
/// second run changes nothing.
#[test]
fn a_renamed_package_keeps_what_is_its_own() {
    let times =
        std::env::var("KRM_MERGE_LAWS").map_or(1, |n| n.parse::<usize>().expect("`KRM_MERGE_LAWS` is a number"));
    let mut random = Random(11);
    let (mut deleted, mut kept) = (0, 0);
    for case in 0..600 * times {
        let mut file = || ["f.yaml", "g.yaml"][random.below(3) / 2];
        let named: Vec<Named> = (0..5).map(|at| (format!("o{at}"), file())).collect();
        // TODO: what upstream puts in the place of a resource that it deleted is taken for that one. If dest renamed it, a second run adds it again.
        let [mine, theirs] = [("d".to_owned(), "h.yaml"), ("u".to_owned(), "i.yaml")];
        let named = &named[..2 + random.below(4)];
        let plain = |named: &Named| (named.clone(), [0, 0]);
        let original: Vec<(Named, [usize; 2])> = named.iter().map(plain).collect();
        let (mut updated, mut dest) = (original.clone(), original.clone());
        updated.retain(|_| random.below(3) > 0);
        updated.iter_mut().for_each(|one| one.1[0] = random.below(4) / 3);
        dest.retain(|_| random.below(5) > 0);
        dest.iter_mut().for_each(|one| one.1[1] = random.below(4) / 3 * 2);
        let (has_own, adds) = (random.below(2) == 0, random.below(2) == 0);
        dest.extend(has_own.then(|| plain(&mine)));
        updated.extend(adds.then(|| plain(&theirs)));
        let side = |all: &[(Named, [usize; 2])]| {
            files(&all.iter().map(|(named, values)| (named, *values)).collect::<Vec<_>>())
        };
        let part = 2 + random.below(2);
        let stays = (random.below(4) == 0).then(|| random.below(named.len()));
        let mut in_dest = side(&dest);
        for (at, (name, _)) in named.iter().enumerate() {
            if Some(at) != stays {
                in_dest = renamed(in_dest, name, part, "own");
            }
        }
        let mut in_updated = side(&updated);
        if random.below(4) == 0 {
            in_updated = renamed(in_updated, &named[0].0, 2 + random.below(2), "new");
        }
        // A copy of a resource that upstream deletes is dest's own, too. Of any other one, the copy that has more of its text counts as renamed.
        let is_there = |at: &usize| updated.iter().any(|(one, _)| *one == named[*at]);
        let copied = Some(random.below(named.len())).filter(|at| !is_there(at));
        if let Some(at) = copied {
            let copy = text(&named[at].0, [0, 0]);
            let copy = copy.replace(&line(3, "was", &named[at].0), &line(3, "copy", &named[at].0));
            let all = in_dest.entry("h.yaml".to_owned()).or_default();
            *all = if all.is_empty() { copy } else { format!("{all}---\n{copy}") };
        }
        let original = side(&original);
        let what = || format!("{case}: {original:#?}{in_updated:#?}{in_dest:#?}");
        let (first, _) = merged([&original, &in_updated, &in_dest]);
        for (pick, result) in first.iter().enumerate() {
            assert_eq!(&merged([&original, &in_updated, result]).0[pick], result, "again {pick}: {}", what());
            for own in documents(&in_dest) {
                let is_own = own.contains("name: was-d\n") || own.contains("name: copy-");
                assert!(!is_own || documents(result).contains(&own), "{own} {pick}: {}", what());
                kept += usize::from(is_own);
            }
        }
        deleted += documents(&in_dest).len().saturating_sub(documents(&first[0]).len());
    }
    assert!(deleted > 50 && kept > 500, "{deleted} {kept}");
}
