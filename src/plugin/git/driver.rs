//! `git-driver %O %A %B %P`: merges theirs into ours, and reports by its exit code whether a conflict is left.
//!
//! Each side is parsed once, and the merge is done once. One tree gives both halves of each choice. The driver takes the text of git's own
//! merge by line if that merge is clean and means the same, because the text also has the sides' changes to comments, layout and order. The
//! driver also takes it if it is clean and the conflicts are in texts of several lines, or come from a renamed resource.
//!
//! If branches merged each other, they have several common ancestors. git merges these first, and the result is the original of the merge.
//! If it had the value of one side, the other side's value would win. So no rule decides there, nothing is printed, and a conflict stays
//! between markers, as in git's own merge.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use krm_merge::alias;
use krm_merge::limit::Budget;
use krm_merge::list;
use krm_merge::mode::Mode;
use krm_merge::policy::OnConflict;
use krm_merge::resource::{Located, Origin, Resource};
use krm_merge::rules::Rules;
use krm_merge::shown;
use krm_merge::sides::Sides;
use krm_merge::yaml::{Document, NodeRef};
use krm_merge_function::config::Config;
use krm_merge_function::decision::Decisions;

use super::comments::is_any_lost;
use super::definitions::nodes;
use super::lines::agrees;
use super::marks::{Marks, Style};
use super::merge::Merge;
use super::part::Part;
use super::repository::{Repository, config_of, without_rules};
use crate::End;
use crate::cli::GitDriver;
use crate::screen;
use crate::side::parse;
use crate::told;
use crate::walk;

/// Merges the three files and writes the result over our file. If a file cannot be read or written, or if git's own merge is needed but git
/// cannot be run, our file may be half written. So git must stop.
pub fn drive(args: &GitDriver) -> End {
    merge(args).unwrap_or_else(|e| {
        screen::tell(&format!("error: {}", told::chain(&e)));
        End::StopsGit
    })
}

fn merge(args: &GitDriver) -> Result<End> {
    let name = name(args);
    let read = |path: &Path| fs::read(path).with_context(|| walk::shown(path));
    let sides = Sides { original: read(&args.original)?, updated: read(&args.theirs)?, dest: read(&args.ours)? };
    let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } =
        sides.map(|bytes| parse(&name, bytes).ok())
    else {
        return by_line(args);
    };
    let documents = Sides { original: &original, updated: &updated, dest: &dest };
    let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } =
        documents.map(|document| resources(&name, document))
    else {
        return by_line(args);
    };
    merged(args, &name, documents, &Sides { original, updated, dest })
}

/// The name of the file for messages.
fn name(args: &GitDriver) -> String {
    args.path.as_deref().map_or_else(|| walk::shown(&args.ours), walk::text)
}

/// Merges files of resources.
fn merged(
    args: &GitDriver,
    name: &str,
    documents: Sides<&Document<'static>>,
    resources: &Sides<Vec<Resource<'_>>>,
) -> Result<End> {
    let repository = Repository::here();
    let file = repository.as_ref().and_then(|repository| repository.rules(|message| tell(args, message)));
    let Config { types, task, new_elements, limit, .. } = match &file {
        Some(file) => config_of(file)?,
        None => without_rules()?,
    };
    let found = repository.map(|repository| repository.definitions(resources.iter().flat_map(|(_, side)| side)));
    let found = found.unwrap_or_default();
    let types = types.with_definitions(found.iter().flat_map(nodes)).with_definitions(definitions(resources));
    let input = documents.iter().map(|(_, document)| document.source().len()).sum();
    let budget = Budget::new(limit.with_input(input));
    let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: task.policy(new_elements), budget: &budget };
    let mut decisions =
        if args.common_ancestor { Decisions::new(&[], OnConflict::Fail.into()) } else { task.decisions() };
    let Some(merge) = Merge::of(documents, resources, rules, &mut decisions) else { return by_line(args) };
    let by_git = git_merge_file(args, &["-p"])?;
    let is_clean = by_git.status.success();
    let lines = String::from_utf8(by_git.stdout).ok().filter(|_| is_clean);
    if let Some(lines) = lines.filter(|lines| means_the_same(lines, name, &merge, documents, resources)) {
        merge.decided().iter().for_each(|decided| tell(args, &format!("info: {decided}")));
        write(args, &lines)?;
        return Ok(End::Done);
    }
    by_field(args, name, &merge, documents, is_clean)
}

