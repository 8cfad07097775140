//! [`rebase`]: the edits of the layers that a new release asks for.
//!
//! A field that gets another name beside its old one keeps its lines, and only its key changes. Anything else is a patch of the layer, so it is
//! merged and written as any other patch.

use std::collections::BTreeMap;
use std::fmt;

use krm_merge_core::merge::merge;
use krm_merge_core::patch::{Missing, lower};
use krm_merge_core::policy::NewElements;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::path::FieldPath;
use krm_tree::sides::Side;
use krm_tree::splice;
use krm_tree::tree::{Tree, View};
use krm_yaml::{Document, Edit, NodeRef, Place, TextEdits, comments_above, line_end, line_start, plain_or_quoted};

use crate::review::Layer;
use crate::values::Value;
use crate::verdict::{Finding, Verdict};

/// What becomes of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It stays.
    Keep,
    /// It goes.
    Drop,
    /// It goes to the place that a [`Verdict::Gone`] names. If no such place is known, or if the layer says something there, it stays.
    Move,
    /// It says what this side says, where the verdict is that it hides a difference: original is the old release, updated the new one. If the
    /// release has no default there, the place goes.
    Says(Side),
}

impl Verdict {
    /// What each release says at a place that hides their difference; `None` for other verdicts, and for dest.
    pub fn hidden(&self, side: Side) -> Option<Option<&Value>> {
        match (self, side) {
            (Self::Hides(hidden), Side::Original) => Some(hidden.original.as_ref()),
            (Self::Hides(hidden), Side::Updated) => Some(hidden.updated.as_ref()),
            (Self::OtherKind { original, .. }, Side::Original) => Some(original.as_ref()),
            (Self::OtherKind { updated, .. }, Side::Updated) => Some(Some(updated)),
            _ => None,
        }
    }
}

/// Why the layers cannot be written.
#[derive(Debug)]
pub struct RebaseError {
    /// The number of the layer.
    pub layer: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for RebaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RebaseError {}

/// The edits of each layer's document, for what the caller chooses to do with each finding. What is not chosen stays, byte for byte. A map
/// that loses all of its fields goes, too.
///
/// # Errors
/// The result would not mean what it should, such as when an anchor goes that an alias names.
pub fn rebase(
    layers: &[Layer<'_>],
    findings: &[Finding],
    choose: impl Fn(&Finding) -> Choice,
) -> Result<Vec<TextEdits>, RebaseError> {
    let of_layer = |(number, layer): (usize, &Layer<'_>)| {
        let own = findings.iter().filter(|finding| finding.layer == number);
        let chosen: Vec<(&Finding, Choice)> = own.map(|finding| (finding, choose(finding))).collect();
        edits(layer, &chosen).map_err(|message| RebaseError { layer: number, message })
    };
    layers.iter().enumerate().map(of_layer).collect()
}

/// The names of a path, as seen from a layer; `None` if the layer does not reach there.
fn names(layer: &Layer<'_>, path: &FieldPath<'_>) -> Option<Vec<String>> {
    let names = path.names()?;
    names.strip_prefix(&layer.at[..]).filter(|names| !names.is_empty()).map(<[_]>::to_vec)
}

fn edits(layer: &Layer<'_>, chosen: &[(&Finding, Choice)]) -> Result<TextEdits, String> {
    let root = layer.values;
    let (mut patch, mut keys, mut dropped) = (Patch::default(), Vec::new(), Vec::new());
    for (finding, choice) in chosen {
        let Some(from) = names(layer, &finding.place) else { continue };
        let Some((key, value)) = entry(root, &from) else { continue };
        let to = match (choice, &finding.verdict) {
            (Choice::Keep, _) => continue,
            (Choice::Drop, _) => None,
            (Choice::Move, Verdict::Gone { moved_to: Some(to), .. }) => names(layer, &to.place),
            (Choice::Move, _) => continue,
            (Choice::Says(side), verdict) => match verdict.hidden(*side) {
                Some(Some(value)) => {
                    patch.set(&from, Some(format!("\u{0}{}", value.block().trim_start_matches(' '))));
                    continue;
                }
                Some(None) => None,
                None => continue,
            },
        };
        match (choice, to) {
            (Choice::Move, None) => continue,
            // Two fields may have gone to one place.
            (Choice::Move, Some(to)) if root_has(root, &to) || patch.has(&to) => continue,
            (Choice::Move, Some(to)) if to[..to.len() - 1] == from[..from.len() - 1] => {
                let text = plain_or_quoted(&to[to.len() - 1]);
                keys.push(Edit { range: key.start()..key.end(), text });
                patch.set(&to, None);
                continue;
            }
            (_, to) => {
                if let Some(to) = to {
                    patch.set(&to, Some(lines(key, value)));
                }
                dropped.push(from);
            }
        }
    }
    let emptied = emptied(root, Vec::new(), &dropped, &patch);
    emptied.iter().for_each(|path| patch.set(path, Some("null\n".to_owned())));
    let keys = TextEdits::of(keys).map_err(|error| error.to_string())?;
    let text = patch.text();
    let document = Document::parse(&text).map_err(|error| error.to_string())?;
    let Some(source) = document.roots().next().filter(|root| root.is_map()) else { return Ok(keys) };
    let types = Types::new([], Inference::Never);
    let cursor = types.root("", "", Mode::TwoWay);
    let lowered = lower(source, Some(View::Node(root)), cursor, Missing::Made).map_err(|error| error.to_string())?;
    let merged =
        merge(Some(Tree::Node(root)), &lowered.change, NewElements::Append).map_err(|error| error.to_string())?;
    let Some(tree) = merged.tree else { return Ok(keys) };
    let own = splice::edits(root, &tree, &Budget::default()).map_err(|error| error.to_string())?;
    own.union([keys]).map_err(|error| error.to_string())
}

/// The key and the value at a path that the text of a map has itself.
fn entry<'a>(root: NodeRef<'a>, path: &[String]) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let (last, above) = path.split_last()?;
    let map = above.iter().try_fold(root, |node, name| own_entry(node, name).map(|(_, value)| value))?;
    own_entry(map, last)
}

