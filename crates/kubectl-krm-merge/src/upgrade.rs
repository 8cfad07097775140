//! `upgrade` and `get`: packages that record where they come from, and which release they have.
//!
//! The merge is that of `three-way`: original is the recorded release, updated is the new one, and dest is the package. Both releases come
//! from git's objects, without a checkout. The record and the files are written together.

mod abort;
mod aim;
mod below;
pub mod chart;
mod chart_notes;
mod committed;
mod done;
mod first;
mod get;
mod list;
mod log;
mod nearest;
mod one;
mod outputs;
mod past;
mod plan;
mod produced;
mod rendered;
mod sides;
mod untouched;
mod volatile;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use krm_driver::{mark, resolve};
use krm_files::command::{argument, own};
use krm_files::disk;
use krm_files::{errors, signals, walk};
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::package::Package;
use krm_git::tracked;
use krm_show::args::Output;
use krm_show::output::indented;
use krm_show::page::Told;
use krm_show::progress::Progress;
use krm_show::screen;
use krm_words::Word;

use crate::cli::Upgrade;
pub use aim::{Came, DirectoryAt, newest};
use below::{below, check_some};
use committed::Repositories;
use done::{Became, Checked, Done, summary};
pub use get::get;
pub use list::list;
pub use log::log;
use one::one;
pub use plan::Stores;
use plan::{Job, Plan, Planned};
pub use rendered::MayRender;
pub use sides::with_release;

/// Upgrades packages.
///
/// # Errors
/// The flags do not fit together. What is wrong with a package is told, and the others are upgraded.
pub fn upgrade(args: &Upgrade) -> Result<End> {
    if args.abort {
        return abort::abort(args);
    }
    let mut common = args.common.clone();
    common.in_place |= common.output.is_none() && !common.stat;
    check(args)?;
    let progress = Progress::begin("fetching");
    let named = if args.packages.is_empty() { vec![PathBuf::from(".")] } else { args.packages.clone() };
    let names = if args.all { below("PACKAGE", &named)? } else { each_once(&named) };
    let is_data = args.check && args.common.output == Some(Output::Json);
    if !is_data {
        // A program that reads a list can do with an empty one.
        check_some(&names, &named)?;
    }
    let mut stores = Stores::new(args.reach.network(), MayRender::of_flag(args.helm));
    let mut repositories = Repositories::default();
    let packages: Vec<Result<Planned>> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            progress.set(|| format!("looking for the release of package {} of {}", number + 1, names.len()));
            planned(name, args, &mut stores, &mut repositories)
        })
        .collect();
    let plans: Vec<&Plan> = packages.iter().filter_map(|package| Some(&package.as_ref().ok()?.plan)).collect();
    let mut fetched = plan::fetch(&plans, &progress).into_iter();
    drop(progress);
    let (mut ends, mut became, mut checked) = (Vec::new(), Vec::new(), Vec::new());
    let mut told_so_far = Told::default();
    for (name, planned) in names.iter().zip(&packages) {
        let done = match planned {
            Ok(planned) => match fetched.next() {
                Some(Ok(gone)) => one(args, &common, Job::of(planned, &gone), &mut told_so_far),
                Some(Err(why)) => Err(anyhow!(why)),
                None => Err(anyhow!("the package must have been fetched")),
            },
            Err(e) => Err(anyhow!("{}", errors::chain(e))),
        };
        let Done { end, became: what, checked: of_package } = done.unwrap_or_else(|e| {
            screen::tell(Word::Error, &in_package(name, &e));
            let stopped = e.downcast_ref::<signals::Stopped>();
            let end = stopped.map_or(End::Bad, |stopped| End::Stopped(stopped.exit_code()));
            let record = Package::open(name).ok().and_then(|package| package.record);
            let has = record.and_then(|record| record.lock).map(|lock| lock.reference);
            let (package, error) = (walk::shown(name), Some(errors::chain(&e)));
            Done { end, became: Became::Failed, checked: Some(Checked { package, has, error, ..Checked::default() }) }
        });
        ends.push(end);
        became.push(what);
        checked.extend(of_package);
        if matches!(end, End::Stopped(_)) {
            break;
        }
    }
    if is_data {
        screen::print(&indented(&serde_json::to_string(&checked)?))?;
    }
    screen::tell_each(told_so_far.rest());
    if names.len() > 1 {
        summary(names.len(), &became)?;
    }
    Ok(ends.into_iter().max().unwrap_or(End::Done))
}

