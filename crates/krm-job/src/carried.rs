//! A file that holds no resources, on three sides: how a three-way merge changes it.
//!
//! If only upstream changed such a file, the merge takes updated's. If both sides changed it to different bytes, the engine merges its
//! lines or fields if it can. Whatever overlaps is a conflict, which the policy settles like a conflict of resources. A file that dest
//! deleted stays deleted. The executable bit follows the same rule, but is not reported if the content is in conflict.
//!
//! The host says which files are merged like that. All here works on bytes.

mod combine;
mod lock;
mod related;

use krm_merge_core::policy::{OnConflict, Settled, Treatment};
use krm_merge_core::refine::names_document;
use krm_merge_core::warning::Combined as How;
use krm_tree::sides::Sides;
use krm_tree::tree::{Pick, Taking};
use krm_yaml::secret::Secret;
use krm_yaml::{Document, NodeRef};

use crate::decision::{Decision, Take};
pub use crate::event::AsText;
use crate::event::{self, Clash, ClashNote, ClashPlace, Did, Dispute, Event, FileForm, Severity, What};
use crate::line_end::LineEnd;
use crate::name::Name;
use combine::Combined;
pub use combine::Combiner;
use related::may_be_one;
pub use related::text;

/// The form of a file on a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// There is no file.
    Nothing,
    /// It holds no resources.
    Plain,
    /// It holds resources.
    Resources,
}

/// A file on a side.
#[derive(Clone, Copy, Debug)]
pub struct CarriedSide<'s> {
    /// Its form.
    pub has: Has,
    /// Its documents, if they are resources.
    pub document: Option<&'s Document<'s>>,
}

/// A file in original, updated and dest.
#[derive(Debug)]
pub struct CarriedFile<'s> {
    /// Its path in dest.
    pub path: &'s str,
    /// What it is on each side.
    pub sides: [CarriedSide<'s>; 3],
    /// Why it is merged as text although it holds resources.
    pub why: Option<AsText>,
    /// The content on each side; for updated only if the file holds no resources.
    pub bytes: [Option<Vec<u8>>; 3],
    /// Whether anyone may execute updated's file.
    pub executable: Option<bool>,
    /// The same, if upstream changed that and dest did not.
    pub turned: Option<bool>,
    /// Whether all its resources in dest move to other files.
    pub is_left: bool,
}

/// What becomes of a file.
#[derive(Debug, Default)]
pub struct Carried {
    /// The change of the file; `None` if it stays.
    pub change: Option<CarriedChange>,
    /// The conflicts.
    pub results: Vec<Event>,
    /// The rules that decided a conflict.
    pub rules: Vec<Name>,
}

/// The change of a file.
#[derive(Debug)]
pub struct CarriedChange {
    /// The old bytes; `None` if the file is new.
    pub old: Option<Vec<u8>>,
    /// The new bytes; `None` if the file is deleted.
    pub new: Option<Vec<u8>>,
    /// Whether anyone may execute it; `None` if that stays as it is.
    pub executable: Option<bool>,
}

/// Original's, updated's and dest's version of a file. If dest ends its lines in another way than upstream, upstream's versions get dest's
/// line ends.
pub fn with_line_ends_of_dest([old, new, here]: [Option<Vec<u8>>; 3]) -> [Option<Vec<u8>>; 3] {
    let upstream = old.as_ref().or(new.as_ref()).zip(here.as_ref());
    match upstream.and_then(|(upstream, here)| LineEnd::of_dest(upstream, here)) {
        Some(end) => [old.map(|old| end.end_all(&old)), new.map(|new| end.end_all(&new)), here],
        None => [old, new, here],
    }
}

/// Whether a version of a file may hold a Secret. Versions that nobody can read hold the same values.
fn may_be_secret(bytes: &[u8]) -> bool {
    Secret::of_text(&String::from_utf8_lossy(bytes)) != Secret::Nothing
}

