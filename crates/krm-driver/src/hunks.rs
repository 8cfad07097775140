//! Merges the texts of a choice line by line, as git does: lines that only one side changed are taken.
//!
//! git knows nothing of values. So lines with values are merged this way only if each half then means the same as the merge of the
//! resources. In a list without keys, git may find smaller conflicts than that merge, so there it is enough that each half is such a list.

use krm_merge_core::refine::has_twins;
use krm_merge_core::refine::three::{Changed, Part as Aligned, matches_of_lines, numbered, parts};
use krm_tree::child::Value as _;
use krm_tree::path::Step;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{self, Taking, Tree, View};
use krm_yaml::{Document, NodeRef, whole_lines};

use crate::marks::Style;
use crate::part::{Choice, Grain, Part};

/// Whether the lines of a place may be merged line by line, and which meaning the result must have.
#[derive(Clone, Debug, Default)]
pub enum Finer<'a> {
    /// They may not be merged line by line.
    #[default]
    Never,
    /// They are comments, which have no meaning.
    Comments,
    /// They are a child with a value, which must keep this meaning.
    Value(Box<Meaning<'a>>),
}

/// What a child must mean.
#[derive(Clone, Debug)]
pub struct Meaning<'a> {
    /// The name of the child, if it is a field; `None` for an element.
    pub key: Option<&'a str>,
    /// Its value.
    pub value: Value<'a>,
}

/// What the value of a child must be.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A list without keys.
    List,
    /// These values.
    These {
        /// The value if ours wins.
        ours: Tree<'a>,
        /// The value if theirs wins.
        theirs: Tree<'a>,
    },
}

/// Splits a choice into finer parts, if `finer` allows it.
pub fn refined(choice: Choice, finer: &Finer<'_>) -> Vec<Part> {
    let whole = |choice| vec![Part::of(choice)];
    match finer {
        Finer::Never => whole(choice),
        Finer::Comments => by_line(&choice),
        Finer::Value(meaning) => {
            let parts = by_line(&choice);
            // With the original between the markers, there are no more choices than without.
            let runs = || parts.iter().flat_map(|part| part.hunks().runs(Style::Merge)).collect::<Vec<_>>();
            match meaning.value {
                Value::List if meaning.is_said_by(&runs()) => parts.iter().map(Part::hunks).collect(),
                _ if meaning.is_said_by(&parts) => parts,
                _ => whole(choice),
            }
        }
    }
}

impl Part {
    /// The same with the choices that git makes of its lines.
    fn hunks(&self) -> Self {
        match self {
            Self::Same(text) => Self::Same(text.clone()),
            Self::Choice(Choice { texts, .. }) => Self::of(Choice { texts: texts.clone(), grain: Grain::Hunks }),
        }
    }
}

/// Whether a value is a list whose maps have each key once.
fn is_list(node: NodeRef<'_>) -> bool {
    node.is_list() && !has_twins(node)
}

/// Merges the texts of a choice line by line, whatever the lines mean.
pub fn by_line(Choice { texts, grain }: &Choice) -> Vec<Part> {
    let lines = Sides::of(|side| whole_lines(&texts[side]));
    let numbers = numbered(&lines);
    let matches = |side: Side| matches_of_lines(&numbers.original, &numbers[side]);
    let Sides { original, updated, dest } = &lines;
    let aligned = parts(&matches(Side::Updated), &matches(Side::Dest), updated.len(), dest.len());
    let mut out: Vec<Part> = Vec::new();
    for part in aligned {
        let part = match part {
            Aligned::Anchor(at) => Part::Same(dest[at.dest].to_owned()),
            Aligned::Hunk(hunk) => {
                let texts = Sides {
                    original: original[hunk.original.clone()].concat(),
                    updated: updated[hunk.updated.clone()].concat(),
                    dest: dest[hunk.dest.clone()].concat(),
                };
                match hunk.changed(original, updated, dest) {
                    Changed::Updated => Part::Same(texts.updated),
                    Changed::Apart => Part::of(Choice { texts, grain: *grain }),
                    Changed::Nowhere | Changed::Dest | Changed::Alike => Part::Same(texts.dest),
                }
            }
        };
        match (out.last_mut(), part) {
            (Some(Part::Same(above)), Part::Same(text)) => above.push_str(&text),
            (_, part) => out.push(part),
        }
    }
    out
}

impl Meaning<'_> {
    /// Whether each half of the text has its required value, and all combinations of answers give YAML. The answer to one choice may affect
    /// its neighbours. So different answers are tried side by side.
    fn is_said_by(&self, parts: &[Part]) -> bool {
        // A list in conflict leaves something to choose, or nobody would see the conflict.
        let is_any_left =
            matches!(self.value, Value::These { .. }) || parts.iter().any(|part| matches!(part, Part::Choice(_)));
        if matches!(parts, [Part::Choice(_)]) || !is_any_left {
            return false;
        }
        let is = |text: String, is: &dyn Fn(NodeRef<'_>) -> bool| {
            Document::parse(text.as_str()).is_ok_and(|half| self.child(&half).is_some_and(is))
        };
        let is_half = |side: Side| {
            is(text(parts, |_| side), &|node| match &self.value {
                Value::List => is_list(node),
                Value::These { ours, theirs } => {
                    let wanted = if side == Side::Dest { ours } else { theirs };
                    wanted.view().is_some_and(|wanted| wanted.same(node))
                }
            })
        };
        let is_whole = |first: Side, second: Side| {
            let mixed = text(parts, |choice| if choice % 2 == 0 { first } else { second });
            is(mixed, &|node| matches!(self.value, Value::These { .. }) || is_list(node))
        };
        let several = parts.iter().filter(|part| matches!(part, Part::Choice(_))).count() > 1;
        is_half(Side::Dest)
            && is_half(Side::Updated)
            && (!several || (is_whole(Side::Dest, Side::Updated) && is_whole(Side::Updated, Side::Dest)))
    }

    /// The value in a text that consists of the lines of the child. A first field may come after the dash of its element.
    fn child<'d>(&self, document: &'d Document<'_>) -> Option<NodeRef<'d>> {
        let root = document.roots().next()?;
        let Some(key) = self.key else { return root.elements().next() };
        root.get(key).or_else(|| root.elements().next()?.get(key))
    }
}

