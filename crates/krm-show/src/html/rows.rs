//! The changed lines of a file, by resource, with the parts of each line that changed.
//!
//! The lines come from the hunks of `-o diff`, so no line between resources is lost. Each line belongs to the resource around it. A
//! renamed resource counts as one resource if both versions share an unchanged line.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use krm_folders::change::Change;
use krm_job::carried::text;
use krm_job::event::ResourceRef;
use krm_job::marked::{Conflict, Marked};
use krm_package::list;
use krm_package::resource::{Identity, Origin, Resource, mark_as_secret};
use krm_schema::schema::Types;
use krm_tree::path::cut;
use krm_tree::sides::Sides;
use krm_yaml::secret::Secret;
use krm_yaml::{Document, Place, extent};
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};

use crate::diff::{CONTEXT, aligned};
use crate::spot::{Finder, document_of};

/// The most lines of a resource that are shown.
const HEIGHT: usize = 400;

/// The longest unchanged part of a changed line that is shown, and the longest unchanged line, in bytes.
const WIDTH: usize = 240;

/// The changes in one resource of a file, or in the file outside of its resources.
#[derive(Debug)]
pub struct Block {
    /// The identities of the resource, dest's first; empty for lines outside of resources.
    pub names: Vec<ResourceRef>,
    /// What happens to the resource or the file.
    pub fate: Fate,
    /// The part of the changes that may be shown.
    pub shown: ShownPart,
}

/// What happens to a resource or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is new.
    Added,
    /// It is changed.
    Changed,
    /// It is deleted.
    Deleted,
}

/// The part of a change that may be shown.
#[derive(Debug, PartialEq, Eq)]
pub enum ShownPart {
    /// The lines.
    Lines(Vec<Row>),
    /// Only the fields that change, because their values are secret.
    Fields(BTreeSet<String>),
    /// Nothing, because the file is not text.
    Bytes,
    /// Only the executable bit changes: whether the file becomes executable.
    Executable(bool),
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The line stays; with its number in the new text.
    Same(usize, String),
    /// The line is removed; with its number in the old text.
    Gone(usize, Vec<Piece>),
    /// The line is added; with its number in the new text.
    New(usize, Vec<Piece>),
    /// This many unchanged lines are left out.
    Skipped(usize),
    /// This many lines are left out because the block is too long.
    Omitted(usize),
}

/// A part of a changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether only this side of the change has the text.
    pub differs: bool,
}

/// What is secret although the texts of a change do not say it: another side says it.
#[derive(Clone, Copy)]
pub struct Elsewhere<'e> {
    /// Resources of which only the fields may be shown.
    pub resources: &'e HashSet<Identity<'e>>,
    /// Whether that holds for what belongs to no resource.
    pub is_file: bool,
}

/// The changes of a file.
pub fn blocks(change: &Change, types: &Types<'_>, elsewhere: Elsewhere<'_>) -> Vec<Block> {
    let fate = match (&change.old, &change.new) {
        (None, _) => Fate::Added,
        (_, None) => Fate::Deleted,
        _ => Fate::Changed,
    };
    let whole = |shown: ShownPart| vec![Block { names: Vec::new(), fate, shown }];
    let bytes = [&change.old, &change.new].map(|bytes| bytes.as_deref().unwrap_or_default());
    if let (Some(executable), true) = (change.executable, bytes[0] == bytes[1]) {
        return whole(ShownPart::Executable(executable));
    }
    let texts = bytes.map(text);
    let [Some(old), Some(new)] = texts else { return whole(ShownPart::Bytes) };
    let mut sides = [old, new].map(Text::read);
    hide(&mut sides, elsewhere);
    let lines = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = aligned([&lines[0], &lines[1]]);
    let mut found = Blocks::new(&sides, diff.ops());
    let mut at = 0;
    for op in diff.grouped_ops(CONTEXT).iter().flatten() {
        found.skip(at..op.new_range().start);
        at = op.new_range().end;
        rows(&diff, op).into_iter().for_each(|row| found.push(row));
    }
    found.skip(at..lines[1].len());
    found.finish(&sides, fate, types)
}

/// A text, and the resources in it.
struct Text<'t> {
    document: Option<Document<'t>>,
    /// The offset of each line.
    starts: Vec<usize>,
    /// The resources, in the order of the text.
    owners: Vec<TextOwner>,
    conflicts: Vec<Conflict>,
    /// What is secret outside of these: in a text that cannot be parsed, and in documents without a name.
    secret: Secret,
}

