//! `upgrade` and `get`: packages that record where they come from, and which release they have.
//!
//! The merge is that of `three-way`: original is the recorded release, updated is the new one, and dest is the package. Both releases come
//! from git's objects, without a checkout. The record and the files are written together.

mod aim;
mod below;
mod committed;
mod get;
mod list;
mod log;
mod nearest;
mod past;
mod plan;
mod produced;
mod volatile;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use krm_driver::mark;
use krm_files::change::Change;
use krm_files::disk;
use krm_files::side::Side;
use krm_files::told::{self, counted};
use krm_files::walk::Unread;
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::merge::{Conflicts, Merge};
use krm_folders::package::{Package, new_packages};
use krm_folders::selection::{Selection, lacks, taken_out};
use krm_git::refs::State;
use krm_git::store::{Gone, Network};
use krm_merge::file_path::RULES;
use krm_merge_function::config::Role;
use krm_show::args::Output;
use krm_show::output::indented;
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_yaml::shown;
use serde::Serialize;

use crate::cli::{Common, InConflict, Upgrade};
use crate::run::{self, Ended};
use crate::setting;
use aim::Aim;
use below::below;
pub use get::get;
pub use list::list;
pub use log::log;
use plan::{Plan, Release, Stores};

/// What became of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    /// It has the release already.
    Same,
    /// It has the new release.
    Upgraded,
    /// It has the new release, and conflicts between markers.
    Marked,
    /// It was not written, because of open conflicts.
    Open,
    /// It was not to be written.
    Looked,
    /// Something newer is there.
    Newer,
    /// It could not be upgraded.
    Failed,
}

/// Upgrades packages.
///
/// # Errors
/// The flags do not fit together. What is wrong with a package is told, and the others are upgraded.
pub fn upgrade(args: &Upgrade) -> Result<End> {
    let mut common = args.common.clone();
    common.in_place |= common.output.is_none() && !common.stat;
    check(args)?;
    let progress = Progress::begin("fetching");
    let named = if args.packages.is_empty() { vec![PathBuf::from(".")] } else { args.packages.clone() };
    let names = if args.all { below(&named)? } else { named };
    let mut stores = Stores::new(if args.offline { Network::Offline } else { Network::Online });
    let packages: Vec<Result<Planned>> = names.iter().map(|name| planned(name, args, &mut stores)).collect();
    let plans: Vec<&Plan> = packages.iter().filter_map(|package| Some(&package.as_ref().ok()?.plan)).collect();
    let mut fetched = plan::fetch(&plans).into_iter();
    drop(progress);
    let (mut ends, mut became, mut checked) = (Vec::new(), Vec::new(), Vec::new());
    for (name, planned) in names.iter().zip(&packages) {
        let done = match planned {
            Ok(planned) => match fetched.next() {
                Some(Ok(gone)) => one(args, &common, Job::of(planned, &gone)),
                Some(Err(why)) => Err(anyhow!(why)),
                None => Err(anyhow!("the package must have been fetched")),
            },
            Err(e) => Err(anyhow!("{}", told::chain(e))),
        };
        let Done { end, became: what, checked: of_package } = done.unwrap_or_else(|e| {
            screen::tell(&format!("error: {}", in_package(name, &e)));
            let stopped = e.downcast_ref::<krm_files::signals::Stopped>();
            let end = stopped.map_or(End::Bad, |stopped| End::Stopped(stopped.exit_code()));
            let (package, error) = (krm_files::walk::shown(name), Some(told::chain(&e)));
            Done { end, became: Became::Failed, checked: Some(Checked { package, error, ..Checked::default() }) }
        });
        ends.push(end);
        became.push(what);
        checked.extend(of_package);
        if matches!(end, End::Stopped(_)) {
            break;
        }
    }
    if args.check && args.common.output == Some(Output::Json) {
        screen::print(&indented(&serde_json::to_string(&checked)?))?;
    }
    if names.len() > 1 {
        summary(names.len(), &became)?;
    }
    Ok(ends.into_iter().max().unwrap_or(End::Done))
}

/// A release of a package's upstream, and the package, to be compared: the release that the package has, or that `to` names.
///
/// # Errors
/// The package records no release in git, or the release cannot be read.
pub fn with_release(folder: &Path, to: Option<&str>) -> Result<[Side; 2]> {
    let package = Package::open(folder)?;
    if package.record.is_none() {
        bail!("`B` must be given, because \"{}\" is no package that records its upstream", package.name);
    }
    let mut stores = Stores::new(Network::Online);
    let release = match to {
        Some(to) => Plan::of_record(&package, Some(to), &mut stores)?.to,
        None => Release::of_package(&package, &mut stores)?,
    };
    let (mut release, mut dest) = (release.side(None)?, given::side("PACKAGE", &package.path.to_string_lossy())?);
    package.part_of(&mut release, &mut dest)?;
    Ok([release, dest])
}

