//! The elements that dest loses when a patch replaces a list, because no source says how the list merges.
//!
//! A user who patches one element of a list of a custom resource loses all others. So the loss is reported, with the key by which the list
//! would merge: the fields of its elements show which key that may be.

use krm_schema::schema::{ASSOCIATIVE_KEYS, ListKind, is_key};
use krm_tree::child::{Value, element_key};
use krm_tree::path::ElementKey;
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use crate::warning::Notice;

/// The notice for a list that replaces dest's; `None` if nothing of dest's elements is lost.
pub(super) fn shortened<'a>(of_patch: &[View<'_, 'a>], of_dest: &[View<'_, 'a>]) -> Option<Notice> {
    let key = key_of(of_patch, of_dest);
    let lost = match key {
        Some(key) => {
            let key_in = |element: View<'_, 'a>| -> Option<ElementKey<'a>> { element_key(element, &[key.into()]) };
            let partners: HashMap<_, _> = of_patch.iter().map(|element| (key_in(*element), *element)).collect();
            let stays = |old: &&View<'_, 'a>| partners.get(&key_in(**old)).is_some_and(|new| covers(*new, **old));
            of_dest.iter().filter(|old| !stays(old)).count()
        }
        None => {
            let stays: HashSet<u64> = of_patch.iter().map(|element| element.meaning()).collect();
            of_dest.iter().filter(|old| !stays.contains(&old.meaning())).count()
        }
    };
    // A list of arguments, or one in which a word stands twice, is no set.
    let is_set = |side: &[View<'_, 'a>]| {
        let mut seen = HashSet::new();
        let is_word = |e: View<'_, 'a>| !e.is_container() && !e.text().is_some_and(|text| text.starts_with('-'));
        side.iter().all(|element| is_word(*element) && seen.insert(element.meaning()))
    };
    let by = match key {
        Some(key) => Some(ListKind::Map(vec![key.to_owned()])),
        None => (is_set(of_patch) && is_set(of_dest)).then_some(ListKind::Set),
    };
    (lost > 0).then_some(Notice::Shortened { lost, by })
}

/// The field that identifies the elements of both lists: the first associative key that does, or otherwise the first other field that does.
fn key_of<'a>(of_patch: &[View<'_, 'a>], of_dest: &[View<'_, 'a>]) -> Option<&'a str> {
    let sides = [of_patch.to_vec(), of_dest.to_vec()];
    let own = of_dest.first()?.fields().into_iter().map(|(name, _)| name);
    let (mut known, other): (Vec<_>, Vec<_>) = own.partition(|name| ASSOCIATIVE_KEYS.contains(name));
    known.sort_by_key(|name| ASSOCIATIVE_KEYS.iter().position(|key| key == name));
    known.into_iter().chain(other).find(|name| is_key(name, &sides))
}

/// Whether a value that replaces another one has everything that the old one has; values may differ.
fn covers<'a>(new: View<'_, 'a>, old: View<'_, 'a>) -> bool {
    if !old.is_map() || !new.is_map() {
        return new.is_list() == old.is_list() && (!old.is_list() || new.meaning() == old.meaning());
    }
    let new: HashMap<&str, View<'_, 'a>> = new.fields().into_iter().collect();
    old.fields().iter().all(|(name, old)| new.get(name).is_some_and(|new| covers(*new, *old)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    /// How many elements a list loses to another one, and how the two would merge.
    fn told(dest: &str, patch: &str) -> String {
        let docs = [dest, patch].map(|text| Document::parse(text).expect("valid"));
        let [dest, patch] = docs.each_ref().map(|doc| View::Node(doc.roots().next().expect("a root")).elements());
        match shortened(&patch, &dest) {
            Some(Notice::Shortened { lost, by: Some(ListKind::Map(keys)) }) => format!("{lost} by {}", keys.join("+")),
            Some(Notice::Shortened { lost, by }) => format!("{lost} {by:?}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_a_list_loses_is_counted_by_what_tells_its_elements_apart() {
        for (dest, patch, want) in [
            ("[{name: a}, {name: b}]", "[{name: a}]", "1 by name"),
            ("[{name: a}, {name: b}]", "[{name: c}]", "2 by name"),
            ("[{name: a}]", "[{name: b}, {name: a, v: 1}]", "None"),
            ("[{name: a, v: 1}]", "[{name: a, v: 2}]", "None"),
            // An element counts as lost if the new one lacks a field of it.
            ("[{name: a, v: 1}]", "[{name: a}]", "1 by name"),
            ("[{name: a, m: {x: 1}}]", "[{name: a, m: {y: 1}}]", "1 by name"),
            ("[{name: a, l: [1, 2]}]", "[{name: a, l: [1]}]", "1 by name"),
            // The inferred keys come first, and in their order.
            ("[{id: 1, name: a, ip: x}, {id: 2, name: b, ip: y}]", "[{id: 1, name: a, ip: x}]", "1 by ip"),
            ("[{host: a, w: 1}, {host: b, w: 1}]", "[{host: a, w: 1}]", "1 by host"),
            ("[{w: 1, host: a}, {w: 1, host: b}]", "[{host: a, w: 1}]", "1 by host"),
            ("[{a: 1}, {b: 1}]", "[{a: 1}]", "1 None"),
            ("[{m: {a: 1}}]", "[{m: {a: 2}}]", "1 None"),
            ("[{m: {a: 1, b: 2}}]", "[{m: {b: 2, a: 0x1}}]", "None"),
            ("[a, b]", "[b, c]", "1 Some(Set)"),
            ("[a, b]", "[c, b, a]", "None"),
            ("[a, {b: 1}]", "[a]", "1 None"),
            ("[a]", "[]", "1 Some(Set)"),
            ("[-p, 80]", "[90]", "2 None"),
            ("[a]", "[--p]", "1 None"),
            ("[a, a, b]", "[a]", "1 None"),
            ("[{name: a}]", "[]", "1 by name"),
            ("[]", "[a]", "None"),
        ] {
            assert_eq!(told(dest, patch), want, "{dest} {patch}");
        }
    }
}