impl<'t> Text<'t> {
    fn read(text: &'t str) -> Self {
        let document = document_of(text);
        let starts = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let owners = document.iter().flat_map(owners).collect();
        let marked = Marked::read(text.as_bytes());
        let secret = match &document {
            Some(document) if marked.conflicts.is_empty() => secret_without_name(document),
            Some(document) => secret_without_name(document).max(Secret::of_text(text)),
            None => Secret::of_text(text),
        };
        Self { document, starts, owners, conflicts: marked.conflicts, secret }
    }

    /// The number of the resource that a line belongs to.
    fn owner(&self, line: usize) -> Option<usize> {
        let mut at = *self.starts.get(line)?;
        // The markers and the other side belong where the side that was read does.
        let conflict = self.conflicts.get(self.conflicts.partition_point(|conflict| conflict.range.end <= at));
        if let Some(conflict) = conflict.filter(|conflict| conflict.range.start <= at) {
            let read = conflict.shown_side();
            at = if read.contains(&at) { at } else { read.start };
        }
        let next = self.owners.partition_point(|owner| owner.lines.end <= at);
        self.owners.get(next).filter(|owner| owner.lines.start <= at).map(|_| next)
    }
}

/// A resource in a text.
struct TextOwner {
    lines: Range<usize>,
    name: ResourceRef,
    secret: Secret,
}

/// What is secret in the documents without a name.
fn secret_without_name(document: &Document<'_>) -> Secret {
    let all = resources(document).filter(|resource| resource.identity.is_none());
    all.map(|resource| resource.secret).max().unwrap_or_default()
}

fn resources<'a>(document: &'a Document<'_>) -> impl Iterator<Item = Resource<'a>> {
    document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Item(0)))
}

fn named<'a>(document: &'a Document<'_>) -> impl Iterator<Item = (Identity<'a>, Resource<'a>)> {
    resources(document).filter_map(|resource| Some((resource.identity?, resource)))
}

fn owners(document: &Document<'_>) -> Vec<TextOwner> {
    let owner = |(identity, resource): (Identity<'_>, Resource<'_>)| {
        let lines = match resource.list.and_then(list::items_of) {
            Some(items) => {
                let place = Place::of_element(items, resource.node());
                place.top(document)..place.bottom(document)
            }
            None => extent(resource.node()),
        };
        TextOwner { lines, name: identity.into(), secret: resource.secret }
    };
    named(document).map(owner).collect()
}

/// Hides what is a Secret elsewhere, and what was or becomes one.
fn hide(sides: &mut [Text<'_>; 2], elsewhere: Elsewhere<'_>) {
    let documents = sides.each_ref().map(|text| text.document.as_ref());
    let [mut old, mut new] =
        documents.map(|document| document.into_iter().flat_map(named).map(|(_, own)| own).collect::<Vec<_>>());
    mark_as_secret(Sides { original: &mut [], updated: &mut new, dest: &mut old });
    let marked = [old, new].map(|all| all.into_iter().map(|own| own.secret).collect::<Vec<_>>());
    for (text, marked) in sides.iter_mut().zip(marked) {
        if elsewhere.is_file {
            text.secret = Secret::All;
        }
        for (own, marked) in text.owners.iter_mut().zip(marked) {
            own.secret = if elsewhere.resources.contains(&own.name.identity()) { Secret::All } else { marked };
        }
    }
}

/// The owner of a line: a resource of the new text, a resource that only the old text has, or the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LineOwner {
    New(usize),
    Old(usize),
    File,
}

/// The blocks of a file, while its lines are added.
struct Blocks<'s, 't> {
    sides: &'s [Text<'t>; 2],
    /// For each resource of the old text, the number of the same resource in the new text.
    partners: HashMap<usize, usize>,
    rows: BTreeMap<LineOwner, Vec<Row>>,
    /// The owners of changed lines, in the order of their first changed line.
    order: Vec<LineOwner>,
    changed: BTreeSet<LineOwner>,
}

