//! The differences between dest and the patched original that no patch can express, each with its place in dest.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use anyhow::{Result, anyhow};
use krm_folders::held::{Held, parse};
use krm_folders::side::{Side, SidePart};
use krm_merge::extract::{Extent, HeldPlace, Holds};
use krm_merge_core::diff::diff;
use krm_merge_core::policy::Renames;
use krm_merge_core::refine::names_document;
use krm_package::resource::{Located, Origin, Resource, are_in};
use krm_schema::mode::Mode;
use krm_schema::schema::{Types, builtin};
use krm_show::spot::Finder;
use krm_yaml::{Document, NodeRef, extent as lines_of, same, shown};
use similar::{Algorithm, DiffTag, TextDiff};

use crate::difference::{Difference, What, differences};
use crate::pairs::{Pair, others, pairs};

/// A remaining difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The file of dest, as the user would type it, and the line.
    file: String,
    line: Option<usize>,
    /// The resource, as `Deployment prod/web`, and the place in it.
    resource: String,
    path: String,
    why: WhyLeft,
}

/// Why a patch cannot express a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeft {
    /// A resource is new, and the mode adds no resources.
    New,
    /// Original has several resources of this identity in one file.
    Several,
    /// The resource is new, but original has other resources of its identity.
    Another,
    /// The resource is new, and original holds something else in its file.
    Taken,
    /// The resource has no identity.
    Nobody,
    /// A file holds no resources.
    Plain,
    /// A file with something besides its resources is added or deleted.
    File,
    /// The resource is at another position than in dest.
    Place,
    /// Dest has a null.
    Null,
    /// A value differs.
    Value,
    /// Elements are in another order.
    Order,
    /// Fields are in another order.
    FieldOrder,
    /// Comment lines above a child differ.
    Above,
    /// The comment on a line differs.
    Behind,
    /// Comments that belong to no field differ.
    Comments,
    /// Blank lines differ.
    Blank,
    /// Values are written differently.
    Layout,
    /// It is no difference: the patch has the whole list or map.
    Whole,
    /// It is no difference: the patch has elements of a list whose keys only this program knows.
    ByKeys,
    /// It is no difference: the patch has elements of a set that only this program knows.
    ByValue,
    /// It is no difference: the patch deletes what original has under another name.
    Renamed,
}

impl fmt::Display for WhyLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "a patch of mode Strategic adds no resource, and this one is new; `--mode two-way` adds it",
            Self::Several => {
                "a patch names a resource by apiVersion, kind, namespace and name, and its file has several of these"
            }
            Self::Another => {
                "a patch adds a resource only where original has none of its apiVersion, kind, namespace and name"
            }
            Self::Taken => "a patch adds no resource to a file in which original holds something else",
            Self::Nobody => {
                "a patch names a resource by apiVersion, kind and name, and this document lacks one of them"
            }
            Self::Plain => "a patch changes resources alone, and this file holds none",
            Self::File => {
                "a patch moves no resource to another file, and adds or removes no file but with its resources"
            }
            Self::Place => {
                "a patch adds resources at the end of the file and moves no resource, but this resource is elsewhere"
            }
            Self::Null => "a null in a patch removes the field, and here it is a value",
            Self::Value => "a merge of the patch leaves another value here",
            Self::Order => "a merge of the patch leaves the elements in another order",
            Self::FieldOrder => "a patch does not move fields, and here they stand in another order",
            Self::Above => "a patch changes no comments above what original has, and here they differ",
            Self::Behind => "a merge of the patch leaves another comment on this line, because a patch does not remove comments",
            Self::Comments => "a patch changes no comments that belong to no field, and here they differ",
            Self::Blank => "a patch changes no blank lines, and here they differ",
            Self::Whole => "the patch has all of it, and takes back what a later release changes in it",
            Self::ByKeys => {
                "the patch names its elements by keys, which kustomize's `patches` and `kubectl patch` do not know for a custom resource"
            }
            Self::ByValue => {
                "the patch changes its elements as those of a set, which kustomize's `patches` and `kubectl patch` do not know for a custom resource"
            }
            Self::Renamed => {
                "original has this under another name; the patch deletes that and adds this, so it misses what a later release changes in it"
            }
            Self::Layout => "a patch changes no layout, as indentation, quotes or line breaks, and here it differs",
        })
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if !self.resource.is_empty() {
            write!(f, "{}: ", self.resource)?;
        }
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        self.why.fmt(f)
    }
}

/// Files by their paths.
type LeftFiles = BTreeMap<String, Vec<u8>>;

impl Left {
    /// The differences between the files that the merge made and the files of dest.
    ///
    /// # Errors
    /// A file cannot be read, or resources cannot be compared.
    pub fn of(merged: &LeftFiles, dest: &Side, types: &Types<'_>, mode: Mode, extent: Extent) -> Result<Vec<Self>> {
        match extent {
            Extent::Values => of_values(merged, dest, types, mode),
            Extent::Text => of_texts(merged, dest, types, mode),
        }
    }

