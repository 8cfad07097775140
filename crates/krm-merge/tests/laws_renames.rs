//! A resource is the same one under another identity: what a merge makes of packages in which the sides changed identities is what it makes
//! of the packages without these changes, with the new identities.
//!
//! A case is made from its number, so it can be made again.

use std::collections::BTreeMap;

use krm_merge::{Merge, Package, Pick};

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
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    let mut conflicts = 0;
    merged.conflicts(|_| conflicts += 1);
    ([Pick::Updated, Pick::Dest].map(|pick| merged.files(pick).expect("within the limit")), conflicts)
}

#[test]
fn random_changes_of_identities_change_nothing_else() {
    let times =
        std::env::var("KRM_MERGE_LAWS").map_or(1, |n| n.parse::<usize>().expect("`KRM_MERGE_LAWS` is a number"));
    let mut random = Random(7);
    let (mut of_both, mut in_conflict) = (0, 0);
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
        let [(in_updated, has_own), (in_dest, has_mine)] = [made(1), made(2)];
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
        let parts = || in_updated.iter().zip(&in_dest).filter_map(|(one, other)| Some((one.part?, other.part?)));
        let apart = parts().filter(|(one, other)| one == other).count();

        let (found, all) = merged([&original, &updated, &dest]);
        let what = format!("{case}: {original:#?}{updated:#?}{dest:#?}");
        assert_eq!(found, [if_updated.clone(), if_dest.clone()], "{what}");
        assert_eq!(all, conflicts + apart, "{what}");
        assert_eq!(merged([&original, &updated, &if_updated]).0[0], if_updated, "again: {what}");
        assert_eq!(merged([&original, &updated, &if_dest]).0[1], if_dest, "again: {what}");
        (of_both, in_conflict) = (of_both + parts().count() - apart, in_conflict + apart);
    }
    assert!(of_both > 300 && in_conflict > 100, "{of_both} {in_conflict}");
}
