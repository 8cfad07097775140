//! The upgrade of one package: the change between two releases is merged into it, and the record and the files are written together.

use std::borrow::Cow;

use anyhow::{Context, Result, bail};
use krm_driver::mark;
use krm_folders::change::Change;
use krm_folders::given;
use krm_folders::merge::Conflicts;
use krm_folders::package::{Package, leave_out_own, new_packages};
use krm_folders::selection::{FitsNothing, MovedOut, Selection, lacks, taken_out};
use krm_folders::side::Side;
use krm_folders::side::Unread;
use krm_job::role::Role;
use krm_names::file_path::RULES;
use krm_show::args::Output;
use krm_show::page::Told;
use krm_show::progress::Progress;
use krm_show::screen;
use krm_words::{Message, Word};
use krm_yaml::shown;

use super::done::{Done, Found, checked, ended_as, same};
use super::plan::{Job, Plan};
use super::untouched::untouched;
use super::{committed, nearest};
use crate::cli::{Common, InConflict, Upgrade};
use crate::likeness::likeness;
use crate::{run, setting};

/// Upgrades one package, or looks at it. `told_so_far` is what the run told of others.
///
/// # Errors
/// The package or a release is not in order, or cannot be read or written.
pub fn one(args: &Upgrade, common: &Common, job: Job<'_>, told_so_far: &mut Told) -> Result<Done> {
    let Job { package, plan, gone, from } = job;
    let progress = Progress::begin("reading");
    progress.set(|| format!("reading {}", package.name));
    if args.check
        && !plan.is_done()
        && let Some(bare) = untouched(job)?
    {
        setting::of_upgrade(&args.deciding, common)?.use_rules_of(&bare)?;
        plan.warnings.iter().for_each(|warning| screen::tell(Word::Warning, &format!("{}: {warning}", package.name)));
        drop(progress);
        return checked(args, job, Found::default());
    }
    let mut dest = given::side("PACKAGE", &package.path.to_string_lossy(), &[])?;
    let own = leave_out_own(&mut dest);
    mark::check_resolved(&dest)?;
    plan.warnings.iter().for_each(|warning| screen::tell(Word::Warning, &format!("{}: {warning}", package.name)));
    let is_known = from.map_or_else(|| package.is_bare(&dest), |from| !gone.contains_key(&from.commit));
    if !is_known {
        drop(progress);
        return Err(nearest::unknown(plan, gone, &dest)?);
    }
    let to = &plan.to.state;
    if let Some(why) = gone.get(&to.commit) {
        let exact = plan.to.exact();
        bail!("the {exact} of {} must be in its repository: {why}", to.name);
    }
    let is_asked = args.to.is_some() || args.upstream.is_some();
    let is_recorded = package.record.as_ref() == Some(&plan.record) || package.record.is_some() && !is_asked;
    // Who takes the resources gets them all the same.
    let takes_all = matches!(common.output, Some(Output::Yaml | Output::Json));
    if plan.is_done() && is_recorded && !takes_all {
        drop(progress);
        return same(args, job);
    }
    merged(args, common, job, Dest { side: &mut dest, own }, progress, told_so_far)
}

/// The package, and the folders in it that have an upstream of their own.
struct Dest<'d> {
    side: &'d mut Side,
    own: Vec<String>,
}

