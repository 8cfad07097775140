//! Values that a command generates anew at each run, such as passwords and certificates.
//!
//! Nobody changed these values between two releases, so an upgrade must not put new ones into a package. Two renderings of one release show
//! them: they are the scalars that differ, or the lines of a text that differ. A release is known by what stays. A value is kept from an
//! older release that has a volatile value in the same place. Where that is in doubt, the new value comes like any other change.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use anyhow::Result;
use krm_package::resource::{Origin, Resource};
use krm_yaml::{Context, Document, Kind, NodeRef, Scalar, Style, fits_flow, needs_escapes, quoted, quoted_json};

/// What stands for a volatile value where releases are compared.
const ANY: &str = "*";

/// What of a text is volatile.
#[derive(Debug)]
pub struct Volatile {
    places: Vec<Place>,
    /// The comments that differ.
    comments: Vec<Range<usize>>,
    /// What stays: the meaning of the resources in one form, whatever the order of documents and fields, and without comments.
    pub stable: String,
}

/// A text with values of an older release, and the names of their places for messages.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    pub text: String,
    pub places: Vec<String>,
}

impl Volatile {
    /// What of a text is otherwise in a second rendering of it.
    ///
    /// # Errors
    /// A text is not YAML.
    pub fn of(text: &str, again: &str) -> Result<Self> {
        let (first, second) = (Document::parse(text)?, Document::parse(again)?);
        let comments = comments(&first, &second);
        let (first, second) = (resources(&first), resources(&second));
        let by_identity =
            |all: &[Resource<'_>]| once(all.iter().filter_map(|own| Some((own.identity?.to_string(), ()))));
        let (in_first, in_second) = (by_identity(&first), by_identity(&second));
        let identity = |own: &Resource<'_>| {
            let identity = own.identity.map(|identity| identity.to_string());
            identity.filter(|identity| in_first.contains_key(identity) && in_second.contains_key(identity))
        };
        let partners: BTreeMap<String, NodeRef<'_>> =
            second.iter().filter_map(|other| Some((identity(other)?, other.node))).collect();
        let (mut places, mut forms, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for own in &first {
            match own.identity.zip(identity(own)) {
                Some((called, key)) => {
                    let other = partners.get(&key).copied().unwrap_or(own.node);
                    let mut found = Vec::new();
                    let step = Step { key, shown: String::new() };
                    forms.push(Shape::of(own.node, other).below(&step, &mut found));
                    let shown = |place: &Place| format!("{}: {}", called.called(), place.shown.trim_start_matches('.'));
                    places.extend(found.into_iter().map(|place| Place { shown: shown(&place), ..place }));
                }
                None => rest.push(own.node),
            }
        }
        // A name may be volatile, too. Then nobody knows which resource of the older release it is.
        let mut others: Vec<NodeRef<'_>> =
            second.iter().filter(|other| identity(other).is_none()).map(|other| other.node).collect();
        if others.len() != rest.len() {
            others.clone_from(&rest);
        }
        forms.extend(rest.into_iter().zip(others).map(|(own, other)| Shape::of(own, other).form));
        forms.sort();
        places.sort_by_key(|place| place.range.start);
        // An alias stands for its anchor.
        places.dedup_by_key(|place| place.range.start);
        Ok(Self { places, comments, stable: forms.join("\n") })
    }

    /// The text without volatile comments, and with the values that an older release has in the same places.
    pub fn kept(&self, text: &str, older: Option<&Self>) -> Kept {
        let old = once(older.into_iter().flat_map(|older| &older.places).map(|place| (&place.path, &place.value)));
        let mut places = Vec::new();
        let mut edits: Vec<(Range<usize>, String)> =
            self.comments.iter().map(|comment| (comment.clone(), String::new())).collect();
        for place in &self.places {
            if let Some(value) = old.get(&place.path).and_then(|old| place.written(text, old)) {
                edits.push((place.range.clone(), value));
                places.push(place.shown.clone());
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        let (mut kept, mut at) = (String::new(), 0);
        for (range, new) in edits {
            // A comment may stand in the head of a text that is replaced.
            if range.start >= at {
                kept.push_str(&text[at..range.start]);
                kept.push_str(&new);
                at = range.end;
            }
        }
        kept.push_str(&text[at..]);
        Kept { text: kept, places }
    }
}

/// The comments of a text that its other rendering does not have, each with its line if it has one of its own.
fn comments(text: &Document<'_>, again: &Document<'_>) -> Vec<Range<usize>> {
    let all = |text: &Document<'_>| text.comments_in(0..text.source().len()).collect::<Vec<_>>();
    let others: BTreeSet<&str> = all(again).into_iter().map(|(start, end)| &again.source()[start..end]).collect();
    let source = text.source();
    let volatile = all(text).into_iter().filter(|(start, end)| !others.contains(&source[*start..*end]));
    let whole = |(start, end): (usize, usize)| {
        let before = source[..start].trim_end_matches([' ', '\t']).len();
        let has_line = before == 0 || source[..before].ends_with('\n');
        let line_break = if has_line { source[end..].find('\n').map_or(0, |at| at + 1) } else { 0 };
        before..end + line_break
    };
    volatile.map(whole).collect()
}

fn resources<'a>(text: &'a Document<'_>) -> Vec<Resource<'a>> {
    text.roots().flat_map(|root| Resource::of_document(root, Origin::Item)).collect()
}

/// The pairs whose key is there only once.
fn once<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut all: BTreeMap<K, Option<V>> = BTreeMap::new();
    for (key, value) in pairs {
        all.entry(key).and_modify(|value| *value = None).or_insert(Some(value));
    }
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// A volatile value in a text.
#[derive(Debug)]
struct Place {
    range: Range<usize>,
    /// The way to it. It is the same in another release.
    path: String,
    /// The way to it, for messages.
    shown: String,
    context: Context,
    value: Value,
}

/// A part of the way to a place.
struct Step {
    key: String,
    shown: String,
}

impl Place {
    /// An older value as it stands in the text in this place; `None` if it cannot stand there.
    fn written(&self, text: &str, old: &Value) -> Option<String> {
        if self.value.tag != old.tag {
            return None;
        }
        let value = self.value.kept(old)?;
        let new = &text[self.range.clone()];
        let as_it_was = old.written(self.context).filter(|_| value == old.text);
        let written = as_it_was
            .or_else(|| literal(new, &self.value.text, &value))
            .unwrap_or_else(|| quoted(&value, self.context));
        if !new.is_empty() {
            return Some(written);
        }
        let is_behind_its_key = text[..self.range.start].trim_end_matches(' ').ends_with([':', '-']);
        is_behind_its_key.then(|| format!(" {written}"))
    }
}

/// A volatile scalar.
#[derive(Debug)]
struct Value {
    text: String,
    tag: Option<String>,
    /// How it is written.
    token: String,
    style: Style,
    lines: Vec<Line>,
}

/// A volatile line of a text, or a certificate or key in it.
#[derive(Debug)]
struct Line {
    at: usize,
    /// What names it: the part before `=` or `:`, if that stays.
    label: Option<String>,
}

impl Value {
    /// The text with what an older text has in its place; `None` if it has nothing of this kind.
    fn kept(&self, old: &Self) -> Option<String> {
        let (mut own, theirs) = (units(&self.text), units(&old.text));
        if own.len() == 1 && theirs.len() == 1 {
            return Some(old.text.clone());
        }
        let places = |value: &Self| value.lines.iter().map(|line| line.at).collect::<Vec<_>>();
        let is_alike = own.len() == theirs.len() && places(self) == places(old);
        let (labels, old_labels) = (self.labels(), old.labels());
        let mut any = false;
        for (number, line) in self.lines.iter().enumerate() {
            let labelled = line.label.as_deref().filter(|label| labels.contains_key(label));
            let in_place = || old.lines.get(number).filter(|old| is_alike && old.label == line.label);
            let Some(old) = labelled.and_then(|label| old_labels.get(label).copied()).or_else(in_place) else {
                continue;
            };
            own[line.at] = theirs[old.at];
            any = true;
        }
        any.then(|| own.join("\n"))
    }

    /// How it was written, if that may stand in another place.
    fn written(&self, context: Context) -> Option<String> {
        let is_one_line = !self.token.contains('\n');
        let fits = match self.style {
            Style::Plain => is_one_line && (context == Context::Block || fits_flow(&self.token)),
            Style::Single | Style::Double => is_one_line,
            Style::Literal | Style::Folded | Style::Block | Style::Flow => false,
        };
        fits.then(|| if self.token.is_empty() { "null".to_owned() } else { self.token.clone() })
    }

    /// The lines by their labels.
    fn labels(&self) -> BTreeMap<&str, &Line> {
        once(self.lines.iter().filter_map(|line| Some((line.label.as_deref()?, line))))
    }
}

/// The lines of a text. A certificate or key is one, for all of its lines change together.
fn units(text: &str) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), text);
    loop {
        let line = rest.find('\n').unwrap_or(rest.len());
        let is_begin = rest[..line].trim_start().starts_with("-----BEGIN ");
        let last = if is_begin { rest.find("-----END ") } else { None };
        let end = last.map_or(line, |last| rest[last..].find('\n').map_or(rest.len(), |length| last + length));
        all.push(&rest[..end]);
        let Some(more) = rest.get(end + 1..) else { return all };
        rest = more;
    }
}

