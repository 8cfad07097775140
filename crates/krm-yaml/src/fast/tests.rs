//! The proof that both parsers build the same arena: over the YAML of this repository, all small texts, mutants of both, and the files of
//! the folder `KRM_MERGE_YAML`, if it is given. `KRM_MERGE_LAWS=N` tries all small texts, and N times as many mutants.

use std::path::Path;

use super::agreement::is_taken;
use super::*;
use crate::Kind;
use crate::parse::library;

/// The factor by which to test more than usual.
fn laws() -> Option<u64> {
    std::env::var("KRM_MERGE_LAWS").ok().map(|n| n.parse().expect("`KRM_MERGE_LAWS` is a number"))
}

/// All texts of the files below a folder.
fn texts_below(folder: &Path, texts: &mut Vec<String>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            texts_below(&path, texts);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
            let parts: Vec<&str> = if is_lines { text.lines().collect() } else { vec![&text] };
            for part in parts {
                texts_in(part, texts);
            }
        }
    }
}

/// A text, and the texts in its scalars.
fn texts_in(text: &str, texts: &mut Vec<String>) {
    texts.push(text.to_owned());
    if let Ok(mut doc) = library(text) {
        doc.source = text.to_owned().into();
        let scalars = (0..doc.nodes.len() as u32).map(|id| crate::NodeRef { doc: &doc, id });
        for node in scalars.filter(|node| node.kind() == Kind::Scalar && node.string().contains('\n')) {
            texts_in(node.string(), texts);
        }
    }
}

/// The YAML of this repository.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["tests", "examples"] {
        texts_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut texts);
    }
    texts
}

/// Checks texts unchanged, with other line breaks, without the last line break, and as items of a ResourceList. Returns how many of them
/// were taken.
fn taken(texts: &[String]) -> usize {
    for text in texts {
        is_taken(&text.replace('\n', "\r\n"));
        is_taken(text.trim_end_matches('\n'));
        is_taken(&as_item(text));
    }
    texts.iter().filter(|text| is_taken(text)).count()
}

/// A ResourceList with a text as an item. The item before it shows how deep maps are indented, so this one may become a part.
fn as_item(text: &str) -> String {
    let text = text.replace('\n', "\n  ");
    format!(
        "kind: ResourceList\nitems: # c\n- a:\n    b: 1\n# c\n\n- {text}\n  # c\n# c\n- b: 2\n\n# c\nfunctionConfig: {{}}\n"
    )
}

/// A ResourceList with two texts as items, one directly after the other.
fn as_items(texts: [&str; 2]) -> String {
    let [one, two] = texts.map(|text| text.trim_end_matches('\n').replace('\n', "\n  "));
    format!("items:\n- a:\n    b: 1\n- {one}\n- {two}\nz: 1\n")
}

#[test]
fn the_yaml_of_this_repository_has_one_arena() {
    let mut texts = corpus();
    taken(&texts);
    // The fast reader takes nearly all usual texts.
    texts.retain(|text| library(text).is_ok_and(|doc| doc.props.is_empty() && doc.nodes.len() > 1));
    let taken = taken(&texts);
    assert!(texts.len() > 800 && taken * 100 >= texts.len() * 98, "{taken} of {}", texts.len());
}

#[test]
fn the_files_of_a_folder_have_one_arena() {
    let Some(folder) = std::env::var_os("KRM_MERGE_YAML") else { return };
    let mut texts = Vec::new();
    texts_below(Path::new(&folder), &mut texts);
    let taken = taken(&texts);
    let valid = texts.iter().filter(|text| library(text).is_ok()).count();
    assert!(taken * 10 > valid, "{} texts, {valid} of them valid, {taken} taken", texts.len());
}

/// The pieces of small texts.
const PIECES: [&str; 30] = [
    "a", "\n", "  ", " ", "- ", "-", ": ", ":", "# c\n", "'", "\"", "[", "]", "{", "}", ",", "|", ">+", "|-", "1",
    "---", "\n---\n", "&x ", "*x", "!t ", "? ", "null", "<<", "a: ", "\t",
];

