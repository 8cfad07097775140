//! Block scalars with every header, and with every kind of blank line at their end, held against two other parsers.
//!
//! Each is read; stands beside what is added, changed and deleted; is replaced and deleted itself; and is added to other documents. What comes
//! out must mean to every parser that took the input what a model says. libyaml is the ancestor of the parser that kubectl has; noyalib is
//! neither its kin nor granit's. They disagree in two cases, and the YAML specification says which one is right:
//!
//! * The text ends without a line break in a line of content. noyalib adds a line break. The specification does not (`b-chomped-last` is a line
//!   break or the end of the input), nor does libyaml. noyalib is not asked there.
//! * The indentation is to be detected, and the first line of content begins with a tab. libyaml refuses it, and the specification does not
//!   (the indentation is that of spaces).
//!
//! Both refuse a line of the scalar in which a tab stands left of the content, as the specification does. What is made of that does not matter.

mod support;

use std::thread;

use krm_tree::child::By;
use krm_tree::limit::Budget;
use krm_tree::splice::{closed_end, edits};
use krm_tree::tree::{Branch, Entry, Key, Tree};
use krm_yaml::{Document, NodeRef};
use serde::Deserialize;
use serde_json::Value;

use support::value_of;

/// The column of the keys beside a scalar.
const COLUMN: usize = 4;

/// The documents of a text, to one parser; `None` where it refuses the text.
type Reading = Option<Vec<Value>>;

fn ours(text: &str) -> Reading {
    let doc = Document::parse(text).ok()?;
    Some(doc.roots().map(value_of).filter(|v| !v.is_null()).collect())
}

fn libyaml(text: &str) -> Reading {
    let documents = yaml_serde::Deserializer::from_str(text).map(Value::deserialize);
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().ok()?;
    Some(documents.into_iter().filter(|v| !v.is_null()).collect())
}

fn noyalib(text: &str) -> Reading {
    let documents = noyalib::load_all_as::<Value>(text).ok()?;
    Some(documents.into_iter().filter(|v| !v.is_null()).collect())
}

/// Whether the text ends within a line of content of a block scalar.
fn ends_in_content(text: &str) -> bool {
    !text.ends_with('\n')
        && Document::parse(text).is_ok_and(|doc| closed_end(&doc).is_some_and(|edit| !edit.text.is_empty()))
}

/// The parsers that take a text.
#[derive(Clone, Copy)]
struct Readers {
    libyaml: bool,
    noyalib: bool,
}

impl Readers {
    /// Those that take an input, which must agree with each other and with ours on what it means.
    fn of(text: &str) -> Self {
        let (a, b) = (libyaml(text), noyalib(text));
        let readers = Self { libyaml: a.is_some(), noyalib: b.is_some() };
        if a.is_some() {
            assert!(b.is_some(), "libyaml takes what noyalib refuses: {text:?}");
            assert_eq!(ours(text), a, "{text:?}");
        }
        if b.is_some() && !ends_in_content(text) {
            assert_eq!(ours(text), b, "{text:?}");
            assert!(a.is_some() || text.contains('\t'), "{text:?}");
        }
        readers
    }

    /// Holds what they read in an output against what it must mean.
    fn expect(self, output: &str, want: &[Value], of: &dyn Fn() -> String) {
        let is_it = |reading: Reading| reading.as_deref() == Some(want);
        assert!(is_it(ours(output)), "ours: {}\n{output:?}\n{want:?}", of());
        assert!(!self.libyaml || is_it(libyaml(output)), "libyaml: {}\n{output:?}\n{want:?}", of());
        let asks_noyalib = self.noyalib && !ends_in_content(output);
        assert!(!asks_noyalib || is_it(noyalib(output)), "noyalib: {}\n{output:?}\n{want:?}", of());
    }
}

/// A header, and the column in which the content of such a scalar begins.
fn header(digit: Option<usize>, style: &str, chomping: &str) -> (String, usize) {
    let shown = digit.map(|d| d.to_string()).unwrap_or_default();
    (format!("{style}{shown}{chomping}"), COLUMN + digit.unwrap_or(2))
}

/// The kinds of blank lines below content in a column.
fn blank_lines(column: usize) -> [String; 7] {
    let blanks = |n: usize| " ".repeat(n);
    [
        String::new(),
        blanks(column - 1),
        blanks(column),
        blanks(column + 2),
        format!("{}\t", blanks(column)),
        format!("{}\t", blanks(column - 1)),
        format!("{}\t ", blanks(column + 1)),
    ]
}

