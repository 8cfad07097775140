//! `diff`: compares two files or folders by resource and field.
//!
//! Differences in the order of fields and documents, in comments and in layout do not count. If nothing else differs, one line says so.

mod shown;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, anyhow};
use krm_folders::change::Change;
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::held::Held;
use krm_folders::side::{Side, SidePart, paths};
use krm_merge_core::diff::diff as change_between;
use krm_merge_core::policy::Renames;
use krm_merge_function::results::{Json, to_yaml};
use krm_package::resource::Resource;
use krm_schema::mode::Mode;
use krm_schema::schema::Types;
use krm_show::args::Color;
use krm_show::diff;
use krm_show::output::{indented, name_of};
use krm_show::screen::{self, Page, Reader};
use krm_tree::limit::{Budget, Limit};
use krm_words::Word;
use krm_yaml::NodeRef;
use krm_yaml::shown as escaped;

use crate::cli::{Compared, Diff};
use crate::difference::differences;
use crate::pairs::{Pair, others, pairs, unnamed};
use crate::plain::{Kind, Plain, PlainDocument, PlainFile};
use crate::setting;
use crate::upgrade::{self, MayRender};
use shown::{Differing, events, markdown};

/// Prints the differences.
///
/// # Errors
/// A side cannot be read or compared; or the output takes more than the limit.
pub fn diff(args: &Diff) -> Result<End> {
    let [a, b] = match &args.b {
        Some(b) => given::both_sides(["A", "B"], [&args.a, b])?,
        None => upgrade::with_release(Path::new(&args.a), args.to.as_deref(), MayRender::of_flag(args.helm))?,
    };
    let setting = setting::of_lists(Mode::ThreeWay, &args.lists)?;
    let config = setting.config()?;
    let limit = config.limit.with_input(a.size() + b.size());
    let types = config.types.with_definitions([&a, &b].into_iter().flat_map(Side::definitions));
    let plain = Plain::of(&a, &b)?;
    let [old, new] = [(&a, 0), (&b, 1)].map(|(side, at)| resources(side, &plain.documents, at));
    let pairs = pairs(old, new);
    let found = pairs.iter().filter_map(|pair| differing(pair, &types).transpose()).collect::<Result<Vec<_>>>()?;
    let changes = changes(&a, &b)?;
    print(args, &found, &plain.files, &changes, &types, limit)?;
    let differs = match args.output {
        // Only this output compares lines.
        Compared::Diff => !changes.is_empty(),
        _ => {
            tell_moved(&pairs);
            tell_text_alone([&a, &b], &changes, &found);
            !found.is_empty() || !plain.files.is_empty()
        }
    };
    Ok(if differs && args.exit_code { End::Differs } else { End::Done })
}

/// The resources of a side, and the documents of its files without resources. `at` is the number of the side.
fn resources<'s>(side: &'s Side, plain: &'s [PlainDocument], at: usize) -> Vec<Resource<'s>> {
    let mut all: Vec<Resource<'s>> = side.resources(SidePart::Role).into_iter().map(|(_, resource)| resource).collect();
    for held in &side.files {
        all.extend(held.document().into_iter().flat_map(|document| others(document, &held.path, &held.name)));
    }
    for PlainDocument { path, names, texts } in plain {
        let roots = texts[at].roots().filter(|root| !root.is_null());
        all.extend(roots.map(|root| unnamed(root, path, &names[at])));
    }
    all
}

/// The differences between the two states of a resource; `None` if no field differs.
fn differing<'a>(pair: &'a Pair<'a>, types: &'a Types<'_>) -> Result<Option<Differing<'a>>> {
    let (kind, resource, found) = match (&pair.old, &pair.new) {
        (Some(old), Some(new)) => {
            let said = |name: &str| new.node().get(name).and_then(NodeRef::as_str).unwrap_or_default();
            let cursor = types.root(said("apiVersion"), said("kind"), Mode::ThreeWay);
            let found = change_between(Some(old.node()), new.node(), None, cursor, Renames::Ignore);
            let found = found.map_err(|e| anyhow!("{}:{e}", new.origin.text()))?;
            let mut found = found.change.as_ref().map(differences).unwrap_or_default();
            found.retain(|difference| difference.is_of_values());
            if found.is_empty() {
                return Ok(None);
            }
            (Kind::Changed, new, found)
        }
        (None, Some(new)) => (Kind::Added, new, Vec::new()),
        (Some(old), None) => (Kind::Removed, old, Vec::new()),
        (None, None) => return Ok(None),
    };
    let secret = [&pair.old, &pair.new].into_iter().flatten().map(|resource| resource.secret).max().unwrap_or_default();
    Ok(Some(Differing { kind, resource, secret, found }))
}