impl CarriedFile<'_> {
    /// The form of the file over all sides, which says what messages call it and which policy settles it.
    fn form(&self) -> FileForm {
        match (self.why, self.sides[0].has) {
            (Some(AsText::Document), _) | (None, Has::Plain | Has::Nothing) => FileForm::NoResources,
            (Some(why), _) => FileForm::AsText(why),
            (None, Has::Resources) => FileForm::NoResourcesAnyMore,
        }
    }

    /// Whether the file is dest's own: no side has resources in it, and dest's text is no version of upstream's.
    fn is_own(&self) -> bool {
        let [old, new, here] = &self.bytes;
        let upstream = old.as_ref().or(new.as_ref()).zip(here.as_ref());
        matches!(self.form(), FileForm::NoResources)
            && upstream.is_some_and(|(upstream, here)| upstream != here && !may_be_one(self.path, [upstream, here]))
    }

    /// Whether upstream changed the file, and dest does not have the change yet.
    pub fn is_changed(&self) -> bool {
        let [old, new, here] = &self.bytes;
        old != new && here != new
    }

    /// Merges the file into dest.
    pub fn carry(self, combiner: &Combiner<'_>) -> Carried {
        let mut carried = Carried::default();
        // What upstream alone changed is not told.
        let is_told = self.bytes[0] != self.bytes[2];
        let is_secret = is_told && self.bytes.iter().flatten().any(|bytes| may_be_secret(bytes));
        carried.change = self.change(combiner, &mut carried);
        carried.results.iter_mut().for_each(|result| result.is_secret |= is_secret);
        carried
    }

    fn change(self, combiner: &Combiner<'_>, carried: &mut Carried) -> Option<CarriedChange> {
        let (is_changed, form, is_own) = (self.is_changed(), self.form(), self.is_own());
        let Self { path, why, sides, bytes: [old, new, here], executable, turned, is_left } = self;
        let has = sides.map(|side| side.has);
        let treatment = match form {
            FileForm::NoResources | FileForm::AsText(AsText::Unnamed | AsText::Document) => combiner.on_conflict,
            FileForm::NoResourcesAnyMore | FileForm::AsText(AsText::Mixed | AsText::Repeated) => {
                combiner.on_broken(path, sides)
            }
        };
        let change = |old, new, executable| Some(CarriedChange { old, new, executable });
        let made_by = lock::made_by(path);
        if has[2] == Has::Resources && is_left {
            return change(here, new, executable);
        }
        if has[2] == Has::Resources {
            carried.results.push(conflict(path, form, has, sparing(treatment), Some(ClashNote::HasResources)));
            return None;
        }
        if !is_changed {
            return change(here.clone(), here, turned);
        }
        if let (Some(old), Some(new), Some(here), [Has::Plain, Has::Plain, Has::Plain]) = (&old, &new, &here, has)
            && here != old
            && made_by.is_none()
            && let Some(merged) =
                combiner.combined(path, name_for_engine(form, path, why, [old, new, here]), [old, new, here])
            && !(is_own && merged.text.is_in_conflict())
        {
            carried.results.extend(combined(path, form, &merged, treatment));
            let Combined { text, conflicts, notes } = merged;
            if text.is_in_conflict() && text.how != How::Document {
                carried.results.extend(unreached(path, form, sides, combiner));
            }
            for conflict in conflicts {
                carried.rules.extend(conflict.rule);
                carried.results.push(conflict.told);
            }
            carried.results.extend(notes);
            let wins = match treatment.pick() {
                Pick::Updated | Pick::Both => text.updated.into_bytes(),
                Pick::Dest => text.dest.into_bytes(),
                Pick::Original => text.original.map_or_else(|| old.clone(), String::into_bytes),
            };
            let is_same = wins == *here && turned.is_none();
            return if is_same { None } else { change(Some(here.clone()), Some(wins), turned) };
        }
        let is_conflict = here != old;
        let treatment = if is_own { sparing(treatment) } else { treatment };
        if is_conflict {
            let why = if is_own { Some(ClashNote::Alien) } else { made_by.map(ClashNote::MadeBy) };
            carried.results.push(conflict(path, form, has, treatment, why));
            carried.results.extend(unreached(path, form, sides, combiner));
        }
        let stays_deleted = here.is_none() && old.is_some() && matches!(treatment, Treatment::By(_));
        let new = match treatment.pick() {
            _ if stays_deleted => return None,
            Pick::Dest if is_conflict => return None,
            Pick::Original if is_conflict => old,
            Pick::Dest | Pick::Original | Pick::Updated | Pick::Both => new,
        };
        let executable = if here.is_some() { turned } else { executable };
        change(here, new, executable)
    }
}

/// The name by which the engine chooses how to merge a file. A file that holds resources on one side only has no name, so it is merged by
/// line, unless the file is of one kind on all sides.
fn name_for_engine<'p>(form: FileForm, path: &'p str, why: Option<AsText>, texts: [&[u8]; 3]) -> Option<&'p str> {
    match form {
        // A stream has no path.
        _ if why == Some(AsText::Document) && !names_document(path) => Some("stdin.yaml"),
        FileForm::NoResources | FileForm::NoResourcesAnyMore | FileForm::AsText(AsText::Unnamed | AsText::Document) => {
            Some(path)
        }
        FileForm::AsText(AsText::Mixed | AsText::Repeated) => are_of_one_kind(texts).then_some(path),
    }
}

