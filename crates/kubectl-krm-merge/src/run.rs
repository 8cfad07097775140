//! `two-way`, `three-way` and `strategic`: reads the sides, merges them, and prints or writes the result.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_driver::driver::style;
use krm_driver::mark;
use krm_files::command::{argument, own};
use krm_files::disk::{self, Replacement};
use krm_files::errors;
use krm_files::signals::Signals;
use krm_folders::documents::{self, Aimed};
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::given::STDIN_ONCE;
use krm_folders::merge::{Conflicts, Merge, merge};
use krm_folders::one_form;
use krm_folders::replaced::replacements;
use krm_folders::side::{Root, Side};
use krm_git::before::{self, Runs};
use krm_git::tracked;
use krm_git::unmerged::{self, Conflicted};
use krm_job::event::{Event, Severity};
use krm_job::marked::{Marked, has_markers};
use krm_job::role::Role;
use krm_package::resource::Resource;
use krm_show::args::{Color, Output};
use krm_show::diff;
use krm_show::html::{Writing, html};
use krm_show::output::Printed;
use krm_show::page::{self, Told, report};
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Message, Word};
use krm_yaml::shown;

use crate::cli::Common;
use crate::likeness::likeness;
use crate::setting::Setting;

/// Runs a merge with the setting that the flags give. `dest` is the path of dest.
///
/// # Errors
/// The input is bad, or the output cannot be written.
pub fn run(dest: &str, common: &Common, setting: impl FnOnce() -> Result<Setting>) -> Result<End> {
    if common.in_place && !common.dry_run && dest != "-" {
        screen::tell_repaired(&disk::repair(Path::new(dest), tracked::refuse)?);
    }
    let progress = Progress::begin("reading");
    let mut setting = setting()?;
    let from_stdin = |side: &Side| matches!(side.root, Root::Stdin);
    if dest == "-" && setting.given.iter().flat_map(|(_, sides)| sides).any(from_stdin) {
        bail!(STDIN_ONCE);
    }
    if dest == "-" && common.in_place {
        bail!("`--in-place` must not be given with `--dest -`");
    }
    if common.without_local_config && !matches!(format(common), Some(Output::Yaml | Output::Json)) {
        bail!("`--without-local-config` must be given with `-o yaml` or `-o json`");
    }
    setting.config()?;
    let mut dest = given::side("--dest", dest, &setting.files())?;
    if matches!(dest.root, Root::Release(_)) {
        bail!("`--dest` must be on disk: `-o` of a merge prints what a release in git would become");
    }
    if common.in_place && matches!(dest.root, Root::Stream) {
        bail!("`--in-place` must be given with a `--dest` that is a file or a folder, not \"{}\"", dest.name);
    }
    setting.use_rules_of(&dest)?;
    let merge = merged(&mut dest, &mut setting, &progress)?;
    let hint = hint(&dest, &setting, &merge)?;
    let end = end(&dest, &setting, &merge, common, progress, &mut Told::default())?;
    screen::tell_each(hint);
    if let Some((open, marked)) = end.open
        && let Some(next) = next_step(&dest, setting.conflicts, common.config.as_deref(), open, marked)
    {
        screen::tell(Word::Next, &next);
    }
    Ok(end.end)
}

/// What a user may have mixed up: sides that are in each other's place, or the wrong folder.
fn hint(dest: &Side, setting: &Setting, merge: &Merge) -> Result<Option<Message>> {
    let [(_, original), (_, updated)] = setting.given.as_slice() else { return Ok(None) };
    let ([original], [updated]) = (original.as_slice(), updated.as_slice()) else { return Ok(None) };
    let Some(counts) = merge.results.iter().find_map(Event::counts) else { return Ok(None) };
    if dest.is_empty() && !original.is_empty() {
        return Ok(Some(Word::Warning.says(format!(
            "{}: dest has no resources, so all resources of original count as deleted in dest. Check that `--dest` is the directory of the package",
            dest.name
        ))));
    }
    // A merge with changes of upstream is not the wrong way round, so nothing is compared.
    let is_still = !original.is_empty() && counts.added + counts.deleted == 0 && counts.merged <= counts.conflicts;
    if !is_still || !likeness(updated, dest)?.is_nearer(likeness(original, dest)?) {
        return Ok(None);
    }
    let told = "dest is more like updated than original. Either this upgrade is already done, or `--original` and `--updated` are swapped";
    Ok(Some(Word::Info.says(told)))
}

