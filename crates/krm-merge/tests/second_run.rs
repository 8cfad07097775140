//! A second run with the same sides changes nothing, in packages with several resources of one identity.
//!
//! A small universe: each side may have the same resource at each of a few paths, with one of two values. Every triple of sides is tried.

use krm_merge::{Package, three_way};

/// The files of one side: for each path, the values of the resources in it.
type Files = Vec<(&'static str, &'static [u8])>;

/// All sides that have some of `contents` at each path.
fn sides(paths: &[&'static str], contents: &[&'static [u8]]) -> Vec<Files> {
    paths.iter().fold(vec![Vec::new()], |sides, path| {
        let with = |side: &Files, content| side.iter().copied().chain([(*path, content)]).collect();
        sides.iter().flat_map(|side| contents.iter().map(|content| with(side, *content)).collect::<Vec<_>>()).collect()
    })
}

fn package(files: &Files) -> Package {
    let files = files.iter().filter(|(_, values)| !values.is_empty()).map(|(path, values)| {
        // Most of what a resource says depends on its path, as that of a base and its overlays does.
        let own = path.replace(['.', '/'], "-");
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
        let document = |v: &u8| format!("{head}data:\n  {own}: 0\n  of-{own}: 0\n  v: \"{v}\"\n");
        ((*path).to_owned(), values.iter().map(document).collect::<Vec<_>>().join("---\n"))
    });
    Package::of_files(files).expect("valid")
}

/// How many triples of sides were merged, and how many were refused; a merge that is not the same after a second run fails.
fn runs(all: &[Files]) -> [usize; 2] {
    let packages: Vec<Package> = all.iter().map(package).collect();
    let [mut merged, mut refused] = [0, 0];
    for (o, original) in packages.iter().enumerate() {
        for (u, updated) in packages.iter().enumerate() {
            for (d, dest) in packages.iter().enumerate() {
                let case = || format!("original {:?}\nupdated {:?}\ndest {:?}", all[o], all[u], all[d]);
                let Ok(first) = three_way(original, updated, dest) else {
                    refused += 1;
                    continue;
                };
                let files = |files: Vec<(String, Option<String>)>| -> Vec<(String, String)> {
                    files.into_iter().filter_map(|(path, text)| Some((path, text?))).collect()
                };
                let first = files(first.files().expect("within the limit"));
                let result = Package::of_files(first.clone()).expect("valid");
                let again =
                    three_way(original, updated, &result).unwrap_or_else(|e| panic!("{e}\n{}\n{first:?}", case()));
                assert_eq!(files(again.files().expect("within the limit")), first, "{}", case());
                merged += 1;
            }
        }
    }
    [merged, refused]
}

#[test]
fn nothing_changes_where_each_file_has_one() {
    let all = sides(&["base.yaml", "a/patch.yaml", "b/patch.yaml"], &[&[], &[1], &[2]]);
    assert_eq!(runs(&all), [19_683, 0]);
}

#[test]
fn nothing_changes_where_a_file_has_several() {
    let all = sides(&["base.yaml", "a/patch.yaml"], &[&[], &[1], &[1, 2], &[2, 2]]);
    // A path at which one side has one resource and another side two is refused. Of the 64 triples of a path, 34 do not mix the two.
    assert_eq!(runs(&all), [34 * 34, 64 * 64 - 34 * 34]);
}