    /// A difference of a resource as a whole.
    pub fn of_resource(resource: &Resource<'_>, why: WhyLeft) -> Self {
        Self {
            file: resource.origin.text(),
            line: Some(resource.node().position().line),
            resource: called(resource),
            path: String::new(),
            why,
        }
    }

    /// A difference for a resource that only one of the two states has.
    fn of_one(pair: &Pair<'_>, mode: Mode) -> Option<Self> {
        let one = pair.new.as_ref().or(pair.old.as_ref())?;
        Some(Self::of_resource(
            one,
            match (one.identity, &pair.new) {
                (None, _) => WhyLeft::Nobody,
                (Some(_), Some(_)) if mode == Mode::Strategic => WhyLeft::New,
                (Some(_), _) => WhyLeft::Place,
            },
        ))
    }

    /// Whether dest has a null. To Kubernetes, a null is no value.
    pub fn is_null(&self) -> bool {
        self.why == WhyLeft::Null
    }

    /// Whether a patch of the values alone need not express it.
    pub fn is_of_text(&self) -> bool {
        match self.why {
            WhyLeft::Place
            | WhyLeft::Null
            | WhyLeft::FieldOrder
            | WhyLeft::Above
            | WhyLeft::Behind
            | WhyLeft::Comments
            | WhyLeft::Blank
            | WhyLeft::Layout
            | WhyLeft::Whole
            | WhyLeft::ByKeys
            | WhyLeft::ByValue
            | WhyLeft::Renamed => true,
            WhyLeft::New
            | WhyLeft::Several
            | WhyLeft::Another
            | WhyLeft::Taken
            | WhyLeft::Nobody
            | WhyLeft::Plain
            | WhyLeft::File
            | WhyLeft::Value
            | WhyLeft::Order => false,
        }
    }

    /// What a user of the patch should know about a list or map of it. Kubernetes' own clients know the keys of its own types.
    pub fn of_held(held: &HeldPlace<'_>, dest: &Resource<'_>) -> Option<Self> {
        let is_built_in = dest.identity.is_some_and(|own| builtin::root(own.api_version, own.kind).is_some());
        let why = match held.holds {
            Holds::Whole => WhyLeft::Whole,
            Holds::ByKeys | Holds::ByValue if is_built_in => return None,
            Holds::ByKeys => WhyLeft::ByKeys,
            Holds::ByValue => WhyLeft::ByValue,
            Holds::Renamed => WhyLeft::Renamed,
        };
        let (file, line) = (dest.origin.text(), Some(held.at.position().line));
        Some(Self { file, line, resource: called(dest), path: held.path.shown(), why })
    }

    fn of_file(file: &str, why: WhyLeft) -> Self {
        Self { file: file.to_owned(), line: None, resource: String::new(), path: String::new(), why }
    }

    fn of_difference(difference: &Difference<'_>, dest: &Resource<'_>) -> Self {
        let at = difference.after().unwrap_or(dest.node());
        let why = match difference.what {
            What::Came(new) if new.is_null() => WhyLeft::Null,
            What::Came(_) | What::Went(_) | What::Changed(..) => WhyLeft::Value,
            What::Order(..) => WhyLeft::Order,
            What::FieldOrder(_) => WhyLeft::FieldOrder,
            What::Above(_) => WhyLeft::Above,
            What::Behind(_) => WhyLeft::Behind,
        };
        let (file, line) = (dest.origin.text(), Some(at.position().line));
        Self { file, line, resource: called(dest), path: difference.path.shown(), why }
    }
}

fn called(resource: &Resource<'_>) -> String {
    resource.identity.filter(|_| !resource.is_file()).map(|identity| identity.called()).unwrap_or_default()
}

