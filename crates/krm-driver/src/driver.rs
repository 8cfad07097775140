//! `git-driver %O %A %B %P`: merges theirs into ours, and reports by its exit code whether a conflict is left.
//!
//! Each side is parsed once, and the merge is done once. One tree gives both halves of each choice. The driver takes the text of git's own
//! merge by line if that merge is clean and means the same, because the text also has the sides' changes to comments, layout and order. The
//! driver also takes it if it is clean and the conflicts are in texts of several lines, or come from a renamed resource.
//!
//! A file that is one document without a name is merged in the same way, as the document that it is. If it has several documents, nobody knows
//! which of them are one, so git merges the lines. git may put a key or an anchor twice, though, and does not notice.
//!
//! If branches merged each other, they have several common ancestors. git merges these first, and the result is the original of the merge.
//! If it had the value of one side, the other side's value would win. So no rule decides there, nothing is printed, and a conflict stays
//! between markers, as in git's own merge.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result};
use krm_files::disk;
use krm_files::errors;
use krm_files::made;
use krm_files::temporary::TemporaryFolder;
use krm_files::walk;
use krm_folders::end::End;
use krm_folders::held::parse;
use krm_git::program::{In, git};
use krm_job::config::Config;
use krm_job::decision::Decisions;
use krm_job::line_end::LineEnd;
use krm_merge_core::policy::OnConflict;
use krm_merge_core::refine::{has_twins, twins};
use krm_package::list;
use krm_package::resource::{Identity, Located, Origin, Resource, mark_as_secret};
use krm_package::rules::Rules;
use krm_schema::mode::Mode;
use krm_schema::schema::files;
use krm_show::screen;
use krm_tree::alias;
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_words::{Message, Word};
use krm_yaml::{Document, NodeRef, shown};

use crate::args::GitDriver;
use crate::comments::{is_any_astray, is_any_lost};
use crate::definitions::nodes;
use crate::file_merge::Merge;
use crate::line_merge::{agrees, are_of_lines};
use crate::marks::{Marks, Style};
use crate::part::{Choice, Grain, Part};
use crate::plain;
use crate::repository::{Repository, config_of, temporary_folder, without_rules};

/// Merges the three files and puts the result in the place of our file. If a file cannot be read or written, or if git's own merge is needed
/// but git cannot be run, our file stays as it is, without what theirs changed. So git must stop.
pub fn drive(args: &GitDriver) -> End {
    let versions = Versions::of(args);
    let merged = if is_off() { by_line(&versions) } else { merge(&versions) };
    merged.unwrap_or_else(|e| {
        screen::tell(Word::Error, &errors::chain(&e));
        End::StopsGit
    })
}

/// Whether the user wants git's own merge in this run: `KRM_MERGE_DRIVER=off git merge …`.
fn is_off() -> bool {
    std::env::var_os("KRM_MERGE_DRIVER")
        .is_some_and(|value| ["off", "0", "false", "no"].iter().any(|off| value == *off))
}

/// A file in three versions, and what git says of them.
#[derive(Clone, Debug)]
struct Versions {
    original: PathBuf,
    /// Our version; the result is written here.
    ours: PathBuf,
    theirs: PathBuf,
    /// The path of the file in the repository.
    path: Option<PathBuf>,
    marker_size: u16,
    labels: Sides<String>,
    purpose: Purpose,
}

/// What a merge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// git merges two branches.
    Merge,
    /// git merges common ancestors of the sides. No rule decides, and nothing is told.
    Ancestors,
    /// `resolve` merges a file that has markers of this style. It asks about what stays open, so only decisions are told. What git would merge
    /// stays as git left it.
    Resolve(Style),
}

impl Versions {
    fn of(args: &GitDriver) -> Self {
        let GitDriver { original, ours, theirs, path, marker_size, .. } = args.clone();
        let GitDriver { original_label, ours_label, theirs_label, common_ancestor, .. } = args.clone();
        let labels = Sides { original: original_label, updated: theirs_label, dest: ours_label };
        let purpose = if common_ancestor { Purpose::Ancestors } else { Purpose::Merge };
        Self { original, ours, theirs, path, marker_size, labels, purpose }
    }
}

