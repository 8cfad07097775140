//! The places that contain the version of this repository, known by the words before it.
//!
//! A file may contain the same digits for another reason, such as an address or the version of something else. So each place is known by
//! its words, and a release stops at a place that it does not know.

use super::CRATES;

/// The files, each with the words before a version. A file that begins with `*` stands for all files with that ending.
const PLACES: [(&str, &str); 14] = [
    ("Cargo.toml", "[workspace.package]\nversion = \""),
    // Each crate of this repository that another one needs.
    ("Cargo.toml", "\", version = \""),
    ("Dockerfile", "org.opencontainers.image.version=\""),
    ("plugin.yaml", "\n  version: v"),
    ("plugin.yaml", "/releases/download/v"),
    ("README.md", "\nVersion "),
    ("*.md", "localhost/krm-merge:"),
    ("*.yaml", "localhost/krm-merge:"),
    ("*.rs", "localhost/krm-merge:"),
    ("*.md", "ghcr.io/krm-merge/krm-merge:v"),
    ("*.yaml", "ghcr.io/krm-merge/krm-merge:v"),
    // The action, and the packages of the examples, each by its name.
    ("*.md", "@v"),
    (".github/workflows/release.yml", "a tag such as v"),
    ("CHANGELOG.md", "\n## "),
];

/// All places: those above, and each crate where cargo locks it.
fn places() -> impl Iterator<Item = (&'static str, String)> {
    let locked =
        |name| ["Cargo.lock", "fuzz/Cargo.lock"].map(|file| (file, format!("name = \"{name}\"\nversion = \"")));
    PLACES.iter().map(|(file, before)| (*file, (*before).to_owned())).chain(CRATES.into_iter().flat_map(locked))
}

/// The folders in which the same digits belong to other things: data of tests, and the history.
const OTHERS: [&str; 4] =
    ["tests/", "crates/kubectl-krm-merge/tests/", "crates/krm-schema/src/schema/", "docs/comparison/"];

/// The sources of this command, with the versions of its tests.
const OWN: &str = "xtask/";

fn is_in(path: &str, file: &str) -> bool {
    file.strip_prefix('*').map_or(path == file, |ending| path.ends_with(ending))
}

/// A file with the new version at each known place. Also the lines, counted from 1, that contain the old version anywhere else.
pub fn bumped(path: &str, text: &str, old: &str, new: &str) -> (String, Vec<usize>) {
    if path.starts_with(OWN) {
        return (text.to_owned(), Vec::new());
    }
    let before: Vec<String> = places().filter(|(file, _)| is_in(path, file)).map(|(_, before)| before).collect();
    let (mut out, mut unknown, mut copied) = (String::with_capacity(text.len()), Vec::new(), 0);
    for (at, _) in text.match_indices(old).filter(|(at, _)| is_alone(text, *at, old)) {
        if before.iter().any(|before| text[..at].ends_with(before)) {
            // The changelog keeps its history.
            if path != "CHANGELOG.md" {
                out.push_str(&text[copied..at]);
                out.push_str(new);
                copied = at + old.len();
            }
        } else if !path.ends_with("Cargo.lock") && !OTHERS.iter().any(|other| path.starts_with(other)) {
            unknown.push(text[..at].matches('\n').count() + 1);
        }
    }
    out.push_str(&text[copied..]);
    (out, unknown)
}

/// Whether a number is not part of a longer one.
fn is_alone(text: &str, at: usize, number: &str) -> bool {
    let is_more = |c: char| c.is_ascii_digit() || c == '.';
    let (before, after) = (&text[..at], &text[at + number.len()..]);
    let goes_on = after.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !before.ends_with(is_more) && !goes_on
}

/// The places that a repository must have and lacks, as `FILE: WORDS`. `read` returns the text of one of its files.
pub fn missing(version: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let has = |file: &str, before: &str| read(file).is_some_and(|text| text.contains(&format!("{before}{version}")));
    // The fuzz targets need some of the crates.
    let must = places()
        .filter(|(file, _)| !file.starts_with(['*', '.']) && !["CHANGELOG.md", "fuzz/Cargo.lock"].contains(file));
    let lacks = must.filter(|(file, before)| !has(file, before));
    lacks.map(|(file, before)| format!("{file}: {:?}", format!("{before}{version}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_places_are_changed_and_others_are_told() {
        for (path, text, want, unknown) in [
            ("plugin.yaml", "spec:\n  version: v0.1.0\n", "spec:\n  version: v0.2.0\n", &[][..]),
            ("Dockerfile", "a\nFROM x:0.1.0\n", "a\nFROM x:0.1.0\n", &[2]),
            ("docs/a.md", "localhost/krm-merge:0.1.0 .", "localhost/krm-merge:0.2.0 .", &[]),
            ("docs/a.md", "10.1.0.0 v0.1.0.1 0.1.0-rc 0.1.01", "10.1.0.0 v0.1.0.1 0.1.0-rc 0.1.01", &[]),
            (
                "README.md",
                "x\nVersion 0.1.0 is here. It ends with 0.1.0.",
                "x\nVersion 0.2.0 is here. It ends with 0.1.0.",
                &[2],
            ),
            ("xtask/a.rs", "localhost/krm-merge:0.1.0", "localhost/krm-merge:0.1.0", &[]),
            ("tests/a.yaml", "podIP: 0.1.0", "podIP: 0.1.0", &[]),
            ("CHANGELOG.md", "# C\n## 0.1.0 - 2026-01-01\n", "# C\n## 0.1.0 - 2026-01-01\n", &[]),
            (
                "Cargo.lock",
                "name = \"x\"\nversion = \"0.1.0\"\nname = \"krm-merge\"\nversion = \"0.1.0\"\n",
                "name = \"x\"\nversion = \"0.1.0\"\nname = \"krm-merge\"\nversion = \"0.2.0\"\n",
                &[],
            ),
        ] {
            assert_eq!(bumped(path, text, "0.1.0", "0.2.0"), (want.to_owned(), unknown.to_vec()), "{path}");
        }
    }

    #[test]
    fn this_repository_has_each_place_and_no_other_one() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).ok();
        let cargo = read("Cargo.toml").expect("Cargo.toml");
        let version = super::super::current(&cargo).expect("a version").to_string();
        assert_eq!(missing(&version, read), Vec::<String>::new());
        assert!(missing("9.9.9", read).len() > 5);
        for file in
            ["Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "Dockerfile", "plugin.yaml", "README.md", "docs/src/kpt.md"]
        {
            let (text, unknown) = bumped(file, &read(file).expect("a file"), &version, "9.9.9");
            assert!(unknown.is_empty() && text.contains("9.9.9"), "{file} {unknown:?}");
        }
    }
}