/// The differences in values. Files do not matter: a resource may be in any file.
fn of_values(merged: &LeftFiles, dest: &Side, types: &Types<'_>, mode: Mode) -> Result<Vec<Left>> {
    // A file that is not YAML holds no resources.
    let read = |(path, bytes): (&'_ String, &Vec<u8>)| Some((path.clone(), parse(path, bytes.clone()).ok()?));
    let files: Vec<(String, Document<'static>)> = merged.iter().filter_map(read).collect();
    let mut made = Vec::new();
    for (path, document) in files.iter().filter(|(_, document)| !dest.is_folder() || are_in(document)) {
        let origin = || Origin::File { name: path.clone(), item: None };
        let place = Some(path.as_str()).filter(|_| dest.is_folder());
        let located = if place.is_some() { Located::ByFile } else { Located::Nowhere };
        let own = dest.files.first().filter(|_| !dest.is_folder());
        let resources = match own {
            Some(own) => own.resources_of(document).collect(),
            None => document.roots().flat_map(|root| Resource::of_document(root, |_| origin())).collect::<Vec<_>>(),
        };
        let placed = |resource| Resource { origin: origin(), path: place, relative_path: place, located, ..resource };
        made.extend(resources.into_iter().map(placed));
        made.extend(others(document, path, path));
    }
    let mut in_dest: Vec<Resource<'_>> =
        dest.resources(SidePart::Role).into_iter().map(|(_, resource)| resource).collect();
    for held in &dest.files {
        in_dest.extend(held.document().into_iter().flat_map(|document| others(document, &held.path, &held.name)));
    }
    let mut all = of_plain_files(merged, dest)?;
    for pair in pairs(made, in_dest) {
        match (&pair.old, &pair.new) {
            (Some(old), Some(new)) if new.identity.is_none() => {
                all.extend((!same(old.node(), new.node())).then(|| Left::of_resource(new, WhyLeft::Nobody)));
            }
            (Some(old), Some(new)) => {
                let found = compared(old, new, types)?;
                all.extend(found.iter().filter(|d| d.is_of_values()).map(|d| Left::of_difference(d, new)));
            }
            _ => all.extend(Left::of_one(&pair, mode)),
        }
    }
    Ok(all)
}

/// The files of YAML or JSON without resources whose values differ.
fn of_plain_files(merged: &LeftFiles, dest: &Side) -> Result<Vec<Left>> {
    let mut all = Vec::new();
    for held in dest.files.iter().filter(|held| held.document().is_none() && names_document(&held.path)) {
        let Ok(own) = parse(&held.name, held.bytes()?.into_owned()) else { continue };
        let made = merged.get(&held.path).and_then(|bytes| parse(&held.name, bytes.clone()).ok());
        let is_same = |made: &Document<'_>| {
            own.roots().len() == made.roots().len() && own.roots().zip(made.roots()).all(|(own, made)| same(own, made))
        };
        all.extend((!made.as_ref().is_some_and(is_same)).then(|| Left::of_file(&held.name, WhyLeft::Plain)));
    }
    // Dest lacks these. A file of resources may have another path there.
    let holds_values = |path: &str, bytes: &[u8]| {
        let document = parse(path, bytes.to_vec());
        names_document(path) && document.is_ok_and(|own| !are_in(&own) && own.roots().any(|root| !root.is_null()))
    };
    let gone =
        merged.iter().filter(|(path, bytes)| dest.is_folder() && dest.at(path).is_none() && holds_values(path, bytes));
    all.extend(gone.map(|(path, _)| Left::of_file(&shown::name(path), WhyLeft::File)));
    Ok(all)
}

/// The differences in the bytes of each file.
fn of_texts(merged: &LeftFiles, dest: &Side, types: &Types<'_>, mode: Mode) -> Result<Vec<Left>> {
    let mut all = Vec::new();
    // Two single files may have different names, so their paths do not count.
    let key = |path: &'_ str| if dest.is_folder() { path.to_owned() } else { String::new() };
    let mut made: BTreeMap<String, &Vec<u8>> = merged.iter().map(|(path, bytes)| (key(path), bytes)).collect();
    for held in &dest.files {
        let bytes = made.remove(&key(&held.path));
        if bytes.map(Vec::as_slice) == Some(&*held.bytes()?) {
            continue;
        }
        // If a merge leaves no resource in a file, the file is gone, so it counts as empty here.
        let text = parse(&held.name, bytes.cloned().unwrap_or_default()).ok();
        match (held.document(), text) {
            (Some(document), _) if document.source().is_empty() && !dest.is_folder() => {}
            (Some(document), Some(text)) if document.roots().len() > 0 => {
                all.extend(LeftTexts { name: &held.name, held, made: &text, dest: document }.differences(types, mode)?);
            }
            (None, _) => all.push(Left::of_file(&held.name, WhyLeft::Plain)),
            (Some(_), _) => all.push(Left::of_file(&held.name, WhyLeft::File)),
        }
    }
    all.extend(made.keys().map(|path| Left::of_file(&shown::name(path), WhyLeft::File)));
    Ok(all)
}

/// The differences between two states of a resource, including comments and order.
fn compared<'a>(old: &Resource<'a>, new: &Resource<'a>, types: &'a Types<'_>) -> Result<Vec<Difference<'a>>> {
    let Some(identity) = new.identity else { return Ok(Vec::new()) };
    let cursor = types.root(identity.api_version, identity.kind, Mode::ThreeWay);
    let found = diff(Some(old.node()), new.node(), None, cursor, Renames::Ignore);
    let found = found.map_err(|e| anyhow!("{}:{e}", new.origin.text()))?;
    Ok(found.change.as_ref().map(differences).unwrap_or_default())
}

/// A file in two versions: the merged one and dest's.
struct LeftTexts<'t> {
    name: &'t str,
    held: &'t Held,
    made: &'t Document<'static>,
    dest: &'t Document<'static>,
}