/// A file with markers, as `resolve` merges it.
#[derive(Clone, Debug)]
pub struct MarkedVersions<'m> {
    /// Its path in the repository.
    pub path: PathBuf,
    /// Its text on each side.
    pub texts: Sides<&'m [u8]>,
    /// The labels at its markers.
    pub labels: Sides<String>,
    /// The length of its markers.
    pub marker_size: u16,
    /// The style of its markers.
    pub style: Style,
}

/// The versions of a file with markers, in files of their own, because git reads these, too.
pub struct VersionFiles {
    versions: Versions,
    /// The files go with it.
    _folder: TemporaryFolder,
}

impl VersionFiles {
    /// Writes the files.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written.
    pub fn of(marked: MarkedVersions<'_>) -> Result<Self> {
        let MarkedVersions { path, texts, labels, marker_size, style } = marked;
        let folder = temporary_folder("resolve")?;
        let original = folder.add("original", texts.original)?;
        let (ours, theirs) = (folder.add("ours", texts.dest)?, folder.add("theirs", texts.updated)?);
        let purpose = Purpose::Resolve(style);
        let versions = Versions { original, ours, theirs, path: Some(path), marker_size, labels, purpose };
        Ok(Self { versions, _folder: folder })
    }

    /// Whether a text is that of git's own merge by line, in one of the ways in which it may have compared the versions.
    ///
    /// # Errors
    /// git cannot be run.
    pub fn git_makes(&self, is_it: impl Fn(&[u8]) -> bool) -> Result<bool> {
        for algorithm in [Algorithm::Histogram, Algorithm::Quick] {
            if is_it(&Asked::by(&self.versions, algorithm, &[])?.output.stdout) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The text that the driver leaves; `None` if it leaves the file to git.
    ///
    /// # Errors
    /// git cannot be run, or the files cannot be written.
    pub fn merged(self) -> Result<Option<Vec<u8>>> {
        match merge(&self.versions)? {
            End::StopsGit => Ok(None),
            _ => read(&self.versions.ours).map(Some),
        }
    }
}

fn merge(versions: &Versions) -> Result<End> {
    let sides =
        Sides { original: read(&versions.original)?, updated: read(&versions.theirs)?, dest: read(&versions.ours)? };
    let upstream = if sides.original.is_empty() { &sides.updated } else { &sides.original };
    match LineEnd::of_dest(upstream, &sides.dest) {
        Some(end) => with_line_ends_of_ours(versions, end, sides),
        None => merged_versions(versions, sides),
    }
}

/// Merges versions where only ours has these line ends. The others get them, in files of their own, because git reads these, too.
fn with_line_ends_of_ours(versions: &Versions, end: LineEnd, sides: Sides<Vec<u8>>) -> Result<End> {
    let folder = temporary_folder("driver")?;
    let Sides { original, updated, dest } = sides;
    let sides = Sides { original: end.end_all(&original), updated: end.end_all(&updated), dest };
    let (original, theirs) = (folder.add("original", &sides.original)?, folder.add("theirs", &sides.updated)?);
    merged_versions(&Versions { original, theirs, ..versions.clone() }, sides)
}

/// Merges the versions of a file.
fn merged_versions(versions: &Versions, sides: Sides<Vec<u8>>) -> Result<End> {
    let name = name(versions);
    let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } =
        sides.map(|bytes| parse(&name, bytes).ok())
    else {
        return by_line(versions);
    };
    let documents = Sides { original: &original, updated: &updated, dest: &dest };
    let read = |kinds| {
        let Sides { original, updated, dest } = documents.map(|document| resources(&name, document, kinds));
        let mut sides = Sides { original: original?, updated: updated?, dest: dest? };
        mark_as_secret(sides.as_mut().map(|side| &mut side[..]));
        Some((kinds, sides))
    };
    let found = read(Kinds::Named).or_else(|| read(Kinds::Whole(whole(&name, documents)?)));
    match found {
        Some((kinds, resources)) => merged(versions, &File { name: &name, kinds, documents }, &resources),
        None => by_line(versions),
    }
}

/// A file of resources, or of a document without a name, in all versions.
struct File<'n, 'a> {
    name: &'n str,
    kinds: Kinds<'a>,
    documents: Sides<&'a Document<'static>>,
}

/// What the documents of a file are.
#[derive(Clone, Copy)]
enum Kinds<'a> {
    /// Resources with names.
    Named,
    /// One document without a name, such as a kustomization or the values of a chart. This stands for its identity.
    Whole(Identity<'a>),
}

impl<'a> File<'_, 'a> {
    fn resources<'d>(&self, document: &'d Document<'static>) -> Option<Vec<Resource<'d>>>
    where
        'a: 'd,
    {
        resources(self.name, document, self.kinds)
    }
}

