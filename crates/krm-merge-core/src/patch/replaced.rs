//! What dest loses when a patch replaces a list or a text whole.
//!
//! A user who patches one element of a list of a custom resource loses all others. So the loss is reported, with the key by which the list
//! would merge: the fields of its elements show which key that may be. A list that merges by no key, or a text that holds a document, is
//! reported with the edit by path that adds or changes one thing in it.

use std::borrow::Cow;

use krm_schema::schema::{ASSOCIATIVE_KEYS, ListKind, Named, Names, is_key};
use krm_tree::child::{Value, element_key};
use krm_tree::limit::{Asked, Budget, Limit};
use krm_tree::path::{ElementKey, Step, Trail};
use krm_tree::splice::to_json;
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, NodeRef};

use super::embedded;
use crate::warning::{EditLine, Notice, Replaced};

/// The notice for a list that replaces dest's; `None` if nothing of dest's elements is lost.
pub(super) fn shortened<'a>(of_patch: &[View<'_, 'a>], of_dest: &[View<'_, 'a>]) -> Option<Notice> {
    let key = key_of(of_patch, of_dest);
    let lost = lost(of_patch, of_dest, key);
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

/// How many elements of dest the patch's list lacks, or has without a field of theirs. `key` tells the elements apart.
fn lost<'a>(of_patch: &[View<'_, 'a>], of_dest: &[View<'_, 'a>], key: Option<&'a str>) -> usize {
    match key {
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
    }
}

/// The notice for a list that merges by no key and replaces dest's at `trail`, if the user may have meant to add to it; `names` tells its
/// elements apart.
///
/// A patch that repeats an element of dest was written by somebody who knows that the list is replaced. So was one that names nothing new.
/// Without names, an element in the place of another one may be that element, changed. So only a shorter list is told.
pub(super) fn replaced<'a>(
    of_patch: &[View<'_, 'a>],
    of_dest: &[View<'_, 'a>],
    names: Option<Names>,
    trail: &Trail<'a>,
) -> Option<Notice> {
    let [new, old] = [of_patch, of_dest].map(|elements| known(elements, names));
    let (new, old) = (new?, old?);
    let [in_new, in_old] = [&new, &old].map(|side| side.iter().map(|(_, name)| &**name).collect::<HashSet<_>>());
    let meanings: HashSet<u64> = old.iter().map(|(at, _)| of_dest[*at].meaning()).collect();
    let is_repeated = new.iter().any(|(at, _)| meanings.contains(&of_patch[*at].meaning()));
    let lost = match names {
        Some(_) => old.iter().filter(|(_, name)| !in_new.contains(&**name)).count(),
        None if of_patch.len() < of_dest.len() => lost(of_patch, of_dest, key_of(of_patch, of_dest)),
        None => 0,
    };
    if lost == 0 || is_repeated {
        return None;
    }
    let added = new.iter().find(|(_, name)| !in_old.contains(&**name));
    let (does, at, path) = match added {
        Some((at, _)) => ("append", *at, trail.path()),
        None => {
            let (at, name) = new.first()?;
            let (place, _) = old.iter().find(|(_, own)| own == name)?;
            let mut path = trail.path();
            path.push(Step::Index(*place), None);
            ("set", *at, path)
        }
    };
    let value = of_patch[at].like().map(shown).unwrap_or_default();
    let instead = EditLine { does, place: path.keyed(), value };
    Some(Notice::Replaced { what: Replaced::List, lost, instead })
}

/// The elements of a list that can be told apart, each with its place; `None` if it is a list of words whose order is its meaning.
fn known<'a>(elements: &[View<'_, 'a>], names: Option<Names>) -> Option<Vec<(usize, Cow<'a, str>)>> {
    let itself = |at: usize| (at, Cow::from(elements[at].meaning().to_string()));
    let Some(names) = names else { return Some((0..elements.len()).map(itself).collect()) };
    let named = names.of_list(elements)?.into_iter().enumerate();
    let known: Vec<_> = named
        .filter_map(|(at, named)| match named {
            Named::Yes(name) | Named::Flag(name) | Named::FlagWithValue(name) | Named::FlagBefore(name) => {
                Some((at, name.into()))
            }
            Named::ValueOf(_) => None,
            Named::No => (names != Names::Flags).then(|| itself(at)),
        })
        .collect();
    (!known.is_empty()).then_some(known)
}