/// Up to so many blank lines in a row, of all kinds.
fn tails(column: usize, most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut longest = all.clone();
    for _ in 0..most {
        longest = longest.iter().flat_map(|t| blank_lines(column).map(|line| format!("{t}{line}\n"))).collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// The lines of content before the blank ones.
fn contents(column: usize) -> [String; 4] {
    let blanks = " ".repeat(column);
    [
        format!("{blanks}a\n"),
        String::new(),
        format!("\n{blanks}a\n{blanks}  b\n{blanks}c\n"),
        format!("{blanks}a\n\n{blanks}b\n"),
    ]
}

/// The end of a text whose last line has no line break.
const NO_BREAK: &str = "\u{4}";

/// What follows a scalar.
const FOLLOWING: [&str; 8] = [
    "    last: y\n",
    "  after: z\n",
    "    # of last\n    last: y\n",
    "# of end\nend: z\n",
    "---\nsecond: z\n",
    "...\n",
    "",
    NO_BREAK,
];

/// Those that differ most.
const SOME: [&str; 3] = [FOLLOWING[0], FOLLOWING[1], NO_BREAK];

/// A document with such a scalar.
fn document(header: &str, lines: &str, following: &str) -> String {
    let text = format!("top:\n  before: x\n  data:\n    first: x\n    s: {header}\n{lines}");
    match following {
        NO_BREAK => text.strip_suffix('\n').unwrap_or(&text).to_owned(),
        following => text + following,
    }
}

/// Which documents.
#[derive(Clone, Copy)]
struct Kinds<'a> {
    digits: &'a [Option<usize>],
    styles: &'a [&'a str],
    /// How many kinds of content.
    contents: usize,
    /// How many blank lines in a row.
    blank_lines: usize,
    following: &'a [&'a str],
}

/// Documents with scalars of these kinds, and every chomping.
fn documents(kinds: &Kinds<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let headers = kinds.digits.iter().flat_map(|digit| kinds.styles.iter().map(move |style| (*digit, *style)));
    for ((digit, style), chomping) in headers.flat_map(|h| ["", "+", "-"].map(|chomping| (h, chomping))) {
        let (header, column) = header(digit, style, chomping);
        for content in contents(column).iter().take(kinds.contents) {
            for tail in tails(column, kinds.blank_lines) {
                let lines = format!("{content}{tail}");
                out.extend(kinds.following.iter().map(|following| document(&header, &lines, following)));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Does something with each of them, on all cores.
fn each(all: &[String], act: impl Fn(&str) + Sync) {
    let count = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for i in 0..count {
            let act = &act;
            scope.spawn(move || all.iter().skip(i).step_by(count).for_each(|text| act(text)));
        }
    });
}

/// What is done to the children of a map.
#[derive(Clone, Copy, Debug)]
enum Act {
    Add(usize),
    Replace(usize),
    Remove(usize),
    /// Removes one and adds one in its place.
    Exchange(usize),
    /// Removes one and the one behind it.
    RemoveTwo(usize),
    Reverse,
}

/// All that can be done to so many children.
fn acts(count: usize) -> Vec<Act> {
    let mut out = adding(count);
    for i in 0..count {
        out.extend((count > 1).then_some(Act::Remove(i)));
        out.extend((count > 2 && i + 1 < count).then_some(Act::RemoveTwo(i)));
    }
    out.extend((count > 1).then_some(Act::Reverse));
    out
}

/// All that can be done to so many children with something new.
fn adding(count: usize) -> Vec<Act> {
    (0..=count).map(Act::Add).chain((0..count).flat_map(|i| [Act::Replace(i), Act::Exchange(i)])).collect()
}

/// What an act makes of a map.
fn acted<'a>(act: Act, map: NodeRef<'a>, key: NodeRef<'a>, value: NodeRef<'a>) -> Tree<'a> {
    let new = || Entry::new(Some(Key::Node(key)), Tree::Node(value));
    let mut branch = Branch::of(map, By::Field);
    let entries = &mut branch.entries;
    match act {
        Act::Add(at) => entries.insert(at, new()),
        Act::Replace(at) => entries[at].value = Some(Tree::Node(value)),
        Act::Remove(at) => entries[at].value = None,
        Act::Exchange(at) => {
            entries[at].value = None;
            entries.insert(at + 1, new());
        }
        Act::RemoveTwo(at) => entries[at..at + 2].iter_mut().for_each(|entry| entry.value = None),
        Act::Reverse => entries.reverse(),
    }
    Tree::Branch(Box::new(branch))
}

/// What an act makes of a map by the model.
fn model(act: Act, map: &mut Value, key: &str, value: Value) {
    let Value::Object(map) = map else { panic!("a map") };
    let keys: Vec<String> = map.keys().cloned().collect();
    match act {
        Act::Add(_) => drop(map.insert(key.to_owned(), value)),
        Act::Replace(at) => drop(map.insert(keys[at].clone(), value)),
        Act::Remove(at) => drop(map.shift_remove(&keys[at])),
        Act::Exchange(at) => {
            map.shift_remove(&keys[at]);
            map.insert(key.to_owned(), value);
        }
        Act::RemoveTwo(at) => keys[at..at + 2].iter().for_each(|key| drop(map.shift_remove(key))),
        Act::Reverse => {}
    }
}