/// Merges the change between two releases into a package, and writes or shows the result.
fn merged(
    args: &Upgrade,
    common: &Common,
    job: Job<'_>,
    dest: Dest<'_>,
    progress: Progress,
    told_so_far: &mut Told,
) -> Result<Done> {
    let Job { package, plan, .. } = job;
    let Dest { side: dest, own } = dest;
    let mut updated = plan.to.side(plan.from.as_ref(), &[&dest.files])?;
    let mut original = match &plan.from {
        Some(from) => from.side(None, &[&dest.files, &updated.files])?,
        None => Side::of_release("nothing".to_owned(), Vec::new(), Unread::default(), &[])?,
    };
    // The first time, nobody has said yet which part of upstream the package takes.
    let has_lock = package.record.as_ref().is_some_and(|record| record.lock.is_some());
    let is_first = !has_lock && args.from.is_some() && !package.selection.has_paths();
    let missing = if is_first { lacks(&original, dest) } else { Vec::new() };
    let paths: Vec<String> = missing.iter().map(|path| taken_out(path)).collect();
    let first = Selection::of_paths(&paths)?;
    let unfit = package.selection.fitting_nothing(&[&original, &updated, dest]);
    let mut moved = Vec::new();
    for selection in [&first, &package.selection] {
        moved.extend(selection.part_of_releases(&mut original, &mut updated));
        selection.part_of_package(dest);
        if selection.has_paths() && updated.files.is_empty() && moved.is_empty() {
            bail!("{}: `paths` in its {RULES} must take a file of {}", package.name, shown::name(&plan.to.state.name));
        }
    }
    package.part(&plan.record, &mut original, &mut updated, dest, &own)?;
    let changes = match &plan.from {
        _ if !args.check => 0,
        Some(from) if from.folder().is_none() => likeness(&from.side_beside(dest)?, dest)?.changed(),
        _ => likeness(&original, dest)?.changed(),
    };
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
    if args.writes() && !args.allow_dirty {
        let original = setting.given.first().and_then(|(_, sides)| sides.first()).context("original must be there")?;
        check_nothing_is_lost(package, &merge.changes, &own, [original, dest])?;
    }
    if args.check {
        drop(progress);
        return checked(args, job, Found::of(changes, &merge));
    }
    let new = setting.given.last().and_then(|(_, sides)| sides.first()).map(|updated| new_packages(updated, dest));
    let ended = run::end(dest, &setting, &merge, common, progress, told_so_far)?;
    let apart = Apart { missing, unfit, moved, own, new: new.unwrap_or_default() };
    screen::tell_each(apart.told(package, plan));
    ended_as(args, common, job, &merge, ended)
}

/// What is no part of the merge of a package.
struct Apart {
    /// What the package lacks of the release that it has, the first time.
    missing: Vec<String>,
    /// The paths of its selection that fit no file.
    unfit: Vec<FitsNothing>,
    /// What upstream moved out of what the package takes.
    moved: Vec<MovedOut>,
    /// The folders in the package that have an upstream of their own.
    own: Vec<String>,
    /// Those that come with the new release.
    new: Vec<String>,
}

impl Apart {
    /// What the user should know of it, and of the values that the package keeps because its command or chart makes them anew.
    fn told(&self, package: &Package, plan: &Plan) -> Vec<Message> {
        let name = &package.name;
        let more = |rest: &[String]| if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let mut told = Vec::new();
        if let Some((first, rest)) = plan.kept_places().split_first() {
            let (more, maker) = (more(rest), plan.to.maker());
            told.push(Word::Info.says(format!(
                "{name}: {maker} makes {first}{more} anew at each rendering, so the package keeps its own"
            )));
        }
        if let (Some((first, rest)), Some(from)) = (self.missing.split_first(), &plan.from) {
            let (first, more, from) = (shown::name(first), more(rest), shown::name(&from.state.name));
            told.push(Word::Info.says(format!(
                "{name}: it does not have {first}{more} of {from}, so that stays away: `paths` in its {RULES} says what it takes"
            )));
        }
        told.extend(self.unfit.iter().map(|FitsNothing { field, path }| {
            Word::Warning.says(format!(
                "{name}: `{field}` in its {RULES} has {}, which fits no file of the package or of upstream: correct the path, or remove it",
                shown::quoted(path)
            ))
        }));
        told.extend(self.moved.iter().map(|MovedOut { from, to }| {
            let [from, to] = [from, to].map(|path| shown::name(path));
            Word::Warning.says(format!(
                "{name}: upstream moved {from} to {to}, which `paths` in its {RULES} does not take, so yours stays as it is"
            ))
        }));
        let own = self.own.iter();
        told.extend(own.map(|folder| {
            Word::Info.says(format!("{name}/{folder} has an upstream of its own, so it is upgraded on its own"))
        }));
        told.extend(self.new.iter().map(|folder| {
            Word::Info.says(format!(
                "{name}/{folder} comes with an upstream of its own, and is upgraded on its own from now on"
            ))
        }));
        told
    }
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