/// The text of the pieces that a number encodes, written with `PIECES.len()` digits.
fn small_text(mut number: u64, length: u32) -> String {
    let mut text = String::new();
    for _ in 0..length {
        text.push_str(PIECES[(number % PIECES.len() as u64) as usize]);
        number /= PIECES.len() as u64;
    }
    text
}

#[test]
fn all_small_texts_have_one_arena() {
    let mut taken = 0;
    for length in 1..=5 {
        let all = (PIECES.len() as u64).pow(length);
        // A step that shares no divisor with the number of pieces reaches all of them at each place.
        let step = if laws().is_some() || length < 4 { 1 } else { [7, 331][length as usize - 4] };
        for number in (0..all).step_by(step) {
            let text = small_text(number, length);
            taken += u64::from(is_taken(&text));
            // The text is in the second item of a list, with one more item after it.
            taken += u64::from(is_taken(&format!("- b\n- {text}\n- c\n")));
            taken += u64::from(is_taken(&as_item(&text)));
            taken += u64::from(is_taken(&as_items([&text, &text.replace('a', "b-1")])));
        }
    }
    assert!(taken > 10_000, "{taken}");
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    /// A number below a bound.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// An offset of a text at which a character begins.
    fn offset(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
    }
}

/// Texts that a mutation inserts, besides the pieces.
const ODDITIES: [&str; 34] = [
    "\r\n",
    "\r",
    "\u{feff}",
    "\0",
    "\x01",
    "\x7f",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{fffe}",
    "\u{10ffff}",
    "é",
    "\\",
    "\\n",
    "\\\n",
    "\\ud83d",
    "\"\"",
    "''",
    "|2",
    ">-\n",
    "|+\n",
    "|2-\n",
    " #",
    "# c",
    "...",
    "%YAML 1.2\n",
    "\n\n",
    "\n  ",
    "   \n",
    "- - ",
    "[a, b]",
    "{a: 1}",
    "~",
];

/// A text with one thing changed.
fn mutant(text: &str, others: &[String], numbers: &mut Numbers) -> String {
    let mut text = text.to_owned();
    let at = numbers.offset(&text);
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let next = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    match numbers.below(8) {
        0 | 1 => text.insert_str(at, PIECES[numbers.below(PIECES.len())]),
        2 => text.insert_str(at, ODDITIES[numbers.below(ODDITIES.len())]),
        3 => text.insert_str(line, &" ".repeat(1 + numbers.below(4))),
        4 if text[line..].starts_with(' ') => text.replace_range(line..=line, ""),
        4 | 5 => {
            let to = numbers.offset(&text);
            let end = if numbers.below(4) == 0 { to } else { at + text[at..].chars().next().map_or(0, char::len_utf8) };
            text.replace_range(at.min(end)..at.max(end), "");
        }
        6 => text.replace_range(line..next, ""),
        _ => {
            let other = &others[numbers.below(others.len())];
            let from = numbers.offset(other);
            let end = other[from..].find('\n').map_or(other.len(), |end| from + end + 1);
            text.insert_str(if numbers.below(2) == 0 { line } else { at }, &other[from..end]);
        }
    }
    text
}

#[test]
fn mutants_have_one_arena() {
    let texts: Vec<String> = corpus().into_iter().filter(|text| (8..4000).contains(&text.len())).collect();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (count, mut taken) = (20_000 * laws().unwrap_or(1), 0);
    for _ in 0..count {
        let mut text = texts[numbers.below(texts.len())].clone();
        for _ in 0..=numbers.below(3) {
            text = mutant(&text, &texts, &mut numbers);
        }
        taken += u64::from(is_taken(&text));
        is_taken(&as_item(&text));
        is_taken(&as_items([&text, &mutant(&text, &texts, &mut numbers)]));
        if numbers.below(8) == 0 {
            is_taken(&text.replace('\n', "\r\n"));
        }
    }
    assert!(taken * 4 > count, "{taken}");
}

