//! `--on-conflict mark`: a merge that writes its open conflicts into the files, between markers, as the git driver does.
//!
//! The plugin merges once, and drafts the merge for each side that may win the undecided conflicts. Where the drafts of a file are equal, that text is
//! written. The lines in which they differ are the choices. So a user who takes one side everywhere gets the text of a merge in which this
//! side wins. If a side deleted a file, the whole file is between markers, and the marker of that side says that it deleted the file. A file
//! that is no text has no lines to mark: dest's stays, and updated's comes to a file beside it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use anyhow::{Result, bail};
use krm_folders::carry::is_unread;
use krm_folders::change::{Change, Made};
use krm_folders::held::{Content, Held};
use krm_folders::merge::{self, Conflicts, Merge, Open, Stop};
use krm_folders::side::Side;
use krm_job::carried;
use krm_job::config::Config;
use krm_job::event::{Event, ResourceRef, What};
use krm_job::results;
use krm_job::role::Role;
use krm_package::resource::{Identity, Origin, Resource};
use krm_tree::sides::{Side as Version, Sides};
use krm_tree::tree::Pick;
use krm_yaml::secret::Secret;
use krm_yaml::{
    Document, Edit, NodeRef, Overlap, RESOLVE, Style as Written, TextEdits, has_source_lines, line_start, next_line,
    shown, starts_line,
};

use crate::choices::{Lines, Parted, parts};
use crate::hunks::Finer;
use crate::marks::{Marks, Style};
use crate::part::{Choice, Grain, Part};
use krm_job::marked::{Conflict, DELETED, Marked, OF_SECRET, bare};

/// The smallest number of characters of a marker, as in git.
const SIZE: usize = 7;

/// Merges the other sides into dest, with open conflicts between markers. Without open conflicts, it is like [`merge::merge`], and nobody is
/// asked for the `style`.
///
/// # Errors
/// The errors of [`merge::merge`].
pub fn merge<'c>(
    dest: &Side,
    given: &[(Role, Vec<Side>)],
    style: impl Fn() -> Option<Style>,
    config: impl Fn() -> Result<Config<'c>>,
) -> Result<Merge> {
    merge::drawn(dest, given, config, |open| marked(&open, dest, given, &style))
}

