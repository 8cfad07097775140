//! `log`: upstream's commits of a package's folder, from the release that the package has to the one that it would get. What is not in git has
//! no commits: its releases are printed.

use anyhow::{Context, Result, bail};
use krm_folders::end::End;
use krm_folders::package::Package;
use krm_git::log::{LogEntry, Span, log as commits_of};
use krm_git::refs::State;
use krm_git::versions::split;
use krm_show::args::Color;
use krm_show::markdown::code;
use krm_show::output::indented;
use krm_show::progress::Progress;
use krm_show::screen::{Page, Reader};
use krm_words::counted;
use serde_json::json;

use super::aim::DirectoryAt;
use super::chart_notes::{ChartChange, ChartNotes, notes};
use super::plan::{Plan, Stores, UpstreamSource};
use super::rendered::MayRender;
use crate::cli::{Log, Logged};

/// Prints upstream's commits.
///
/// # Errors
/// The package records no release in git, or the history cannot be fetched.
pub fn log(args: &Log) -> Result<End> {
    let progress = Progress::begin("fetching");
    let package = Package::open(&args.package)?;
    let mut stores = Stores::new(args.reach.network(), MayRender::No);
    let plan = Plan::of_log(&package, args.to.as_deref(), &mut stores)?;
    let UpstreamSource::Directory(at) = &plan.to.source else {
        bail!("{}: upstream must have releases that can be listed", package.name)
    };
    let from = match &args.from {
        Some(name) => Some(at.store.state(&at.address.named(name)?)?),
        None => plan.from.as_ref().map(|from| from.state.clone()),
    };
    let from = from
        .with_context(|| format!("{}: it must record which release it has, or `--from` must be given", package.name))?;
    let (from, to) = (&from, &plan.to.state);
    if !at.address.repo.is_git() {
        let found = releases(at, [from, to])?;
        // The release that the package has says which version of the program it has.
        let said = notes(at, &[found.as_slice(), std::slice::from_ref(from)].concat());
        drop(progress);
        return print_releases(args.output, &package.name, [from, to], &found, &said);
    }
    let span = Span { from: &from.commit, to: &to.commit, directory: &at.address.directory };
    let found = commits_of(&at.store, span)?;
    drop(progress);
    let (from, to) = (&from.name, &to.name);
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    match args.output {
        Logged::Text => {
            page.line(&format!("{}: {from} to {to}, {}", package.name, counted(found.len(), "commit")));
            for LogEntry { commit, date, author, subject } in &found {
                page.line(&format!("{} {date} {subject} ({author})", short(commit)));
            }
        }
        // A title may name people and issues of upstream, which must not be told.
        Logged::Markdown => {
            let mut text = format!("{} to {}, {}\n", code(from), code(to), counted(found.len(), "commit"));
            text.extend((!found.is_empty()).then_some('\n'));
            for LogEntry { commit, subject, .. } in &found {
                text.push_str(&format!("* {} {}\n", code(short(commit)), code(subject)));
            }
            page.data(&text);
        }
        Logged::Json => {
            let entry = |entry: &LogEntry| {
                let LogEntry { commit, date, author, subject } = entry;
                json!({ "commit": commit, "date": date, "author": author, "subject": subject })
            };
            let commits: Vec<_> = found.iter().map(entry).collect();
            let all = json!({ "package": package.name, "from": from, "to": to, "commits": commits });
            page.data(&indented(&all.to_string()));
        }
    }
    page.print()?;
    Ok(End::Done)
}

/// The releases after one, up to another one, from the newest to the oldest.
fn releases(at: &DirectoryAt, [from, to]: [&State; 2]) -> Result<Vec<State>> {
    let refs = at.store.refs()?;
    let [after, last] = [from, to].map(|state| split(&state.reference).map(|(_, version)| version));
    let mut all = refs.releases(&at.address, &refs.series(&at.address, None, Some(&from.reference)));
    all.retain(|(version, _)| after.as_ref() < Some(version) && last.as_ref().is_none_or(|last| version <= last));
    Ok(all.into_iter().rev().map(|(_, state)| state).collect())
}

fn print_releases(
    output: Logged,
    package: &str,
    [from, to]: [&State; 2],
    found: &[State],
    said: &[ChartNotes],
) -> Result<End> {
    let (from, to, count) = (&from.name, &to.name, counted(found.len(), "release"));
    let of = |name: &str| said.iter().find(|notes| notes.release == name);
    let app = |name: &str| of(name).and_then(|notes| notes.app_version.as_deref());
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    match output {
        Logged::Text => {
            page.line(&format!("{package}: {from} to {to}, {count}"));
            for State { name, .. } in found {
                page.line(&app(name).map_or_else(|| name.clone(), |app| format!("{name} (appVersion {app})")));
                for ChartChange { kind, description } in of(name).iter().flat_map(|notes| &notes.changes) {
                    let kind = kind.as_ref().map_or_else(String::new, |kind| format!("{kind}: "));
                    page.line(&format!("  {kind}{description}"));
                }
            }
        }
        // As of commits: what a chart says may name people and issues.
        Logged::Markdown => {
            let mut text = format!("{} to {}, {count}", code(from), code(to));
            match (app(from), app(to)) {
                (Some(old), Some(new)) if old != new => {
                    text.push_str(&format!("; <code>appVersion</code> {} to {}", code(old), code(new)));
                }
                (_, Some(same)) => text.push_str(&format!("; <code>appVersion</code> {}", code(same))),
                (_, None) => {}
            }
            text.push_str(if found.is_empty() { "\n" } else { "\n\n" });
            for State { name, .. } in found {
                let app = app(name).map_or_else(String::new, |app| format!(", <code>appVersion</code> {}", code(app)));
                text.push_str(&format!("* {}{app}\n", code(name)));
                for ChartChange { kind, description } in of(name).iter().flat_map(|notes| &notes.changes) {
                    let kind = kind.as_ref().map_or_else(String::new, |kind| format!("{}: ", code(kind)));
                    text.push_str(&format!("  * {kind}{}\n", code(description)));
                }
            }
            page.data(&text);
        }
        Logged::Json => {
            let names: Vec<&str> = found.iter().map(|release| release.name.as_str()).collect();
            let all = json!({ "package": package, "from": from, "to": to, "releases": names, "charts": said });
            page.data(&indented(&all.to_string()));
        }
    }
    page.print()?;
    Ok(End::Done)
}

/// The beginning of a commit, as git shows it.
fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
