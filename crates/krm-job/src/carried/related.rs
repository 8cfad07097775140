//! Whether two texts without resources may be versions of one file.
//!
//! `--dest` may be a folder above the package. Then a README of dest is at the path of upstream's README and has nothing to do with it. Two
//! such texts share a title or two by chance, so one common line is not enough.

use std::collections::HashSet;

use krm_merge_core::refine::names_document;
use krm_yaml::{Document, Kind, NodeRef};

/// One in so many lines of the shorter text must be in the other one.
const ONE_IN: usize = 10;

/// The text of a file; `None` if the file is no text. As for git, a text has no NUL.
pub fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Whether two texts may be versions of the file at a path. Documents may if they share a field, other texts if they share lines. Bytes that
/// are no text say nothing, and neither does a single word, such as a version. So they may, too.
pub fn may_be_one(path: &str, texts: [&[u8]; 2]) -> bool {
    let [Some(a), Some(b)] = texts.map(text) else { return true };
    if names_document(path)
        && let (Some(a), Some(b)) = (fields(a), fields(b))
    {
        return !a.is_disjoint(&b);
    }
    if [a, b].iter().any(|text| !text.trim().contains([' ', '\n'])) {
        return true;
    }
    let [a, b] = [a, b].map(lines);
    let least = a.len().min(b.len());
    least == 0 || a.intersection(&b).count().saturating_mul(ONE_IN) >= least
}

/// The lines of a text that say something.
fn lines(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric)).collect()
}

/// The fields at the top of a text that is one map, or several maps; `None` if it is anything else.
fn fields(text: &str) -> Option<HashSet<String>> {
    let document = Document::parse(text).ok()?;
    let maps: Vec<NodeRef<'_>> = document.roots().filter(|root| !root.is_null()).collect();
    let keys = maps.iter().flat_map(|map| map.entries()).map(|(key, _)| key);
    // `{{ .a }}` of a template is a map whose key is a map.
    let names = keys.filter(|key| key.kind() == Kind::Scalar).map(|key| key.string().to_owned());
    (!maps.is_empty() && maps.iter().all(|map| map.is_map())).then(|| names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_file_share_lines_or_fields() {
        let many = |word: &str| (0..20).map(|i| format!("{word} {i}\n")).collect::<String>();
        let texts = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        for (path, (a, b), want) in [
            ("README.md", texts("# The package\n\nText.\n", "# Ours\n\nOther text.\n"), false),
            ("README.md", texts("# The package\n\nText.\n", "# Ours\r\n\r\n  Text.\r\n"), true),
            // Rules and brackets say nothing, and neither does one title of many lines.
            ("a.txt", texts("---\na\n}\n", "---\nb\n}\n"), false),
            ("README.md", (many("a") + "## Usage\n", many("b") + "## Usage\n"), false),
            // Who kept two lines of many still has upstream's file.
            ("nginx.conf", (many("a"), "a 3\nmine\n".to_owned()), true),
            ("values.yaml", texts("a: 1\n", "a: 2\n"), true),
            ("values.yaml", texts("a: 1\n", "b: 1\n"), false),
            ("values.json", texts("{\"a\": 1}", "{\n  \"a\": 2\n}"), true),
            ("a.yaml", texts("- a\n- b\n", "- b\n- c\n"), true),
            ("a.yaml", texts("{{ include \"a\" . }}\n", "{{ range .b }}\n"), false),
            (".gitignore", texts("*.tgz\n/out\n", "target\nnode_modules\n"), false),
            ("VERSION", texts("1.0.0\n", "1.0.0-ours\n"), true),
            ("a.txt", texts("", "a b\n"), true),
        ] {
            assert_eq!(may_be_one(path, [a.as_bytes(), b.as_bytes()]), want, "{path}: {a}{b}");
            assert_eq!(may_be_one(path, [b.as_bytes(), a.as_bytes()]), want, "{path}: {b}{a}");
        }
        assert!(may_be_one("logo.png", [b"\xff\0a", b"\xffb"]));
    }
}
