//! Files that hold no resources, in a three-way merge of folders: for each, the merge takes updated's or keeps dest's.
//!
//! If only upstream changed such a file, the merge takes updated's. If both sides changed it to different bytes, the engine merges its
//! lines or fields if it can. Whatever overlaps is a conflict, which the policy settles like a conflict of resources. A file that dest
//! deleted stays deleted. The executable bit follows the same rule, but is not reported if the content is in conflict.
//!
//! If updated and dest hold different forms at a path, or if a resource at it has no name, the file is merged as text (`one_form.rs`). But
//! if its resources are also at another path, the resources are merged by identity, wherever they are, and the plain content is merged as a
//! file. `P` is plain content, `R` is resources, `*` is any, `–` is no file:
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
use std::collections::BTreeSet;
use std::fmt;

use anyhow::Result;
use krm_files::change::Change;
use krm_files::held::{AsText, Content, Held};
use krm_files::line_end::LineEnd;
use krm_files::side::{Root, Side, paths};
use krm_files::walk::Tree;
use krm_merge_core::policy::{OnConflict, Settled, Treatment};
use krm_merge_core::warning::Combined as How;
use krm_merge_function::config::Role;
use krm_merge_function::decision::{Decision, Take};
use krm_merge_function::name::Name;
use krm_merge_function::results::{self, Clash, Did, Outcome, Severity, changed_by, counted, how_of, listed};
use krm_tree::sides::{Side as Version, Sides};
use krm_tree::tree::{Pick, Taking};
use krm_yaml::secret::Secret;

use crate::combine::{Combined, Combiner};
use crate::one_form::are_of_one_kind;
use crate::related::may_be_one;

/// The result for the files that hold no resources.
#[derive(Debug, Default)]
pub struct Carried {
    /// The files that change.
    pub changes: Vec<Change>,
    /// The conflicts.
    pub results: Vec<Outcome>,
    /// The rules that decided a conflict.
    pub rules: Vec<Name>,
}

/// The form of a file on a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Nothing,
    Plain,
    Resources,
}

impl Has {
    fn of(held: Option<&Held>) -> Self {
        match held.map(Held::document) {
            None => Self::Nothing,
            Some(None) => Self::Plain,
            Some(Some(_)) => Self::Resources,
        }
    }
}

/// The files of dest that the merge of resources writes or empties.
#[derive(Debug)]
pub struct Taken<'m> {
    /// The files that receive resources.
    pub placed: BTreeSet<&'m str>,
    /// The files whose resources all move to other files.
    pub left: BTreeSet<&'m str>,
}

/// Carries the files of updated into dest.
///
/// # Errors
/// A file cannot be read.
pub fn carry(dest: &Side, given: &[(Role, Vec<Side>)], combiner: &Combiner<'_>, taken: &Taken<'_>) -> Result<Carried> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    let mut carried = Carried::default();
    let (Some(original), Some(updated)) = (side(Role::Original), side(Role::Updated)) else { return Ok(carried) };
    let Root::Folder(tree) = &dest.root else { return Ok(carried) };
    if !original.is_folder() || !updated.is_folder() {
        return Ok(carried);
    }
    for path in paths([original, updated]) {
        let sides = [original, updated, dest].map(|s| s.at(path));
        if !is_ours(path, sides, taken)? {
            continue;
        }
        let has = sides.map(Has::of);
        let bytes = |held: Option<&Held>| anyhow::Ok(held.map(Held::bytes).transpose()?.map(Cow::into_owned));
        let plain = |held: Option<&Held>| bytes(held.filter(|_| Has::of(held) != Has::Resources));
        let bytes = with_line_ends_of_dest([bytes(sides[0])?, plain(sides[1])?, bytes(sides[2])?]);
        let file = CarriedFile { path, sides, has, bytes, turned: turned(sides) };
        if !file.is_changed() && file.turned.is_none() {
            continue;
        }
        if let Some(told) = file.unmergeable(dest, tree, [original, updated]) {
            carried.results.extend(told);
            continue;
        }
        let before = carried.results.len();
        file.carry(combiner, taken, &mut carried);
        if carried.results.len() > before && may_be_secret(sides)? {
            carried.results[before..].iter_mut().for_each(|result| result.is_secret = true);
        }
    }
    Ok(carried)
}

/// Original's, updated's and dest's version of a file. If dest ends its lines in another way than upstream, upstream's versions get dest's
/// line ends.
fn with_line_ends_of_dest([old, new, here]: [Option<Vec<u8>>; 3]) -> [Option<Vec<u8>>; 3] {
    let upstream = old.as_ref().or(new.as_ref()).zip(here.as_ref());
    match upstream.and_then(|(upstream, here)| LineEnd::of_dest(upstream, here)) {
        Some(end) => [old.map(|old| end.end_all(&old)), new.map(|new| end.end_all(&new)), here],
        None => [old, new, here],
    }
}