impl<'s, 't> Blocks<'s, 't> {
    fn new(sides: &'s [Text<'t>; 2], ops: &[DiffOp]) -> Self {
        let [old, new] = sides;
        let mut by_name = HashMap::new();
        new.owners.iter().enumerate().for_each(|(at, own)| _ = by_name.entry(own.name.identity()).or_insert(at));
        let same = old.owners.iter().enumerate();
        let mut partners: HashMap<usize, usize> =
            same.filter_map(|(at, own)| Some((at, *by_name.get(&own.name.identity())?))).collect();
        let mut taken: BTreeSet<usize> = partners.values().copied().collect();
        for op in ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
            for (before, after) in op.old_range().zip(op.new_range()) {
                if let (Some(before), Some(after)) = (old.owner(before), new.owner(after))
                    && !partners.contains_key(&before)
                    && taken.insert(after)
                {
                    partners.insert(before, after);
                }
            }
        }
        Self { sides, partners, rows: BTreeMap::new(), order: Vec::new(), changed: BTreeSet::new() }
    }

    fn owner_of_old(&self, line: usize) -> LineOwner {
        let old = self.sides[0].owner(line);
        old.map_or(LineOwner::File, |old| {
            self.partners.get(&old).map_or(LineOwner::Old(old), |new| LineOwner::New(*new))
        })
    }

    fn owner_of_new(&self, line: usize) -> LineOwner {
        self.sides[1].owner(line).map_or(LineOwner::File, LineOwner::New)
    }

    /// Leaves out these lines of the new text.
    fn skip(&mut self, lines: Range<usize>) {
        for line in lines {
            let rows = self.rows.entry(self.owner_of_new(line)).or_default();
            match rows.last_mut() {
                Some(Row::Skipped(count)) => *count += 1,
                _ => rows.push(Row::Skipped(1)),
            }
        }
    }

    fn push(&mut self, row: Row) {
        let owner = match &row {
            Row::Gone(line, _) => self.owner_of_old(line - 1),
            Row::Same(line, _) | Row::New(line, _) => self.owner_of_new(line - 1),
            Row::Skipped(_) | Row::Omitted(_) => return,
        };
        if !matches!(row, Row::Same(..)) && self.changed.insert(owner) {
            self.order.push(owner);
        }
        self.rows.entry(owner).or_default().push(row);
    }

    fn finish(mut self, sides: &[Text<'_>; 2], of_file: Fate, types: &Types<'_>) -> Vec<Block> {
        let is_secret = |secret: Secret| secret != Secret::Nothing;
        let owned = || sides.iter().flat_map(|side| &side.owners);
        // Where one side cannot be parsed, the lines of the other side may belong to any of its resources.
        let is_suspect = sides.iter().any(|side| is_secret(side.secret))
            || sides.iter().any(|side| side.document.is_none()) && owned().any(|own| is_secret(own.secret));
        let mut old_of: HashMap<usize, Vec<usize>> = HashMap::new();
        self.partners.iter().for_each(|(old, new)| old_of.entry(*new).or_default().push(*old));
        let blocks = std::mem::take(&mut self.order).into_iter().map(|owner| {
            let old =
                if let LineOwner::New(new) = owner { old_of.remove(&new).unwrap_or_default() } else { Vec::new() };
            let rows = self.rows.remove(&owner).unwrap_or_default();
            let fate = match owner {
                LineOwner::Old(_) => Fate::Deleted,
                LineOwner::New(_) if old.is_empty() => Fate::Added,
                LineOwner::New(_) => Fate::Changed,
                LineOwner::File => of_file,
            };
            let hides = match owner {
                LineOwner::File => is_suspect,
                LineOwner::Old(at) => is_secret(sides[0].owners[at].secret),
                LineOwner::New(at) => {
                    is_secret(sides[1].owners[at].secret) || old.iter().any(|at| is_secret(sides[0].owners[*at].secret))
                }
            };
            let names = self.names(owner, old);
            let shown = match hides {
                true => ShownPart::Fields(self.fields(&names, &rows, types)),
                false => ShownPart::Lines(limited(rows)),
            };
            Block { names, fate, shown }
        });
        blocks.collect()
    }

    /// The identities of a resource, the old ones first.
    fn names(&self, owner: LineOwner, mut old: Vec<usize>) -> Vec<ResourceRef> {
        let name = |side: usize, at: usize| self.sides[side].owners[at].name.clone();
        match owner {
            LineOwner::File => Vec::new(),
            LineOwner::Old(old) => vec![name(0, old)],
            LineOwner::New(new) => {
                old.sort_unstable();
                let mut names: Vec<ResourceRef> = old.into_iter().map(|old| name(0, old)).collect();
                names.push(name(1, new));
                names.dedup();
                names
            }
        }
    }

    /// The fields of a resource that change.
    fn fields(&self, names: &[ResourceRef], rows: &[Row], types: &Types<'_>) -> BTreeSet<String> {
        let lines = |side: usize| {
            let number = move |row: &Row| match row {
                Row::Gone(line, _) if side == 0 => Some(line - 1),
                Row::New(line, _) if side == 1 => Some(line - 1),
                _ => None,
            };
            rows.iter().filter_map(number)
        };
        let called: Vec<String> = names.iter().map(|name| name.identity().called()).collect();
        let mut fields = BTreeSet::new();
        for (side, text) in self.sides.iter().enumerate() {
            let at = |line: usize| text.starts.get(line).copied();
            let ranges: Vec<Range<usize>> =
                lines(side).filter_map(|line| Some(at(line)?..at(line + 1).unwrap_or(at(line)? + 1))).collect();
            let found = text.document.iter().flat_map(|document| Finder::new(document, types).spots(&ranges));
            fields.extend(found.filter(|spot| called.contains(&spot.resource)).map(|spot| spot.path));
        }
        fields
    }
}

