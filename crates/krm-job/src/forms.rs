//! Says what a file of a package holds, and how a three-way merge of packages merges it: by its resources, as text, or as a file without
//! resources. A host gives each file as a [`SideFile`], from a disk or from memory.
//!
//! A file holds resources if it has the name of one and one of its documents has an apiVersion, a kind and a name, or is a List, which may be
//! empty. Any other file is a plain file, even if it is not YAML, like a Helm template. A warning names files that should be YAML, because
//! they may have a mistake.
//!
//! Some files are merged as texts although they hold resources: on another side they hold something else, or nobody can tell which resource
//! is which. In the next release, a file of resources may become a template, a list of results, or YAML with a duplicate key. The engine could
//! only treat its resources as deleted, and refuse the new content. But git still merges its lines. So such a file is text on all sides. So is
//! a file of upstream with a resource that has no name, or one that the API server makes of its `generateName`: no side says which resource
//! of another side it is. So is a file that has a resource more often on one side than on another. But if its resources are also at another
//! path, they are merged by identity, wherever they are, and the plain content is merged as a file. `P` is plain content, `R` is resources,
//! `*` is any, `–` is no file:
//!
//! | original | updated | dest | the result for the path |
//! |---|---|---|---|
//! | no `P` | no `P` | `*` | only resources are merged; a plain file of dest is dest's own, and new resources for it are an error |
//! | no `R` | no `R` | no `R` | merged as a file |
//! | `P` | – | `R` | dest's stays: upstream's plain content is gone on both sides |
//! | `P` | `R` | – or `R` | the resources are merged: the plain content is gone on both sides |
//! | `P` | `R` | `P` | new resources replace an unchanged file, else are an error; without any: merged as deleted by updated (1) |
//! | `R` | `P` | – | it stays deleted, a conflict; an error if dest may have moved the file |
//! | `R` | `P` | `P` | merged as a file: dest may have taken it by hand |
//! | `*` | `P` | `R` | updated's, if none of dest's resources stays; else dest's, a conflict, unless updated equals original (2) |
//!
//! (1) Comments alone are not content: they stay. (2) A file cannot hold both dest's resources and upstream's plain content.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use krm_merge_core::refine::has_twins;
use krm_package::resource::{Identity, Origin, Resource, are_in};
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Document, NodeRef, Position};

use crate::carried::{AsText, CarriedFile, CarriedSide, Has, with_line_ends_of_dest};
use crate::event::{self, Event, NoYaml, What};
use crate::line_end::LineEnd;

/// Says why a resource of dest stays in its file, which is the first path, though upstream moved it to the second one; `None` if it moves.
pub type WhyStays<'a> = &'a dyn Fn(&str, &str) -> Option<What>;

/// Why a file that should be YAML is not. It has nothing of the text, because that may be secret.
#[derive(Clone, Debug)]
pub struct YamlFault {
    /// Where in the text, if it is one place.
    pub position: Option<Position>,
    /// The reason.
    pub why: String,
}

impl YamlFault {
    /// The place, in the file of this name: `web.yaml:3:5`.
    pub fn place(&self, name: &str) -> String {
        self.position.map_or_else(|| name.to_owned(), |position| format!("{name}:{position}"))
    }
}

impl From<krm_yaml::Error> for YamlFault {
    fn from(error: krm_yaml::Error) -> Self {
        Self { position: Some(error.position), why: error.message }
    }
}