/// Whether a version of a file may hold a Secret. Versions that nobody can read hold the same values.
fn may_be_secret(sides: [Option<&Held>; 3]) -> Result<bool> {
    for held in sides.into_iter().flatten() {
        if Secret::of_text(&String::from_utf8_lossy(&held.bytes()?)) != Secret::Nothing {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a file is merged as a file, and not as resources.
fn is_ours(path: &str, sides: [Option<&Held>; 3], taken: &Taken<'_>) -> Result<bool> {
    Ok(match sides.map(Has::of) {
        [Has::Plain, Has::Resources, Has::Plain] => match sides[2] {
            Some(here) => !taken.placed.contains(path) && !here.is_empty()?,
            None => false,
        },
        [_, Has::Resources, _] | [Has::Plain, Has::Nothing, Has::Resources] => false,
        [original, updated, _] => original == Has::Plain || updated == Has::Plain,
    })
}

/// A file in original, updated and dest.
struct CarriedFile<'s> {
    path: &'s str,
    sides: [Option<&'s Held>; 3],
    has: [Has; 3],
    /// The content on each side; for updated only if the file holds no resources.
    bytes: [Option<Vec<u8>>; 3],
    /// Whether anyone may execute updated's file; `None` if upstream did not change that.
    turned: Option<bool>,
}

impl CarriedFile<'_> {
    /// The form of the file over all sides, which says what messages call it and which policy settles it.
    fn form(&self) -> FileForm {
        let why = self.sides.iter().flatten().find_map(|held| match held.content {
            Content::AsText(why, _) => Some(why),
            Content::Resources(_) | Content::NoYaml(_) | Content::Other => None,
        });
        match (why, self.has[0]) {
            (Some(why), _) => FileForm::AsText(why),
            (None, Has::Resources) => FileForm::NoResourcesAnyMore,
            (None, Has::Plain | Has::Nothing) => FileForm::NoResources,
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
    fn is_changed(&self) -> bool {
        let [old, new, here] = &self.bytes;
        old != new && here != new
    }

    /// Checks whether the file can be merged: `None` if it can. Otherwise it is skipped, with or without a result.
    fn unmergeable(&self, dest: &Side, tree: &Tree, [original, updated]: [&Side; 2]) -> Option<Option<Outcome>> {
        let path = self.path;
        let warning = |told: String| Outcome::new(Severity::Warning, told);
        if tree.ignores(path) {
            let is_new = self.bytes[0].is_none() && !is_unread(dest, path);
            return Some(match self.sides[1] {
                Some(updated) if is_new => Some(warning(not_added(path, &updated.name))),
                _ => is_unread(dest, path).then(|| warning(unread(path))),
            });
        }
        if let Some(told) = not_read(updated, path) {
            return Some(Some(warning(told)));
        }
        let was_here = self.bytes[2].is_none() && self.bytes[0].is_some();
        if was_here && is_unread(dest, path) {
            return Some(Some(warning(unread(path))));
        }
        let moved = self.sides[0].filter(|_| was_here).is_some_and(|held| lies_elsewhere(held, original, dest));
        moved.then(|| Some(plain_now(path)))
    }

    /// Merges the file into dest.
    fn carry(self, combiner: &Combiner<'_>, taken: &Taken<'_>, carried: &mut Carried) {
        let (is_changed, form, is_own) = (self.is_changed(), self.form(), self.is_own());
        let Self { path, sides, has, bytes: [old, new, here], turned } = self;
        let treatment = match form {
            FileForm::NoResources | FileForm::AsText(AsText::Unnamed) => combiner.on_conflict,
            FileForm::NoResourcesAnyMore | FileForm::AsText(AsText::Mixed | AsText::Repeated) => {
                combiner.on_broken(path, sides)
            }
        };
        let like_updated = || sides[1].and_then(Held::executable);
        let change = |old, new, executable| Change { path: path.to_owned(), old, new, executable };
        if has[2] == Has::Resources && taken.left.contains(path) {
            carried.changes.push(change(here, new, like_updated()));
            return;
        }
        if has[2] == Has::Resources {
            carried.results.push(conflict(path, form, has, sparing(treatment), "its resources stay in it"));
            return;
        }
        if !is_changed {
            carried.changes.push(change(here.clone(), here, turned));
            return;
        }
        if let (Some(old), Some(new), Some(here), [Has::Plain, Has::Plain, Has::Plain]) = (&old, &new, &here, has)
            && here != old
            && let Some(merged) = combiner.combined(path, form.name(path, [old, new, here]), [old, new, here])
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
                Pick::Original => old.clone(),
            };
            if wins != *here || turned.is_some() {
                carried.changes.push(change(Some(here.clone()), Some(wins), turned));
            }
            return;
        }
        let is_conflict = here != old;
        let treatment = if is_own { sparing(treatment) } else { treatment };
        if is_conflict {
            let why = if is_own { "it has next to nothing in common with upstream's" } else { "" };
            carried.results.push(conflict(path, form, has, treatment, why));
            carried.results.extend(unreached(path, form, sides, combiner));
        }
        let stays_deleted = here.is_none() && old.is_some() && matches!(treatment, Treatment::By(_));
        let new = match treatment.pick() {
            _ if stays_deleted => return,
            Pick::Dest if is_conflict => return,
            Pick::Original if is_conflict => old,
            Pick::Dest | Pick::Original | Pick::Updated | Pick::Both => new,
        };
        let executable = if here.is_some() { turned } else { like_updated() };
        carried.changes.push(change(here, new, executable));
    }
}

/// Whether anyone may execute updated's file, if upstream changed that and dest has not.
fn turned(sides: [Option<&Held>; 3]) -> Option<bool> {
    let [original, updated, dest] = sides.map(|held| held.and_then(Held::executable));
    let [original, updated, dest] = [original?, updated?, dest?];
    (original != updated && original == dest).then_some(updated)
}

impl Carried {
    /// The number of changed, added and deleted files, and of conflicts in them; `None` if there are none. The engine counts only
    /// resources.
    pub fn summary(&self) -> Option<Outcome> {
        let count = |is: fn(&Change) -> bool| self.changes.iter().filter(|c| is(c)).count();
        let changed = count(|c| c.old.is_some() && c.new.is_some());
        let (added, deleted) = (count(|c| c.old.is_none()), count(|c| c.new.is_none()));
        let conflicts = self.results.iter().filter(|r| r.is_conflict()).count();
        let message = format!(
            "files without resources: {changed} changed, {added} added, {deleted} deleted; {}",
            counted(conflicts, "conflict")
        );
        (changed + added + deleted + conflicts > 0).then(|| Outcome::new(Severity::Info, message))
    }
}

/// Whether dest has a resource of this file of original where original has none, so that dest may have moved it there.
fn lies_elsewhere(held: &Held, original: &Side, dest: &Side) -> bool {
    let own: Vec<_> = held.identities().collect();
    let was_there = |path, identity| original.at(path).is_some_and(|was| was.identities().any(|own| own == identity));
    dest.files.iter().any(|file| file.identities().any(|there| own.contains(&there) && !was_there(&file.path, there)))
}

/// The error for a file that can be merged neither as resources nor as a file.
fn plain_now(path: &str) -> Outcome {
    let message = "the file must hold resources in updated, as on another side, but it holds none: write into dest's what it shall be from now on, and leave it out of the other sides";
    let file = Some(results::File { path: path.to_owned(), index: None });
    Outcome { file, ..Outcome::new(Severity::Error, message) }
}

/// Whether a file is in dest's folder on disk, but is not part of dest.
pub fn is_unread(dest: &Side, path: &str) -> bool {
    let Root::Folder(tree) = &dest.root else { return false };
    dest.at(path).is_none() && tree.root.join(path).symlink_metadata().is_ok()
}

/// The message for a path at which a side has a file on disk that is not part of the side, for example a symbolic link. The merge does not
/// see the file, and must not take it for deleted.
pub fn not_read(side: &Side, path: &str) -> Option<String> {
    if side.at(path).is_some() {
        return None;
    }
    let kind = match &side.root {
        Root::Folder(tree) => tree.root.join(path).symlink_metadata().ok()?.file_type(),
        Root::Release(unread) => return unread.why(path).map(|why| unread_in(side, path, why)),
        Root::File(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => return None,
    };
    let why = match () {
        () if kind.is_dir() => return None,
        () if kind.is_symlink() => "a symbolic link is not followed",
        () if kind.is_file() => "`.krmignore` leaves it out there, or it is another side",
        () => "it is no file",
    };
    Some(unread_in(side, path, why))
}

fn unread_in(side: &Side, path: &str, why: &str) -> String {
    format!("{}/{path}: not read, so that dest stays as it is there: {why}", side.name)
}

/// The message for a file of dest that was not read.
pub fn unread(path: &str) -> String {
    let why = "a symbolic link is not followed, nor what `.krmignore` leaves out or is another side";
    format!("{path}: changed in updated and not merged, because dest's file was not read: {why}")
}

/// The message for a new file or resource that `.krmignore` leaves out.
pub fn not_added(path: &str, from: &str) -> String {
    format!("{path}: new in {from} and not added, because `.krmignore` leaves it out")
}

/// The form of a file that is merged as a file, over all sides.
#[derive(Clone, Copy, Debug)]
enum FileForm {
    NoResources,
    NoResourcesAnyMore,
    /// Resources, merged as text.
    AsText(AsText),
}

impl FileForm {
    /// The name by which the engine chooses how to merge the file. A file that holds resources on one side only has no name, so it is
    /// merged by line, unless the file is of one kind on all sides.
    fn name<'p>(self, path: &'p str, texts: [&[u8]; 3]) -> Option<&'p str> {
        match self {
            Self::NoResources | Self::NoResourcesAnyMore | Self::AsText(AsText::Unnamed) => Some(path),
            Self::AsText(AsText::Mixed | AsText::Repeated) => are_of_one_kind(texts).then_some(path),
        }
    }
}

impl fmt::Display for FileForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoResources => "the file (it holds no resources)",
            Self::NoResourcesAnyMore => "the file (it no longer holds resources)",
            Self::AsText(AsText::Unnamed) => {
                "the file (a resource in it has no `apiVersion`, no `kind` or no `metadata.name`)"
            }
            Self::AsText(AsText::Repeated) => {
                "the file (a resource stands in it more often on one side than on another)"
            }
            Self::AsText(AsText::Mixed) => "the file (it holds resources on one side, and something else on another)",
        })
    }
}

