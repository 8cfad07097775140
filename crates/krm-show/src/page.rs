//! What a merge prints, in each format.

use anyhow::Result;
use krm_files::side::Side;
use krm_files::told;
use krm_folders::merge::Merge;
use krm_merge_function::results::{Outcome, Severity};
use krm_yaml::shown;

use crate::args::Output;
use crate::diff;
use crate::github::github;
use crate::html::html;
use crate::markdown::markdown;
use crate::output::{self, Printed};
use crate::sarif::sarif;
use crate::screen::{self, Page, Reader};

/// The output for a merge in the format that the user chose.
///
/// # Errors
/// The output would exceed the limit.
pub fn of(dest: &Side, merge: &Merge, output: Output, printed: Printed, reader: Reader) -> Result<Page> {
    let mut page = Page::new(reader);
    match output {
        // A failed merge has no resources to print.
        Output::Yaml | Output::Json if merge.has_failed() => {}
        Output::Yaml => page.data(&output::yaml(dest, merge, printed)?),
        Output::Json => page.data(&output::json(dest, merge, printed)?),
        Output::Name => output::names(merge)?.iter().for_each(|name| page.line(name)),
        Output::Results => page.data(&output::results(dest, &merge.results, merge.limit)?),
        Output::Github => page.append(github(dest, &merge.results, reader)),
        Output::Sarif => page.data(&sarif(dest, &merge.results)),
        Output::Markdown => page.data(&markdown(dest, &merge.results)),
        Output::Html => page.data(&html(dest, merge)),
        Output::Diff => {
            page.append(diff::diff(&merge.changes, &merge.types(dest), reader));
            page.append(diff::conflicts(dest, merge, reader));
        }
    }
    Ok(page)
}

/// Adds the files that were written, one on a line, and a summary of the merge.
pub fn written(merge: &Merge, page: &mut Page) {
    for change in &merge.changes {
        let did = match (&change.old, &change.new) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "changed",
        };
        page.line(&format!("{did} {}", shown::name(&change.path)));
    }
    let infos = merge.results.iter().filter(|r| r.severity == Severity::Info);
    infos.for_each(|info| page.line(&told::line(info)));
}

/// Prints errors and warnings to stderr, one on a line. What the output shows to people is left out: settled conflicts in a diff, and all in
/// the commands for GitHub.
pub fn report(results: &[Outcome], format: Option<Output>) {
    let is_there = |r: &Outcome| match format {
        Some(Output::Diff) => r.severity == Severity::Warning && r.is_conflict(),
        Some(Output::Github) => true,
        _ => false,
    };
    let told = results.iter().filter(|r| r.severity != Severity::Info && !is_there(r));
    told.for_each(|result| screen::tell(&told::line(result)));
}