impl LeftTexts<'_> {
    fn differences(&self, types: &Types<'_>, mode: Mode) -> Result<Vec<Left>> {
        let origin = || Origin::File { name: self.name.to_owned(), item: None };
        // A document that is a list or a scalar is a difference of its own only if its value is another one.
        let further = [self.made, self.dest].map(|document| others(document, &self.held.path, self.name));
        let further = further.map(|all| all.collect::<Vec<Resource<'_>>>());
        let differ = |number: usize| match further.each_ref().map(|all| all.get(number)) {
            [Some(one), Some(other)] => !same(one.node(), other.node()),
            _ => true,
        };
        let [made, dest] = [(self.made, &further[0]), (self.dest, &further[1])].map(|(document, further)| {
            let all = self.held.resources_of(document).map(|resource| Resource { origin: origin(), ..resource });
            let further = further.iter().enumerate().filter(|(number, _)| differ(*number)).map(|(_, one)| one.clone());
            let mut all: Vec<Resource<'_>> = all.chain(further).collect();
            all.sort_by_key(|resource| resource.node().start());
            all
        });
        let mut all = Vec::new();
        let mut told: Vec<Range<usize>> = Vec::new();
        let (mut last, mut are_in_place) = (0, true);
        for pair in pairs(made, dest) {
            match (&pair.old, &pair.new) {
                (Some(old), Some(new)) => {
                    if new.node().start() < last && are_in_place {
                        are_in_place = false;
                        all.push(Left::of_resource(new, WhyLeft::Place));
                    }
                    last = last.max(new.node().start());
                    self.of_pair(old, new, types, &mut all, &mut told)?;
                }
                _ => {
                    are_in_place = false;
                    all.extend(Left::of_one(&pair, mode));
                }
            }
        }
        // Lines can be compared only if the documents are in the same order.
        if are_in_place {
            self.layout(types, &told, &mut all);
        }
        Ok(all)
    }

    fn of_pair(
        &self,
        old: &Resource<'_>,
        new: &Resource<'_>,
        types: &Types<'_>,
        all: &mut Vec<Left>,
        told: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let whole = |resource: &Resource<'_>| resource.node().document().source()[lines_of(resource.node())].to_owned();
        if new.identity.is_none() {
            if whole(old) != whole(new) {
                all.push(Left::of_resource(new, WhyLeft::Nobody));
                told.push(lines(new.node(), lines_of(new.node())));
            }
            return Ok(());
        }
        for difference in compared(old, new, types)? {
            all.push(Left::of_difference(&difference, new));
            let at = difference.after().unwrap_or(new.node());
            told.push(lines(at, at.start()..at.end()));
        }
        Ok(())
    }

    /// The lines that differ and are not part of a reported difference.
    fn layout(&self, types: &Types<'_>, told: &[Range<usize>], all: &mut Vec<Left>) {
        let [made, dest] = [self.made, self.dest].map(|d| d.source().split_inclusive('\n').collect::<Vec<_>>());
        let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&made, &dest);
        let finder = Finder::new(self.dest, types);
        for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            let (old, new) = (op.old_range(), op.new_range());
            // Lines are counted from 1. A comment is next to its field, so lines next to a reported difference belong to it.
            if told.iter().any(|told| told.start <= new.end + 1 && new.start <= told.end) {
                continue;
            }
            let lines: Vec<&str> = made[old.clone()].iter().chain(&dest[new.clone()]).map(|line| line.trim()).collect();
            let why = if lines.iter().all(|line| line.is_empty()) {
                WhyLeft::Blank
            } else if lines.iter().all(|line| line.is_empty() || line.starts_with('#')) {
                WhyLeft::Comments
            } else {
                WhyLeft::Layout
            };
            let start = dest[..new.start].iter().map(|line| line.len()).sum::<usize>();
            let end = start + dest[new.clone()].iter().map(|line| line.len()).sum::<usize>();
            let range = start..end;
            let spot = finder.spots(std::slice::from_ref(&range)).into_iter().next();
            let (resource, path) = spot.map(|spot| (spot.resource, spot.path)).unwrap_or_default();
            all.push(Left { file: self.name.to_owned(), line: Some(new.start + 1), resource, path, why });
        }
    }
}

/// The line numbers of a range of the text.
fn lines(node: NodeRef<'_>, range: Range<usize>) -> Range<usize> {
    let line = |at: usize| node.document().position(at).line;
    line(range.start)..line(range.end.saturating_sub(1).max(range.start)) + 1
}