/// What an alias or `<<` brings in is written elsewhere.
fn own_entry<'a>(map: NodeRef<'a>, name: &str) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let is_own = map.resolve().is(map);
    map.entries().find(|(key, _)| is_own && key.is_called(name) && !key.is_merge_key())
}

fn root_has(root: NodeRef<'_>, path: &[String]) -> bool {
    path.iter().try_fold(root, |node, name| node.get(name)).is_some()
}

/// The places to remove: those that are dropped, and the maps that lose all fields with them.
fn emptied(map: NodeRef<'_>, path: Vec<String>, dropped: &[Vec<String>], patch: &Patch) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut stays = false;
    for (key, value) in map.entries() {
        let path = [&path[..], &[key.string().to_owned()]].concat();
        if !dropped.iter().any(|dropped| dropped.starts_with(&path)) {
            stays = true;
        } else if dropped.contains(&path) {
            found.push(path);
        } else {
            let below = emptied(value, path.clone(), dropped, patch);
            stays |= !below.contains(&path);
            found.extend(below);
        }
    }
    if stays || path.is_empty() || patch.has(&path) { found } else { vec![path] }
}

/// The lines of a field's value, moved to the left margin, with the comments of the field.
fn lines(key: NodeRef<'_>, value: NodeRef<'_>) -> String {
    let (doc, source) = (key.document(), key.document().source());
    let above = comments_above(&Place::of_entry(key, value), doc);
    let column = key.column();
    let behind = source[key.end()..].find(':').map_or(value.start(), |colon| key.end() + colon + 1);
    let is_block = source[line_start(source, key.start())..key.start()].trim().is_empty();
    let end = if is_block { line_end(source, value.end().max(behind)) } else { value.end() };
    let moved = source[behind..end].lines().enumerate().map(|(number, line)| match number {
        0 => line.trim().to_owned(),
        _ => {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            line[blanks.min(column)..].to_owned()
        }
    });
    let above = above.lines().map(|line| format!("{}\n", line.trim_start()));
    format!("{}\u{0}{}\n", above.collect::<String>(), moved.collect::<Vec<_>>().join("\n"))
}

/// A patch of values: fields to set, and fields to remove.
#[derive(Default)]
struct Patch(BTreeMap<String, Patched>);