/// What a text of a file that should be YAML holds.
pub enum Holds {
    /// Resources.
    Resources(Document<'static>),
    /// Other documents.
    Documents(Document<'static>),
    /// No YAML, like a Helm template.
    NoYaml(YamlFault),
}

impl Holds {
    /// What is parsed.
    pub fn of(parsed: Result<Document<'static>, YamlFault>) -> Self {
        match parsed {
            Ok(document) if are_in(&document) => match complex_key(&document) {
                Some(fault) => Self::NoYaml(fault),
                None => Self::Resources(document),
            },
            Ok(document) => Self::Documents(document),
            Err(fault) => Self::NoYaml(fault),
        }
    }
}

/// The fault of a key that is a map or a list. No resource has one, but the text `{{ .Name }}` of a template can be read as one.
pub fn complex_key(document: &Document<'_>) -> Option<YamlFault> {
    fn key(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
        let own = node.entries().map(|(key, _)| key).find(|key| key.is_container());
        own.or_else(|| node.written().find_map(|(_, value)| key(value)))
    }
    let position = document.roots().find_map(key)?.position();
    Some(YamlFault { position: Some(position), why: "a key must be a scalar, not a map or list".to_owned() })
}

/// A file of a side, as its host has it. The files of a side are in the order of their paths.
pub trait SideFile {
    /// Why a file cannot be read.
    type Unread;
    /// Its path in the package.
    fn path(&self) -> &str;
    /// Its name for messages.
    fn name(&self) -> &str;
    /// Its documents, if it merges by the resources in it.
    fn document(&self) -> Option<&Document<'static>>;
    /// Its documents, and why it is merged as text although they might be merged.
    fn merged_as_text(&self) -> Option<(AsText, &Document<'static>)>;
    /// Why it is not YAML, though its name says so.
    fn fault(&self) -> Option<&YamlFault>;
    /// What it holds.
    ///
    /// # Errors
    /// It cannot be read.
    fn bytes(&self) -> Result<Cow<'_, [u8]>, Self::Unread>;
    /// Whether anyone may execute it, if someone knows.
    fn executable(&self) -> Option<bool>;
}

/// The file at a path, among files in the order of their paths.
pub fn at<'f, F: SideFile>(files: &'f [F], path: &str) -> Option<&'f F> {
    files.binary_search_by(|file| file.path().cmp(path)).ok().map(|at| &files[at])
}

/// The resources of a document, without their origin.
pub fn resources_in<'a>(document: &'a Document<'static>) -> impl Iterator<Item = Resource<'a>> + use<'a> {
    document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Field(String::new())))
}

fn resources<F: SideFile>(file: &F) -> impl Iterator<Item = Resource<'_>> {
    file.document().into_iter().flat_map(resources_in)
}

/// The identities of the resources that have one.
fn identities<F: SideFile>(file: &F) -> impl Iterator<Item = Identity<'_>> {
    resources(file).filter_map(|resource| resource.identity)
}

/// Whether a file has no document, only comments or nothing.
///
/// # Errors
/// It cannot be read.
pub fn is_empty<F: SideFile>(file: &F) -> Result<bool, F::Unread> {
    let Ok(text) = String::from_utf8(file.bytes()?.into_owned()) else { return Ok(false) };
    Ok(Document::parse(text).is_ok_and(|document| document.roots().all(|root| root.is_null())))
}

/// Whether a file of dest holds something else than resources, so that none may come to it. `original` is original's version of the file: what is
/// the same there makes room, and so do comments.
///
/// # Errors
/// A version cannot be read.
pub fn is_in_the_way<F: SideFile>(own: &F, original: Option<&F>) -> Result<bool, F::Unread> {
    Ok(own.document().is_none()
        && !original.map_or(Ok(false), |original| is_version(own, original))?
        && !is_empty(own)?)
}

/// Whether a file of dest is original's, but for the line ends that dest gave it.
fn is_version<F: SideFile>(own: &F, original: &F) -> Result<bool, F::Unread> {
    let [original, own] = [original.bytes()?, own.bytes()?];
    Ok(match LineEnd::of_dest(&original, &own) {
        Some(end) => end.end_all(&original) == *own,
        None => original == own,
    })
}