fn label(unit: &str) -> Option<&str> {
    match unit.split_once('\n') {
        Some((first, _)) => Some(first),
        None => unit.split_once(['=', ':']).map(|(label, _)| label),
    }
}

/// A text in the form of a literal text of the same place; `None` if that is none, or cannot hold it. `was` is what it says.
fn literal(written: &str, was: &str, text: &str) -> Option<String> {
    let (header, lines) = written.split_once('\n').filter(|_| written.starts_with('|') && !written.contains('\r'))?;
    let indented = lines.lines().find(|line| !line.trim().is_empty())?;
    let indent = &indented[..indented.len() - indented.trim_start_matches(' ').len()];
    let end = |text: &str| text.len() - text.trim_end_matches('\n').len();
    let is_odd = |line: &str| needs_escapes(line) || line.trim().is_empty() && !line.is_empty();
    let first = text.lines().find(|line| !line.is_empty())?;
    let count = (lines.split('\n').count() + text.split('\n').count()).checked_sub(was.split('\n').count())?;
    if first.starts_with([' ', '\t']) || text.lines().any(is_odd) || end(text) != end(was) {
        return None;
    }
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("\n{indent}{line}") };
    Some(header.to_owned() + &text.split('\n').take(count).map(line).collect::<String>())
}

/// What two renderings of a node share, and where they differ.
struct Shape {
    /// What they share, in one form.
    form: String,
    places: Vec<Place>,
}