fn marked(
    open: &Open<'_>,
    dest: &Side,
    given: &[(Role, Vec<Side>)],
    style: &dyn Fn() -> Option<Style>,
) -> Result<Merge, Stop> {
    let mut ours = open.draw(Some(Pick::Dest))?;
    if ours.has_failed() || !ours.results.iter().any(Event::is_open) {
        return Ok(ours);
    }
    let mut theirs = open.draw(Some(Pick::Updated))?;
    if theirs.has_failed() {
        return Ok(theirs);
    }
    // All drafts have the same conflicts, and thousands of results take more memory than their texts.
    theirs.results = Vec::new();
    // The original is only shown, so a failure of its draft does not matter.
    let original = match open.draw(Some(Pick::Original)) {
        Err(again @ Stop::Again(_)) => return Err(again),
        drawn => drawn.ok().filter(|merge| !merge.has_failed()),
    };
    let original = original.map(|merge| Merge { results: Vec::new(), ..merge });
    let mut results = std::mem::take(&mut ours.results);
    let style = original.as_ref().map_or(Style::Merge, |_| style().unwrap_or(Style::Diff3));
    let drafts = Sides {
        original: Draft::of(original.as_ref()),
        updated: Draft::of(Some(&theirs)),
        dest: Draft::of(Some(&ours)),
    };
    let paths: BTreeSet<&str> = drafts.updated.changes.keys().chain(drafts.dest.changes.keys()).copied().collect();
    let secrets = ours.secrets.iter().map(ResourceRef::identity).collect();
    let drawn = Drawn { dest, drafts, labels: labels(dest, given), style, secrets };
    let mut changes = Vec::new();
    for path in paths {
        changes.extend(drawn.file(path)?);
        if let Some(beside) = drawn.beside(path)? {
            let what = What::NoMarkers { path: path.to_owned(), beside: beside.path.clone() };
            results.push(Event::of(what));
            changes.push(beside);
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    results::finish(&mut results);
    let (made, conflicts) = (BTreeMap::new(), Conflicts::Marked);
    Ok(Merge { changes, results, made, conflicts, ..ours })
}

/// A text with markers around the lines in which the edits of dest and updated differ. Both sides have all other edits, too. Each of the
/// places is chosen as a whole.
///
/// # Errors
/// The edits of a side overlap.
pub fn text(
    source: &str,
    edits: &Sides<Vec<Edit>>,
    places: &[Range<usize>],
    labels: &Sides<String>,
    style: Option<Style>,
) -> Result<String, Overlap> {
    let mut joined = Sides::default();
    for (side, edits) in edits.iter() {
        joined[side] = whole(source, edits, places)?;
    }
    let Parted { parts, .. } = parts(source, 0..source.len(), &joined, &[])?;
    let Sides { original, updated, dest } = Sides::of(|side| labels[side].as_str());
    let (size, style) = (size([source]), style.unwrap_or(Style::Diff3));
    Ok(Marks { size, style, ours: dest, original, theirs: updated }.text(&parts))
}

/// These edits, but one edit for all that change the lines of a place, or add lines at its end.
fn whole(source: &str, edits: &[Edit], places: &[Range<usize>]) -> Result<Vec<Edit>, Overlap> {
    let mut all = edits.to_vec();
    for lines in places.iter().map(|place| lines(source, place)) {
        let is_in = |edit: &Edit| lines.start <= edit.range.start && edit.range.end <= lines.end;
        let (inner, mut others): (Vec<Edit>, Vec<Edit>) = all.into_iter().partition(is_in);
        if !inner.is_empty() {
            others.push(Edit { text: TextEdits::of(inner)?.apply(source, lines.clone()), range: lines });
        }
        all = others;
    }
    TextEdits::of(all).map(TextEdits::into_vec)
}

/// Checks that no file of dest has markers left. A merge would take them for text of the file, or overwrite the lines between them. In a
/// file that is not of resources, only markers of this program count, because the text may be about markers.
///
/// # Errors
/// A file has markers, or cannot be read.
pub fn check_resolved(dest: &Side) -> Result<()> {
    let label = label("dest", Some(dest));
    for held in &dest.files {
        let is_text = match held.content {
            Content::NoYaml(_) => false,
            Content::Other => true,
            Content::Resources(_) | Content::ByPath(..) | Content::AsText(..) => continue,
        };
        let bytes = held.bytes()?;
        let marked = Marked::read(&bytes);
        let is_of_merge = |conflict: &Conflict| bare(&marked.shown(&conflict.ours.label)) == label;
        if marked.conflicts.iter().any(|conflict| !is_text || is_of_merge(conflict)) {
            bail!("{}: {RESOLVE}; nothing was written", held.name);
        }
    }
    Ok(())
}

/// What the name of updated's version of a file ends with, if it lies beside dest's.
pub(crate) const BESIDE: &str = ".updated";

/// The merged files in case one side wins.
#[derive(Default)]
struct Draft<'m> {
    changes: BTreeMap<&'m str, &'m Change>,
    made: BTreeMap<&'m str, &'m Made>,
}

impl<'m> Draft<'m> {
    fn of(merge: Option<&'m Merge>) -> Self {
        let Some(merge) = merge else { return Self::default() };
        Self {
            changes: merge.changes.iter().map(|change| (change.path.as_str(), change)).collect(),
            made: merge.made.iter().map(|(path, made)| (path.as_str(), made)).collect(),
        }
    }

    /// The bytes of a file in this draft. `here` has dest's bytes.
    fn bytes(&self, path: &str, here: Option<&[u8]>) -> Option<Vec<u8>> {
        self.changes.get(path).map_or_else(|| here.map(<[u8]>::to_vec), |change| change.new.clone())
    }

    /// Whether anyone may execute the file, if the draft changes that.
    fn executable(&self, path: &str) -> Option<bool> {
        self.changes.get(path).and_then(|change| change.executable)
    }

    /// The edits that turn the text of the file `from` in dest into the text of this file; `None` if edits cannot do it.
    fn edits(&self, path: &str, from: &str, source: &str, text: &str) -> Option<Vec<Edit>> {
        let edits = match self.made.get(path) {
            Some(made) if made.from == from => made.edits.clone(),
            Some(_) => return None,
            None => TextEdits::default(),
        };
        // A file that became updated's, byte for byte, was copied, not edited.
        (edits.apply(source, 0..source.len()) == text).then(|| edits.into_vec())
    }
}

fn label(word: &str, side: Option<&Side>) -> String {
    match side {
        Some(side) => shown::line(&format!("{word} ({})", side.name)).into_owned(),
        None => word.to_owned(),
    }
}

/// The labels of the sides at the markers: each has the role and the name that the user gave.
fn labels(dest: &Side, given: &[(Role, Vec<Side>)]) -> Sides<String> {
    let of = |role: Role| {
        let mut sides = given.iter().filter(|(other, _)| *other == role).flat_map(|(_, sides)| sides);
        label(role.name(), sides.next())
    };
    Sides { original: of(Role::Original), updated: of(Role::Updated), dest: label("dest", Some(dest)) }
}

/// The drafts, and the form of the markers.
struct Drawn<'m> {
    dest: &'m Side,
    drafts: Sides<Draft<'m>>,
    labels: Sides<String>,
    style: Style,
    /// What is a Secret on any side, by its identity on each.
    secrets: HashSet<Identity<'m>>,
}