/// The result for a file that both sides changed and that was merged; `None` if those of its conflicts say it all.
fn combined(path: &str, form: FileForm, merged: &Combined, treatment: Treatment) -> Option<Outcome> {
    let Combined { text, conflicts, .. } = merged;
    let how = how_of(text.how);
    let changed = changed_by(Sides::of(Version::name), &form.to_string(), [Did::Changed; 2]);
    let file = Some(results::File { path: path.to_owned(), index: None });
    if text.is_in_conflict() {
        let settled = treatment.policy().settled(&Taking::Overlap);
        let is_left = |place: &&String| conflicts.iter().all(|conflict| conflict.place != **place);
        let left: Vec<String> = text.places.iter().filter(is_left).cloned().collect();
        let at = match left.as_slice() {
            [] if !conflicts.is_empty() => return None,
            [] => String::new(),
            places => format!("; the changes overlap in {}", listed(places)),
        };
        let what = format!("{changed}, and it was merged {how}{at}");
        let clash = Clash { place: "the file".to_owned(), what, settled, more: String::new() };
        return Some(Outcome { file, ..Outcome::conflict(severity(treatment), clash) });
    }
    let message = format!("{changed}, and it was merged {how}: look whether it is right");
    text.is_combined().then(|| Outcome { file, ..Outcome::new(Severity::Info, message) }.because("combined"))
}