/// The notice for a text that replaces dest's at `trail`, if both hold fields and dest loses some of them. `name` is that of its field.
pub(super) fn text_replaced(new: &str, old: &str, name: &str, trail: &Trail<'_>) -> Option<Notice> {
    let holds_more = |text: &str| text.trim_end().contains('\n') || text.starts_with(['{', '[']);
    if !holds_more(old) || new == old {
        return None;
    }
    let [new, old] = [new, old].map(|text| fields_in(text, name));
    let (new, old) = (new?, old?);
    let in_new: HashSet<&[String]> = new.iter().map(|(way, _)| &**way).collect();
    let in_old: HashMap<&[String], &str> = old.iter().map(|(way, value)| (&**way, &**value)).collect();
    // A value in the place of a map of dest is no loss, and one below it is none either.
    let stays = |way: &[String]| (1..=way.len()).any(|len| in_new.contains(&way[..len]));
    let lost = old.iter().filter(|(way, _)| !stays(way)).count();
    let (way, value) = new.iter().find(|(way, value)| in_old.get(&**way) != Some(&&**value)).filter(|_| lost > 0)?;
    let mut path = trail.path();
    way.iter().for_each(|step| path.push(Step::Field(step.clone().into()), None));
    let instead = EditLine { does: "set", place: path.keyed(), value: value.clone() };
    Some(Notice::Replaced { what: Replaced::Text, lost, instead })
}

/// The fields that a text holds, each with the way to it and its value; `None` if it holds no fields.
fn fields_in(text: &str, name: &str) -> Option<Vec<(Vec<String>, String)>> {
    fn collect(map: NodeRef<'_>, way: &mut Vec<String>, out: &mut Vec<(Vec<String>, String)>) {
        for (key, value) in map.fields().filter(|(key, _)| !key.is_container()) {
            way.push(key.string().to_owned());
            match value.is_map() && value.fields().next().is_some() {
                true => collect(value, way, out),
                false => out.push((way.clone(), shown(value))),
            }
            way.pop();
        }
    }
    let document = if embedded::has_lines(name) { None } else { Document::parse(text).ok() };
    let mut out = Vec::new();
    match document.as_ref().map(Document::roots) {
        Some(mut roots) => {
            let root = roots.next().filter(|root| root.is_map() && roots.len() == 0)?;
            collect(root, &mut Vec::new(), &mut out);
        }
        None => out = embedded::fields(text)?,
    }
    (!out.is_empty()).then_some(out)
}

/// The longest value that a message shows.
const SHOWN: usize = 300;

/// A value as it can be written in a line; `…` if it is long, or has a null, which a patch may mean otherwise than an edit.
fn shown(value: NodeRef<'_>) -> String {
    // Aliases may make a short text long.
    let budget = Budget::new(Limit::new(0, Some(Asked::bytes(4 * SHOWN as u64)), "maxOutput"));
    let json = to_json(value, &budget).ok().filter(|json| json.len() <= SHOWN && !has_null(View::Node(value)));
    json.unwrap_or_else(|| "…".to_owned())
}

