//! [`moved`]: where the places that a new release no longer reads went.
//!
//! A place is known by its default and by the names around it. Two places are one only if each is the only one that is most like the other, and
//! in doubt nothing is said: a value at a wrong place is worse than a question.

use std::collections::BTreeMap;

use krm_tree::leaves::Pairs;

use crate::chart::Chart;
use crate::reads::Says;
use crate::values::Value;

/// How many pairs of places are compared.
const MOST_COMPARED: usize = 200_000;

/// How much two places are alike: whether they have one default, the number of names that both end with, and that both begin with.
type Likeness = (bool, usize, usize);

/// The places in the new release, by those in the old one.
pub fn moved(old: &Chart, new: &Chart, gone: &[Vec<String>]) -> BTreeMap<Vec<String>, Vec<String>> {
    let mut before = Vec::new();
    leaves(&old.defaults, &mut Vec::new(), &mut before);
    before.retain(|path| new.defaults.at(path).is_none());
    before.extend(gone.iter().filter(|path| !before.contains(path)).cloned().collect::<Vec<_>>());
    let mut after = Vec::new();
    leaves(&new.defaults, &mut Vec::new(), &mut after);
    after.retain(|path| old.defaults.at(path).is_none() && new.reads.read(path, Says::Value, &new.defaults));
    let mut pairs = Pairs::of(before.len(), after.len());
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut by_parent: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (number, path) in after.iter().enumerate() {
        let Some((last, above)) = path.split_last() else { continue };
        by_name.entry(last).or_default().push(number);
        by_parent.entry(above).or_default().push(number);
    }
    let mut compared = 0;
    for (number, path) in before.iter().enumerate() {
        let Some((last, above)) = path.split_last() else { continue };
        let candidates = [by_name.get(last.as_str()), by_parent.get(above)];
        for other in candidates.into_iter().flatten().flatten() {
            compared += 1;
            if compared > MOST_COMPARED {
                return BTreeMap::new();
            }
            let values = [old.defaults.at(path), new.defaults.at(&after[*other])];
            if let Some(likeness) = likeness([path, &after[*other]], values) {
                pairs.offer(number, *other, likeness);
            }
        }
    }
    pairs.found().map(|(from, to)| (before[from].clone(), after[to].clone())).collect()
}

/// The places with a default that is not a map with fields.
fn leaves(value: &Value, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    match value {
        Value::Map(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                path.push(name.clone());
                leaves(value, path, out);
                path.pop();
            }
        }
        _ => out.push(path.clone()),
    }
}

/// `None` if two places have too little in common.
fn likeness(paths: [&[String]; 2], values: [Option<&Value>; 2]) -> Option<Likeness> {
    let fits = |one: &Value, other: &Value| one.kind() == other.kind() || one.is_null() || other.is_null();
    if let [Some(one), Some(other)] = values
        && !fits(one, other)
    {
        return None;
    }
    let is_equal = values[0].is_some() && values[0] == values[1] && values[0].is_some_and(says_much);
    let [old, new] = paths;
    let alike = |(one, other): &(&String, &String)| one == other;
    let end = old.iter().rev().zip(new.iter().rev()).take_while(alike).count();
    let start = old.iter().zip(new).take_while(alike).count();
    let is_enough = match end {
        // Another name in the same map.
        0 if start + 1 != old.len().max(new.len()) => false,
        // The elements of a list may be of another kind.
        0 => is_equal || (is_scalar(values[0]) && is_scalar(values[1]) && are_related(old.last()?, new.last()?)),
        // All of one is the end of the other, such as `image.tag` and `main.image.tag`.
        _ if end == old.len().min(new.len()) => true,
        1 => is_equal,
        _ => true,
    };
    is_enough.then_some((is_equal, end, start))
}

fn is_scalar(value: Option<&Value>) -> bool {
    value.is_some_and(|value| matches!(value, Value::Scalar(_)))
}

/// Whether few other places have this default.
fn says_much(value: &Value) -> bool {
    match value {
        Value::Map(fields) => !fields.is_empty(),
        Value::List(elements) => !elements.is_empty(),
        Value::Scalar(_) => value.text().is_some_and(|text| text.len() > 4 && text != "false"),
    }
}

/// Whether one name is a part of the other, as `className` of `ingressClassName`.
fn are_related(one: &str, other: &str) -> bool {
    let plain =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let (one, other) = (plain(one), plain(other));
    let (short, long) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    short.len() > 3 && (long.ends_with(short.as_str()) || long.starts_with(short.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    /// The pairs of places, as `old>new`.
    fn found(old: &str, new: &str) -> Vec<String> {
        let chart = |defaults: &str| {
            let files = [
                ("Chart.yaml", "name: a"),
                ("values.yaml", defaults),
                ("templates/a.yaml", "{{ range $k, $v := .Values }}{{ toYaml $v }}{{ end }}"),
            ];
            Document::parse(defaults).expect("YAML");
            Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
        };
        let moved = moved(&chart(old), &chart(new), &[]);
        moved.iter().map(|(from, to)| format!("{}>{}", from.join("."), to.join("."))).collect()
    }

    #[test]
    fn a_place_is_followed_if_it_is_the_only_one() {
        for (old, new, expected) in [
            ("a: 1", "a: 2", &[][..]),
            ("image: {tag: v1}", "main: {image: {tag: v2}}", &["image.tag>main.image.tag"]),
            ("m: {ingressClassName: null}", "m: {className: null}", &["m.ingressClassName>m.className"]),
            ("m: {host: example.com}", "m: {fqdn: example.com}", &["m.host>m.fqdn"]),
            ("m: {host: a}", "m: {port: b}", &[]),
            ("m: {hosts: []}", "m: {extraHosts: []}", &[]),
            // Two may be meant.
            ("image: {tag: v1}", "one: {image: {tag: v1}}\ntwo: {image: {tag: v1}}", &[]),
            ("a: {enabled: false}", "b: {enabled: false}", &[]),
            ("a: {image: {tag: 1}}", "b: {image: {tag: {x: 1}}}", &[]),
            ("m: {a: [12345], b: 1}", "m: {c: [12345], b: 1}", &["m.a>m.c"]),
        ] {
            assert_eq!(found(old, new), expected, "{old} {new}");
        }
    }
}