impl Shape {
    fn of(a: NodeRef<'_>, b: NodeRef<'_>) -> Self {
        let (a, b) = (a.resolve(), b.resolve());
        let mut shape = match (a.kind(), b.kind()) {
            (Kind::Map, Kind::Map) => Self::of_maps(a, b),
            (Kind::List, Kind::List) => Self::of_lists(a, b),
            (Kind::Scalar, Kind::Scalar) => Self::of_scalars(a, b),
            _ => Self::whole(a),
        };
        if a.style() == Style::Flow {
            shape.places.iter_mut().for_each(|place| place.context = Context::Flow);
        }
        shape
    }

    /// That of a node which the other rendering does not have in this form. It counts as it is.
    fn whole(a: NodeRef<'_>) -> Self {
        Self { form: Self::of(a, a).form, places: Vec::new() }
    }

    /// Moves its places to those of the node above it, and returns its form.
    fn below(self, step: &Step, places: &mut Vec<Place>) -> String {
        places.extend(self.places.into_iter().map(|place| Place {
            path: format!("{}\0{}", step.key, place.path),
            shown: step.shown.clone() + &place.shown,
            ..place
        }));
        self.form
    }

    fn of_maps(a: NodeRef<'_>, b: NodeRef<'_>) -> Self {
        let mut places = Vec::new();
        let mut forms = BTreeMap::new();
        for (key, value) in a.fields().filter(|(key, _)| !key.is_container()) {
            let key = key.string();
            let shape = b.get(key).map_or_else(|| Self::whole(value), |other| Self::of(value, other));
            let step = Step { key: key.to_owned(), shown: format!(".{key}") };
            forms.insert(quoted_json(key), shape.below(&step, &mut places));
        }
        let forms: Vec<String> = forms.into_iter().map(|(key, form)| format!("{key}:{form}")).collect();
        Self { form: format!("{{{}}}", forms.join(",")), places }
    }