fn has_null(value: View<'_, '_>) -> bool {
    value.is_null()
        || value.elements().into_iter().any(has_null)
        || value.fields().into_iter().any(|(_, value)| has_null(value))
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
    use krm_tree::path::FieldPath;
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
    fn a_list_that_the_patch_may_have_meant_to_add_to_is_told_with_the_edit_that_adds() {
        let flags = Some(Names::Flags);
        let (itself, rule) = (Some(Names::But(&[])), Some(Names::But(&["verbs"])));
        let host = Some(Names::Perhaps("host"));
        for (names, dest, patch, want) in [
            (itself, "[{key: a}]", "[{key: b}]", "1: append l {\"key\":\"b\"}"),
            (itself, "[{key: a}, {key: b}]", "[{key: c}, {key: d}]", "2: append l {\"key\":\"c\"}"),
            // The patch repeats an element, or names nothing new.
            (itself, "[get, list]", "[get, watch]", "-"),
            (itself, "[get, list]", "[get]", "-"),
            (itself, "[get]", "[]", "-"),
            (itself, "[]", "[get]", "-"),
            (itself, "[{a: 1}]", "[{a: 0x1}]", "-"),
            // An element that only changes is not lost.
            (rule, "[{resources: [a], verbs: [get]}]", "[{verbs: [list], resources: [a]}]", "-"),
            (
                rule,
                "[{resources: [a], verbs: [get]}]",
                "[{resources: [b], verbs: [get]}]",
                "1: append l {\"resources\":[\"b\"],\"verbs\":[\"get\"]}",
            ),
            (host, "[{host: a}, {host: b, v: 1}]", "[{host: b, v: 2}]", "1: set l[1] {\"host\":\"b\",\"v\":2}"),
            (flags, "[--a=1, --b]", "[--c=1]", "2: append l \"--c=1\""),
            (flags, "[--a=1, --b]", "[--a=2]", "1: set l[0] \"--a=2\""),
            (flags, "[run, --a, \"1\"]", "[--b, \"1\"]", "1: append l \"--b\""),
            (flags, "[--a=1]", "[--a=2]", "-"),
            (flags, "[--a=1, --b]", "[--a=1, --c]", "-"),
            // The order of words is their meaning.
            (flags, "[nginx, -g, off]", "[run.sh]", "-"),
            (flags, "[run.sh]", "[--a]", "-"),
            (flags, "[a, b]", "[c]", "-"),
            // Without names, only a shorter list is told.
            (None, "[a]", "[b]", "-"),
            (None, "[a, b]", "[c]", "2: append l \"c\""),
            (None, "[{name: a, v: 1}, {name: b, v: 1}]", "[{name: a, v: 2}]", "1: append l {\"name\":\"a\",\"v\":2}"),
            (None, "[a, b, c]", "[a, d]", "-"),
        ] {
            let docs = [dest, patch].map(|text| Document::parse(text).expect("valid"));
            let [of_dest, of_patch] =
                docs.each_ref().map(|doc| View::Node(doc.roots().next().expect("a root")).elements());
            let told = replaced(&of_patch, &of_dest, names, &FieldPath::from(Step::Field("l".into())).into());
            assert_eq!(line(told), want, "{dest} {patch}");
        }
    }

    /// A notice as one line.
    fn line(notice: Option<Notice>) -> String {
        match notice {
            Some(Notice::Replaced { lost, instead: EditLine { does, place, value }, .. }) => {
                format!("{lost}: {does} {place} {value}")
            }
            _ => "-".to_owned(),
        }
    }

    #[test]
    fn a_text_that_loses_fields_is_told_with_the_edit_that_reaches_into_it() {
        for (name, dest, patch, want) in [
            ("a.yaml", "a: 1\nb: 2\n", "a: 3\n", "1: set d.a 3"),
            ("a.yaml", "a: {b: 1, c: 2}\nd: 1\n", "a: {b: x}\n", "2: set d.a.b \"x\""),
            ("a.yaml", "a: 1\nb: 2\n", "c.d: 3\n", "2: set d[\"c.d\"] 3"),
            ("a.json", "{\"a\": 1, \"b\": 2}", "{\"a\": [1]}", "1: set d.a [1]"),
            ("values", "a: 1\nb: 2\n", "a: 3\n", "1: set d.a 3"),
            ("a.env", "A=1\nB=2\n", "A=3\n", "1: set d.A \"3\""),
            ("a.ini", "[s]\na=1\nb=2\n", "[s]\na=3\n", "1: set d.s.a \"3\""),
            // Nothing is lost, nothing is set, or nothing is in it.
            ("a.yaml", "a: 1\nb: 2\n", "b: 2\na: 3\n", "-"),
            ("a.yaml", "a: {b: 1}\nc: 2\n", "a: 3\nc: 2\n", "-"),
            ("a.yaml", "a: 1\nb: 2\n", "a: 1\n", "-"),
            ("a.yaml", "a: 1\nb: 2\n", "text", "-"),
            ("a.sh", "#!/bin/sh\necho a\n", "echo b\n", "-"),
            ("note", "a: 1", "b: 2", "-"),
        ] {
            let told = text_replaced(patch, dest, name, &FieldPath::from(Step::Field("d".into())).into());
            assert_eq!(line(told), want, "{dest} {patch}");
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