fn print(
    args: &Diff,
    found: &[Differing<'_>],
    files: &[PlainFile],
    changes: &[Change],
    types: &Types<'_>,
    limit: Limit,
) -> Result<()> {
    let reader = Reader::of_stdout(Color::Auto);
    let mut page = Page::new(reader);
    let budget = Budget::new(limit);
    match args.output {
        Compared::Fields => {
            let lines = found.iter().map(|one| one.lines(&budget)).chain(files.iter().map(PlainFile::lines));
            lines.flatten().for_each(|(paint, line)| page.painted(paint, &line));
            let summary = shown::summary(found, files);
            summary.into_iter().for_each(|line| page.painted(screen::Paint::Bold, &line));
        }
        Compared::Diff => page.append(diff::diff(changes, types, reader)),
        Compared::Name => {
            let name = |one: &Differing<'_>| match one.resource.identity {
                Some(identity) => name_of(&identity),
                None => one
                    .resource
                    .path
                    .map_or_else(|| one.resource.origin.text(), |path| escaped::name(path).into_owned()),
            };
            let of_files = files.iter().map(|file| escaped::name(&file.path).into_owned());
            found.iter().map(name).chain(of_files).for_each(|name| page.line(&name));
        }
        Compared::Json => {
            let events = events(found, files, &budget)?;
            let results: Vec<_> = events.iter().map(|event| Json::of(event, None)).collect();
            page.data(&indented(&serde_json::to_string(&results)?));
        }
        Compared::Results => page.data(&to_yaml(&events(found, files, &budget)?, |_| None, &budget)?),
        Compared::Markdown => page.data(&markdown(found, files, &budget)),
    }
    page.print()
}

/// The files of two sides whose bytes differ.
fn changes(a: &Side, b: &Side) -> Result<Vec<Change>> {
    if !a.is_folder() || !b.is_folder() {
        let bytes =
            |side: &Side| side.files.iter().map(Held::bytes).collect::<Result<Vec<_>>>().map(|all| all.concat());
        let path = b.files.first().map(|held| held.path.clone()).unwrap_or_default();
        let (old, new) = (bytes(a)?, bytes(b)?);
        let changed = old != new;
        let change = Change { path, old: Some(old), new: Some(new), executable: None };
        return Ok(Some(change).filter(|_| changed).into_iter().collect());
    }
    let mut changes = Vec::new();
    for path in paths([a, b]) {
        let [old, new] = [a, b].map(|side| side.at(path).map(Held::bytes).transpose());
        let (old, new) = (old?, new?);
        if old != new {
            let [old, new] = [old, new].map(|bytes| bytes.map(Cow::into_owned));
            changes.push(Change { path: path.to_owned(), old, new, executable: None });
        }
    }
    Ok(changes)
}

/// Reports resources that the two sides have in different files.
fn tell_moved(pairs: &[Pair<'_>]) {
    for Pair { old, new } in pairs {
        let (Some(old), Some(new)) = (old, new) else { continue };
        if let (Some(from), Some(to)) = (old.place(), new.place())
            && from != to
            && let Some(identity) = new.identity
        {
            let called = identity.called();
            let (from, to) = (escaped::name(from), escaped::name(to));
            screen::tell(Word::Info, &format!("{called} is in another file: {from} -> {to}"));
        }
    }
}

/// Reports files that differ only in comments, layout or order.
fn tell_text_alone([a, b]: [&Side; 2], changes: &[Change], found: &[Differing<'_>]) {
    let are_folders = a.is_folder() && b.is_folder();
    let told: BTreeSet<&str> = found.iter().map(|one| one.resource.path.unwrap_or_default()).collect();
    let mut names = Vec::new();
    for change in changes {
        let is_told = if are_folders { told.contains(change.path.as_str()) } else { !told.is_empty() };
        let held = if are_folders { b.at(&change.path) } else { b.files.first() };
        let held = held.filter(|held| change.old.is_some() && held.document().is_some() && !is_told);
        names.extend(held.map(|held| held.name.as_str()));
    }
    if !names.is_empty() {
        screen::tell(Word::Info, &format!("only comments, layout or order differ in {}", names.join(", ")));
    }
}
