//! Whether a text with mixed answers, some ours and some theirs, says what these answers say.

use krm_yaml::{Document, NodeRef, same};

/// Lists longer than this are not compared element by element, because that would take too long.
const LONGEST: usize = 200;

/// Whether a text with mixed answers is YAML, or JSON if both sides are, has no key twice, and has nothing that neither side has and all
/// that both sides have.
pub fn is_mixture(mixed: &str, ours: &str, theirs: &str) -> bool {
    let Ok(texts) = [mixed, ours, theirs].map(Document::parse).into_iter().collect::<Result<Vec<_>, _>>() else {
        return false;
    };
    let [mixed_roots, ours_roots, theirs_roots] = [0, 1, 2].map(|at| texts[at].roots().collect::<Vec<_>>());
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    if mixed_roots.len() != ours_roots.len() || ours_roots.len() != theirs_roots.len() {
        return false;
    }
    if ours.trim_start().starts_with(['{', '[']) && is_json(ours) && is_json(theirs) && !is_json(mixed) {
        return false;
    }
    mixed_roots.into_iter().zip(ours_roots).zip(theirs_roots).all(|((mixed, ours), theirs)| is_of(mixed, ours, theirs))
}

/// Whether a value is a mixture of these two.
fn is_of(mixed: NodeRef<'_>, ours: NodeRef<'_>, theirs: NodeRef<'_>) -> bool {
    if same(mixed, ours) || same(mixed, theirs) {
        return mixed.duplicate_key().is_none() || ours.duplicate_key().is_some() || theirs.duplicate_key().is_some();
    }
    let all = [mixed, ours, theirs];
    if all.iter().all(|node| node.is_map()) {
        let is_known =
            |(key, value): (NodeRef<'_>, NodeRef<'_>)| match (ours.get(key.string()), theirs.get(key.string())) {
                (Some(ours), Some(theirs)) => is_of(value, ours, theirs),
                (Some(one), None) | (None, Some(one)) => same(value, one),
                (None, None) => false,
            };
        let is_there = |key: NodeRef<'_>| theirs.get(key.string()).is_none() || mixed.get(key.string()).is_some();
        return mixed.duplicate_key().is_none()
            && mixed.entries().all(|(key, value)| key.is_container() || key.is_merge_key() || is_known((key, value)))
            && ours.entries().all(|(key, _)| key.is_container() || key.is_merge_key() || is_there(key));
    }
    if all.iter().all(|node| node.is_list()) {
        let [mixed, ours, theirs] = all.map(|list| list.elements().collect::<Vec<_>>());
        let count = |list: &[NodeRef<'_>], node: NodeRef<'_>| list.iter().filter(|other| same(**other, node)).count();
        let is_long = [&mixed, &ours, &theirs].into_iter().any(|list| list.len() > LONGEST);
        return is_long
            || (ours.iter().all(|node| count(&mixed, *node) >= count(&ours, *node).min(count(&theirs, *node)))
                && mixed.iter().all(|node| {
                    let most = count(&ours, *node).max(count(&theirs, *node));
                    if most == 0 {
                        node.is_map() && node.duplicate_key().is_none()
                    } else {
                        count(&mixed, *node) <= most
                    }
                }));
    }
    // Of a text, a person may choose each line.
    all.iter().all(|node| !node.is_container()) && mixed.text().contains('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_has_what_both_sides_have_and_nothing_twice() {
        for (mixed, ours, theirs, want) in [
            ("a: 1\nb: 2\n", "a: 1\nb: 1\n", "a: 2\nb: 2\n", true),
            // Both sides have `t`.
            ("h: 2\n", "h: 2\nt: 3\n", "t: 3\n", false),
            ("t: 3\nt: 3\n", "h: 2\nt: 3\n", "t: 3\n", false),
            // Neither side has this value.
            ("a: 3\n", "a: 1\n", "a: 2\n", false),
            ("a: |\n  1\n  2\n", "a: |\n  1\n  1\n", "a: |\n  2\n  2\n", true),
            ("m:\n", "m:\n  a: 1\n", "m:\n  b: 1\n", false),
            ("- x\n- x\n", "- x\n- y\n", "- z\n- x\n", false),
            ("- a: 1\n  b: 2\n", "- a: 1\n  b: 1\n", "- a: 2\n  b: 2\n", true),
            (r#"{"a": 1,}"#, r#"{"a": 1, "b": 1}"#, r#"{"a": 2}"#, false),
            (r#"{"a": 1 "b": 1}"#, r#"{"a": 1, "b": 1}"#, r#"{"a": 2}"#, false),
        ] {
            assert_eq!(is_mixture(mixed, ours, theirs), want, "{mixed}");
        }
    }
}
