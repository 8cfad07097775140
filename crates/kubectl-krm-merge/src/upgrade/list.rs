//! `list`: what each package below a folder has, wants and could get.
//!
//! Only tags and branches are fetched. What the team changed is known if the cache has the release that the package has.

use std::path::{Path, PathBuf};

use anyhow::Result;
use krm_files::errors;
use krm_files::walk::shown;
use krm_folders::end::End;
use krm_folders::package::Package;
use krm_folders::record::{Record, Upstream};
use krm_git::store::Network;
use krm_show::args::Color;
use krm_show::output::indented;
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_words::Word;
use krm_yaml::shown as escaped;
use serde::Serialize;

use super::below::{below, check_some};
use super::check_whole;
use super::plan::{Plan, Release, Stores};
use super::rendered::MayRender;
use super::sides::both;
use crate::cli::{List, Listed};
use crate::likeness::likeness;

/// What is known of a package.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Its folder.
    package: String,
    /// The repository that it comes from, or the command.
    upstream: Option<String>,
    /// The directory of the repository.
    directory: Option<String>,
    /// The release that it has.
    has: Option<String>,
    /// Its commit.
    commit: Option<String>,
    /// What its record wants: a release, a branch or a range.
    wants: Option<String>,
    /// The newest release that an upgrade would take, if anybody can say.
    newest: Option<String>,
    /// How many releases come after the one that it has. A branch that went on counts as one.
    behind: Option<usize>,
    /// How many resources and other files the team changed, if the cache has the release.
    local_changes: Option<usize>,
    /// Whether helm makes the release of a chart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rendered: bool,
    /// Why something is not known.
    error: Option<String>,
}

/// Lists the packages below a folder.
///
/// # Errors
/// The folder cannot be read, or it has no package. What is wrong with a package stands in its line.
pub fn list(args: &List) -> Result<End> {
    let progress = Progress::begin("listing");
    let roots = [args.root.clone().unwrap_or_else(|| PathBuf::from("."))];
    let folders = below("FOLDER", &roots)?;
    if matches!(args.output, Listed::Table | Listed::Wide) {
        check_some(&folders, &roots)?;
    }
    let mut stores = Stores::new(args.reach.network(), MayRender::No);
    // What the team changed is no reason to fetch.
    let mut cached = Stores::new(Network::Offline, MayRender::No);
    let mut rows: Vec<Row> = Vec::with_capacity(folders.len());
    for folder in &folders {
        progress.set(|| format!("listing {} of {} packages", rows.len(), folders.len()));
        rows.push(row(folder, &mut stores, &mut cached));
    }
    drop(progress);
    rows.sort_by(|a, b| (&a.upstream, &a.package).cmp(&(&b.upstream, &b.package)));
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    match args.output {
        Listed::Json => page.data(&indented(&serde_json::to_string(&rows)?)),
        Listed::Name => rows.iter().for_each(|row| page.line(&row.package)),
        Listed::Table | Listed::Wide => table(&rows, args.output).iter().for_each(|line| page.line(line)),
    }
    page.print()?;
    let errors = rows.iter().filter_map(|row| Some((row, row.error.as_ref()?)));
    let errors: Vec<String> = errors.map(|(row, error)| format!("{}: {error}", row.package)).collect();
    errors.iter().for_each(|error| screen::tell(Word::Error, error));
    Ok(if errors.is_empty() { End::Done } else { End::Bad })
}

fn row(folder: &Path, stores: &mut Stores, cached: &mut Stores) -> Row {
    let mut row = Row { package: shown(folder), ..Row::default() };
    if let Err(e) = fill(&mut row, folder, stores, cached) {
        row.error = Some(errors::chain(&e));
    }
    row
}

fn fill(row: &mut Row, folder: &Path, stores: &mut Stores, cached: &mut Stores) -> Result<()> {
    check_whole(folder)?;
    let package = Package::open(folder)?;
    let Some(Record { upstream, render, lock }) = &package.record else { return Ok(()) };
    row.rendered = render.is_some();
    row.commit = lock.as_ref().map(|lock| lock.exact.clone());
    row.has = lock.as_ref().map(|lock| lock.reference.clone());
    match upstream {
        Upstream::Releases(address) => {
            row.upstream = Some(address.repo.to_string());
            row.directory = Some(address.directory.clone());
            row.wants = address.reference.clone();
            row.local_changes = local_changes(&package, cached).ok();
            let plan = Plan::of_list(&package, stores)?;
            row.has = plan.from.as_ref().map(|from| from.state.name.clone());
            let newest = plan.newest()?;
            row.behind = newest.as_ref().map(|newest| newest.behind);
            row.newest = newest.map(|newest| newest.state.name);
        }
        Upstream::Run { run, reference } => {
            // Its arguments may hold a password.
            row.upstream = run.first().cloned();
            row.wants = reference.clone();
        }
    }
    Ok(())
}

/// How many resources and other files of a package differ from the release that it has.
fn local_changes(package: &Package, stores: &mut Stores) -> Result<usize> {
    let release = Release::of_package(package, stores)?;
    let [original, dest] = both(package, &release)?;
    Ok(likeness(&original, &dest)?.changed())
}

/// The lines of a table. Columns are as wide as their widest cell.
fn table(rows: &[Row], output: Listed) -> Vec<String> {
    let text =
        |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), |text| escaped::name(text).into_owned());
    let number = |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let mut head = vec!["PACKAGE", "HAS", "WANTS", "NEWEST", "BEHIND", "CHANGES", "UPSTREAM"];
    if output == Listed::Wide {
        head.extend(["DIRECTORY", "COMMIT"]);
    }
    let mut lines = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| {
        let mut cells = vec![row.package.clone(), text(&row.has), text(&row.wants), text(&row.newest)];
        cells.extend([number(row.behind), number(row.local_changes), text(&row.upstream)]);
        if output == Listed::Wide {
            cells.extend([format!("/{}", row.directory.as_deref().unwrap_or_default()), text(&row.commit)]);
        }
        cells
    }));
    let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect()
}
