//! Prints differences for people and for programs. The output never contains values of a Secret.

use krm_job::event::{Event, Field, File, What as Told, to_value};
use krm_package::resource::Resource;
use krm_show::clash::{self, Line};
use krm_show::markdown::escaped;
use krm_show::screen::Paint;
use krm_tree::limit::{Budget, Exceeded};
use krm_tree::path::{FieldPath, cut};
use krm_tree::splice::to_json;
use krm_words::counted;
use krm_yaml::secret::Secret;
use krm_yaml::{NodeRef, shown};

use crate::difference::{Difference, What};
use crate::plain::{Kind, PlainFile};

impl Kind {
    const ALL: [Self; 3] = [Self::Changed, Self::Added, Self::Removed];

    /// The word for the output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }

    fn paint(self) -> Paint {
        match self {
            Self::Added => Paint::Green,
            Self::Removed => Paint::Red,
            Self::Changed => Paint::Yellow,
        }
    }
}

/// A resource that differs.
pub struct Differing<'a> {
    /// How it differs.
    pub kind: Kind,
    /// The resource of the second side; of the first side if the second lacks it.
    pub resource: &'a Resource<'a>,
    /// What of it may not be shown: what is secret on one side is secret.
    pub secret: Secret,
    /// The fields that differ, if both sides have it.
    pub found: Vec<Difference<'a>>,
}

impl Differing<'_> {
    /// The resource in one line, followed by the lines of each field.
    pub fn lines(&self, budget: &Budget) -> Vec<(Paint, String)> {
        let mut lines = vec![(self.kind.paint(), format!("{}: {}", self.kind.word(), self.called()))];
        lines.extend(self.found.iter().flat_map(|difference| self.lines_of(difference, budget)));
        lines
    }

    /// The lines of a field.
    fn lines_of(&self, difference: &Difference<'_>, budget: &Budget) -> Vec<(Paint, String)> {
        let is_secret = self.hides(&difference.path);
        let path = match difference.path.shown() {
            whole if whole.is_empty() => "the whole document".to_owned(),
            path => path,
        };
        let json = |node: NodeRef<'_>| cut(to_json(node, budget).unwrap_or_default(), clash::WIDTH);
        let field = |paint, mark: &str, value: String| {
            vec![(paint, if is_secret { format!("  {mark} {path}") } else { format!("  {mark} {path}: {value}") })]
        };
        match difference.what {
            What::Came(new) => field(Paint::Green, "+", json(new)),
            What::Went(old) => field(Paint::Red, "-", json(old)),
            What::Changed(old, new) => match by_line(old, new, budget).filter(|_| !is_secret) {
                None => {
                    // A tag and a date have no JSON of their own.
                    let are_alike = json(old) == json(new);
                    let [old, new] = [old, new].map(|node| if are_alike { written(node) } else { json(node) });
                    field(Paint::Plain, "~", format!("{old} -> {new}"))
                }
                Some(lines) => [(Paint::Plain, format!("  ~ {path}:"))].into_iter().chain(marked(&lines)).collect(),
            },
            What::Order(..) => vec![(Paint::Plain, format!("  ~ {path}: the elements stand in another order"))],
            What::FieldOrder(_) | What::Above(_) | What::Behind(_) => Vec::new(),
        }
    }

    /// The resource and its place: `Deployment prod/web (web.yaml:3)`.
    fn called(&self) -> String {
        let place = format!("{}:{}", self.resource.origin.text(), self.resource.node().position().line);
        match self.resource.identity {
            Some(identity) => format!("{} ({place})", identity.called()),
            None => place,
        }
    }

    fn hides(&self, path: &FieldPath<'_>) -> bool {
        self.secret.hides(&path.keyed())
    }
}

impl PlainFile {
    /// The file in one line, followed by the lines that differ.
    pub fn lines(&self) -> Vec<(Paint, String)> {
        let head = (Paint::Plain, format!("{}: {}", self.kind.word(), shown::name(&self.name)));
        [head].into_iter().chain(marked(&self.lines)).collect()
    }
}

/// A value as it is written, with its tag, in one line.
fn written(node: NodeRef<'_>) -> String {
    let words = node.tag_text().into_iter().chain(node.text().split_whitespace());
    cut(words.collect::<Vec<_>>().join(" "), clash::WIDTH)
}

/// Lines that differ, with their marks.
fn marked(lines: &[Line]) -> impl Iterator<Item = (Paint, String)> {
    let paint = |line: &Line| match line {
        Line::Gone(_) => Paint::Red,
        Line::New(_) => Paint::Green,
        Line::Same(_) | Line::Omitted(_) => Paint::Plain,
    };
    lines.iter().map(move |line| (paint(line), format!("    |{}", line.marked())))
}