/// A package with its plan.
struct Planned {
    package: Package,
    plan: Plan,
}

/// How the upgrade of a package ended.
struct Done {
    end: End,
    became: Became,
    /// What `--check` found out.
    checked: Option<Checked>,
}

impl Done {
    fn of(end: End, became: Became) -> Self {
        Self { end, became, checked: None }
    }
}

/// What `--check` says of a package.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    /// Its folder.
    package: String,
    /// The release that it has.
    has: Option<String>,
    /// The release that an upgrade would take.
    to: Option<String>,
    /// How many resources the team changed, if something is newer.
    local_changes: Option<usize>,
    /// How many conflicts are to expect.
    conflicts: Option<usize>,
    /// Why it cannot be upgraded.
    error: Option<String>,
}

impl Checked {
    fn of(job: Job<'_>) -> Self {
        let Job { package, plan, from, .. } = job;
        let has = from.map(|from| from.name.clone());
        Self { package: package.name.clone(), has, to: Some(plan.to.state.name.clone()), ..Self::default() }
    }
}

/// A package with its plan, and the commits that its upstream does not have any more.
#[derive(Clone, Copy)]
struct Job<'u> {
    package: &'u Package,
    plan: &'u Plan,
    gone: &'u Gone,
    /// The release that the package has; `None` if it has none yet.
    from: Option<&'u State>,
}

impl<'u> Job<'u> {
    fn of(planned: &'u Planned, gone: &'u Gone) -> Self {
        let Planned { package, plan } = planned;
        Self { package, plan, gone, from: plan.from.as_ref().map(|from| &from.state) }
    }
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
    let (name, told) = (krm_files::walk::shown(name), told::chain(error));
    if told.starts_with(&name) { told } else { format!("{name}: {told}") }
}

fn planned(name: &Path, args: &Upgrade, stores: &mut Stores) -> Result<Planned> {
    if writes(args) {
        // What a killed run left is no change of the user, and its record is not the one that the package has.
        disk::repair(name)?.iter().for_each(|done| screen::tell(&done.to_string()));
    }
    let package = Package::open(name)?;
    if writes(args) && !args.allow_dirty {
        committed::check(&package.root, &package.name, &[]).map_err(|why| {
            // Who committed the markers would lose the conflicts.
            let dest = given::side("PACKAGE", &package.path.to_string_lossy());
            dest.and_then(|dest| mark::check_resolved(&dest)).err().unwrap_or(why)
        })?;
    }
    let plan = Plan::of(&package, args, stores)?;
    Ok(Planned { package, plan })
}

/// Whether packages are written.
fn writes(args: &Upgrade) -> bool {
    !args.check && !args.common.dry_run && (args.common.in_place || args.common.output.is_none() && !args.common.stat)
}

/// Checks that nothing is lost that neither git nor the release that the package has could bring back. git is asked again, because the package
/// was read after releases were fetched, and someone may have saved a file meanwhile. The folders in `own` take no part, and another upgrade
/// of this run may have written them.
///
/// # Errors
/// Something would be lost.
fn check_nothing_is_lost(
    package: &Package,
    changes: &[Change],
    own: &[String],
    [original, dest]: [&Side; 2],
) -> Result<()> {
    let uncommitted = committed::check(&package.root, &package.name, own)?;
    for change in changes.iter().filter(|change| change.old.is_some()) {
        let Some(why) = uncommitted.why(&change.path) else { continue };
        let bytes = |side: &Side| side.at(&change.path).map(|held| held.bytes().map(Cow::into_owned)).transpose();
        if !Package::changes_record_alone(change) && bytes(original)? != bytes(dest)? {
            let (name, path) = (&package.name, shown::name(&change.path));
            bail!("{name}/{path}: {why}, so nothing would bring it back: copy it, and add `--allow-dirty`");
        }
    }
    Ok(())
}

/// Upgrades one package, or looks at it.
fn one(args: &Upgrade, common: &Common, job: Job<'_>) -> Result<Done> {
    let Job { package, plan, gone, from } = job;
    let progress = Progress::begin("reading");
    let mut dest = given::side("PACKAGE", &package.path.to_string_lossy())?;
    mark::check_resolved(&dest)?;
    plan.warnings.iter().for_each(|warning| screen::tell(&format!("warning: {}: {warning}", package.name)));
    let is_known = from.map_or_else(|| package.is_bare(&dest), |from| !gone.contains_key(&from.commit));
    if !is_known {
        drop(progress);
        return Err(nearest::unknown(plan, gone, &dest)?);
    }
    let to = &plan.to.state;
    if let Some(why) = gone.get(&to.commit) {
        bail!("the commit {} of {} must be in its repository: {why}", to.commit, to.name);
    }
    let is_asked = args.to.is_some() || args.upstream.is_some();
    let is_recorded = package.record.as_ref() == Some(&plan.record) || package.record.is_some() && !is_asked;
    // Who takes the resources gets them all the same.
    let takes_all = matches!(common.output, Some(Output::Yaml | Output::Json));
    if plan.is_done() && is_recorded && !takes_all {
        drop(progress);
        return same(args, job);
    }
    merged(args, common, job, &mut dest, progress)
}