/// The name of the file for messages.
fn name(versions: &Versions) -> String {
    versions.path.as_deref().map_or_else(|| walk::shown(&versions.ours), walk::text)
}

/// Merges files of resources, or of a document without a name.
fn merged<'a>(versions: &Versions, file: &File<'_, 'a>, resources: &Sides<Vec<Resource<'a>>>) -> Result<End> {
    let repository = Repository::here();
    let own =
        repository.as_ref().and_then(|repository| repository.rules(|warning| tell(versions, Word::Warning, warning)));
    let Config { types, task, new_elements, limit, .. } = match &own {
        Some(own) => config_of(own)?,
        None => without_rules()?,
    };
    // The user is told this once, also if git merges common ancestors first.
    let found = repository.map(|repository| {
        repository
            .definitions(resources.iter().flat_map(|(_, side)| side), |warning| screen::tell(Word::Warning, warning))
    });
    let found = found.unwrap_or_default();
    let types = types.with_definitions(found.iter().flat_map(nodes)).with_definitions(definitions(resources));
    let input = file.documents.iter().map(|(_, document)| document.source().len()).sum();
    let budget = Budget::new(limit.with_input(input));
    let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: task.policy(new_elements), budget: &budget };
    let mut decisions = match versions.purpose {
        Purpose::Ancestors => Decisions::new(&[], OnConflict::Fail.into()),
        Purpose::Merge | Purpose::Resolve(_) => task.decisions(task.on_conflict().into()),
    };
    let Some(merge) = Merge::of(file.documents, resources, rules, &mut decisions) else { return by_line(versions) };
    merge.unions().iter().for_each(|told| tell_open(versions, Word::Warning, told));
    let is_open = merge.is_any_open();
    // Where fields are in conflict, lines nearly always are, and git's markers may be needed.
    let plain = if is_open { None } else { plain::merged(file.documents.map(Document::source)) };
    let by_git = match plain {
        Some(lines) => ByGit::Plain(lines),
        None => ByGit::Asked(Asked::of(versions, || is_open)?),
    };
    if let Some(lines) = by_git.clean().filter(|lines| means_the_same(lines, file, &merge, resources)) {
        merge.decided().iter().for_each(|decided| tell(versions, Word::Info, decided));
        write(versions, lines.as_bytes())?;
        return Ok(End::Done);
    }
    // A key that a side has twice is that side's own. Where git is clean, its text counts, unless it has another key twice.
    let has_twins = || resources.iter().any(|(_, side)| side.iter().any(|resource| has_twins(resource.node())));
    if by_git.clean().is_some() && has_twins() {
        return by_line(versions);
    }
    by_field(versions, file, (&merge, resources), &by_git)
}

/// Whether the text that git merged holds the same kinds of documents and means the same as a merge.
fn means_the_same<'a>(
    lines: &str,
    file: &File<'_, 'a>,
    merge: &Merge<'_, 'a>,
    resources: &Sides<Vec<Resource<'a>>>,
) -> bool {
    let sides = Sides::of(|side| &resources[side][..]);
    // A text that equals a whole side is parsed already.
    if let Some((side, _)) = file.documents.iter().find(|(_, document)| document.source() == lines) {
        return agrees(sides[side], merge, sides);
    }
    let document = parse(file.name, lines.as_bytes().to_vec());
    document.is_ok_and(|document| {
        if file.documents.dest.keeps_links() {
            document.keep_links();
        }
        file.resources(&document).is_some_and(|found| agrees(&found, merge, sides))
    })
}

/// Whether a text has this many resources and nothing else. This finds a fault in how the text was put together, before a resource is lost
/// without a word.
fn has_resources(file: &File<'_, '_>, text: &str, count: usize) -> bool {
    let document = parse(file.name, text.as_bytes().to_vec());
    document.is_ok_and(|document| file.resources(&document).is_some_and(|all| all.len() == count))
}