/// The result for a file that both sides changed and that was merged; `None` if those of its conflicts say it all.
fn combined(path: &str, form: FileForm, merged: &Combined, treatment: Treatment) -> Option<Event> {
    let Combined { text, conflicts, .. } = merged;
    let how = text.how;
    if !text.is_in_conflict() {
        return text.is_combined().then(|| of_file(path, Event::of(What::FileMerged { form, how })));
    }
    let is_left = |place: &&String| conflicts.iter().all(|conflict| conflict.place != **place);
    let overlaps: Vec<String> = text.places.iter().filter(is_left).cloned().collect();
    if overlaps.is_empty() && !conflicts.is_empty() {
        return None;
    }
    let clash = Clash {
        place: ClashPlace::File,
        dispute: Dispute::MergedFile { form, how, overlaps },
        shown: Sides::default(),
        original: None,
        settled: treatment.policy().settled(&Taking::Overlap),
        notes: Vec::new(),
    };
    Some(of_file(path, Event::conflict(severity(treatment), clash)))
}

/// A result about a file.
fn of_file(path: &str, event: Event) -> Event {
    Event { file: Some(event::File { path: path.to_owned(), index: None }.into()), ..event }
}

/// The result for rules of the user that pick a side and select this file, but cannot decide its conflict.
fn unreached(path: &str, form: FileForm, sides: [CarriedSide<'_>; 3], combiner: &Combiner<'_>) -> Option<Event> {
    // A rule without a target is for all resources, so it does not name a file without any.
    let is_named = |rule: &&Decision<'_>| matches!(form, FileForm::AsText(_)) || rule.target.is_some();
    let picks = |rule: &&Decision<'_>| rule.take != Take::Policy(OnConflict::Fail);
    let rules = combiner.rules_for(path, sides).into_iter().filter(picks).filter(is_named);
    let rules: Vec<Name> = rules.map(|rule| rule.name.clone()).collect();
    (!rules.is_empty()).then(|| of_file(path, Event::of(What::Unreached { form, rules })))
}

/// The treatment on a file of dest's own, which no policy replaces.
fn sparing(treatment: Treatment) -> Treatment {
    match treatment {
        Treatment::By(OnConflict::TakeUpdated) => OnConflict::KeepDest.into(),
        Treatment::By(OnConflict::KeepDest | OnConflict::Fail) | Treatment::Both | Treatment::Open(_) => treatment,
    }
}

/// The result for a conflict of a whole file. `why` says why dest's stays, if no policy decides that.
fn conflict(
    path: &str,
    form: FileForm,
    [original, updated, dest]: [Has; 3],
    treatment: Treatment,
    why: Option<ClashNote>,
) -> Event {
    let did = |has: Has| match (original, has) {
        (Has::Nothing, _) => Did::Added,
        (_, Has::Nothing) => Did::Deleted,
        (_, Has::Plain) | (Has::Resources, Has::Resources) => Did::Changed,
        (Has::Plain, Has::Resources) => Did::ReplacedByResources,
    };
    let settled = match treatment.policy() {
        _ if dest == Has::Nothing => treatment.settled_as(Settled::StaysDeleted),
        OnConflict::TakeUpdated if updated != Has::Plain => Settled::Deleted,
        OnConflict::TakeUpdated => Settled::Updated,
        OnConflict::KeepDest => Settled::Dest,
        OnConflict::Fail => Settled::Open,
    };
    let clash = Clash {
        place: ClashPlace::WholeFile,
        dispute: Dispute::File { form, did: [did(dest), did(updated)] },
        shown: Sides::default(),
        original: None,
        settled,
        notes: why.into_iter().collect(),
    };
    of_file(path, Event::conflict(severity(treatment), clash))
}

/// The severity of a conflict with this treatment.
fn severity(treatment: Treatment) -> Severity {
    match treatment {
        Treatment::By(OnConflict::Fail) => Severity::Error,
        Treatment::By(OnConflict::TakeUpdated | OnConflict::KeepDest) | Treatment::Both | Treatment::Open(_) => {
            Severity::Warning
        }
    }
}

/// Whether three texts have documents of the same kinds. Then fields with the same name mean the same in all of them, even if a document
/// lacks a name.
fn are_of_one_kind(texts: [&[u8]; 3]) -> bool {
    let kinds = |text: &[u8]| {
        let document = Document::parse(String::from_utf8(text.to_vec()).ok()?).ok()?;
        let kind = |root: NodeRef<'_>| root.get("kind").and_then(NodeRef::as_str).map(str::to_owned);
        document.roots().map(kind).collect::<Option<Vec<_>>>()
    };
    let [original, updated, dest] = texts.map(kinds);
    original.is_some() && original == updated && original == dest
}