/// Says that a package has the release already.
fn same(args: &Upgrade, job: Job<'_>) -> Result<Done> {
    let Job { package, plan, .. } = job;
    let name = shown::name(&plan.to.state.name);
    let line = match (args.check, plan.aim) {
        (true, Aim::Newest) => format!("{}: has {name}, which is the newest{}", package.name, in_range(plan)),
        (true, Aim::Named) => format!("{}: has {name}, which is the one that is wanted", package.name),
        (true, Aim::Last) => format!("{}: has {name}, and no release comes after it", package.name),
        (true, Aim::Unknown) => format!(
            "{}: has {name}, and nobody knows whether there is a newer one, for a command makes it: `--to` names one",
            package.name
        ),
        (false, _) => format!("{}: it has {name} already", package.name),
    };
    let mut page = Page::new(Reader::of_stdout(args.common.color));
    page.line(&line);
    match args.common.output {
        None => page.print()?,
        Some(_) if args.check => {}
        // Another output stays what it is, with nothing in it.
        Some(_) => page.tell(),
    }
    Ok(Done { end: End::Done, became: Became::Same, checked: Some(Checked::of(job)) })
}

/// The range in which a release is the newest, for the end of a sentence.
fn in_range(plan: &Plan) -> String {
    plan.range().map_or_else(String::new, |range| format!(" in {}", shown::name(range)))
}

/// Merges the change between two releases into a package, and writes or shows the result.
fn merged(args: &Upgrade, common: &Common, job: Job<'_>, dest: &mut Side, progress: Progress) -> Result<Done> {
    let Job { package, plan, .. } = job;
    let mut updated = plan.to.side(plan.from.as_ref())?;
    let mut original = match &plan.from {
        Some(from) => from.side(None)?,
        None => Side::of_release("nothing".to_owned(), Vec::new(), Unread::default())?,
    };
    // The first time, nobody has said yet which part of upstream the package takes.
    let has_lock = package.record.as_ref().is_some_and(|record| record.lock.is_some());
    let is_first = !has_lock && args.from.is_some() && !package.selection.has_paths();
    let missing = if is_first { lacks(&original, dest) } else { Vec::new() };
    let paths: Vec<String> = missing.iter().map(|path| taken_out(path)).collect();
    if !paths.is_empty() {
        let selection = Selection::of_paths(&paths)?;
        [&mut original, &mut updated].into_iter().for_each(|side| selection.part_of_release(side));
    }
    let own = package.part(&plan.record, &mut original, &mut updated, dest)?;
    let changes = if args.check { nearest::likeness(&original, dest)?.changed() } else { 0 };
    let mut setting = setting::of_upgrade(&args.deciding, common)?;
    setting.given = vec![(Role::Original, vec![original]), (Role::Updated, vec![updated])];
    setting.use_rules_of(dest)?;
    let prints_yaml = matches!(common.output, Some(Output::Json | Output::Name)) || common.without_local_config;
    let is_default = args.deciding.on_conflict.is_none() && !setting.says_on_conflict() && !prints_yaml;
    if is_default || args.deciding.on_conflict == Some(InConflict::Mark) {
        setting.conflicts = Conflicts::Marked;
    }
    let mut merge = run::merged(dest, &mut setting, &progress)?;
    if !merge.has_failed() {
        package.record_in(&mut merge.changes, &plan.record, &paths)?;
    }
    if writes(args) && !args.allow_dirty {
        let original = setting.given.first().and_then(|(_, sides)| sides.first()).context("original must be there")?;
        check_nothing_is_lost(package, &merge.changes, &own, [original, dest])?;
    }
    if args.check {
        drop(progress);
        return checked(args, job, changes, &merge);
    }
    let new = setting.given.last().and_then(|(_, sides)| sides.first()).map(|updated| new_packages(updated, dest));
    let ended = run::end(dest, &setting, &merge, common, progress)?;
    if let Some((first, more)) = plan.kept_places().split_first() {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        screen::tell(&format!(
            "info: {}: its command makes {first}{more} anew at each rendering, so the package keeps its own",
            package.name
        ));
    }
    if let Some((first, more)) = missing.split_first() {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        screen::tell(&format!(
            "info: {}: it does not have {}{more} of {}, so that stays away: `paths` in its {RULES} says what it takes",
            package.name,
            shown::name(first),
            plan.from.as_ref().map_or_else(String::new, |from| shown::name(&from.state.name).into_owned()),
        ));
    }
    for folder in own {
        screen::tell(&format!(
            "info: {}/{folder} has an upstream of its own, so it is upgraded on its own",
            package.name
        ));
    }
    for folder in new.unwrap_or_default() {
        let name = &package.name;
        screen::tell(&format!(
            "info: {name}/{folder} comes with an upstream of its own, and is upgraded on its own from now on"
        ));
    }
    ended_as(args, common, job, &merge, ended)
}