/// Writes the result of a merge, with markers around the parts that are unresolved.
fn by_field<'a>(
    versions: &Versions,
    file: &File<'_, 'a>,
    (merge, resources): (&Merge<'_, 'a>, &Sides<Vec<Resource<'a>>>),
    by_git: &ByGit,
) -> Result<End> {
    let name = file.name;
    let labels = Labels::of(versions);
    let names = labels.named();
    let names = Sides { original: &*names.original, updated: &names.updated, dest: &names.dest };
    let Some(told) = merge.told(name) else {
        let end = by_line(versions)?;
        let Some(fault) = merge.fault().filter(|_| end == End::Differs) else { return Ok(end) };
        tell_open(versions, Word::Conflict, &format!("{name}: {fault}; unresolved"));
        return Ok(End::Differs);
    };
    let is_marked = told.parts.iter().any(|part| matches!(part, Part::Choice(_)));
    let is_open = is_marked || !told.conflicts.is_empty();
    let text = labels.marks(is_open).text(&told.parts);
    let is_clean = by_git.clean().is_some();
    let is_any_wrong = || match is_open {
        // A conflict without markers would be one that nobody sees.
        true => !is_marked || is_any_lost(&text, file.documents, &told.waived),
        false => is_any_astray(&text, file.documents, &told.waived),
    };
    if !is_clean && is_any_wrong() {
        return by_line(versions);
    }
    let is_half = |half: &str| match file.kinds {
        Kinds::Named => !merge.is_any_disputed() && means_the_same(half, file, merge, resources),
        Kinds::Whole(_) => {
            !merge.is_stopped() && are_of_lines(merge) && twins(half).is_some_and(|twins| twins.is_empty())
        }
    };
    let shorter = match by_git {
        ByGit::Asked(asked) if is_open => asked.shorter(versions, &text, is_half)?,
        _ => None,
    };
    if shorter.is_some() && is_clean {
        return by_line(versions);
    }
    let text = shorter.unwrap_or(text);
    if !is_open && !has_resources(file, &text, merge.kept().len()) {
        by_line(versions)?;
        tell_open(
            versions,
            Word::Error,
            &format!(
                "{name}: not merged by field, because the result would not have each resource exactly once; unresolved. Check the file"
            ),
        );
        return Ok(End::Differs);
    }
    let followed = merge.followed(names.updated).into_iter();
    followed.chain(merge.decided()).for_each(|told| tell(versions, Word::Info, &told));
    merge.written_out().iter().for_each(|told| tell(versions, Word::Warning, told));
    told.conflicts.iter().for_each(|conflict| {
        let Message { word, text } = Message::in_words_of(names, conflict);
        tell_open(versions, word, &text);
    });
    for (of, clash) in &told.asked {
        tell_open(
            versions,
            Word::Conflict,
            &format!("{of}: {}; {}", krm_words::what_by(clash, names), krm_words::outcome(clash)),
        );
    }
    write(versions, text.as_bytes())?;
    Ok(if is_open { End::Differs } else { End::Done })
}

/// Tells the user what was decided, or what a merge lacks.
fn tell(versions: &Versions, word: Word, text: &str) {
    if versions.purpose != Purpose::Ancestors {
        screen::tell(word, text);
    }
}

/// Tells the user what is unresolved.
fn tell_open(versions: &Versions, word: Word, text: &str) {
    if versions.purpose == Purpose::Merge {
        screen::tell(word, text);
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| walk::shown(path))
}

/// Puts the result in the place of our file. It is written to a file of its own first, so that a full disk leaves our file whole.
fn write(versions: &Versions, text: &[u8]) -> Result<()> {
    let here = Repository::here();
    // Where there is no repository, git tracks nothing.
    let beside = versions.ours.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let own = here.as_ref().and_then(Repository::own_folder).unwrap_or(beside);
    if here.is_none() || own != beside {
        let _ = disk::clean(own, &disk::leftovers_in(own));
    }
    made::replace_by_way_of(own, &versions.ours, text).with_context(|| walk::shown(&versions.ours))
}

/// The conflict style in the user's configuration of git; `None` if there is none, or the style is unknown.
pub fn style() -> Option<Style> {
    let output = git(In::Environment).args(["config", "--get", "merge.conflictStyle"]).output();
    match output.as_ref().map(|output| output.stdout.trim_ascii()) {
        Ok(b"diff3") => Some(Style::Diff3),
        Ok(b"zdiff3") => Some(Style::Zdiff3),
        Ok(b"merge") => Some(Style::Merge),
        _ => None,
    }
}

