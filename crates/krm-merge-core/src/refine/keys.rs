//! Three versions of a text whose lines are keys and values, merged by the keys: `.env`, `.properties`, `.ini`, and much of `.conf` and
//! `.toml`.
//!
//! By line, changes of neighbours touch, and so do two keys that both sides append. Here a line has its key as name, within its section.
//! Comments and blank lines above a line belong to it. A text counts only if every line of every version is surely of this form, and no key
//! stands twice.

use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap};

use super::Sources;
use super::lines::{TextLines, merged as merged_by_line};
use super::three::Changed;
use crate::merge::order::in_both_orders;
use crate::policy::NewElements;

/// A line with a key, or the line of a section, with the comments and blank lines above it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct KeyLine<'t> {
    above: &'t str,
    line: &'t str,
}

/// The lines of a text in their order, each with its section and key. The end of the text has no key, and what is above it.
type KeyLines<'t> = Vec<((&'t str, &'t str), KeyLine<'t>)>;

/// Merges three versions of a text; `None` if they are not of keys and values, or if a second run would change the result.
pub(super) fn merged(original: &str, updated: &str, dest: &str) -> Option<TextLines> {
    let lines = by_key(Sides { original, updated, dest })?;
    let stays = |outcome: &str, of: fn(&TextLines) -> &str| {
        let again = merged_by_line(original, updated, outcome);
        match again.sources.apart {
            true => by_key(Sides { original, updated, dest: outcome }).is_some_and(|again| of(&again) == outcome),
            false => again.dest == outcome,
        }
    };
    (stays(&lines.dest, |lines| &lines.dest) && stays(&lines.updated, |lines| &lines.updated)).then_some(lines)
}

fn by_key(texts: Sides<&str>) -> Option<TextLines> {
    let [original, updated, dest] = [texts.original, texts.updated, texts.dest].map(read);
    let sides = Sides { original: original?, updated: updated?, dest: dest? };
    let by_name = Sides::of(|side: Side| sides[side].iter().copied().collect::<HashMap<_, _>>());
    let mut names: Vec<(&str, &str)> = sides.dest.iter().map(|(name, _)| *name).collect();
    let known = names.len();
    names.extend(sides.updated.iter().map(|(name, _)| *name).filter(|name| !by_name.dest.contains_key(name)));
    let mut sources = Sources::default();
    let outcomes: Vec<[Option<KeyLine<'_>>; 2]> = names
        .iter()
        .map(|name| {
            let [was, new, own] = Side::ALL.map(|side| by_name[side].get(name).copied());
            outcome(was, new, own, &mut sources)
        })
        .collect();
    let at: HashMap<(&str, &str), usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let places = |side: Side| sides[side].iter().filter_map(|(name, _)| at.get(name).copied()).collect();
    let is_gone = |at: usize| outcomes[at] == [None; 2];
    let [order, taken] =
        in_both_orders(known, [places(Side::Original), places(Side::Updated)], is_gone, NewElements::Append);
    // The end of the text stays at its end, and each key in its section.
    let is_in_order =
        order.last().is_some_and(|last| names[*last] == END) && are_in_sections(&order, &names, &outcomes);
    if order != taken || !is_in_order {
        return None;
    }
    let written = |winner: usize| -> String {
        order.iter().filter_map(|at| outcomes[*at][winner]).flat_map(|line| [line.above, line.line]).collect()
    };
    Some(TextLines { dest: written(0), updated: written(1), sources })
}

/// The line if dest wins, and if updated wins.
fn outcome<'t>(
    was: Option<KeyLine<'t>>,
    new: Option<KeyLine<'t>>,
    own: Option<KeyLine<'t>>,
    sources: &mut Sources,
) -> [Option<KeyLine<'t>>; 2] {
    let changed = Changed::of(&was, &new, &own);
    match (changed, was, new, own) {
        (Changed::Apart, Some(was), Some(new), Some(own)) => {
            // Comments and values change each for itself.
            let part = |of: fn(&KeyLine<'t>) -> &'t str, sources: &mut Sources| {
                let changed = Changed::of(of(&was), of(&new), of(&own));
                sources.add(changed);
                match changed {
                    Changed::Updated => [of(&new); 2],
                    Changed::Apart => [of(&own), of(&new)],
                    Changed::Nowhere | Changed::Dest | Changed::Alike => [of(&own); 2],
                }
            };
            let (above, line) = (part(|line| line.above, sources), part(|line| line.line, sources));
            [0, 1].map(|winner| Some(KeyLine { above: above[winner], line: line[winner] }))
        }
        _ => {
            sources.add(changed);
            match changed {
                Changed::Updated => [new; 2],
                Changed::Apart => [own, new],
                Changed::Nowhere | Changed::Dest | Changed::Alike => [own; 2],
            }
        }
    }
}

/// The name of the end of a text.
const END: (&str, &str) = ("", "");

/// Whether each line follows the line of its own section.
fn are_in_sections(order: &[usize], names: &[(&str, &str)], outcomes: &[[Option<KeyLine<'_>>; 2]]) -> bool {
    [0, 1].into_iter().all(|winner| {
        let mut section = "";
        let there = order.iter().filter(|at| outcomes[**at][winner].is_some()).map(|at| names[*at]);
        there.filter(|name| *name != END).all(|(of, key)| {
            if key.is_empty() {
                section = of;
            }
            of == section
        })
    })
}

/// The lines of a text; `None` if a line is of another form, or a key stands twice in a section.
fn read(text: &str) -> Option<KeyLines<'_>> {
    if !text.ends_with('\n') {
        return None;
    }
    let mut out: KeyLines<'_> = Vec::new();
    let mut seen = HashMap::new();
    let (mut section, mut from, mut at) = ("", 0, 0);
    let mut has_keys = false;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let bare = line.trim_end();
        if !bare.is_empty() && !bare.starts_with(['#', ';', '!']) {
            let key = match bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(name) if !name.is_empty() && !name.contains(['[', ']', '=', '"']) => {
                    section = name;
                    ""
                }
                Some(_) => return None,
                None => {
                    has_keys = true;
                    key(bare)?
                }
            };
            if seen.insert((section, key), ()).is_some() {
                return None;
            }
            out.push(((section, key), KeyLine { above: &text[from..at], line }));
            from = end;
        }
        at = end;
    }
    out.push((END, KeyLine { above: &text[from..], line: "" }));
    has_keys.then_some(out)
}