/// Does these to the map at a path of keys of a document, with the entry `new` of another.
fn act_on(text: &str, path: &[&str], other: &str, acts: impl Fn(usize) -> Vec<Act>, with: Readers) {
    let doc = Document::parse(text).expect("valid");
    let other = Document::parse(other).expect("valid");
    let root = doc.roots().next().expect("a root");
    let other_root = other.roots().next().expect("a root");
    let other_map = other_root.at(&["top", "data"]).unwrap_or(other_root);
    let (key, value) = other_map.entries().find(|(key, _)| key.string() == "new").expect("an entry `new`");
    let Some(map) = root.at(path) else { return };
    let before = ours(text).expect("valid");
    for act in acts(map.entries().count()) {
        let tree = within(root, path, acted(act, map, key, value));
        let output = edits(root, &tree, &Budget::default()).expect("a small text").apply(text, 0..text.len());
        let mut want = before.clone();
        let target = path.iter().fold(&mut want[0], |value, key| &mut value[*key]);
        model(act, target, "new", value_of(value));
        with.expect(&output, &want, &|| format!("{act:?} at {path:?} with {:?} in {text:?}", other.source()));
    }
}

/// A document with another map at a path.
fn within<'a>(root: NodeRef<'a>, path: &[&str], tree: Tree<'a>) -> Tree<'a> {
    let Some((first, rest)) = path.split_first() else { return tree };
    let mut branch = Branch::of(root, By::Field);
    let at = root.entries().position(|(key, _)| key.string() == *first).expect("a field");
    let value = root.entries().nth(at).expect("a field").1;
    branch.entries[at].value = Some(within(value, rest, tree));
    Tree::Branch(Box::new(branch))
}

const BOTH: [&str; 2] = ["|", ">"];

#[test]
fn every_block_scalar_is_read_as_others_read_it() {
    let digits: Vec<Option<usize>> = (1..=9).map(Some).collect();
    let plain = Kinds { digits: &[None], styles: &BOTH, contents: 2, blank_lines: 2, following: &FOLLOWING };
    let mut all = documents(&plain);
    all.extend(documents(&Kinds { contents: 4, blank_lines: 1, ..plain }));
    all.extend(documents(&Kinds { digits: &digits, styles: &["|"], blank_lines: 1, ..plain }));
    assert!(all.len() > 10_000, "{}", all.len());
    each(&all, |text| {
        Readers::of(text);
    });
}

#[test]
fn a_block_scalar_keeps_its_value_whatever_becomes_of_its_neighbours_and_goes_as_a_whole() {
    let plain = Kinds { digits: &[None], styles: &["|"], contents: 2, blank_lines: 1, following: &FOLLOWING };
    let mut all = documents(&plain);
    all.extend(documents(&Kinds { digits: &[Some(3)], following: &SOME, ..plain }));
    all.extend(documents(&Kinds { styles: &[">"], contents: 1, following: &SOME, ..plain }));
    let two = documents(&Kinds { contents: 1, blank_lines: 2, following: &SOME, ..plain });
    all.extend(two.into_iter().filter(|text| !text.contains('\t')));
    each(&all, |text| {
        let readers = Readers::of(text);
        if readers.noyalib {
            act_on(text, &["top", "data"], "new: 'n'\n", acts, readers);
            act_on(text, &["top", "data"], "new: |\n  n\n    \n", adding, readers);
            act_on(text, &["top"], "new: 'n'\n", |count| vec![Act::Add(count), Act::Remove(count - 1)], readers);
        }
    });
}

#[test]
fn a_block_scalar_is_added_to_other_documents_as_it_is() {
    let plain = Kinds { digits: &[None, Some(3)], styles: &BOTH, contents: 2, blank_lines: 1, following: &SOME };
    let mut sources = documents(&plain);
    let two = documents(&Kinds { digits: &[None], styles: &["|"], contents: 1, blank_lines: 2, ..plain });
    sources.extend(two.into_iter().filter(|text| !text.contains('\t')));
    let deep = " ".repeat(12);
    let dest = format!(
        "k:\n  l:\n    m:\n      a: x\n{deep}\n      b: |\n        y\n\n{deep}\n\n      c: x\n{deep}\n    n: z\n"
    );
    each(&sources, |text| {
        let source = text.replace("    s: ", "    new: ");
        let readers = Readers::of(&source);
        // What libyaml refuses in one place it may take in another.
        if readers.noyalib && readers.libyaml {
            act_on(&dest, &["k", "l", "m"], &source, adding, readers);
        }
    });
}