/// The resources of a text; `None` if the text holds anything else, or two resources with the same identity. If both sides added the file,
/// its original is a text without documents.
fn resources<'a>(name: &str, document: &'a Document<'static>, kinds: Kinds<'a>) -> Option<Vec<Resource<'a>>> {
    let mut seen = HashSet::new();
    let roots = document.roots().filter(|root| !root.is_null()).enumerate();
    let read = |(i, root): (usize, NodeRef<'a>)| {
        let origin = Origin::File { name: name.to_owned(), item: Some(i) };
        // The path annotations of a resource are ignored, because git decides to which file it belongs.
        let own = Resource { relative_path: None, located: Located::Nowhere, ..Resource::read(root, origin) };
        let own = match kinds {
            Kinds::Named => own,
            Kinds::Whole(identity) => Resource { known_as: None, ..own.known_in_file(Some(identity)) },
        };
        let is_one = list::items_of(root).is_none() && alias::shared(root).is_none() && seen.insert(own.identity?);
        is_one.then_some(own)
    };
    roots.map(read).collect()
}

/// What stands for the identity of a file that is one document in all versions, of one kind: in a three-way merge of folders, too, such a file
/// merges as a document. `None` for other files. The names of some files say their type, as that of a kustomization does.
fn whole<'a>(name: &str, documents: Sides<&'a Document<'static>>) -> Option<Identity<'a>> {
    let of = |side: Side| documents[side].roots().filter(|root| !root.is_null()).collect::<Vec<NodeRef<'a>>>();
    let ([dest], [updated], original @ ([] | [_])) =
        (&of(Side::Dest)[..], &of(Side::Updated)[..], &of(Side::Original)[..])
    else {
        return None;
    };
    let text = |root: &NodeRef<'a>, field: &str| root.get(field).and_then(NodeRef::as_str).unwrap_or_default();
    let known = files::type_of(name);
    let kind = |root: &NodeRef<'a>| (root.kind(), if known.is_some() { "" } else { text(root, "kind") });
    let is_one = dest.is_container() && original.iter().chain([updated]).all(|root| kind(root) == kind(dest));
    let [api_version, kind] = known.unwrap_or_else(|| ["apiVersion", "kind"].map(|field| text(dest, field)));
    is_one.then_some(Identity { api_version, kind, namespace: "", name: "" })
}

/// The CustomResourceDefinitions of all sides.
fn definitions<'a>(resources: &Sides<Vec<Resource<'a>>>) -> Vec<NodeRef<'a>> {
    let Sides { original, updated, dest } = resources;
    [dest, original, updated].into_iter().flatten().filter(|r| r.is_definition()).map(|r| r.node()).collect()
}

/// The labels of the sides at the markers, and the length of the markers.
struct Labels<'l> {
    of: Sides<Cow<'l, str>>,
    size: usize,
    purpose: Purpose,
}

impl<'l> Labels<'l> {
    fn of(versions: &'l Versions) -> Self {
        let of = Sides {
            original: label("original", "%S", &versions.labels.original),
            updated: label("theirs", "%Y", &versions.labels.updated),
            dest: label("ours", "%X", &versions.labels.dest),
        };
        Self { of, size: usize::from(versions.marker_size), purpose: versions.purpose }
    }

    /// The names of the sides in messages: git's word for the side, and the label if it says more.
    fn named(&self) -> Sides<String> {
        let named = |word: &str, label: &str| if label == word { word.to_owned() } else { format!("{word} ({label})") };
        let Sides { original, updated, dest } = &self.of;
        Sides { original: named("original", original), updated: named("theirs", updated), dest: named("ours", dest) }
    }

    /// The markers. git is asked for their style only if there are any.
    fn marks(&self, is_open: bool) -> Marks<'_> {
        let style = match self.purpose {
            Purpose::Resolve(style) => Some(style),
            Purpose::Merge | Purpose::Ancestors if is_open => style(),
            Purpose::Merge | Purpose::Ancestors => None,
        };
        Marks {
            size: self.size,
            style: style.unwrap_or(Style::Merge),
            ours: &self.of.dest,
            original: &self.of.original,
            theirs: &self.of.updated,
        }
    }
}