/// One warning about all files that should be YAML but are not. If several sides have such a file at the same path, the warning names only
/// the first side's. Files with one reason stand together. Nobody expects YAML of the templates of a chart.
pub fn no_yaml<'f, F: SideFile + 'f>(files: impl Iterator<Item = &'f F> + Clone) -> Option<Event> {
    let mut paths = HashSet::new();
    let mut of_reasons: Vec<NoYaml> = Vec::new();
    let charts: HashSet<&str> = files.clone().filter_map(|file| file.path().strip_suffix("Chart.yaml")).collect();
    let is_template = |path: &str| path.match_indices("templates/").any(|(at, _)| charts.contains(&path[..at]));
    let faults = files.filter(|file| !is_template(file.path())).filter_map(|file| Some((file, file.fault()?)));
    for (file, fault) in faults.filter(|(file, _)| paths.insert(file.path())) {
        let place = fault.place(file.name());
        match of_reasons.iter_mut().find(|of_reason| of_reason.why == fault.why) {
            Some(of_reason) => of_reason.places.push(place),
            None => of_reasons.push(NoYaml { why: fault.why.clone(), places: vec![place] }),
        }
    }
    (!of_reasons.is_empty()).then(|| Event::of(What::NoYaml(of_reasons)))
}

/// The paths of the files that are text on all sides of a three-way merge of packages, each with the reason. That is so if upstream changed a file
/// and updated and dest hold it in different forms. A file that has a duplicate key on a side does not count as a file of resources. Whoever
/// changed it, a file is text if it has a resource without a name in original or updated, or if it has a resource more often on one side than on
/// another.
///
/// A file still counts as a file of resources if one of its resources is at another path on any side, because the resource may have moved.
/// The path of an overlay does not matter: there, original and updated both have the resource. A file also counts as one of resources if it
/// replaces a file that dest did not change. A file with only comments has no form.
///
/// # Errors
/// A file cannot be read.
pub fn as_texts<F: SideFile>(sides: Sides<&[F]>) -> Result<HashMap<String, AsText>, F::Unread> {
    let mut found: HashMap<&str, AsText> = HashMap::new();
    for path in differing(sides)? {
        found.insert(path, AsText::Mixed);
    }
    for path in repeating(sides) {
        found.insert(path, AsText::Repeated);
    }
    // Such a resource of dest alone stays as it is.
    for file in sides.original.iter().chain(sides.updated).filter(|file| has_no_name(*file)) {
        found.insert(file.path(), AsText::Unnamed);
    }
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let lies = paths_of(sides);
    let stays =
        |path: &str| Side::ALL.iter().filter_map(|side| at(sides[*side], path)).all(|file| lies_only(file, &lies));
    let found = found.into_iter().filter(|(path, _)| stays(path));
    Ok(found.map(|(path, why)| (path.to_owned(), why)).collect())
}

/// The paths at which updated and dest hold different forms.
fn differing<F: SideFile>(sides: Sides<&[F]>) -> Result<Vec<&str>, F::Unread> {
    let of_files = sides.dest.iter().map(|here| {
        let Some(new) = at(sides.updated, here.path()) else { return Ok(None) };
        Ok(differ(at(sides.original, here.path()), new, here)?.then_some(here.path()))
    });
    of_files.filter_map(Result::transpose).collect()
}

/// The paths at which a side has a resource more often than another side that has it.
fn repeating<F: SideFile>(sides: Sides<&[F]>) -> Vec<&str> {
    fn counts<F: SideFile>(file: Option<&F>) -> HashMap<Identity<'_>, usize> {
        let mut counts = HashMap::new();
        let all = file.into_iter().flat_map(resources);
        all.filter_map(|resource| resource.package_identity()).for_each(|identity| {
            *counts.entry(identity).or_default() += 1;
        });
        counts
    }
    let is_any_twice = |file: &&F| counts(Some(*file)).values().any(|count| *count > 1);
    let unequal = |path: &&str| {
        let of_sides = Side::ALL.map(|side| counts(at(sides[side], path)));
        let mut all = of_sides.iter().flat_map(|of_side| of_side.iter());
        all.any(|(identity, count)| of_sides.iter().filter_map(|other| other.get(identity)).any(|other| other != count))
    };
    let all = Side::ALL.into_iter().flat_map(|side| sides[side]);
    all.filter(is_any_twice).map(SideFile::path).filter(unequal).collect()
}

