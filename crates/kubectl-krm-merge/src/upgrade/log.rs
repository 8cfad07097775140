//! `log`: upstream's commits of a package's folder, from the release that the package has to the one that it would get.

use anyhow::{Context, Result, bail};
use krm_folders::end::End;
use krm_folders::package::Package;
use krm_git::address::ReleaseAddress;
use krm_git::log::{LogEntry, Span, log as commits_of};
use krm_show::args::Color;
use krm_show::markdown::code;
use krm_show::output::indented;
use krm_show::progress::Progress;
use krm_show::screen::{Page, Reader};
use krm_words::counted;
use serde_json::json;

use super::plan::{Plan, Stores, UpstreamSource};
use crate::cli::{Log, Logged};

/// Prints upstream's commits.
///
/// # Errors
/// The package records no release in git, or the history cannot be fetched.
pub fn log(args: &Log) -> Result<End> {
    let progress = Progress::begin("fetching");
    let package = Package::open(&args.package)?;
    let mut stores = Stores::new(args.reach.network());
    let plan = Plan::of_record(&package, args.to.as_deref(), &mut stores)?;
    let UpstreamSource::Git(at) = &plan.to.source else { bail!("{}: upstream must be in git", package.name) };
    let from = match &args.from {
        Some(_) => Some(at.store.state(&ReleaseAddress { reference: args.from.clone(), ..at.address.clone() })?),
        None => plan.from.as_ref().map(|from| from.state.clone()),
    };
    let from = from
        .with_context(|| format!("{}: it must record which release it has, or `--from` must be given", package.name))?;
    let span = Span { from: &from.commit, to: &plan.to.state.commit, directory: &at.address.directory };
    let found = commits_of(&at.store, span)?;
    drop(progress);
    let (from, to) = (&from.name, &plan.to.state.name);
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

/// The beginning of a commit, as git shows it.
fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