/// How a merge of a package ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How the run ends if there is nothing else.
    pub end: End,
    /// If the merge has errors or open conflicts: how it ends, and how many files got markers.
    pub open: Option<(End, usize)>,
}

/// Merges the given sides into dest.
///
/// # Errors
/// The sides do not fit together, or dest is not in order.
pub fn merged(dest: &mut Side, setting: &mut Setting, progress: &Progress) -> Result<Merge> {
    // How a package merges, and where it comes from, is no part of it, and nobody else says it.
    let folders = setting.given.iter_mut().flat_map(|(_, sides)| sides).chain([&mut *dest]);
    folders.filter(|side| side.is_folder()).for_each(|side| side.leave_out_of_package(&[]));
    setting.check_source(dest)?;
    mark::check_resolved(dest)?;
    let places = setting.given.iter().flat_map(|(_, sides)| sides).filter_map(Side::place);
    places.for_each(|place| dest.leave_out(place));
    setting.keep_apart(dest);
    let aimed = Aimed::of(&setting.config()?, dest);
    documents::agree(dest, &mut setting.given, &aimed)?;
    setting.check_not_empty()?;
    one_form::agree(dest, &mut setting.given)?;
    let sides = || setting.given.iter().flat_map(|(_, sides)| sides).chain([&*dest]);
    progress.set(|| {
        let (resources, files) = sides().fold((0, 0), |(r, f), side| (r + side.count(), f + side.files.len()));
        format!("merging {resources} resources of {files} files")
    });
    match setting.conflicts {
        Conflicts::Settled => merge(dest, &setting.given, || setting.config()),
        Conflicts::Marked => mark::merge(dest, &setting.given, style, || setting.config()),
    }
}

/// Writes and prints the result of a merge. `told_so_far` is what the run told of others.
///
/// # Errors
/// A file or the output cannot be written.
pub fn end(
    dest: &Side,
    setting: &Setting,
    merge: &Merge,
    common: &Common,
    progress: Progress,
    told_so_far: &mut Told,
) -> Result<Ended> {
    let writes = common.in_place && !common.dry_run && !merge.has_failed();
    if writes {
        let (signals, written) = (Signals::hold()?, Cell::new(0));
        let go_on = || {
            written.set((written.get() + 1).min(merge.changes.len()));
            progress.set(|| format!("writing {} of {} files", written.get(), merge.changes.len()));
            signals.check()
        };
        in_place(dest, merge, |root, files| {
            let place = if let Root::File(file) = &dest.root { file } else { root };
            if let Err(e) = left_in_conflict(dest, merge).and_then(|left| before::note(place, files, &left)) {
                screen::tell(Word::Warning, &format!("{}: {}", before::NO_WAY_BACK, errors::chain(&e)));
            }
            disk::write(root, files, go_on)
        })?;
        if setting.conflicts == Conflicts::Marked
            && let Err(e) = tell_git(dest, &setting.given, merge)
        {
            screen::tell(
                Word::Warning,
                &format!("git does not know which files are in conflict: {}", errors::chain(&e)),
            );
        }
    } else if common.in_place && !merge.has_failed() {
        in_place(dest, merge, disk::look)?;
    }
    drop(progress);
    report(&merge.results, format(common), told_so_far);
    let printed = print(dest, merge, common);
    if writes { printed.context("the files are written, but not the output") } else { printed }?;
    screen::tell_each(infos(merge, format(common)).map(Message::of));
    if format(common) == Some(Output::Diff) {
        page::own_total(merge).iter().for_each(|total| screen::tell(Word::Plain, total));
    }
    if let Some(end) = merge.failure() {
        let marked = merge.changes.iter().filter(|change| change.new.as_deref().is_some_and(has_markers));
        let marked = if writes && setting.conflicts == Conflicts::Marked { marked.count() } else { 0 };
        return Ok(Ended { end, open: Some((end, marked)) });
    }
    let differs = common.exit_code && !merge.changes.is_empty();
    let end = if differs || (common.conflicts_exit_code && merge.is_in_conflict()) { End::Differs } else { End::Done };
    Ok(Ended { end, open: None })
}