/// The text of the parts, with an answer to each choice by its number.
fn text(parts: &[Part], answer: impl Fn(usize) -> Side) -> String {
    let (mut out, mut choices) = (String::new(), 0);
    for part in parts {
        match part {
            Part::Same(text) => out.push_str(text),
            Part::Choice(choice) => {
                out.push_str(&choice.texts[answer(choices)]);
                choices += 1;
            }
        }
    }
    out
}

/// Whether a conflict is between texts of several lines, between lists, or between elements without a key. git merges these by line, which
/// is better than to choose the whole value.
pub fn is_of_lines(conflict: &tree::Conflict<'_>) -> bool {
    let Some(ours) = conflict.dest.as_ref().and_then(Tree::view) else { return false };
    let Some(theirs) = conflict.updated.map(View::Node) else { return false };
    let both = |holds: fn(View<'_, '_>) -> bool| holds(ours) && holds(theirs);
    // Of a text, the value may have one line, and be written over several.
    matches!(conflict.taking, Taking::Overlap)
        || (both(has_lines) && theirs.is_list() == ours.is_list())
        || (both(|view| view.is_map()) && is_untold(conflict))
}

/// Whether the place of a conflict is in an element that only its index identifies.
pub fn is_untold(conflict: &tree::Conflict<'_>) -> bool {
    conflict.path.steps().any(|step| matches!(step, Step::Index(_)))
}

pub fn has_lines(view: View<'_, '_>) -> bool {
    view.is_list() || view.text().is_some_and(|text| text.trim_end().contains('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Grain;

    /// The parts of lines of `a`, choices as `<ours|theirs>`; `want_…` are the meanings of the halves.
    fn parts_of([original, ours, theirs]: [&str; 3], [want_ours, want_theirs]: [&str; 2]) -> String {
        let documents = [want_ours, want_theirs].map(|want| Document::parse(format!("a: {want}")).expect("YAML"));
        let [ours_means, theirs_means] = [&documents[0], &documents[1]]
            .map(|document| Tree::Node(document.roots().next().and_then(|root| root.get("a")).expect("a value")));
        let lines = |words: &str| -> String {
            let line = |word: &str| format!("{}\n", word.replace('_', " "));
            words.split_whitespace().map(line).collect()
        };
        let texts = Sides { original: lines(original), updated: lines(theirs), dest: lines(ours) };
        let value = Value::These { ours: ours_means, theirs: theirs_means };
        let finer = Finer::Value(Box::new(Meaning { key: Some("a"), value }));
        let shown = |part: Part| match part {
            Part::Same(text) => text.replace('\n', " "),
            Part::Choice(Choice { texts, .. }) => format!("<{}|{}> ", texts.dest.trim(), texts.updated.trim()),
        };
        refined(Choice { texts, grain: Grain::Whole }, &finer)
            .into_iter()
            .map(shown)
            .collect::<String>()
            .replace('\n', " ")
    }

    #[test]
    fn lines_are_merged_where_the_halves_mean_what_they_should() {
        // Comments alone.
        assert_eq!(
            parts_of(["a: #0 -_x -_y", "a: #1 -_x -_y", "a: #2 -_x #n -_y"], ["[x, y]", "[x, y]"]),
            "a: <#1|#2> - x #n - y "
        );
        // A value that one side changed is in both halves.
        assert_eq!(
            parts_of(["a: #0 -_x -_y", "a: #1 -_x -_y", "a: #2 -_x -_z"], ["[x, z]", "[x, z]"]),
            "a: <#1|#2> - x - z "
        );
        // Each half has another value.
        assert_eq!(parts_of(["a: -_x -_y", "a: -_1 -_y", "a: -_2 -_y"], ["[1, y]", "[2, y]"]), "a: <- 1|- 2> - y ");
        // The lines would mean something else than the merge.
        assert_eq!(
            parts_of(["a: #0 -_x -_y", "a: #1 -_x -_y", "a: #2 -_x -_z"], ["[x, y]", "[x, z]"]),
            "<a: #1 - x - y|a: #2 - x - z> "
        );
    }

    #[test]
    fn answers_that_leave_no_yaml_together_are_one_choice() {
        let sides = ["a: -_w -_x -_y", "a: __k:_w -_x -_y __l:_w", "a: -_1 -_x -_2"];
        assert!(parts_of(sides, ["[1]", "[2]"]).starts_with("<a:"));
    }
}
