//! A comment stays with its field: comments at every place of a document, in four styles, merged with one change on each side.
//!
//! Where git merges the lines cleanly, the result has git's comments. Elsewhere no comment that a side has goes without a word, none comes
//! back that a side removed, and each stays at its field. Nowhere is a comment doubled, and a second run changes nothing.
//!
//! One of many pairs of changes is tried; with `KRM_MERGE_LAWS`, all of them.

mod support;

use std::fmt::Write as _;

use krm_merge::{Merge, MergedPackage, Package, Pick, Reveal};
use krm_tree::sides::Sides;
use support::document::{Child, Style, documents};
use support::git::merge_file;
use support::sampled::step_by_day;

/// How many pairs of changes are left out for one that is tried.
const STEP: usize = 97;

/// The comments of a text. No value of these documents has a `#`.
fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| Some(line[line.find('#')?..].trim_end())).collect()
}

/// The key or the element on a line.
fn content(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or_default();
    let content = line.trim_matches(|c: char| " -{}[],\"".contains(c));
    content.split(':').next().unwrap_or_default()
}

/// What the comments above a line belong to: its key, or its element. Those above an element of fields belong to its dash.
fn below(line: &str) -> &str {
    if line.trim_start().starts_with("- ") && line.contains(':') { "-" } else { content(line) }
}

/// What a comment stands at: what is on its line, or what comes next. `None` if it is behind a bracket that closes, or is not there.
fn owner<'t>(text: &'t str, comment: &str) -> Option<&'t str> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_end().ends_with(comment))?;
    if lines[at].trim_start().starts_with(['}', ']']) {
        return None;
    }
    let here = Some(content(lines[at])).filter(|content| !content.is_empty());
    here.or_else(|| lines[at + 1..].iter().map(|line| below(line)).find(|token| !token.is_empty()))
}

/// What a merge told: its conflicts and its notes. Where a map or a list is in conflict, its owner looks at all of it.
fn told(merged: &MergedPackage, dest: &str) -> String {
    let mut told = String::new();
    let is_whole = |json: &str| json.starts_with(['{', '[']);
    if merged
        .conflicts()
        .any(|conflict| conflict.values(Reveal::Secrets).iter().any(|(_, json)| json.is_some_and(is_whole)))
    {
        told.push_str(dest);
    }
    merged.conflicts().for_each(|conflict| write!(told, "{conflict:?}").expect("a text"));
    let plan = merged.plan(Pick::Updated.into()).expect("within the limit");
    plan.events.iter().for_each(|event| write!(told, "{event:?}").expect("a text"));
    told
}

fn package(text: &str) -> Package {
    Package::of_text(text.to_owned()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is wrong with the merge of three texts, if anything.
fn fault(texts: &Sides<String>) -> Option<String> {
    let packages = Sides::of(|side| package(&texts[side]));
    let merge = Merge::three_way(&packages.original, &packages.updated, &packages.dest);
    let merged = merge.run().expect("a merge");
    let result = match merged.text(Pick::Updated) {
        Ok(result) => result,
        Err(error) => return Some(format!("{error}")),
    };
    let wrong = |what: &str| Some(format!("{what}\n--- result\n{result}"));
    let told = told(&merged, &texts.dest);
    let found = comments(&result);
    if let Some(twice) = found.iter().find(|one| found.iter().filter(|other| other == one).count() > 1) {
        return wrong(&format!("twice: {twice}"));
    }
    let of = |side: &String| comments(side).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (original, updated, dest) = (of(&texts.original), of(&texts.updated), of(&texts.dest));
    let is_told = |comment: &str| told.contains(comment);
    let git = merge_file(texts);
    if let Some(git) = &git {
        let should = comments(git);
        if let Some(lost) = should.iter().find(|comment| !found.contains(comment) && !is_told(comment)) {
            return wrong(&format!("git has: {lost}\n--- git\n{git}"));
        }
        if let Some(more) = found.iter().find(|comment| !should.contains(comment) && !is_told(comment)) {
            return wrong(&format!("git has not: {more}\n--- git\n{git}"));
        }
    }
    for (own, other) in [(&updated, &dest), (&dest, &updated)] {
        let lost = own.iter().find(|c| !original.contains(c) && !found.contains(&c.as_str()) && !is_told(c));
        if let Some(lost) = lost {
            return wrong(&format!("lost: {lost}"));
        }
        let back = original
            .iter()
            .filter(|c| !own.contains(c) && other.contains(c) && found.contains(&c.as_str()))
            // With a value that is in conflict, its comments come back.
            .find(|c| !is_told(c) && !owner(&result, c).is_some_and(|token| told.contains(token)));
        if let Some(back) = back {
            return wrong(&format!("came back: {back}"));
        }
    }
    let stays_at = |comment: &&&str| !["foot", "apart"].iter().any(|other| comment.contains(other));
    for comment in found.iter().filter(stays_at) {
        let owners =
            [&texts.original, &texts.updated, &texts.dest].into_iter().filter(|text| comments(text).contains(comment));
        let owners: Vec<Option<&str>> = owners.map(|text| owner(text, comment)).collect();
        let here = owner(&result, comment);
        // Behind a bracket, only the text above it says what the comment is for.
        if here.is_none() || owners.contains(&None) {
            continue;
        }
        if !owners.contains(&here) && !is_told(comment) && git.as_ref().is_none_or(|git| owner(git, comment) != here) {
            return wrong(&format!("at {here:?} and not at {owners:?}: {comment}"));
        }
    }
    let again = package(&result);
    let again = Merge::three_way(&packages.original, &packages.updated, &again);
    let again = again.run().expect("a merge").text(Pick::Updated).expect("within the limit");
    (again != result).then(|| format!("a second run changes it\n--- first\n{result}\n--- second\n{again}"))
}

/// The lines that differ. Each line of these texts stands once, or is a bracket.
fn difference(old: &str, new: &str) -> String {
    let only = |text: &str, other: &str, mark: char| -> String {
        text.lines().filter(|line| !other.lines().any(|l| l == *line)).map(|line| format!("{mark}{line}\n")).collect()
    };
    only(old, new, '-') + &only(new, old, '+')
}

fn holds(style: Style) {
    let (mut tried, step) = (0, step_by_day(STEP));
    let mut faults = Vec::new();
    for original in documents() {
        let changed: Vec<Child> = original.changed("u");
        let others: Vec<Child> = original.changed("d");
        let pairs = changed.iter().flat_map(|updated| others.iter().map(move |dest| (updated, dest)));
        for (updated, dest) in pairs.skip(tried % step).step_by(step) {
            let texts = Sides { original: &original, updated, dest }.map(|child| child.written(style));
            tried += 1;
            if let Some(fault) = fault(&texts) {
                let [updated, dest] = [&texts.updated, &texts.dest].map(|text| difference(&texts.original, text));
                faults.push(format!("--- updated\n{updated}--- dest\n{dest}--- {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {tried} are wrong, such as\n{}", faults.len(), faults[faults.len() / 2]);
}

#[test]
fn comments_stay_in_block_style() {
    holds(Style::Block);
}

#[test]
fn comments_stay_in_kyaml() {
    holds(Style::Kyaml);
}

#[test]
fn comments_stay_in_flow_style_without_last_commas() {
    holds(Style::Json);
}

#[test]
fn comments_stay_where_a_block_holds_flow_maps() {
    holds(Style::Mixed);
}