/// Checks that git has all of a package, unless the user does not want that.
///
/// # Errors
/// Some of it is not committed.
fn check_clean(package: &Package, args: &Upgrade) -> Result<()> {
    let check = || committed::check(&package.root, &package.name, &[]);
    if !args.allow_dirty && check().is_ok() {
        return Ok(());
    }
    // Who decided the last conflicts in an editor has nothing left to do.
    resolve::tell_git(&package.root);
    if args.allow_dirty {
        return Ok(());
    }
    check().map(drop).map_err(|why| {
        // Who committed the markers would lose the conflicts.
        let dest = given::side("PACKAGE", &package.path.to_string_lossy(), &[]);
        dest.and_then(|dest| mark::check_resolved(&dest)).err().unwrap_or(why)
    })
}

/// Checks that no run was killed while it wrote the package: half of its files are old, so nobody can say what the team changed.
///
/// # Errors
/// A run was killed there.
fn check_whole(name: &Path) -> Result<()> {
    let Some(folder) = disk::unfinished(name)?.into_iter().next() else { return Ok(()) };
    bail!(
        "a run was killed while it wrote in {}, so some of its files are old and some are new: the next run that writes there finishes it, such as `{}`",
        walk::shown(&folder),
        own(&["upgrade", &argument(name)])
    )
}

/// The folders without those that are named twice.
fn each_once(named: &[PathBuf]) -> Vec<PathBuf> {
    let mut known = BTreeSet::new();
    let is_first = |name: &&PathBuf| known.insert(fs::canonicalize(name).unwrap_or_else(|_| name.to_path_buf()));
    named.iter().filter(is_first).cloned().collect()
}

/// Checks that the flags fit together.
fn check(args: &Upgrade) -> Result<()> {
    if args.check && !matches!(args.common.output, None | Some(Output::Json)) {
        bail!("`-o` must be `json` with `--check`");
    }
    if args.packages.len() > 1 || args.all {
        if !args.check && !matches!(args.common.output, None | Some(Output::Diff | Output::Name | Output::Github)) {
            bail!("`-o` must be `diff`, `name` or `github` if several packages are upgraded");
        }
        if args.upstream.is_some() || args.from.is_some() {
            bail!("`--upstream` and `--from` must be given with one package");
        }
    }
    if args.common.without_local_config && !matches!(args.common.output, Some(Output::Yaml | Output::Json)) {
        bail!("`--without-local-config` must be given with `-o yaml` or `-o json`");
    }
    Ok(())
}

/// The message of an error, with the name of its package.
fn in_package(name: &Path, error: &anyhow::Error) -> String {
    let (name, told) = (walk::shown(name), errors::chain(error));
    if told.starts_with(&name) { told } else { format!("{name}: {told}") }
}

fn planned(name: &Path, args: &Upgrade, stores: &mut Stores, repositories: &mut Repositories) -> Result<Planned> {
    if args.writes() {
        // What a killed run left is no change of the user, and its record is not the one that the package has.
        screen::tell_repaired(&disk::repair(name, tracked::refuse)?);
    } else {
        check_whole(name)?;
    }
    let package = Package::open(name)?;
    // One package may be a small part of its repository.
    let is_one = !args.all && args.packages.len() < 2;
    if args.writes() && (is_one || !repositories.has_all_around(&package.root)) {
        check_clean(&package, args)?;
    }
    let plan = Plan::of(&package, args, stores)?;
    Ok(Planned { package, plan })
}