/// As many rows as are shown, and a count of the others.
fn limited(mut rows: Vec<Row>) -> Vec<Row> {
    if rows.len() > HEIGHT {
        let omitted = rows.split_off(HEIGHT);
        let count = |row: &Row| if let Row::Skipped(count) = row { *count } else { 1 };
        rows.push(Row::Omitted(omitted.iter().map(count).sum()));
    }
    rows
}

/// The lines of a part of the diff. A line and the one that replaces it show where they differ: without the words that they share at both ends.
fn rows(diff: &TextDiff<'_, '_, str>, op: &DiffOp) -> Vec<Row> {
    let lines = |tag: ChangeTag| -> Vec<&str> {
        diff.iter_changes(op).filter(|change| change.tag() == tag).map(|change| change.value()).collect()
    };
    let (old, new) = (lines(ChangeTag::Delete), lines(ChangeTag::Insert));
    let row = |change: similar::Change<&str>| {
        let number = |index: Option<usize>| index.unwrap_or_default() + 1;
        let partner = |own: Option<usize>, first: usize, others: &[&str]| {
            let other = others.get(own.unwrap_or_default() - first);
            pieces(change.value(), other.copied())
        };
        match change.tag() {
            ChangeTag::Equal => Row::Same(number(change.new_index()), cut(bare(change.value()).to_owned(), WIDTH)),
            ChangeTag::Delete => {
                Row::Gone(number(change.old_index()), partner(change.old_index(), op.old_range().start, &new))
            }
            ChangeTag::Insert => {
                Row::New(number(change.new_index()), partner(change.new_index(), op.new_range().start, &old))
            }
        }
    };
    diff.iter_changes(op).map(row).collect()
}

