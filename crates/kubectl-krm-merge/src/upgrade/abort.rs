//! `upgrade --abort`: puts packages, their records and git's index back as they were before the last run on them.
//!
//! If it is killed, the files are all old or all as they were, as after any run, and the next `--abort` does the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_files::disk::{self, Replacement};
use krm_files::signals::Signals;
use krm_files::walk;
use krm_folders::end::End;
use krm_git::before::{Back, Runs};
use krm_git::tracked;
use krm_show::args::Color;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Word, counted};

use crate::cli::Upgrade;

/// Takes back the last run on each package.
///
/// # Errors
/// No run can be taken back there, or a file cannot be read or written.
pub fn abort(args: &Upgrade) -> Result<End> {
    let named = if args.packages.is_empty() { vec![PathBuf::from(".")] } else { args.packages.clone() };
    for name in named {
        if !args.common.dry_run {
            screen::tell_repaired(&disk::repair(&name, tracked::refuse)?);
        }
        for (shown, dest) in dests(&name, args)? {
            abort_one(&shown, &dest, args).with_context(|| shown)?;
        }
    }
    Ok(End::Done)
}

/// What the runs wrote that are taken back at a path: its name for messages, and its place on disk.
fn dests(name: &Path, args: &Upgrade) -> Result<BTreeMap<String, PathBuf>> {
    let place = fs::canonicalize(name).with_context(|| walk::shown(name))?;
    let Some(runs) = Runs::around(&place) else {
        bail!(
            "{}: it must be in a git repository, which keeps what files were before a run: `upgrade --to` with the release before brings back what only the upgrade changed",
            walk::shown(name)
        );
    };
    let below = |dest: &Path| Some(under(name, dest.strip_prefix(&place).ok()?));
    let all: BTreeMap<String, PathBuf> =
        runs.dests().into_iter().filter_map(|dest| Some((walk::shown(&below(&dest)?), dest))).collect();
    let (own, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        all.into_iter().partition(|(_, dest)| args.all || *dest == place);
    if own.is_empty() {
        let there = others.keys().cloned().collect::<Vec<_>>().join(", ");
        let more = if there.is_empty() {
            String::new()
        } else {
            format!("; there is one of {there}, so name that, or add `--all`")
        };
        bail!(
            "{}: there is no run to undo, because only the last run can be undone, and only once{more}",
            walk::shown(name)
        );
    }
    Ok(own)
}

fn abort_one(name: &str, dest: &Path, args: &Upgrade) -> Result<()> {
    let mut runs = Runs::around(dest).context("it must be in a git repository")?;
    let back = runs.back(dest)?;
    let is_dry = args.common.dry_run;
    for edited in back.iter().filter(|back| back.is_edited) {
        let Back { file, now: Some(now), .. } = edited else { continue };
        let here = fs::canonicalize(".").unwrap_or_default();
        let file = match (file.strip_prefix(dest), file.strip_prefix(here)) {
            (Ok(path), _) => walk::shown(&under(Path::new(name), path)),
            (_, Ok(path)) => walk::shown(path),
            _ => walk::shown(file),
        };
        let told = if is_dry {
            format!("{file}: what you changed or decided there since the run would go")
        } else {
            format!(
                "{file}: what you changed or decided there since the run is gone: `git cat-file blob {}` prints it",
                runs.keep(now)?
            )
        };
        screen::tell(Word::Info, &told);
    }
    let replacements: Vec<Replacement<'_>> = back.iter().map(replacement).collect();
    if !is_dry {
        let signals = Signals::hold()?;
        disk::write(&disk::folder_of(&replacements), &replacements, || signals.check())?;
        runs.forget(dest)?;
    }
    let files = counted(back.len(), "file");
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    page.line(&if is_dry { format!("{name}: would put back {files}") } else { format!("{name}: put back {files}") });
    page.print()
}

/// A path below another, which may be that one itself.
fn under(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

fn replacement(back: &Back) -> Replacement<'_> {
    let Back { file, now, old, is_executable, .. } = back;
    Replacement {
        file: file.clone(),
        old: now.as_deref().map(Into::into),
        new: old.as_deref().map(Into::into),
        executable: old.as_ref().map(|_| *is_executable),
    }
}
