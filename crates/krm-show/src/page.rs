//! What a merge prints, in each format.

use std::collections::HashMap;

use anyhow::Result;
use krm_folders::change::Change;
use krm_folders::merge::Merge;
use krm_folders::side::Side;
use krm_job::event::{Event, Severity, What};
use krm_words::{Message, Word, counted};
use krm_yaml::shown;

use crate::args::Output;
use crate::diff;
use crate::github::github;
use crate::html::{Writing, html};
use crate::markdown::markdown;
use crate::output::{self, Printed};
use crate::sarif::sarif;
use crate::screen::{self, Page, Paint, Reader};

/// The output for a merge in the format that the user chose.
///
/// # Errors
/// The output would exceed the limit.
pub fn of(dest: &Side, merge: &Merge, output: Output, printed: Printed, reader: Reader) -> Result<Page> {
    let mut page = match output {
        Output::Name | Output::Github | Output::Diff => Page::new(reader),
        Output::Yaml | Output::Json | Output::Results | Output::Sarif | Output::Markdown | Output::Html => {
            Page::new(Reader::of_data())
        }
    };
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
        Output::Html => page.data(&html(dest, merge, Writing::Not)),
        Output::Diff => {
            page.append(diff::diff(&merge.changes, &merge.types(dest), reader));
            page.append(diff::conflicts(dest, merge, reader));
        }
    }
    Ok(page)
}

/// The most files that are named one by one, beside those with conflicts.
const MOST: usize = 200;

/// Adds the files that were written, one on a line, and a summary of the merge.
pub fn written(merge: &Merge, page: &mut Page) {
    written_with_markers(merge, |_| Vec::new(), page);
}

/// The same for files that may have markers. `marked` has the lines of a file in which a conflict begins.
pub fn written_with_markers(merge: &Merge, marked: impl Fn(&Change) -> Vec<usize>, page: &mut Page) {
    let is_short = merge.changes.len() <= MOST;
    for change in &merge.changes {
        let path = shown::name(&change.path);
        match marked(change).as_slice() {
            [] if is_short => page.line(&format!("{} {path}", did(change))),
            [] => {}
            lines => {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                page.painted(Paint::Yellow, &format!("conflict {path}:{}", lines.join(", ")));
            }
        }
    }
    if !is_short && has_counts(merge) {
        page.line(&total(merge));
    }
    if let Some(total) = own_total(merge) {
        page.line(&total);
    }
    let infos = merge.results.iter().filter(|r| r.severity == Severity::Info);
    infos.for_each(|info| page.line(&Message::of(info).to_string()));
}

fn did(change: &Change) -> &'static str {
    match (&change.old, &change.new) {
        (None, _) => "added",
        (_, None) => "deleted",
        _ => "changed",
    }
}

fn has_counts(merge: &Merge) -> bool {
    merge.results.iter().any(|result| result.counts().is_some())
}

/// The number of files that change; `None` if an info counts the resources, or if nothing changes.
pub fn own_total(merge: &Merge) -> Option<String> {
    (!has_counts(merge) && !merge.changes.is_empty()).then(|| total(merge))
}