    fn of_lists(a: NodeRef<'_>, b: NodeRef<'_>) -> Self {
        let (own, other) = (Elements::of(a), Elements::of(b));
        if let (Some(_), Some(_)) = (&own.named, &other.named) {
            return Self::of_named(&own, &other);
        }
        if a.text() != b.text() {
            let forms = own.forms();
            if forms == other.forms() {
                // Only their order is volatile.
                return Self { form: list(&forms), places: Vec::new() };
            }
            if own.all.len() != other.all.len() {
                return Self::whole(a);
            }
        }
        let shapes: Vec<Self> = own.all.iter().zip(&other.all).map(|(own, other)| Self::of(*own, *other)).collect();
        let forms: Vec<String> = shapes.iter().map(|shape| shape.form.clone()).collect();
        let single = once(forms.iter().map(|form| (form, ())));
        let mut places = Vec::new();
        for (at, (shape, own)) in shapes.into_iter().zip(&own.all).enumerate() {
            if shape.places.is_empty() {
                continue;
            }
            // The rest of an element tells which one it is. If it does not, the rest of the list must be equal.
            let is_told = own.is_map() && single.contains_key(&shape.form);
            let key = if is_told { fingerprint(&shape.form) } else { format!("{at} {}", fingerprint(&forms)) };
            shape.below(&Step { key, shown: format!("[{at}]") }, &mut places);
        }
        Self { form: list(&forms), places }
    }

    /// That of two lists whose elements have names.
    fn of_named(own: &Elements<'_>, other: &Elements<'_>) -> Self {
        let mut places = Vec::new();
        let mut forms = Vec::new();
        for element in &own.all {
            let name = name(*element).unwrap_or_default();
            let shape = other.get(name).map_or_else(|| Self::whole(*element), |other| Self::of(*element, other));
            let shown = format!("[name={name}]");
            forms.push(shape.below(&Step { key: shown.clone(), shown }, &mut places));
        }
        if own.order(other) != other.order(own) {
            forms.sort();
        }
        Self { form: list(&forms), places }
    }

    fn of_scalars(a: NodeRef<'_>, b: NodeRef<'_>) -> Self {
        let (own, other) = (units(a.string()), units(b.string()));
        let is_alike = a.tag() == b.tag() && own.len() == other.len() && a.string() != b.string();
        if !is_alike {
            return Self { form: written(a), places: Vec::new() };
        }
        let differ = |at: &usize| own[*at] != other[*at];
        let line =
            |at| Line { at, label: label(own[at]).filter(|own| label(other[at]) == Some(*own)).map(str::to_owned) };
        let lines = (0..own.len()).filter(differ).map(line).collect();
        let forms =
            own.iter().zip(&other).map(|(own, other)| if own == other { quoted_json(own) } else { ANY.to_owned() });
        let form = forms.collect::<Vec<_>>().join("|");
        let (text, token) = (a.string().to_owned(), a.text().to_owned());
        let value = Value { text, tag: a.tag().map(str::to_owned), token, style: a.style(), lines };
        let (path, shown) = (String::new(), String::new());
        let place = Place { range: a.start()..a.end(), path, shown, context: Context::Block, value };
        Self { form, places: vec![place] }
    }
}