/// The key of a line; `None` if the line is not surely a key with a value that ends with it.
fn key(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim_end();
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-/".contains(c));
    let goes_on = value.ends_with(['\\', '[', '{', '(', ',']) || value.contains("\"\"\"") || value.contains("'''");
    let are_closed =
        ['"', '\''].into_iter().all(|quote| !value.trim_start().starts_with(quote) || closed(value, quote));
    (is_key && !goes_on && are_closed).then_some(key)
}

/// Whether a value that begins with a quote ends with it on the same line.
fn closed(value: &str, quote: char) -> bool {
    value.trim_start().strip_prefix(quote).is_some_and(|rest| rest.contains(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_by_their_keys() {
        for (original, updated, dest, if_dest, if_updated) in [
            ("a=1\nb=1\n", "a=2\nb=1\n", "a=1\nb=2\n", "a=2\nb=2\n", ""),
            ("a=1\nb=1\n", "a=1\nb=1\nu=1\n", "a=1\nb=1\nd=1\n", "a=1\nb=1\nd=1\nu=1\n", ""),
            ("a=1\nb=1\n", "a=2\nb=1\n", "a=3\nb=2\n", "a=3\nb=2\n", "a=2\nb=2\n"),
            ("a = 1\n# b\nb = 1\n", "a = 2\n# B\nb = 1\n", "a = 1\n# b\nb = 2\n", "a = 2\n# B\nb = 2\n", ""),
            (
                "[x]\na=1\n[y]\na=1\n",
                "[x]\na=2\n[y]\na=1\n",
                "[x]\na=1\nn=1\n[y]\na=2\n",
                "[x]\na=2\nn=1\n[y]\na=2\n",
                "",
            ),
            ("a=1\nb=1\n", "b=1\n", "a=2\nb=1\n", "a=2\nb=1\n", "b=1\n"),
            ("a=1\nb=1\n", "a=1\n", "a=1\nb=1\nd=1\n", "a=1\nd=1\n", ""),
        ] {
            let if_updated = if if_updated.is_empty() { if_dest } else { if_updated };
            let lines = merged(original, updated, dest).expect("keys");
            assert_eq!((&*lines.dest, &*lines.updated), (if_dest, if_updated), "{updated} {dest}");
            assert_eq!(lines.sources.apart, if_dest != if_updated, "{updated} {dest}");
            let swapped = merged(original, dest, updated).expect("keys");
            assert_eq!(swapped.sources.apart, lines.sources.apart, "swapped: {updated} {dest}");
        }
    }

    #[test]
    fn a_text_of_another_form_has_no_keys() {
        for text in [
            "a=1\na=2\n",
            "a=1\n  b=2\n",
            "a: 1\nb: 2\n",
            "a=1\nset b\n",
            "a=\\\n1\n",
            "a=[\n1]\n",
            "a=\"x\ny=1\"\n",
            "[[a]]\nb=1\n[[a]]\n",
            "[a]\nb=1\n[a]\nc=1\n",
            "export a=1\nb=1\n",
            "# a\n# b\n",
            "a=1\nb=1",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