fn total(merge: &Merge) -> String {
    let parts = ["changed", "added", "deleted"].map(|word| {
        let count = merge.changes.iter().filter(|change| did(change) == word).count();
        (count > 0).then(|| format!("{} {word}", counted(count, "file")))
    });
    format!("total: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Prints errors, conflicts and warnings to stderr, one on a line. What the output shows to people is left out: settled conflicts in a diff,
/// and all in the commands for GitHub.
pub fn report(results: &[Event], format: Option<Output>, told_so_far: &mut Told) {
    let is_there = |r: &Event| match format {
        Some(Output::Diff) => r.severity == Severity::Warning && r.is_conflict() && !r.is_open(),
        Some(Output::Github) => true,
        _ => false,
    };
    let told = results.iter().filter(|r| r.severity != Severity::Info && !is_there(r));
    let is_seen = screen::is_told_to_someone() && format != Some(Output::Diff);
    let (pictures, told): (Vec<_>, Vec<_>) =
        told.map(|r| (r, diff::picture(r, Reader::of_stderr()).filter(|_| is_seen))).partition(|(_, p)| p.is_some());
    screen::tell_each(lines(told.into_iter().map(|(result, _)| result), told_so_far));
    pictures.into_iter().filter_map(|(_, picture)| picture).for_each(|picture| picture.tell());
}

/// How many results with one message are told one by one.
const ALIKE: usize = 3;

/// What the merges of a run have told, so that a warning of many packages is not told of each.
#[derive(Debug, Default)]
pub struct Told(HashMap<What, Warned>);

/// How often a warning came.
#[derive(Debug, Default)]
struct Warned {
    /// The merges that have it.
    merges: usize,
    /// How many results were not told.
    left_out: usize,
}

impl Told {
    /// Whether results with one message are told, and not only counted.
    fn wants(&mut self, group: &[&Event]) -> bool {
        let [first, ..] = group else { return false };
        // Each conflict is told, and each file of which nothing else is told.
        let is_of_file = first.resource_ref.is_none() && first.file.is_some();
        if first.severity != Severity::Warning || first.is_conflict() || is_of_file {
            return true;
        }
        let warned = self.0.entry(first.what.clone()).or_default();
        warned.merges += 1;
        let is_told = warned.merges <= ALIKE;
        warned.left_out += if is_told { 0 } else { group.len() };
        is_told
    }

    /// How many results were not told of the last merges.
    pub fn rest(&self) -> Vec<Message> {
        let left_out = self.0.iter().filter(|(_, warned)| warned.left_out > 0);
        let told = left_out.map(|(what, warned)| {
            let message = krm_words::message(&Event::of(what.clone()));
            format!("{message} (and {} more like this, in other packages)", warned.left_out)
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        told.into_iter().map(|text| Word::Warning.says(text)).collect()
    }
}

/// The messages of results. Of many that say the same of many resources, the first is told, and how many more there are. What is said of a file
/// alone is told of each: nobody else names it.
fn lines<'r>(results: impl Iterator<Item = &'r Event>, told_so_far: &mut Told) -> Vec<Message> {
    let mut groups: Vec<Vec<&Event>> = Vec::new();
    let mut known: HashMap<(&What, Option<&str>), usize> = HashMap::new();
    for result in results {
        let file = result.file.as_ref().filter(|_| result.resource_ref.is_none()).map(|file| file.path.as_str());
        let group = *known.entry((&result.what, file)).or_insert(groups.len());
        // Each conflict has values of its own, and someone decides each.
        match groups.get_mut(group) {
            Some(group) if !result.is_conflict() => group.push(result),
            _ => groups.push(vec![result]),
        }
    }
    groups.retain(|group| told_so_far.wants(group));
    let told = groups.iter().flat_map(|group| match group.as_slice() {
        [first, rest @ ..] if rest.len() >= ALIKE => {
            let Message { word, text } = Message::of(first);
            vec![word.says(format!("{text} (and {} more like this; `-o results` has all)", rest.len()))]
        }
        few => few.iter().map(|result| Message::of(result)).collect(),
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_say_the_same_are_one_with_a_count() {
        let warning = |message: &str| Event::new(Severity::Warning, message);
        let of_file = |path: &str| {
            let file = krm_job::event::File { path: path.to_owned(), index: None };
            Event { file: Some(file.into()), ..warning("obeyed") }
        };
        let files = ["a", "b", "c", "d", "e"].map(of_file);
        let lines = |results: &[Event]| {
            super::lines(results.iter(), &mut Told::default()).iter().map(Message::to_string).collect::<Vec<_>>()
        };
        assert_eq!(lines(&files).len(), 5, "each file is named");
        let all = [vec![warning("one")], vec![warning("many"); 15], vec![warning("few"); 3]].concat();
        let many = "warning: many (and 14 more like this; `-o results` has all)";
        assert_eq!(lines(&all), ["warning: one", many, "warning: few", "warning: few", "warning: few"]);
    }

    #[test]
    fn a_warning_of_many_packages_is_told_of_the_first_and_counted() {
        let warning = |message: &str| Event::new(Severity::Warning, message);
        let mut told = Told::default();
        let counts: Vec<usize> = (0..5)
            .map(|package| {
                let results = [warning("many"), warning("many"), warning(&format!("of {package}"))];
                super::lines(results.iter(), &mut told).len()
            })
            .collect();
        assert_eq!(counts, [3, 3, 3, 1, 1]);
        let rest: Vec<String> = told.rest().iter().map(Message::to_string).collect();
        assert_eq!(rest, ["warning: many (and 4 more like this, in other packages)"]);
        let errors = [Event::new(Severity::Error, "bad"), Event::new(Severity::Error, "bad")];
        let told_of = |told: &mut Told| super::lines(errors.iter().take(1), told).len();
        assert_eq!((0..5).map(|_| told_of(&mut told)).sum::<usize>(), 5);
    }
}