/// The differences by line in texts of several lines, and by element in lists; `None` for other values.
fn by_line(old: NodeRef<'_>, new: NodeRef<'_>, budget: &Budget) -> Option<Vec<Line>> {
    if old.is_list() && new.is_list() {
        let [old, new] = [old, new].map(|list| {
            let elements = list.elements().map(|element| to_json(element, budget).unwrap_or_default() + "\n");
            elements.collect::<String>()
        });
        return Some(clash::lines(&old, &new)).filter(|lines| !lines.is_empty());
    }
    clash::by_line(old.as_str()?, new.as_str()?)
}

/// How many resources and files differ; `None` if none do.
pub fn summary(found: &[Differing<'_>], files: &[PlainFile]) -> Option<String> {
    let counts = Kind::ALL.into_iter().filter_map(|kind| {
        let resources = found.iter().filter(|one| one.kind == kind).count();
        let files = files.iter().filter(|file| file.kind == kind).count();
        let of_kind = [(resources, "resource"), (files, "file")].into_iter().filter(|(count, _)| *count > 0);
        let of_kind: Vec<String> = of_kind.map(|(count, one)| counted(count, one)).collect();
        (!of_kind.is_empty()).then(|| format!("{} {}", of_kind.join(" and "), kind.word()))
    });
    let counts: Vec<String> = counts.collect();
    (!counts.is_empty()).then(|| format!("total: {}", counts.join(", ")))
}

/// The differences as results of a KRM function: one for each field, and one for each resource or file that one side lacks.
///
/// # Errors
/// They take more than is left of the budget.
pub fn events(found: &[Differing<'_>], files: &[PlainFile], budget: &Budget) -> Result<Vec<Event>, Exceeded> {
    let mut all = Vec::new();
    for one in found {
        if one.found.is_empty() {
            let what = Told::Differs(format!("the resource is {}", one.kind.word()), one.kind.word());
            all.push(Event::of(what).about(one.resource));
        }
        for difference in &one.found {
            let (kind, message) = match difference.what {
                What::Came(_) => (Kind::Added, "the field is added"),
                What::Went(_) => (Kind::Removed, "the field is removed"),
                What::Order(..) => (Kind::Changed, "the elements stand in another order"),
                _ => (Kind::Changed, "the value is changed"),
            };
            let value = |node: Option<NodeRef<'_>>| {
                node.filter(|_| !one.hides(&difference.path)).map(|node| to_value(node, budget)).transpose()
            };
            let (current_value, proposed_value) = (value(difference.before())?, value(difference.after())?);
            let field = Some(Field { path: difference.path.indexed(), current_value, proposed_value }.into());
            let what = Told::Differs(format!("`{}`: {message}", difference.path.keyed()), kind.word());
            all.push(Event { field, ..Event::of(what).about(one.resource) });
        }
    }
    for PlainFile { kind, path, .. } in files {
        let file = Some(File { path: path.clone(), index: None }.into());
        let what = Told::Differs(format!("the file, which holds no resources, is {}", kind.word()), kind.word());
        all.push(Event { file, ..Event::of(what) });
    }
    Ok(all)
}

/// The longest comment to write, in bytes. GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;

/// The differences as a comment of a pull request: a collapsible block for each resource.
pub fn markdown(found: &[Differing<'_>], files: &[PlainFile], budget: &Budget) -> String {
    let summary = summary(found, files);
    let summary = summary.as_deref().and_then(|line| line.strip_prefix("total: ")).unwrap_or("no differences");
    let mut out = format!("### krm-merge: {summary}\n");
    let blocks = found.iter().map(|one| one.lines(budget)).chain(files.iter().map(PlainFile::lines));
    let blocks: Vec<Vec<(Paint, String)>> = blocks.collect();
    for (i, block) in blocks.iter().enumerate() {
        let lines: Vec<String> = block.iter().map(|(_, line)| escaped(line)).collect();
        let Some((head, lines)) = lines.split_first() else { continue };
        let body = if lines.is_empty() { String::new() } else { format!("\n<pre>{}</pre>\n", lines.join("\n")) };
        let block = format!("\n<details>\n<summary><code>{head}</code></summary>\n{body}\n</details>\n");
        if out.len() + block.len() > LONGEST {
            out.push_str(&format!("\n… and {} more, which are in the log of the run\n", blocks.len() - i));
            break;
        }
        out.push_str(&block);
    }
    out
}