/// Whether a resource in a file has no identity.
fn has_no_name<F: SideFile>(file: &F) -> bool {
    resources(file).any(|resource| resource.identity.is_none())
}

/// Whether no resource of a file may have moved to another path, or from there.
fn lies_only<F: SideFile>(file: &F, lies: &HashMap<Identity<'_>, Lies<'_>>) -> bool {
    identities(file).all(|identity| lies.get(&identity).is_none_or(|lies| *lies == Lies::In(file.path())))
}

/// Whether upstream changed a file, and updated and dest hold it in different forms.
fn differ<F: SideFile>(old: Option<&F>, new: &F, here: &F) -> Result<bool, F::Unread> {
    let plain = match (new.document(), here.document()) {
        (Some(_), None) => here,
        (None, Some(_)) => new,
        (Some(theirs), Some(ours)) => {
            let was = old.and_then(SideFile::document).map(Document::source);
            let is_merged = was != Some(theirs.source()) && was != Some(ours.source());
            // After a first run, dest has updated's form, and its resources.
            let had_another_form = identities(new).eq(identities(here))
                && old.filter(|old| old.document().is_none()).map(is_empty).transpose()? == Some(false);
            let is_any_twice = || [old, Some(new), Some(here)].into_iter().flatten().any(has_key_twice);
            return Ok(is_merged && (had_another_form || is_any_twice()));
        }
        (None, None) => return Ok(false),
    };
    let is_as = |side: &F| Ok::<_, F::Unread>(old.map(F::bytes).transpose()? == Some(side.bytes()?));
    let is_replaced = here.document().is_none() && is_as(here)?;
    Ok(!is_empty(plain)? && !is_as(new)? && !is_replaced)
}

/// Whether a map in a file has a duplicate key. The API server does not accept such a resource, and nobody knows which of the values
/// counts.
fn has_key_twice<F: SideFile>(file: &F) -> bool {
    resources(file).any(|resource| has_twins(resource.node()))
}

/// The paths at which the resources of an identity are. A path where original and updated both have it does not count: there, it stayed.
#[derive(Debug, PartialEq, Eq)]
enum Lies<'s> {
    In(&'s str),
    InSeveral,
}

fn paths_of<'s, F: SideFile>(sides: Sides<&'s [F]>) -> HashMap<Identity<'s>, Lies<'s>> {
    fn all<F: SideFile>(side: &[F]) -> impl Iterator<Item = (&str, Identity<'_>)> {
        side.iter().flat_map(|file| identities(file).map(|identity| (file.path(), identity)))
    }
    let was: HashSet<_> = all(sides.original).collect();
    let stayed: HashSet<_> = all(sides.updated).filter(|lies| was.contains(lies)).collect();
    let mut lies = HashMap::new();
    let of_sides = Side::ALL.into_iter().flat_map(|side| all(sides[side]));
    for (path, identity) in of_sides.filter(|lies| !stayed.contains(lies)) {
        lies.entry(identity)
            .and_modify(|known| {
                if *known != Lies::In(path) {
                    *known = Lies::InSeveral;
                }
            })
            .or_insert(Lies::In(path));
    }
    lies
}

/// The files of dest that the merge of resources writes or empties.
#[derive(Debug, Default)]
pub struct Taken<'m> {
    /// The files that receive resources.
    pub placed: BTreeSet<&'m str>,
    /// The files whose resources all move to other files.
    pub left: BTreeSet<&'m str>,
}

/// The versions of a file on the sides of a three-way merge.
#[derive(Debug)]
pub struct Versions<'s, F> {
    /// Its path in dest.
    pub path: &'s str,
    /// Its version on each side.
    pub files: Sides<Option<&'s F>>,
}

impl<'s, F: SideFile> Versions<'s, F> {
    /// The files of upstream, each with its versions of the same path.
    pub fn by_path(sides: Sides<&'s [F]>) -> Vec<Self> {
        let paths: BTreeSet<&str> = sides.original.iter().chain(sides.updated).map(SideFile::path).collect();
        let versions = |path| Self { path, files: Sides::of(|side| at(sides[side], path)) };
        paths.into_iter().map(versions).collect()
    }