/// Says how the upgrade of a package ended, and what to do next.
fn ended_as(args: &Upgrade, common: &Common, job: Job<'_>, merge: &Merge, ended: Ended) -> Result<Done> {
    let Job { package, plan, from, .. } = job;
    let has = from.map_or_else(String::new, |from| format!("from {} ", shown::name(&from.name)));
    let to = shown::name(&plan.to.state.name);
    let writes = writes(args);
    let Some((open, marked)) = ended.open else {
        if writes && common.output.is_none() {
            let mut page = Page::new(Reader::of_stdout(common.color));
            page.line(&format!("upgraded {} {has}to {to}", package.name));
            page.print()?;
        }
        return Ok(Done::of(ended.end, if writes { Became::Upgraded } else { Became::Looked }));
    };
    let is_written = writes && !merge.has_failed();
    if is_written && marked == 0 {
        screen::tell(&format!(
            "upgraded {} {has}to {to}, with conflicts that have no markers: see above",
            package.name
        ));
        return Ok(Done::of(open, Became::Marked));
    }
    if is_written {
        screen::tell(&format!("upgraded {} {has}to {to}, with conflicts in {}", package.name, counted(marked, "file")));
        screen::tell(&format!(
            "next: decide them with `kubectl krm-merge resolve {}`, or between the markers in an editor; nothing else is left to do. With `--record`, an upgrade to the same values does not ask again",
            package.name
        ));
        return Ok(Done::of(open, Became::Marked));
    }
    if writes {
        let more = if args.deciding.on_conflict.is_some() { ": run it again without `--on-conflict`" } else { "" };
        screen::tell(&format!("{}: nothing was written{more}", package.name));
    }
    Ok(Done::of(open, if open == End::Bad { Became::Failed } else { Became::Open }))
}

/// Prints the line of `--check`.
fn checked(args: &Upgrade, job: Job<'_>, changes: usize, merge: &Merge) -> Result<Done> {
    let Job { package, plan, from, .. } = job;
    let conflicts = merge.results.iter().filter(|result| result.is_conflict()).count();
    let error = (merge.failure() == Some(End::Bad)).then(|| "it cannot be merged, as an upgrade says".to_owned());
    let found = Checked { local_changes: Some(changes), conflicts: Some(conflicts), error, ..Checked::of(job) };
    let done = Done { end: End::Differs, became: Became::Newer, checked: Some(found) };
    if args.common.output.is_some() {
        return Ok(done);
    }
    let has = from.map_or("nothing", |from| &from.name);
    let errors = if merge.failure() == Some(End::Bad) { "; it cannot be merged, as an upgrade says" } else { "" };
    let mut page = Page::new(Reader::of_stdout(args.common.color));
    let aim = if plan.aim == Aim::Named { "wanted".to_owned() } else { format!("newest{}", in_range(plan)) };
    page.line(&format!(
        "{}: has {}, {aim} is {}; {}, {} to expect{errors}",
        package.name,
        shown::name(has),
        shown::name(&plan.to.state.name),
        counted(changes, "local change"),
        counted(conflicts, "conflict"),
    ));
    page.print()?;
    Ok(done)
}

/// Prints how many packages became what.
fn summary(all: usize, became: &[Became]) -> Result<()> {
    let named = [
        (Became::Upgraded, "upgraded"),
        (Became::Marked, "upgraded with conflicts"),
        (Became::Open, "not written because of conflicts"),
        (Became::Newer, "behind"),
        (Became::Looked, "looked at"),
        (Became::Same, "with the release already"),
        (Became::Failed, "failed and untouched"),
    ];
    let parts = named.iter().map(|(what, word)| (became.iter().filter(|b| *b == what).count(), word));
    let mut parts: Vec<String> =
        parts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if all > became.len() {
        parts.push(format!("{} not begun", all - became.len()));
    }
    screen::tell(&format!("{}: {}", counted(all, "package"), parts.join(", ")));
    Ok(())
}