/// The files in conflict, as they are: the merge may leave one, such as an image.
fn left_in_conflict<'d>(dest: &'d Side, merge: &Merge) -> Result<Vec<Replacement<'d>>> {
    let conflicts = merge.results.iter().filter(|result| result.is_conflict());
    let paths: BTreeSet<&str> = conflicts.filter_map(|result| Some(result.file.as_ref()?.path.as_str())).collect();
    let held = paths.into_iter().filter_map(|path| dest.at(path));
    let found = held.filter_map(|held| Some((held.disk.clone()?, held)));
    let as_is = found.map(|(file, held)| {
        let bytes = held.bytes()?;
        Ok(Replacement { file, old: Some(bytes.clone()), new: Some(bytes), executable: None })
    });
    as_is.collect()
}

/// Tells git which files have markers, and their three versions.
fn tell_git(dest: &Side, given: &[(Role, Vec<Side>)], merge: &Merge) -> Result<()> {
    let (Some((root, files)), [(_, original), (_, updated)]) = (replacements(dest, &merge.changes)?, given) else {
        return Ok(());
    };
    let [original, updated] = [original, updated].map(|sides| sides.first());
    let text = |side: Option<&Side>, path: &str| {
        let held = side.and_then(|side| if side.is_folder() { side.at(path) } else { side.files.first() });
        held.map(|held| held.bytes().map(Cow::into_owned)).transpose()
    };
    let mut conflicted = Vec::new();
    for (change, file) in merge.changes.iter().zip(&files) {
        let path = file.file.strip_prefix(&root).ok().and_then(Path::to_str);
        if let Some(path) = path.filter(|_| change.new.as_deref().is_some_and(has_markers)) {
            // Where upstream moved it, original and dest have it at its old path.
            let was = updated.and_then(|updated| old_path(dest, updated, &change.path)).unwrap_or(path);
            let original = text(original, &change.path)?.map_or_else(|| text(original, was), |text| Ok(Some(text)))?;
            let dest = change.old.clone().map_or_else(|| text(Some(dest), was), |text| Ok(Some(text)))?;
            conflicted.push(Conflicted { path, was, texts: [original, dest, text(updated, &change.path)?] });
        }
    }
    if conflicted.is_empty() { Ok(()) } else { unmerged::tell(&root, &conflicted) }
}

/// The path at which dest has the resources of a file of updated, if dest has no file at its path.
fn old_path<'d>(dest: &'d Side, updated: &Side, path: &str) -> Option<&'d str> {
    let moved = updated.at(path).filter(|_| dest.is_folder() && dest.at(path).is_none())?;
    let is_moved = |resource: &Resource<'_>| moved.resources().any(|new| new.identity == resource.identity);
    let held = dest.files.iter().find(|held| held.resources().any(|resource| is_moved(&resource)))?;
    Some(&held.path)
}