/// The label for a marker, on one line. An old git does not replace `%X`; then it is the default label.
fn label<'l>(default: &'l str, unknown: &str, given: &'l str) -> Cow<'l, str> {
    if given == unknown { Cow::Borrowed(default) } else { shown::line(given) }
}

/// Runs git's own merge by line, and writes the result over our file.
fn by_line(versions: &Versions) -> Result<End> {
    if let Purpose::Resolve(_) = versions.purpose {
        return Ok(End::StopsGit);
    }
    let merged = Asked::of(versions, || true)?.output;
    let (word, what) = match merged.status.code() {
        Some(0) if breaks(versions, &merged.stdout)? => (
            Word::Conflict,
            "git merged its lines, but the result would be invalid YAML, or repeat a key or an anchor; unresolved. Resolve the conflict markers in the file",
        ),
        Some(0) => return write(versions, &merged.stdout).map(|()| End::Done),
        // The number of conflicts. git counts no further than this.
        Some(1..=127) => {
            write(versions, &merged.stdout)?;
            (Word::Conflict, "git merged its lines and left conflict markers; unresolved")
        }
        // git writes no markers into a file that is not text. As original, it takes what the ancestors come from.
        _ if versions.purpose == Purpose::Ancestors => {
            return write(versions, &read(&versions.original)?).map(|()| End::Done);
        }
        _ => (
            Word::Error,
            "git cannot merge its lines and keeps our version without conflict markers; unresolved. Choose a version with `git checkout --ours FILE` or `git checkout --theirs FILE`",
        ),
    };
    tell_open(versions, word, &format!("{}: {what}", name(versions)));
    Ok(End::Differs)
}

/// Whether the lines that git merged are no YAML although each side is, or have a key or an anchor twice that no side has twice. Then our file
/// gets all lines that differ between markers.
fn breaks(versions: &Versions, lines: &[u8]) -> Result<bool> {
    let sides =
        Sides { original: read(&versions.original)?, updated: read(&versions.theirs)?, dest: read(&versions.ours)? };
    let twins_of = |bytes: &[u8]| str::from_utf8(bytes).ok().and_then(twins);
    let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } =
        Sides::of(|side| twins_of(&sides[side]))
    else {
        return Ok(false);
    };
    let is_known = |key: &String| [&original, &updated, &dest].iter().any(|side| side.contains(key));
    if twins_of(lines).is_some_and(|twins| twins.iter().all(is_known)) {
        return Ok(false);
    }
    let texts = sides.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = Labels::of(versions).marks(true).text(&[Part::of(Choice { texts, grain: Grain::Lines })]);
    write(versions, text.as_bytes())?;
    Ok(true)
}

/// git's own merge by line.
enum ByGit {
    /// It is clean, and has this text in whichever way lines are compared. So git was not started.
    Plain(String),
    /// git was asked.
    Asked(Asked),
}

impl ByGit {
    /// Its text, if it is clean.
    fn clean(&self) -> Option<&str> {
        match self {
            Self::Plain(lines) => Some(lines),
            Self::Asked(asked) if asked.is_clean() => str::from_utf8(&asked.output.stdout).ok(),
            Self::Asked(_) => None,
        }
    }
}

/// What git said.
struct Asked {
    output: Output,
    algorithm: Algorithm,
}

/// How git compares texts.
#[derive(Clone, Copy)]
enum Algorithm {
    /// As `git merge` does it. For files of many documents, its time grows with the square of their size: 16,000 ConfigMaps take 13 seconds.
    Histogram,
    /// As `git merge-file` does it if it is not asked: 0.03 seconds for these ConfigMaps.
    Quick,
}

impl Asked {
    /// The most bytes of all versions that are compared in the slow way at once.
    const MOST: u64 = 1 << 20;

    /// Runs git's merge. If it is quick and leaves a conflict in large files, they are merged as `git merge` does it if that `is_worth` the
    /// time.
    fn of(versions: &Versions, is_worth: impl FnOnce() -> bool) -> Result<Self> {
        let files = [&versions.ours, &versions.original, &versions.theirs];
        let size: u64 = files.map(|file| fs::metadata(file).map_or(0, |found| found.len())).iter().sum();
        if size > Self::MOST {
            let quick = Self::by(versions, Algorithm::Quick, &[])?;
            if quick.is_clean() || !is_worth() {
                return Ok(quick);
            }
        }
        Self::by(versions, Algorithm::Histogram, &[])
    }

