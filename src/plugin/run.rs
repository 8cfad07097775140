//! `two-way`, `three-way` and `strategic`: read, merge, print or write.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use krm_merge::results::{Outcome, Severity};

use crate::End;
use crate::cli::{Common, Output};
use crate::diff::{self, Paint};
use crate::disk::{self, Replacement};
use crate::merge::{Merge, is_conflict, merge};
use crate::output;
use crate::progress::Progress;
use crate::setting::Setting;
use crate::side::{Root, Side};
use crate::told;

/// Runs a merge that is set up as the flags say.
///
/// # Errors
/// Bad input, and what cannot be written.
pub fn run(common: &Common, setting: impl FnOnce() -> Result<Setting>) -> Result<End> {
    let progress = Progress::begin("reading");
    let mut setting = setting()?;
    let from_stdin = |side: &Side| matches!(side.root, Root::Stdin);
    if common.dest == "-" && setting.given.iter().flat_map(|(_, sides)| sides).any(from_stdin) {
        bail!("only one side must be `-`, for stdin can be read once");
    }
    if common.dest == "-" && common.in_place {
        bail!("`--in-place` must not be given with `--dest -`");
    }
    setting.config()?;
    let mut dest = Side::read(&common.dest)?;
    if common.in_place && matches!(dest.root, Root::Stream) {
        bail!("`--in-place` must be given with a `--dest` that is a file or a folder, not \"{}\"", dest.name);
    }
    let places = setting.given.iter().flat_map(|(_, sides)| sides).filter_map(Side::place);
    places.for_each(|place| dest.leave_out(place));
    setting.keep_apart(&dest);
    setting.check_not_empty()?;
    if common.in_place && !common.dry_run {
        disk::clean(&leftovers(&dest))?;
    }
    progress.set("merging");
    let mut merge = merge(&dest, &setting.given, || setting.config())?;
    merge.results.iter_mut().for_each(|r| r.message = setting.told(std::mem::take(&mut r.message)));
    let writes = common.in_place && !common.dry_run && !merge.has_failed();
    if writes {
        progress.set("writing");
        in_place(&dest, &merge, disk::write)?;
    } else if common.in_place && !merge.has_failed() {
        in_place(&dest, &merge, disk::look)?;
    }
    drop(progress);
    report(&merge.results, format(common));
    let told = if writes { "stdout must be writable, and all files are written" } else { "stdout must be writable" };
    print(&dest, &merge, common).context(told)?;
    if let Some(end) = merge.failure() {
        return Ok(end);
    }
    Ok(if common.exit_code && !merge.changes.is_empty() { End::Differs } else { End::Done })
}

fn leftovers(dest: &Side) -> Vec<std::path::PathBuf> {
    match &dest.root {
        Root::Folder(tree) => tree.leftovers.clone(),
        Root::File(file) => file.parent().map(disk::leftovers_in).unwrap_or_default(),
        Root::Stdin | Root::Stream | Root::Text | Root::Cluster => Vec::new(),
    }
}

/// Does with the files of dest what the merge makes of them.
fn in_place(dest: &Side, merge: &Merge, act: fn(&Path, &[Replacement]) -> Result<()>) -> Result<()> {
    let (root, file) = match &dest.root {
        Root::Folder(tree) => (tree.root.clone(), None),
        Root::File(file) => (file.parent().context("dest must be a file")?.to_owned(), Some(file)),
        Root::Stdin | Root::Stream | Root::Text | Root::Cluster => return Ok(()),
    };
    let replacements = merge.changes.iter().map(|change| Replacement {
        file: file.cloned().unwrap_or_else(|| root.join(&change.path)),
        old: change.old.clone(),
        new: change.new.clone(),
        like: change.like.clone(),
    });
    act(&root, &replacements.collect::<Vec<_>>())
}

/// What is printed, where nothing else is asked for.
pub fn format(common: &Common) -> Option<Output> {
    common.output.or(match (common.stat || common.dry_run, common.in_place) {
        (true, _) => Some(Output::Diff),
        (false, true) => None,
        (false, false) => Some(Output::Yaml),
    })
}

/// Errors and warnings on stderr, one line each. Conflicts that were settled are in the diff, where one is printed.
pub fn report(results: &[Outcome], format: Option<Output>) {
    let mut stderr = io::stderr().lock();
    let in_diff = |r: &Outcome| format == Some(Output::Diff) && r.severity == Severity::Warning && is_conflict(r);
    for result in results.iter().filter(|r| r.severity != Severity::Info && !in_diff(r)) {
        // What is told is in the exit code, too, for whoever has closed stderr.
        let _ = writeln!(stderr, "{}", told::line(result));
    }
}

fn print(dest: &Side, merge: &Merge, common: &Common) -> Result<()> {
    let paint = Paint::of_stdout();
    let text = match format(common) {
        None => written(merge),
        // What failed has no merged resources.
        Some(Output::Yaml | Output::Json) if merge.has_failed() => String::new(),
        Some(Output::Yaml) => output::yaml(dest, merge),
        Some(Output::Json) => output::json(dest, merge)?,
        Some(Output::Name) => output::names(merge)?,
        Some(Output::Results) => output::results(&merge.results, merge.limit)?,
        Some(Output::Diff) => {
            let changes = match common.stat && common.output.is_none() {
                true => String::new(),
                false => diff::diff(&merge.changes, paint),
            };
            let stat = if common.stat { diff::stat(&merge.changes, paint) } else { String::new() };
            changes + &stat + &diff::conflicts(&merge.results, paint)
        }
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// What was written, one line a file, and how the merge went.
fn written(merge: &Merge) -> String {
    let mut out = String::new();
    for change in &merge.changes {
        let did = match (&change.old, &change.new) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "changed",
        };
        out.push_str(&format!("{did} {}\n", change.path));
    }
    let infos = merge.results.iter().filter(|r| r.severity == Severity::Info);
    for info in infos {
        out.push_str(&format!("{}\n", told::line(info)));
    }
    out
}