enum Patched {
    Map(Patch),
    /// The comments above the field, an end of them, and the lines of its value; a field that is renamed has none.
    Lines(Option<String>),
}

impl Patch {
    fn has(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else { return true };
        match self.0.get(first) {
            Some(Patched::Map(inner)) => inner.has(rest),
            Some(Patched::Lines(_)) => true,
            None => false,
        }
    }

    /// A place in one that is set already stays as it is.
    fn set(&mut self, path: &[String], lines: Option<String>) {
        match path {
            [] => {}
            [last] => _ = self.0.entry(last.clone()).or_insert(Patched::Lines(lines)),
            [first, rest @ ..] => {
                if let Patched::Map(inner) =
                    self.0.entry(first.clone()).or_insert_with(|| Patched::Map(Self::default()))
                {
                    inner.set(rest, lines);
                }
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        self.write("", &mut out);
        out
    }

    fn write(&self, indent: &str, out: &mut String) {
        for (name, patched) in &self.0 {
            let name = plain_or_quoted(name);
            match patched {
                Patched::Map(inner) => {
                    let mut below = String::new();
                    inner.write(&format!("{indent}  "), &mut below);
                    if !below.is_empty() {
                        out.push_str(&format!("{indent}{name}:\n{below}"));
                    }
                }
                Patched::Lines(None) => {}
                Patched::Lines(Some(lines)) => {
                    let (above, value) = lines.split_once('\u{0}').unwrap_or(("", lines));
                    above.lines().for_each(|line| out.push_str(&format!("{indent}{line}\n")));
                    for (number, line) in value.lines().enumerate() {
                        match number {
                            0 => out.push_str(format!("{indent}{name}: {line}").trim_end()),
                            _ if line.is_empty() => {}
                            _ => out.push_str(&format!("{indent}{line}")),
                        }
                        out.push('\n');
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::path_of;
    use crate::verdict::{Copied, Hidden, HiddenAs, KnownBy, MovedTo};

    /// The text once these places are dropped, or moved to others.
    fn rebased(text: &str, places: &[(&str, &str)]) -> String {
        rebased_below(&[], text, places)
    }

    /// The same of values that lie below a field.
    fn rebased_below(fields: &[&str], text: &str, places: &[(&str, &str)]) -> String {
        let document = Document::parse(text).expect("YAML");
        let root = document.roots().next().expect("a document");
        let layer = Layer::of(fields.iter().try_fold(root, |node, name| node.get(name)).expect("a field"));
        let path = |place: &str| path_of(&place.split('.').map(str::to_owned).collect::<Vec<_>>());
        let finding = |(from, to): &(&str, &str)| {
            let moved_to = Some(MovedTo { place: path(to) }).filter(|_| !to.is_empty());
            Finding {
                layer: 0,
                object: None,
                place: path(from),
                span: 0..0,
                verdict: Verdict::Gone { moved_to, known_by: KnownBy::Chart },
            }
        };
        let findings: Vec<Finding> = places.iter().map(finding).collect();
        let choose = |finding: &Finding| match finding.verdict {
            Verdict::Gone { moved_to: Some(_), .. } => Choice::Move,
            _ => Choice::Drop,
        };
        let edits = rebase(&[layer], &findings, choose).expect("edits");
        edits[0].apply(text, 0..text.len())
    }

    #[test]
    fn places_go_and_move_and_all_else_stays() {
        let text = "# a\na:   1 # one\nm:\n  # x\n  x: {b: 2}\n  w: [1,  2]\nl:\n- 1\n";
        for (places, expected) in [
            (&[][..], text),
            (&[("a", "")], "m:\n  # x\n  x: {b: 2}\n  w: [1,  2]\nl:\n- 1\n"),
            (&[("m.x.b", "")], "# a\na:   1 # one\nm:\n  w: [1,  2]\nl:\n- 1\n"),
            (&[("m.x.b", ""), ("m.w", "")], "# a\na:   1 # one\nl:\n- 1\n"),
            // A new name beside the old one.
            (&[("m.w", "m.z")], "# a\na:   1 # one\nm:\n  # x\n  x: {b: 2}\n  z: [1,  2]\nl:\n- 1\n"),
            (&[("m.w", "m.x")], text),
            (&[("m.w", "o.z.w")], "# a\na:   1 # one\nm:\n  # x\n  x: {b: 2}\no:\n  z:\n    w: [1,  2]\nl:\n- 1\n"),
            (&[("l", "m.l")], "# a\na:   1 # one\nm:\n  # x\n  x: {b: 2}\n  w: [1,  2]\n  l:\n  - 1\n"),
            (&[("a", "m.a")], "m:\n  # x\n  x: {b: 2}\n  w: [1,  2]\n  # a\n  a: 1 # one\nl:\n- 1\n"),
            // What is not there stays away.
            (&[("q", "m.q")], text),
        ] {
            assert_eq!(rebased(text, places), expected, "{places:?}");
        }
        assert_eq!(rebased("t: |\n  a\n\n  b\n", &[("t", "m.t")]), "m:\n  t: |\n    a\n\n    b\n");
    }

    #[test]
    fn a_place_says_what_a_release_says() {
        let value = |text: &str| {
            let document = Document::parse(text).expect("YAML");
            Value::of(document.roots().next().expect("a document"))
        };
        let says = |text: &str, updated: &str| {
            let document = Document::parse(text).expect("YAML");
            let layer = Layer::of(document.roots().next().expect("a document"));
            let updated = Some(updated).filter(|text| !text.is_empty()).map(value);
            let hidden = Hidden {
                original: None,
                updated,
                ours: Value::empty(),
                siblings: Vec::new(),
                copied: Copied::No,
                lost_with: None,
                hidden_as: HiddenAs::Value,
            };
            let place = path_of(&["m".to_owned(), "x".to_owned()]);
            let finding = Finding { layer: 0, object: None, place, span: 0..0, verdict: Verdict::Hides(hidden) };
            let edits = rebase(&[layer], &[finding], |_| Choice::Says(Side::Updated)).expect("edits");
            edits[0].apply(text, 0..text.len())
        };
        let text = |x: &str| format!("# a\nm:\n  a: 1\n  # of x\n  x:{x}\n  z: 2\n");
        for (ours, updated, expected) in [
            (" 1 # one", "2", " 2 # one"),
            (" 1", "'yes'", " \"yes\""),
            (" [1]", "[2, {a: 1, b: [3]}, [4]]", " [2, {a: 1, b: [3]}, [4]]"),
            ("\n  - 1", "[2, {a: 1, b: [3]}, [4]]", "\n  - 2\n  - a: 1\n    b:\n    - 3\n  - - 4"),
            (" 1", "[{a: {b: 1}, c: []}]", "\n  - a:\n      b: 1\n    c: []"),
            (" null", "{a: {b: 1}}", "\n    a:\n      b: 1"),
            (" 1", "{}", " {}"),
        ] {
            assert_eq!(says(&text(ours), updated), text(expected), "{updated}");
        }
        assert_eq!(says(&text(" 1"), ""), "# a\nm:\n  a: 1\n  z: 2\n");
        assert_eq!(says("m: {x: 1}\nb: 1\n", ""), "b: 1\n");
    }

    #[test]
    fn values_may_lie_below_a_field() {
        let text = |values: &str| format!("n: &n web\nspec:\n  values: # ours\n\n{values}  end: 1\n---\nb: 1\n");
        for (values, places, expected) in [
            ("    # a\n    a: 1\n    b: *n\n", &[("a", "")][..], "    b: *n\n"),
            ("    # a\n    a: 1\n    b: *n\n", &[("b", "")], "    # a\n    a: 1\n"),
            ("    a: 1\n    m: {b: 2, c: 3}\n", &[("m.b", "")], "    a: 1\n    m: {c: 3}\n"),
            ("    a: 1\n    m:\n      b: 2\n", &[("a", "m.a")], "    m:\n      b: 2\n      a: 1\n"),
            ("    a: 1\n    m:\n      b: 2\n", &[("m.b", "m.c")], "    a: 1\n    m:\n      c: 2\n"),
        ] {
            assert_eq!(rebased_below(&["spec", "values"], &text(values), places), text(expected), "{places:?}");
        }
        assert_eq!(rebased_below(&["v"], "v: {a: 1, b: 2}\n", &[("a", "")]), "v: {b: 2}\n");
    }
}
