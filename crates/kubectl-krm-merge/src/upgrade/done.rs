//! What became of packages, and what the user is told of it.

use anyhow::Result;
use krm_files::command::{argument, called, command, own};
use krm_folders::end::End;
use krm_folders::merge::Merge;
use krm_folders::package::Package;
use krm_git::refs::Refs;
use krm_show::args::Color;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Word, counted};
use krm_yaml::shown;
use serde::Serialize;

use super::aim::Aim;
use super::committed;
use super::plan::{Job, Plan};
use crate::cli::{Common, Upgrade};
use crate::run::{Ended, way_back};

/// What became of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
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

/// How the upgrade of a package ended.
#[derive(Debug)]
pub struct Done {
    pub end: End,
    pub became: Became,
    /// What `--check` found out.
    pub checked: Option<Checked>,
}

impl Done {
    fn of(end: End, became: Became) -> Self {
        Self { end, became, checked: None }
    }
}

/// What `--check` says of a package.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Its folder.
    pub package: String,
    /// The release that it has.
    pub has: Option<String>,
    /// The release that an upgrade would take.
    pub to: Option<String>,
    /// How many resources and other files the team changed, if something is newer.
    pub local_changes: Option<usize>,
    /// How many conflicts are to expect.
    pub conflicts: Option<usize>,
    /// Why it cannot be upgraded.
    pub error: Option<String>,
}

impl Checked {
    fn of(job: Job<'_>) -> Self {
        let Job { package, plan, from, .. } = job;
        let has = from.map(|from| from.name.clone());
        Self { package: package.name.clone(), has, to: Some(plan.to.state.name.clone()), ..Self::default() }
    }
}

/// Says that a package has the release already.
pub fn same(args: &Upgrade, job: Job<'_>) -> Result<Done> {
    let Job { package, plan, .. } = job;
    let name = shown::name(&plan.to.state.name);
    let line = match (args.check, plan.aim) {
        (true, Aim::Newest) => format!("{}: has {name}, which is the newest{}", package.name, in_range(plan)),
        (true, Aim::Named) => format!("{}: has {name}, which is the wanted release", package.name),
        (true, Aim::Last) => format!("{}: has {name}, and there is no later release", package.name),
        (true, Aim::Unknown) => format!("{}: has {name}. {}", package.name, unknown(plan)),
        (false, Aim::Unknown) => format!("{}: it has {name} already. {}", package.name, unknown(plan)),
        (false, _) => format!("{}: it has {name} already", package.name),
    };
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    page.line(&line);
    match args.common.output {
        None => page.print()?,
        Some(_) if args.check => {}
        // Another output stays what it is, with nothing in it.
        Some(_) => page.tell(),
    }
    Ok(Done { end: End::Done, became: Became::Same, checked: Some(Checked::of(job)) })
}

/// Why nobody can say whether there is a newer release, and what to do.
fn unknown(plan: &Plan) -> String {
    let why = match plan.to.fetched() {
        None => "a command makes the package",
        Some((at, _)) if at.store.refs().is_ok_and(Refs::is_empty) => "its server has no list of them",
        Some(_) => "a digest has no place among versions",
    };
    format!("krm-merge cannot look for newer releases, because {why}. Name the release with `--to`")
}

/// The range in which a release is the newest, for the end of a sentence.
fn in_range(plan: &Plan) -> String {
    plan.range().map_or_else(String::new, |range| format!(" in {}", shown::name(range)))
}

/// Says how the upgrade of a package ended, and what to do next.
pub fn ended_as(args: &Upgrade, common: &Common, job: Job<'_>, merge: &Merge, ended: Ended) -> Result<Done> {
    let Job { package, plan, from, .. } = job;
    let has = from.map_or_else(String::new, |from| format!("from {} ", shown::name(&from.name)));
    let to = shown::name(&plan.to.state.name);
    let writes = args.writes();
    let Some((open, marked)) = ended.open else {
        if writes && common.output.is_none() {
            let mut page = Page::new(Reader::of_stdout(Color::Auto));
            page.message(Word::Upgraded, &format!("{} {has}to {to}", package.name));
            let is_alone = !args.all && args.packages.len() < 2;
            commit(package).into_iter().filter(|_| is_alone).for_each(|next| page.message(Word::Next, &next));
            page.print()?;
        }
        return Ok(Done::of(ended.end, if writes { Became::Upgraded } else { Became::Looked }));
    };
    let is_written = writes && !merge.has_failed();
    if is_written && marked == 0 {
        screen::tell(
            Word::Upgraded,
            &format!("{} {has}to {to}, with conflicts that have no markers: see above", package.name),
        );
        return Ok(Done::of(open, Became::Marked));
    }
    if is_written {
        screen::tell(
            Word::Upgraded,
            &format!("{} {has}to {to}, with conflicts in {}", package.name, counted(marked, "file")),
        );
        screen::tell(
            Word::Next,
            &format!(
                "decide them with `{}`, or between the markers in an editor{}{}. With `--record`, an upgrade to the same values does not ask again",
                own(&["resolve", &argument(&package.path)]),
                way_back(&package.path),
                commit(package).map_or_else(String::new, |next| format!("; then {next}"))
            ),
        );
        return Ok(Done::of(open, Became::Marked));
    }
    if writes {
        let more = if args.deciding.on_conflict.is_some() { ": run it again without `--on-conflict`" } else { "" };
        screen::tell(Word::Plain, &format!("{}: nothing was written{more}", package.name));
    }
    Ok(Done::of(open, if open == End::Bad { Became::Failed } else { Became::Open }))
}

/// How to commit a package of the repository that the user is in. A release may bring files that git does not know yet.
fn commit(package: &Package) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    committed::repository(&package.root).filter(|top| here.starts_with(top))?;
    let add = command(&["git", "add", "--all", &argument(&package.path)]);
    Some(format!("commit the package, new files too: `{add} && git commit`"))
}

/// What an upgrade would meet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// How many resources and other files the team changed.
    changes: usize,
    conflicts: usize,
    is_bad: bool,
}

impl Found {
    pub fn of(changes: usize, merge: &Merge) -> Self {
        let conflicts = merge.results.iter().filter(|result| result.is_conflict()).count();
        Self { changes, conflicts, is_bad: merge.failure() == Some(End::Bad) }
    }
}

/// Prints the line of `--check`.
pub fn checked(args: &Upgrade, job: Job<'_>, found: Found) -> Result<Done> {
    let Job { package, plan, from, .. } = job;
    let Found { changes, conflicts, is_bad } = found;
    let error = is_bad.then(|| format!("cannot be merged. Run `{} upgrade PACKAGE -o diff` to see why", called()));
    let errors = error.as_ref().map_or_else(String::new, |error| format!("; {error}"));
    let found = Checked { local_changes: Some(changes), conflicts: Some(conflicts), error, ..Checked::of(job) };
    let done = Done { end: End::Differs, became: Became::Newer, checked: Some(found) };
    if args.common.output.is_some() {
        return Ok(done);
    }
    let has = from.map_or("nothing", |from| &from.name);
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
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
pub fn summary(all: usize, became: &[Became]) -> Result<()> {
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
    screen::tell(Word::Plain, &format!("{}: {}", counted(all, "package"), parts.join(", ")));
    Ok(())
}