/// Whether the text that git merged holds only resources and means the same as a merge.
fn means_the_same(
    lines: &str,
    name: &str,
    merge: &Merge<'_, '_>,
    documents: Sides<&Document<'static>>,
    resources: &Sides<Vec<Resource<'_>>>,
) -> bool {
    let sides = Sides::of(|side| &resources[side][..]);
    // A text that equals a whole side is parsed already.
    if let Some((_, document)) = documents.iter().find(|(_, document)| document.source() == lines) {
        return agrees(document, merge, sides);
    }
    let document = parse(name, lines.as_bytes().to_vec());
    document.is_ok_and(|document| self::resources(name, &document).is_some() && agrees(&document, merge, sides))
}

/// Whether a text has this many resources and nothing else. This finds a fault in how the text was put together, before a resource is lost
/// without a word.
fn has_resources(name: &str, text: &str, count: usize) -> bool {
    let document = parse(name, text.as_bytes().to_vec());
    document.is_ok_and(|document| resources(name, &document).is_some_and(|all| all.len() == count))
}

/// Writes the result of a merge, with markers around the parts that a person must decide.
fn by_field(
    args: &GitDriver,
    name: &str,
    merge: &Merge<'_, '_>,
    documents: Sides<&Document<'static>>,
    is_clean: bool,
) -> Result<End> {
    let labels = Sides {
        original: label("original", "%S", &args.original_label),
        updated: label("theirs", "%Y", &args.theirs_label),
        dest: label("ours", "%X", &args.ours_label),
    };
    let names = Sides {
        original: named("original", &labels.original),
        updated: named("theirs", &labels.updated),
        dest: named("ours", &labels.dest),
    };
    let names = Sides { original: &*names.original, updated: &names.updated, dest: &names.dest };
    let Some(told) = merge.told(name, names) else {
        return by_line(args);
    };
    let is_open = told.parts.iter().any(|part| matches!(part, Part::Choice(_))) || !told.conflicts.is_empty();
    let marks = Marks {
        size: usize::from(args.marker_size),
        style: if is_open { style() } else { None }.unwrap_or(Style::Merge),
        ours: &labels.dest,
        original: &labels.original,
        theirs: &labels.updated,
    };
    let text = marks.text(&told.parts);
    if !is_clean && is_any_lost(&text, documents, &told.waived) {
        return by_line(args);
    }
    if !is_open && !has_resources(name, &text, merge.kept().len()) {
        by_line(args)?;
        tell(args, &format!("error: {name}: the merged text must have each resource once: someone must decide"));
        return Ok(End::Differs);
    }
    let followed = merge.followed(names.updated).into_iter();
    followed.chain(merge.decided()).for_each(|told| tell(args, &format!("info: {told}")));
    told.conflicts.iter().for_each(|conflict| tell(args, &told::line(conflict)));
    for (of, what) in &told.asked {
        tell(args, &format!("error: {of}: {what}; someone must decide"));
    }
    write(args, &text)?;
    Ok(if is_open { End::Differs } else { End::Done })
}

/// Tells the user something about a merge, but nothing about a merge of common ancestors.
fn tell(args: &GitDriver, message: &str) {
    if !args.common_ancestor {
        screen::tell(message);
    }
}

/// Writes the result over our file.
fn write(args: &GitDriver, text: &str) -> Result<()> {
    fs::write(&args.ours, text).with_context(|| walk::shown(&args.ours))
}

/// The conflict style in the user's configuration of git; `None` if there is none, or the style is unknown.
pub fn style() -> Option<Style> {
    let output = Command::new("git").args(["config", "--get", "merge.conflictStyle"]).output();
    match output.as_ref().map(|output| output.stdout.trim_ascii()) {
        Ok(b"diff3") => Some(Style::Diff3),
        Ok(b"zdiff3") => Some(Style::Zdiff3),
        Ok(b"merge") => Some(Style::Merge),
        _ => None,
    }
}

/// The resources of a text; `None` if the text holds anything else, or two resources with the same identity. If both sides added the file,
/// its original is a text without documents.
fn resources<'a>(name: &str, document: &'a Document<'static>) -> Option<Vec<Resource<'a>>> {
    let mut seen = HashSet::new();
    let roots = document.roots().filter(|root| !root.is_null()).enumerate();
    let read = |(i, root): (usize, NodeRef<'a>)| {
        let origin = Origin::File { name: name.to_owned(), item: Some(i) };
        // The path annotations of a resource are ignored, because git decides to which file it belongs.
        let resource = Resource { relative_path: None, located: Located::Nowhere, ..Resource::read(root, origin) };
        let is_one = list::items_of(root).is_none() && alias::shared(root).is_none() && seen.insert(resource.identity?);
        is_one.then_some(resource)
    };
    roots.map(read).collect()
}