impl Drawn<'_> {
    /// The bytes of a file in dest.
    fn here(&self, path: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.dest.at(path).map(Held::bytes).transpose()?.map(Cow::into_owned))
    }

    /// The change of a file; `None` if the file stays.
    fn file(&self, path: &str) -> Result<Option<Change>> {
        let old = self.here(path)?;
        let bytes = Sides::of(|side| self.drafts[side].bytes(path, old.as_deref()));
        let new = if bytes.dest == bytes.updated {
            bytes.dest
        } else {
            let marked = self.marked(path, &bytes).map(String::into_bytes);
            marked.or(bytes.dest).or(bytes.updated)
        };
        let executable = self.drafts.updated.executable(path).or_else(|| self.drafts.dest.executable(path));
        let is_same = new == old && executable.is_none();
        Ok((!is_same).then(|| Change { path: path.to_owned(), old, new, executable }))
    }

    /// The new file beside one that is no text and that both sides have in different versions: it holds updated's. `None` for other files, and
    /// if it is there already.
    ///
    /// # Errors
    /// Something else is at its path.
    fn beside(&self, path: &str) -> Result<Option<Change>> {
        let old = self.here(path)?;
        let bytes = Sides::of(|side| self.drafts[side].bytes(path, old.as_deref()));
        let is_apart = bytes.dest.is_some() && bytes.updated.is_some() && bytes.dest != bytes.updated;
        if !is_apart || self.marked(path, &bytes).is_some() {
            return Ok(None);
        }
        let beside = format!("{path}{BESIDE}");
        match self.here(&beside)? {
            there if there.is_some() && there == bytes.updated => Ok(None),
            None if !is_unread(self.dest, &beside) => {
                Ok(Some(Change { path: beside, old: None, new: bytes.updated, executable: None }))
            }
            _ => bail!("{beside}: nothing must be here, because updated's {path} comes here: move it, or delete it"),
        }
    }

    /// The text of a file whose drafts differ, with markers; `None` if it is not text.
    fn marked(&self, path: &str, bytes: &Sides<Option<Vec<u8>>>) -> Option<String> {
        let texts = Sides::of(|side| bytes[side].as_deref().and_then(carried::text));
        let is_deleted = |side: Version| bytes[side].is_none();
        let text = |side: Version| if is_deleted(side) { Some("") } else { texts[side] };
        let (updated, dest) = (text(Version::Updated)?, text(Version::Dest)?);
        let sides = Sides { original: texts.original.unwrap_or_default(), updated, dest };
        let is_whole = is_deleted(Version::Updated) || is_deleted(Version::Dest);
        let parts = if is_whole { None } else { self.by_edits(path, texts) };
        let style = if texts.original.is_some() { self.style } else { Style::Merge };
        let (parts, style) = parts.unwrap_or_else(|| {
            let grain = if is_whole { Grain::Whole } else { Grain::Lines };
            let choice = Choice { texts: sides.map(str::to_owned), grain };
            (vec![LabelledPart { ending: self.ending(&choice), part: Part::of(choice) }], style)
        });
        let size = size([sides.original, updated, dest]);
        let mut out = String::new();
        for LabelledPart { part, ending } in &parts {
            let label = |side: Version| {
                let deleted = if is_deleted(side) && side != Version::Original { DELETED } else { "" };
                format!("{}{ending}{deleted}", self.labels[side])
            };
            let Sides { original, updated, dest } = Sides::of(label);
            Marks { size, style, ours: &dest, original: &original, theirs: &updated }.write(part, &mut out);
        }
        Some(out)
    }

    /// The parts of a text that edits of dest's text make, and the style of its markers. Without a draft of the original, the markers have
    /// only the two sides.
    fn by_edits(&self, path: &str, texts: Sides<Option<&str>>) -> Option<(Vec<LabelledPart>, Style)> {
        let from = [&self.drafts.dest, &self.drafts.updated].into_iter().find_map(|draft| draft.made.get(path));
        let from = from.map_or(path, |made| made.from.as_str());
        let document = self.dest.at(from)?.document()?;
        let source = document.source();
        let edits = |side: Version| self.drafts[side].edits(path, from, source, texts[side]?);
        let (dest, updated, original) = (edits(Version::Dest)?, edits(Version::Updated)?, edits(Version::Original));
        let style = if original.is_some() { self.style } else { Style::Merge };
        let edits = Sides { original: original.unwrap_or_default(), updated, dest };
        let Parted { mut parts, open } = parts(source, 0..source.len(), &edits, &texts_of(document)).ok()?;
        parts.iter_mut().for_each(keep_whole);
        let named =
            if self.secrets.is_empty() { Vec::new() } else { self.named(document, [texts.dest?, texts.updated?]) };
        let mut open = open.into_iter();
        let mut ending = |part: &Part| {
            let Part::Choice(choice) = part else { return "" };
            let lines = open.next().unwrap_or_default();
            let near = &named[named.partition_point(|of| of.lines.end < lines.start)..];
            let touched = || near.iter().take_while(|of| of.lines.start <= lines.end).filter(|of| of.has(&lines));
            match touched().find(|of| of.ending == OF_SECRET) {
                Some(of) => of.ending,
                None if touched().any(|of| of.contains(&lines)) => "",
                None => self.ending(choice),
            }
        };
        let labelled = parts.into_iter().map(|part| LabelledPart { ending: ending(&part), part });
        Some((labelled.collect(), style))
    }

    /// The resources of a file of dest, in order. A label says that one is a Secret on some side, unless both texts say it.
    fn named(&self, document: &Document<'_>, texts: [&str; 2]) -> Vec<DestLines> {
        let name = |own: &Resource<'_>| own.identity.map(|i| (i.namespace.to_owned(), i.name.to_owned()));
        let secrets = texts.map(|text| {
            let document = Document::parse(text);
            let all = document.iter().flat_map(resources).filter(|own| own.secret == Secret::All);
            all.filter_map(|own| name(&own)).collect::<HashSet<_>>()
        });
        let is_said = |own: &Resource<'_>| {
            let is_in = |name| secrets.iter().all(|all| all.contains(&name));
            own.secret == Secret::All && name(own).is_some_and(is_in)
        };
        let of = |own: Resource<'_>| DestLines {
            lines: lines_of(own.node()),
            ending: if self.is_secret(&own) && !is_said(&own) { OF_SECRET } else { "" },
        };
        resources(document).map(of).collect()
    }

    /// What the labels of whole resources end with: whether a text has one that is a Secret on some side, and does not say it.
    fn ending(&self, choice: &Choice) -> &'static str {
        let is_hidden = |text: &String| {
            let Ok(document) = Document::parse(text.as_str()) else { return true };
            let all = document.roots().flat_map(|root| root.elements().chain([root]));
            let mut all = all.flat_map(|node| Resource::of_document(node, |_| Origin::Item(0)));
            all.any(|own| self.is_secret(&own) && own.secret != Secret::All)
        };
        let has_secret =
            !self.secrets.is_empty() && [&choice.texts.dest, &choice.texts.updated].into_iter().any(is_hidden);
        if has_secret { OF_SECRET } else { "" }
    }

    fn is_secret(&self, resource: &Resource<'_>) -> bool {
        resource.identity.is_some_and(|identity| self.secrets.contains(&identity))
    }
}