/// Calls `act` with the files of dest that the merge changes.
fn in_place(dest: &Side, merge: &Merge, act: impl FnOnce(&Path, &[Replacement<'_>]) -> Result<()>) -> Result<()> {
    let Some((root, replacements)) = replacements(dest, &merge.changes)? else { return Ok(()) };
    act(&root, &replacements)
}

/// The message with the next step after a merge that left conflicts open. `marked` is the number of files that got markers, `config` the
/// file of `--config`.
fn next_step(dest: &Side, conflicts: Conflicts, config: Option<&Path>, end: End, marked: usize) -> Option<String> {
    if end != End::Differs {
        return None;
    }
    match conflicts {
        Conflicts::Marked => (marked > 0).then(|| {
            format!(
                "decide the conflicts with `{}` (add `--record decisions.yaml` to repeat the answers later), or between the markers in an editor{}",
                own(&["resolve", &argument(Path::new(&dest.name))]),
                way_back(Path::new(&dest.name))
            )
        }),
        Conflicts::Settled => {
            let others = match config {
                // `onConflict` of the file counts, so the flag may not differ from it.
                Some(file) => {
                    format!("add rules to {} or change its `onConflict`", shown::name(&file.to_string_lossy()))
                }
                None => "run it again with another `--on-conflict`".to_owned(),
            };
            Some(format!(
                "run it again with `--on-conflict mark --in-place` to decide each conflict, or {others}; nothing was written"
            ))
        }
    }
}

/// How to take the run on a package back, for the end of a sentence; empty if git has not what was there before.
pub fn way_back(dest: &Path) -> String {
    let is_kept = |place: PathBuf| Runs::around(&place).is_some_and(|runs| runs.dests().contains(&place));
    match fs::canonicalize(dest).is_ok_and(is_kept) {
        true => format!(", or take all of it back with `{}`", own(&["upgrade", "--abort", &argument(dest)])),
        false => String::new(),
    }
}

/// The lines in which a conflict of a text begins.
fn conflict_lines(text: &[u8]) -> Vec<usize> {
    if !has_markers(text) {
        return Vec::new();
    }
    Marked::read(text).conflicts.iter().map(|conflict| conflict.lines.0).collect()
}

fn printed(common: &Common) -> Printed {
    if common.without_local_config { Printed::ForCluster } else { Printed::All }
}

/// The output format: the user's, or the default.
pub fn format(common: &Common) -> Option<Output> {
    common.output.or(match (common.stat || common.dry_run, common.in_place) {
        (true, _) => Some(Output::Diff),
        (false, true) => None,
        (false, false) => Some(Output::Yaml),
    })
}

/// The infos to print to stderr. With a diff, these are all infos, because a person reads a diff before anything is written. With other
/// formats for resources, these are the rules that decided nothing, if there are conflicts. The remaining formats print infos themselves,
/// or are for programs.
fn infos(merge: &Merge, format: Option<Output>) -> impl Iterator<Item = &Event> {
    let is_told = move |info: &&Event| match format {
        Some(Output::Diff) => true,
        Some(Output::Yaml | Output::Json | Output::Name) => info.idle().is_some() && merge.is_in_conflict(),
        _ => false,
    };
    merge.results.iter().filter(|result| result.severity == Severity::Info).filter(is_told)
}

fn print(dest: &Side, merge: &Merge, common: &Common) -> Result<()> {
    let reader = Reader::of_stdout(Color::Auto);
    let mut page = Page::new(reader);
    match format(common) {
        None if screen::is_quiet() => {}
        None => page::written_with_markers(
            merge,
            |change| change.new.as_deref().map(conflict_lines).unwrap_or_default(),
            &mut page,
        ),
        Some(Output::Diff) if common.stat => {
            if common.output.is_some() {
                page.append(diff::diff(&merge.changes, &merge.types(dest), reader));
            }
            page.append(diff::stat(&merge.changes, reader));
            page.append(diff::conflicts(dest, merge, reader));
        }
        Some(Output::Html) if common.in_place && !common.dry_run && !merge.has_failed() => {
            page.data(&html(dest, merge, Writing::Done));
        }
        Some(output) => page.append(page::of(dest, merge, output, printed(common), reader)?),
    }
    page.print()
}