/// The elements of a list.
struct Elements<'a> {
    all: Vec<NodeRef<'a>>,
    /// The elements by their names; `None` unless each has a name of its own.
    named: Option<BTreeMap<&'a str, NodeRef<'a>>>,
}

impl<'a> Elements<'a> {
    fn of(list: NodeRef<'a>) -> Self {
        let all: Vec<NodeRef<'a>> = list.elements().collect();
        let named = once(all.iter().filter_map(|element| Some((name(*element)?, *element))));
        Self { named: Some(named).filter(|named| named.len() == all.len()), all }
    }

    fn get(&self, name: &str) -> Option<NodeRef<'a>> {
        self.named.as_ref()?.get(name).copied()
    }

    /// The names that another list has, too.
    fn order(&self, other: &Elements<'_>) -> Vec<&'a str> {
        self.all.iter().filter_map(|element| name(*element)).filter(|name| other.get(name).is_some()).collect()
    }

    /// The forms of the elements, whatever their order.
    fn forms(&self) -> Vec<String> {
        let mut forms: Vec<String> = self.all.iter().map(|element| Shape::whole(*element).form).collect();
        forms.sort();
        forms
    }
}

fn name(element: NodeRef<'_>) -> Option<&str> {
    element.get("name").and_then(NodeRef::as_str)
}

fn list(forms: &[String]) -> String {
    format!("[{}]", forms.join(","))
}

/// What tells long texts from each other.
fn fingerprint(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:x}", hasher.finish())
}