/// The CustomResourceDefinitions of all sides.
fn definitions<'a>(resources: &Sides<Vec<Resource<'a>>>) -> Vec<NodeRef<'a>> {
    let Sides { original, updated, dest } = resources;
    [dest, original, updated].into_iter().flatten().filter(|r| r.is_definition()).map(|r| r.node()).collect()
}

/// The label for a marker, on one line. An old git does not replace `%X`; then it is the default label.
fn label<'l>(default: &'l str, unknown: &str, given: &'l str) -> Cow<'l, str> {
    if given == unknown { Cow::Borrowed(default) } else { shown::line(given) }
}

/// The name of a side in messages: git's word for the side, and the label if it says more.
fn named(word: &str, label: &str) -> String {
    if label == word { word.to_owned() } else { format!("{word} ({label})") }
}

/// Runs git's own merge by line, which writes our file.
fn by_line(args: &GitDriver) -> Result<End> {
    let what = match git_merge_file(args, &[])?.status.code() {
        Some(0) => return Ok(End::Done),
        // The number of conflicts. git counts no further than this.
        Some(1..=127) => "git has merged its lines, and left conflicts between markers",
        // git writes no markers into a file that is not text. As original, it takes what the ancestors come from.
        _ if args.common_ancestor => {
            fs::copy(&args.original, &args.ours).with_context(|| walk::shown(&args.ours))?;
            return Ok(End::Done);
        }
        _ => "git cannot merge its lines, and leaves our version without markers",
    };
    tell(args, &format!("error: {}: {what}: someone must decide", name(args)));
    Ok(End::Differs)
}

/// Runs git's merge by line with the algorithm of `git merge`. An old git knows only another one here, and refuses the option.
fn git_merge_file(args: &GitDriver, more: &[&str]) -> Result<Output> {
    /// git's exit code for an option that it does not know.
    const USAGE: i32 = 129;
    let run = |algorithm: &[&str]| {
        Command::new("git")
            .arg("merge-file")
            .arg("-q")
            .args(algorithm)
            .args(more)
            .arg(format!("--marker-size={}", args.marker_size))
            .args(["-L", &label("ours", "%X", &args.ours_label)])
            .args(["-L", &label("original", "%S", &args.original_label)])
            .args(["-L", &label("theirs", "%Y", &args.theirs_label)])
            .args([&args.ours, &args.original, &args.theirs])
            .output()
            .context("git must be on PATH")
    };
    let output = run(&["--diff-algorithm=histogram"])?;
    if output.status.code() == Some(USAGE) { run(&[]) } else { Ok(output) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_merge::yaml::parsed;

    /// How many texts are parsed for these versions, each a ConfigMap with this data.
    fn parses(name: &str, [original, ours, theirs]: [&str; 3]) -> usize {
        let folder = std::env::temp_dir().join(format!("krm-merge-driver-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = |name: &str, data: &str| {
            let path = folder.join(name);
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n{data}");
            fs::write(&path, text).expect("written");
            path
        };
        let args = GitDriver {
            original: file("original", original),
            ours: file("ours", ours),
            theirs: file("theirs", theirs),
            path: None,
            marker_size: 7,
            original_label: "original".to_owned(),
            ours_label: "ours".to_owned(),
            theirs_label: "theirs".to_owned(),
            common_ancestor: false,
        };
        let before = parsed();
        assert_ne!(drive(&args), End::StopsGit);
        let count = parsed() - before;
        fs::remove_dir_all(&folder).expect("removed");
        count
    }

    #[test]
    fn each_side_is_parsed_once() {
        let conflict = ["  a: 0\n  b: 0\n", "  a: 1\n  b: 0\n", "  a: 2\n  b: 3\n"];
        assert_eq!(parses("conflict", conflict), 3);
        assert_eq!(parses("same", ["  a: 0\n", "  a: 1\n", "  a: 1\n"]), 3);
        // git's text is different, so it is parsed as well.
        let clean =
            ["  a: 0\n  x: 0\n  y: 0\n", "  n: 1\n  a: 0\n  x: 0\n  y: 0\n", "  a: 0\n  x: 0\n  m: 1\n  y: 0\n"];
        assert!(parses("clean", clean) <= 4);
    }

    #[test]
    fn a_text_with_documents_glued_together_lacks_a_resource() {
        let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  y: two");
        let [a, b] = ["a", "b"].map(map);
        let has_two = |text: &str| has_resources("all.yaml", text, 2);
        assert!(has_two(&format!("{a}\n---\n{b}")));
        assert!(!has_two(&format!("{a}---\n{b}")));
        assert!(!has_two(&format!("{a}\n---\n{a}")));
        assert!(!has_two(&format!("{a}\n--- # {b}")));
    }
}