/// A part of a text, and what the labels of its markers end with.
struct LabelledPart {
    part: Part,
    ending: &'static str,
}

/// The lines of a resource of dest, and what the labels there end with.
struct DestLines {
    lines: Range<usize>,
    ending: &'static str,
}

impl DestLines {
    /// Whether lines of dest are of the resource, or may be: lines that are added directly above or below it.
    fn has(&self, lines: &Range<usize>) -> bool {
        match lines.is_empty() {
            true => self.lines.start <= lines.start && lines.end <= self.lines.end,
            false => self.lines.start < lines.end && lines.start < self.lines.end,
        }
    }

    /// Whether lines of dest are of the resource alone.
    fn contains(&self, lines: &Range<usize>) -> bool {
        self.lines.start < lines.start && lines.end < self.lines.end
            || !lines.is_empty() && self.lines.start <= lines.start && lines.end <= self.lines.end
    }
}

fn resources<'a>(document: &'a Document<'_>) -> impl Iterator<Item = Resource<'a>> {
    document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Item(0)))
}

/// The lines of a node.
fn lines_of(node: NodeRef<'_>) -> Range<usize> {
    lines(node.document().source(), &(node.start()..node.end()))
}

/// The lines of a place.
fn lines(source: &str, place: &Range<usize>) -> Range<usize> {
    let end = if starts_line(source, place.end) { place.end } else { next_line(source, place.end) };
    line_start(source, place.start)..end
}