    /// Runs git's merge with an algorithm. An old git knows only one here, and refuses the option.
    fn by(versions: &Versions, algorithm: Algorithm, more: &[&str]) -> Result<Self> {
        /// git's exit code for an option that it does not know.
        const USAGE: i32 = 129;
        let labels = Labels::of(versions).of;
        let option = match algorithm {
            Algorithm::Histogram => Some("--diff-algorithm=histogram"),
            Algorithm::Quick => None,
        };
        let output = git(In::Environment)
            .arg("merge-file")
            .args(["-p", "-q"])
            .args(option)
            .args(more)
            .arg(format!("--marker-size={}", versions.marker_size))
            .args(["-L", &labels.dest, "-L", &labels.original, "-L", &labels.updated])
            .args([&versions.ours, &versions.original, &versions.theirs])
            .output()
            .context("git must be on PATH")?;
        if option.is_some() && output.status.code() == Some(USAGE) {
            return Self::by(versions, Algorithm::Quick, more);
        }
        Ok(Self { output, algorithm })
    }

    fn is_clean(&self) -> bool {
        self.output.status.success()
    }

    /// git's text with its markers, if it is shorter than another text and `is_right` holds for each half. That may be so if all conflicts are in
    /// lists without keys and in texts of several lines.
    fn shorter(&self, versions: &Versions, other: &str, is_right: impl Fn(&str) -> bool) -> Result<Option<String>> {
        let Some(own) = str::from_utf8(&self.output.stdout).ok().filter(|own| own.len() < other.len()) else {
            return Ok(None);
        };
        let is_right = |side| {
            let half = Self::by(versions, self.algorithm, &[side])?;
            anyhow::Ok(str::from_utf8(&half.output.stdout).is_ok_and(&is_right))
        };
        Ok((is_right("--ours")? && is_right("--theirs")?).then(|| own.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::parsed;

    /// How many texts are parsed for these versions, each a ConfigMap with this data.
    fn parses(name: &str, [original, ours, theirs]: [&str; 3]) -> usize {
        let folder = std::env::temp_dir().join(format!("krm-merge-driver-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = |name: &str, data: &str| {
            let path = folder.join(name);
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n{data}");
            fs::write(&path, text).expect("written");
            path
        };
        let args = GitDriver {
            original: file("original", original),
            ours: file("ours", ours),
            theirs: file("theirs", theirs),
            path: None,
            marker_size: 7,
            original_label: "original".to_owned(),
            ours_label: "ours".to_owned(),
            theirs_label: "theirs".to_owned(),
            common_ancestor: false,
        };
        let before = parsed();
        assert_ne!(drive(&args), End::StopsGit);
        let count = parsed() - before;
        fs::remove_dir_all(&folder).expect("removed");
        count
    }

    #[test]
    fn each_side_is_parsed_once_and_each_text_that_is_written() {
        let conflict = ["  a: 0\n  b: 0\n", "  a: 1\n  b: 0\n", "  a: 2\n  b: 3\n"];
        assert_eq!(parses("conflict", conflict), 3 + 3);
        assert_eq!(parses("same", ["  a: 0\n", "  a: 1\n", "  a: 1\n"]), 3);
        // git's text is different, so it is parsed as well.
        let clean =
            ["  a: 0\n  x: 0\n  y: 0\n", "  n: 1\n  a: 0\n  x: 0\n  y: 0\n", "  a: 0\n  x: 0\n  m: 1\n  y: 0\n"];
        assert!(parses("clean", clean) <= 4);
    }

    #[test]
    fn a_text_with_documents_glued_together_lacks_a_resource() {
        let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  y: two");
        let [a, b] = ["a", "b"].map(map);
        let empty = Document::parse(String::new()).expect("YAML");
        let documents = Sides { original: &empty, updated: &empty, dest: &empty };
        let file = File { name: "all.yaml", kinds: Kinds::Named, documents };
        let has_two = |text: &str| has_resources(&file, text, 2);
        assert!(has_two(&format!("{a}\n---\n{b}")));
        assert!(!has_two(&format!("{a}---\n{b}")));
        assert!(!has_two(&format!("{a}\n---\n{a}")));
        assert!(!has_two(&format!("{a}\n--- # {b}")));
    }
}