/// A line without its break.
fn bare(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// The parts of a line, compared with its partner. If they share no word, nothing is marked. A break is shown only if it alone differs.
fn pieces(line: &str, other: Option<&str>) -> Vec<Piece> {
    let piece = |text: &str, differs: bool, width: usize| Piece { text: cut(text.to_owned(), width), differs };
    let whole = vec![piece(bare(line), false, 2 * WIDTH)];
    let Some(other) = other else { return whole };
    let is_break = bare(line) == bare(other);
    let [line, other] = [line, other].map(|line| if is_break { line } else { bare(line) });
    let [before, after] = shared(line, other);
    if line[..before].trim().is_empty() && line[after..].trim().is_empty() {
        return whole;
    }
    let parts = [(&line[..before], false), (&line[before..after], true), (bare(&line[after..]), false)];
    parts.into_iter().filter(|(text, _)| !text.is_empty()).map(|(text, differs)| piece(text, differs, WIDTH)).collect()
}

/// Where the words end in a line that another line begins with, too, and where those begin that both end with.
fn shared(line: &str, other: &str) -> [usize; 2] {
    let length = |(a, b): (char, char)| if a == b { Some(a.len_utf8()) } else { None };
    let begins_word = |text: &str| text.starts_with(|c: char| !c.is_whitespace());
    let mut before: usize = line.chars().zip(other.chars()).map_while(length).sum();
    if begins_word(&line[before..]) || begins_word(&other[before..]) {
        before = line[..before].rfind([' ', '\t']).map_or(0, |at| at + 1);
    }
    let after: usize = line[before..].chars().rev().zip(other[before..].chars().rev()).map_while(length).sum();
    let after = line.len() - after;
    let is_cut = |text: &str, at: usize| text[..at].ends_with(|c: char| !c.is_whitespace());
    let rest = &line[after..];
    let is_inside = is_cut(line, after) || is_cut(other, other.len() - rest.len());
    [before, if is_inside { after + rest.find(char::is_whitespace).unwrap_or(rest.len()) } else { after }]
}

#[cfg(test)]
mod tests {
    use krm_schema::schema::Inference;

    use super::*;

    fn map(name: &str, value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: {value}\n")
    }

    fn shown(old: &str, new: &str) -> String {
        let bytes = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
        let change = Change { path: "a.yaml".into(), old: bytes(old), new: bytes(new), executable: None };
        let mut out = String::new();
        let nowhere = Elsewhere { resources: &HashSet::new(), is_file: false };
        for Block { names, fate, shown } in blocks(&change, &Types::new([], Inference::On), nowhere) {
            let names: Vec<String> = names.iter().map(|name| name.identity().called()).collect();
            out.push_str(&format!("{fate:?} {}\n", names.join(", ")));
            let ShownPart::Lines(rows) = shown else {
                out.push_str(&format!("{shown:?}\n"));
                continue;
            };
            for row in rows {
                let line = |pieces: Vec<Piece>| -> String {
                    pieces.into_iter().map(|p| if p.differs { format!("[{}]", p.text) } else { p.text }).collect()
                };
                out.push_str(&match row {
                    Row::Same(..) => String::new(),
                    Row::Gone(at, pieces) => format!("-{at} {}\n", line(pieces)),
                    Row::New(at, pieces) => format!("+{at} {}\n", line(pieces)),
                    Row::Skipped(count) => format!("…{count}\n"),
                    Row::Omitted(count) => format!("!{count}\n"),
                });
            }
        }
        out
    }

    #[test]
    fn lines_belong_to_their_resources_and_changed_parts_are_marked() {
        let old = format!("# a\n{}---\n{}---\n{}", map("a", "one two"), map("b", "1"), map("c", "1"));
        let new = format!("# b\n{}---\n{}---\n{}", map("a", "one three"), map("c", "1"), map("d", "1"));
        let want = "Changed ConfigMap a\n-1 # [a]\n+1 # [b]\n-7   x: one [two]\n+7   x: one [three]\nDeleted ConfigMap b\n-8 ---\n-9 apiVersion: v1\n-10 kind: ConfigMap\n-11 metadata:\n-12   name: b\n-13 data:\n-14   x: 1\nAdded ConfigMap d\n+15 ---\n+16 apiVersion: v1\n+17 kind: ConfigMap\n+18 metadata:\n+19   name: d\n+20 data:\n+21   x: 1\n";
        assert_eq!(shown(&old, &new), want);
    }

    #[test]
    fn a_renamed_resource_is_one_and_a_line_break_is_seen() {
        assert_eq!(
            shown(&map("a", "1"), &map("b", "1")),
            "Changed ConfigMap a, ConfigMap b\n-4   name: [a]\n+4   name: [b]\n"
        );
        assert_eq!(shown("a\r\nb\r\n", "a\r\nc\r\n"), "Changed \n-2 b\n+2 c\n");
        assert_eq!(shown("a: b\r\n", "a: b\n"), "Changed \n-1 a: b[\r]\n+1 a: b\n");
        assert_eq!(shown("a: é\u{a0}x é\n", "a: è\u{a0}x é\n"), "Changed \n-1 a: [é]\u{a0}x é\n+1 a: [è]\u{a0}x é\n");
        assert_eq!(shown("a: one.two\n", "a: one.three\n"), "Changed \n-1 a: [one.two]\n+1 a: [one.three]\n");
    }

    #[test]
    fn of_a_secret_only_the_fields_are_shown() {
        let secret = |value: &str| map("s", value).replace("ConfigMap", "Secret");
        let want = "Changed Secret s\nFields({\"data.x\"})\n";
        assert_eq!(shown(&secret("hidden1"), &secret("hidden2")), want);
        let list = |value: &str| {
            format!("apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {{name: s}}\n  data: {{x: {value}}}\n")
        };
        // Elements without a type of their own are found by that of the list.
        let text = shown(&list("hidden1"), &list("hidden2"));
        assert!(text.starts_with("Changed Secret s\nFields(") && !text.contains("hidden"), "{text}");
        // Between markers, nobody knows what is whose.
        let marked = format!("<<<<<<< dest\n{}=======\n", secret("hidden1"));
        for (old, new) in [(secret("hidden2"), marked.clone()), (map("a", "1"), marked)] {
            let text = shown(&old, &new);
            assert!(!text.contains("hidden"), "{text}");
        }
        assert!(!shown("", &secret("hidden")).contains("hidden"));
    }

    #[test]
    fn long_lines_and_long_changes_are_cut() {
        let long = |word: &str| format!("a: {} {word} {}\n", "x ".repeat(3000), "y ".repeat(3000));
        let text = shown(&long("old"), &long("new"));
        assert!(text.contains("[old]") && text.contains("[new]") && text.len() < 8 * WIDTH, "{text}");
        let many = |word: &str| (0..1000).map(|i| format!("{word}{i}\n")).collect::<String>();
        assert!(shown(&many("a"), &many("b")).ends_with("!1600\n"));
    }
}