    /// The file as one that is merged as a file, and not by its resources; `None` if it is not, or if upstream did not change it.
    ///
    /// # Errors
    /// A version cannot be read.
    pub fn carried(&self, taken: &Taken<'_>) -> Result<Option<CarriedFile<'s>>, F::Unread> {
        if !self.is_carried(taken)? {
            return Ok(None);
        }
        let all = [self.files.original, self.files.updated, self.files.dest];
        let bytes = |file: Option<&F>| Ok::<_, F::Unread>(file.map(F::bytes).transpose()?.map(Cow::into_owned));
        let plain = |file: Option<&F>| bytes(file.filter(|_| has(file) != Has::Resources));
        let of_text = |file: &'s F| {
            file.merged_as_text().filter(|(why, _)| *why != AsText::Document).map(|(_, document)| document)
        };
        let document = |file: Option<&'s F>| file.and_then(|file| file.document().or_else(|| of_text(file)));
        let why = all.into_iter().flatten().find_map(|file| file.merged_as_text()).map(|(why, _)| why);
        let turned = if why == Some(AsText::Document) { None } else { self.turned() };
        let file = CarriedFile {
            path: self.path,
            sides: all.map(|file| CarriedSide { has: has(file), document: document(file) }),
            why,
            bytes: with_line_ends_of_dest([bytes(all[0])?, plain(all[1])?, bytes(all[2])?]),
            executable: all[1].and_then(F::executable),
            turned,
            is_left: taken.left.contains(self.path),
        };
        Ok(Some(file).filter(|file| file.is_changed() || file.turned.is_some()))
    }

    fn is_carried(&self, taken: &Taken<'_>) -> Result<bool, F::Unread> {
        Ok(match (has(self.files.original), has(self.files.updated), has(self.files.dest)) {
            (Has::Plain, Has::Resources, Has::Plain) => match self.files.dest {
                Some(here) => !taken.placed.contains(self.path) && !is_empty(here)?,
                None => false,
            },
            (_, Has::Resources, _) | (Has::Plain, Has::Nothing, Has::Resources) => false,
            (original, updated, _) => original == Has::Plain || updated == Has::Plain,
        })
    }

    /// Whether anyone may execute updated's file, if upstream changed that and dest has not.
    fn turned(&self) -> Option<bool> {
        let Sides { original, updated, dest } = self.files.map(|file| file.and_then(F::executable));
        let (original, updated, dest) = (original?, updated?, dest?);
        (original != updated && original == dest).then_some(updated)
    }

    /// The same of a file of resources, which merges by these.
    pub fn turned_with_resources(&self) -> Option<bool> {
        let are_resources = || [self.files.updated, self.files.dest].iter().all(|file| has(*file) == Has::Resources);
        self.turned().filter(|_| are_resources())
    }

    /// The error for a file that can be merged neither by its resources nor as a file: dest lacks it, and has a resource of it where original has
    /// none, so that dest may have moved it there.
    pub fn in_neither_form(&self, sides: Sides<&[F]>) -> Option<Event> {
        let was = self.files.original.filter(|_| self.files.dest.is_none())?;
        let own: Vec<_> = identities(was).collect();
        let was_there = |file: &F, identity: Identity<'_>| {
            at(sides.original, file.path()).is_some_and(|was| identities(was).any(|own| own == identity))
        };
        let is_moved = |file: &F| identities(file).any(|there| own.contains(&there) && !was_there(file, there));
        let file = Some(event::File { path: self.path.to_owned(), index: None }.into());
        sides.dest.iter().any(is_moved).then(|| Event { file, ..Event::of(What::NeitherForm) })
    }
}

fn has<F: SideFile>(file: Option<&F>) -> Has {
    match file.map(SideFile::document) {
        None => Has::Nothing,
        Some(None) => Has::Plain,
        Some(Some(_)) => Has::Resources,
    }
}