#[test]
fn what_files_have_is_taken() {
    for text in [
        "",
        "# c\n",
        "---\n# only a comment\n---\na: 1\n",
        "--- # c\na: 1\n---  \nb: 1\n---\n",
        "a: |+\n  x\n\n\nb: |2\n     y\n  z\nc: >1-\n  x\n\n   y\n",
        "a:\n  plain text\n  over lines\nb:\n  \"x\"\nc:\n  [1]\n- d\n",
        "a:\n  plain text\n  over lines # c\nb:\n  \"x\"\nc:\n  [1]\nd:\n- e\n-\n  f\n",
        "a: [ # c\n  b, # d\n  c # e\n  # f\n]\nd: {\n  a: 1,\n}\n",
        "a: 1\r\nb: |\r\n  x\r\n\r\n  y\r\n# c\r\nc: \"a\r\n  b\"\r\nd: [a,\r\n  b]",
        "a: 1 # no line break at the end",
        "- - a\n  - b\n-\n- c:\n  - d\n  e: ~\n",
        "a: 'it''s'\nb: \"\\u00e9\\x41\\\n  c\"\n'<<': 1\n",
        "a : 1\n'b'  :\n  c : [1]\nd: {a : 1, \"b\" : 2,\n  c : 3}\n",
        "kind: List\nitems:\n- a: &x [1]\n  b: *x\n- c: !t 1\n- ? d\n  : e\n- {f: 1}\n",
        "items:\n- b:\n  - &x a\n  - *x\n  c: |2 # c\n      d\n  <<: {e: 1}\n# f\n- g\n",
        "\u{e9}: \u{a0}\n",
    ] {
        let is_yaml = library(text).is_ok();
        assert_eq!(is_taken(text), is_yaml, "{text:?}");
    }
}

#[test]
fn what_some_readers_take_for_a_line_break_is_left_to_the_library() {
    for character in ['\u{85}', '\u{2028}', '\u{2029}'] {
        assert!(!is_taken(&format!("a: \"{character}\"\n")), "{character:?}");
    }
    assert!(is_taken("a: \"\u{2027}\u{202a}\u{2128}\"\n"));
}

#[test]
fn the_limits_are_those_of_the_library() {
    let block = |depth: usize| (0..depth).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>();
    let mixed =
        |depth: usize| format!("{}{}x{}\n", block(depth / 2).trim_end(), " [".repeat(depth / 2), "]".repeat(depth / 2));
    let within =
        |depth: usize| format!("{}- &x [{}]\n", "- ".repeat(depth / 2), mixed(depth).trim_end().replace('\n', ""));
    for depth in 180..220 {
        for text in [block(depth), mixed(depth), within(depth), format!("{}a\n", "- ".repeat(depth))] {
            is_taken(&text);
            is_taken(&format!("a:\n- {}\n- b: &x 1\n  c: *x\n", text.replace('\n', "\n  ")));
        }
    }
    assert!(is_taken(&block(190)) && is_taken(&mixed(190)));
    for length in [990, 999, 1000, 1001, 1023, 1024, 1025, 1100] {
        for key in ["k".repeat(length), "\u{e9}".repeat(length), format!("\"{}\"", "k".repeat(length))] {
            is_taken(&format!("{key}: 1\n"));
            is_taken(&format!("a: {{{key}: 1}}\n"));
            is_taken(&format!("- &x {key}: 1\n"));
        }
    }
    // Aliases that expand to more than the limit, over several items.
    let bomb = |items: usize| {
        let list = format!("&b [{}]", vec!["*a"; 300].join(", "));
        format!("- [&a [{}], {list}, *b, *b, *b]\n", vec!["x"; 300].join(", ")).repeat(items)
    };
    assert!(is_taken(&bomb(2)) && library(&bomb(2)).is_ok());
    assert!(library(&bomb(12)).is_err() && parse(&bomb(12)).is_none());
}

#[test]
fn one_unusual_item_does_not_send_the_others_to_the_library() {
    let usual = "- kind: A\n  data: {a: 1}\n".repeat(100);
    let text = format!("kind: List\nitems:\n{usual}- kind: B\n  x: &x 1\n  y:\n  - *x\n{usual}");
    assert!(is_taken(&text));
    // An alias to another item is left to the library.
    assert!(parse(&format!("{text}- *x\n")).is_none() && library(&format!("{text}- *x\n")).is_ok());
}