/// The result for rules of the user that pick a side and select this file, but cannot decide its conflict.
fn unreached(path: &str, form: FileForm, sides: [Option<&Held>; 3], combiner: &Combiner<'_>) -> Option<Outcome> {
    // A rule without a target is for all resources, so it does not name a file without any.
    let is_named = |rule: &&Decision<'_>| matches!(form, FileForm::AsText(_)) || rule.target.is_some();
    let picks = |rule: &&Decision<'_>| rule.take != Take::Policy(OnConflict::Fail);
    let rules = combiner.rules_for(path, sides).into_iter().filter(picks).filter(is_named);
    let rules: Vec<String> = rules.map(|rule| rule.name.to_string()).collect();
    let why = match form {
        FileForm::AsText(AsText::Mixed) => "the file holds resources on one side and something else on another",
        FileForm::AsText(AsText::Repeated) => "a resource stands in the file more often on one side than on another",
        FileForm::AsText(AsText::Unnamed) => {
            "a resource in the file has no `apiVersion`, no `kind` or no `metadata.name`, and the file did not merge by field"
        }
        FileForm::NoResources | FileForm::NoResourcesAnyMore => "the file did not merge by field",
    };
    let message = format!("{why}, so that no rule looks into it: {} decided nothing here", rules.join(", "));
    let file = Some(results::File { path: path.to_owned(), index: None });
    (!rules.is_empty()).then(|| Outcome { file, ..Outcome::new(Severity::Warning, message) })
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
    why: &str,
) -> Outcome {
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
    let what = changed_by(Sides::of(Version::name), &form.to_string(), [did(dest), did(updated)]);
    let file = Some(results::File { path: path.to_owned(), index: None });
    let more = if why.is_empty() { String::new() } else { format!(", for {why}") };
    let clash = Clash { place: "the whole file".to_owned(), what, settled, more };
    Outcome { file, ..Outcome::conflict(severity(treatment), clash) }
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