/// The lines of the texts of a document that are written over several. In these, lines are chosen separately. In a flow map or list, a line may
/// have more than a text.
fn texts_of(document: &Document<'_>) -> Vec<Lines<'static>> {
    fn collect(node: NodeRef<'_>, found: &mut Vec<Lines<'static>>) {
        if has_source_lines(node) {
            found.push(Lines { range: lines_of(node), grain: Grain::Lines, finer: Finer::Never });
        }
        if node.style() == Written::Block {
            node.entries().for_each(|(_, value)| collect(value, found));
            node.elements().for_each(|element| collect(element, found));
        }
    }
    let mut found = Vec::new();
    document.roots().for_each(|root| collect(root, &mut found));
    found
}

/// Makes a choice whole unless its texts begin with the same line. The first line says how the text is written, and that of a block scalar its
/// indentation, so separately chosen lines must have the same one.
fn keep_whole(part: &mut Part) {
    let Part::Choice(Choice { texts, grain }) = part else { return };
    let first = |text: &String| text.split_inclusive('\n').next().map(str::to_owned);
    if first(&texts.dest) != first(&texts.updated) {
        *grain = Grain::Whole;
    }
}

/// How many characters the markers around lines of these texts have: more than what looks like a marker there.
fn size<const N: usize>(texts: [&str; N]) -> usize {
    texts.into_iter().map(|text| longest_marker(text) + 1).fold(SIZE, usize::max)
}

/// The length of the longest marker at the start of a line.
fn longest_marker(text: &str) -> usize {
    let run = |line: &str| {
        let mark = line.chars().next().filter(|c| "<|=>".contains(*c))?;
        Some(line.chars().take_while(|c| *c == mark).count())
    };
    text.lines().filter_map(run).max().unwrap_or_default()
}