/// A scalar in one form, whatever its quotes.
fn written(node: NodeRef<'_>) -> String {
    match node.scalar() {
        Some(Scalar::Tagged(tag, text)) => format!("{tag} {}", quoted_json(&text)),
        Some(Scalar::Null) | None => "null".to_owned(),
        Some(Scalar::String(text)) => quoted_json(&text),
        Some(Scalar::Bool(_) | Scalar::Number(_) | Scalar::Timestamp(_)) => node.string().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an upgrade has, and the places that it keeps, if each release is rendered twice. `{1}` and `{2}` are the random values.
    fn kept(old: &str, new: &str) -> Kept {
        let release = |text: &str, values: [&str; 2]| text.replace("{1}", values[0]).replace("{2}", values[1]);
        let volatile = |text: &str, of: [[&str; 2]; 2]| {
            let [first, second] = of.map(|values| release(text, values));
            (Volatile::of(&first, &second).expect("YAML"), first)
        };
        let (older, _) = volatile(old, [["old1", "old2"], ["no1", "no2"]]);
        let (newer, text) = volatile(new, [["new1", "new2"], ["other1", "other2"]]);
        let kept = newer.kept(&text, Some(&older));
        assert!(Document::parse(kept.text.as_str()).is_ok(), "{}", kept.text);
        kept
    }

    const HEAD: &str = "kind: Foo\napiVersion: a/v1\nmetadata: {name: x}\n";

    fn check(old: &str, new: &str, want: &str) {
        let [old, new, want] = [old, new, want].map(|text| format!("{HEAD}{text}"));
        assert_eq!(kept(&old, &new).text, want, "{old}");
    }

    #[test]
    fn a_volatile_value_is_that_of_the_same_element() {
        // By its name.
        check(
            "env:\n- {name: PASS, value: '{1}'}\n- {name: HOST, value: db}\n",
            "env:\n- {name: HOST, value: db}\n- {name: PASS, value: '{1}'}\n",
            "env:\n- {name: HOST, value: db}\n- {name: PASS, value: 'old1'}\n",
        );
        // Another variable.
        check(
            "env:\n- {name: MODE, value: prod}\n",
            "env:\n- {name: SALT, value: '{1}'}\n",
            "env:\n- {name: SALT, value: 'new1'}\n",
        );
        // By the rest of it.
        check(
            "l:\n- {a: 1, p: '{1}'}\n- {a: 2}\n",
            "l:\n- {a: 0}\n- {a: 1, p: '{1}'}\n",
            "l:\n- {a: 0}\n- {a: 1, p: 'old1'}\n",
        );
        check("l:\n- {a: 1, p: '{1}'}\n", "l:\n- {a: 2, p: '{1}'}\n", "l:\n- {a: 2, p: 'new1'}\n");
        check(
            "l:\n- {p: '{1}'}\n- {p: '{2}'}\n",
            "l:\n- {p: '{1}'}\n- {p: '{2}'}\n",
            "l:\n- {p: 'old1'}\n- {p: 'old2'}\n",
        );
        // What has nothing else keeps its place in an equal list.
        check("l: [a, '{1}']\n", "l: [a, '{1}']\n", "l: [a, 'old1']\n");
        check("l: [a, '{1}']\n", "l: [b, '{1}']\n", "l: [b, 'new1']\n");
    }

    #[test]
    fn what_the_older_release_did_not_make_is_an_ordinary_change() {
        check("p: fixed\n", "p: '{1}'\n", "p: 'new1'\n");
        check("", "p: '{1}'\n", "p: 'new1'\n");
        check("p: '{1}'\n", "p: fixed\n", "p: fixed\n");
    }

    #[test]
    fn of_a_text_only_the_lines_that_differ_are_volatile() {
        check("t: |\n  v: 1\n  p: {1}\n", "t: |\n  v: 2\n  p: {1}\n", "t: |\n  v: 2\n  p: old1\n");
        check("t: \"v=1\\np={1}\\n\"\n", "t: \"v=2\\np={1}\\n\"\n", "t: \"v=2\\np=old1\\n\"\n");
        // A line is known by its label, even in another place.
        check("t: |\n  p={1}\n  v=1\n", "t: |\n  v=2\n  w=3\n  p={1}\n", "t: |\n  v=2\n  w=3\n  p=old1\n");
        check("t: |\n  p={1}\n  v=1\n", "t: |\n  v=2\n  q={1}\n", "t: |\n  v=2\n  q=new1\n");
        // Without labels, the places must be the same.
        check("t: |\n  {1}\n  1\n", "t: |\n  {1}\n  2\n", "t: |\n  old1\n  2\n");
        check("t: |\n  {1}\n  1\n", "t: |\n  2\n  {1}\n", "t: |\n  2\n  new1\n");
        check("t: |\n  {1}\n  1\n", "t: |\n  {1}\n  2\n  3\n", "t: |\n  new1\n  2\n  3\n");
        for form in ["|-", "|", "|+"] {
            let text = |value: &str| format!("t: {form}\n  p: {value}\n\nu: 1\n");
            check(&text("{1}"), &text("{1}"), &text("old1"));
        }
    }

    #[test]
    fn a_certificate_is_volatile_as_a_whole() {
        let text = |key: &str, more: &str| {
            format!("t: |\n  v: {more}\n  -----BEGIN KEY-----\n{key}  -----END KEY-----\n  end\n")
        };
        check(
            &text("  {1}\n  same\n  {2}\n", "1"),
            &text("  {1}\n  {2}\n", "2"),
            &text("  old1\n  same\n  old2\n", "2"),
        );
        // Its number of lines may vary from one rendering to the next.
        let key = |lines: &str| format!("{HEAD}{}", text(lines, "1"));
        let old = Volatile::of(&key("  a\n  b\n"), &key("  c\n")).expect("YAML");
        let new = Volatile::of(&key("  d\n"), &key("  e\n  f\n")).expect("YAML");
        assert_eq!(new.kept(&key("  d\n"), Some(&old)).text, key("  a\n  b\n"));
        assert_eq!(new.stable, old.stable);
    }

    #[test]
    fn an_older_value_is_valid_where_it_stands() {
        let release = |value: &str| format!("{HEAD}{value}\n");
        for (old, new, want) in [
            (["d: {p: 1}", "d: {p: 2}"], ["d:\n  p: x", "d:\n  p: y"], "d:\n  p: 1"),
            (["d:\n  p: a1, b", "d:\n  p: a2, b"], ["d: {p: x}", "d: {p: y}"], "d: {p: 'a1, b'}"),
            (["d:\n  p: a}b", "d:\n  p: c}d"], ["d: {\"p\":\"x\"}", "d: {\"p\":\"y\"}"], "d: {\"p\":'a}b'}"),
            (["p: '1'", "p: '2'"], ["p: x", "p: y"], "p: '1'"),
            (["p: ", "p: 2"], ["p: x", "p: y"], "p: null"),
            (["p: x", "p: y"], ["p:", "p: z"], "p: x"),
            (["d: {p: x}", "d: {p: y}"], ["d: {p}", "d: {p: z}"], "d: {p}"),
            (["p: !a x", "p: !a y"], ["p: z", "p: w"], "p: z"),
            (["p: !a x", "p: !a y"], ["p: !a z # c", "p: !a w # c"], "p: !a x # c"),
            (["p: |\n  x\n  y", "p: |\n  z\n  w"], ["p: \"1\\n2\\n\"", "p: \"3\\n4\\n\""], "p: \"x\\ny\\n\""),
            (["p: |2\n    x\n  y", "p: |2\n    z\n  w"], ["p: |\n  1\n  2", "p: |\n  3\n  4"], "p: \"  x\\ny\\n\""),
            (["p: &a 1\nq: *a", "p: &a 2\nq: *a"], ["p: &a 3\nq: *a", "p: &a 4\nq: *a"], "p: &a 1\nq: *a"),
            (["p: a}b, c", "p: d"], ["p: x", "p: y"], "p: a}b, c"),
            (["p: \"x\\\n  y\"", "p: z"], ["p: 1", "p: 2"], "p: xy"),
        ] {
            let volatile = |texts: [&str; 2]| {
                Volatile::of(&release(texts[0]), &release(texts[1])).unwrap_or_else(|e| panic!("{texts:?}: {e}"))
            };
            let kept = volatile(new).kept(&release(new[0]), Some(&volatile(old))).text;
            assert_eq!(kept, release(want), "{old:?}");
            assert!(Document::parse(kept).is_ok());
        }
    }

    #[test]
    fn a_volatile_comment_goes() {
        let text = |word: &str| {
            format!("# at {word}\n{HEAD}# stays\na: 1 # {word}\nb: | # {word}\n  # {word}\n  1\n  # at {word}\nc: 1\n")
        };
        let [first, second] = ["x", "y"].map(text);
        let kept = Volatile::of(&first, &second).expect("YAML").kept(&first, None);
        assert_eq!(kept.text, format!("{HEAD}# stays\na: 1\nb: |\n  # x\n  1\n  # at x\nc: 1\n"));
        let old = Volatile::of(&text("o"), &text("p")).expect("YAML");
        let kept = Volatile::of(&first, &second).expect("YAML").kept(&first, Some(&old));
        assert!(
            Document::parse(kept.text.as_str()).is_ok() && kept.text.contains("  # o\n  1\n  # at o\nc"),
            "{}",
            kept.text
        );
    }

    #[test]
    fn items_of_a_list_are_resources() {
        let list = |version: &str| {
            let secret = |name: &str, value: &str| {
                format!("- {HEAD}  pw: {value}\n  v: {version}\n")
                    .replace('\n', "\n  ")
                    .replace("name: x", &format!("name: {name}"))
            };
            format!("kind: List\napiVersion: v1\nitems:\n{}\n{}\n", secret("x", "{1}"), secret("y", "{2}"))
                .replace("  pw", "pw")
                .replace("  v:", "v:")
        };
        let told = kept(&list("1"), &list("2"));
        assert!(told.text.contains("pw: old1") && told.text.contains("pw: old2"), "{}", told.text);
        assert_eq!(told.places, ["Foo x: pw", "Foo y: pw"]);
    }

    #[test]
    fn a_release_is_known_by_what_stays() {
        let stable = |first: &str, second: &str| {
            let [first, second] = [first, second].map(|text| format!("{HEAD}{text}"));
            Volatile::of(&first, &second).expect("YAML").stable
        };
        assert_eq!(
            stable("# at 1\na: 1\n", "# at 2\na: 1\n"),
            stable("# at 3\na: '1'\n".replace('\'', "").as_str(), "# at 4\na: 1\n")
        );
        assert_ne!(stable("# at 1\na: 1\n", "# at 2\na: 1\n"), stable("# at 1\na: '1'\n", "# at 2\na: '1'\n"));
        assert_eq!(stable("p: 1\nv: 1\n", "p: 2\nv: 1\n"), stable("p: x\nv: 1\n", "p: y\nv: 1\n"));
        assert_ne!(stable("p: 1\nv: 1\n", "p: 2\nv: 1\n"), stable("p: 1\nv: 2\n", "p: 2\nv: 2\n"));
        // Every stable line of a text counts.
        assert_ne!(stable("t: \"a\\n1\"\n", "t: \"a\\n2\"\n"), stable("t: \"b\\n1\"\n", "t: \"b\\n2\"\n"));
        // The order counts, unless it is volatile.
        let env =
            |order: [&str; 3]| format!("env: [{}]\n", order.map(|name| format!("{{name: {name}, v: 1}}")).join(", "));
        let (abc, bca, cab) = (env(["a", "b", "c"]), env(["b", "c", "a"]), env(["c", "a", "b"]));
        assert_eq!(stable(&abc, &bca), stable(&cab, &abc));
        let with = |text: &str, value: &str| format!("{text}p: {value}\n");
        assert_ne!(stable(&with(&abc, "1"), &with(&abc, "2")), stable(&with(&bca, "1"), &with(&bca, "2")));
    }

    #[test]
    fn documents_in_a_volatile_order_are_the_same_release() {
        let text = |names: [&str; 3], value: &str| {
            names
                .map(|name| format!("{}p: {value}{name}\nv: {name}\n", HEAD.replace("x}", &format!("{name}}}"))))
                .join("---\n")
        };
        let first = text(["a", "b", "c"], "p");
        let old = Volatile::of(&first, &text(["b", "c", "a"], "q")).expect("YAML");
        let second = text(["c", "b", "a"], "r");
        let new = Volatile::of(&second, &text(["b", "a", "c"], "s")).expect("YAML");
        assert_eq!(old.stable, new.stable);
        assert_eq!(new.kept(&second, Some(&old)).text, text(["c", "b", "a"], "p"));
    }

    #[test]
    fn what_has_no_partner_counts_as_it_is() {
        let named = |name: &str, version: &str| format!("{}v: {version}\n", HEAD.replace("x}", &format!("{name}}}")));
        let of = |first: &str, second: &str| Volatile::of(first, second).expect("YAML").stable;
        assert_eq!(of(&named("a", "1"), &named("b", "1")), of(&named("c", "1"), &named("d", "1")));
        assert_ne!(of(&named("a", "1"), &named("b", "1")), of(&named("a", "2"), &named("b", "2")));
        assert!(of("a: 1\n", "b: 2\n").contains('1'));
    }
}
