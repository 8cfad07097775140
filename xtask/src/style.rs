//! `cargo xtask style`: what docs/STYLE.md asks to avoid, counted for each page of the book, beside the book of kpt.
//!
//! It prints and fails nothing: a word is right or wrong in its sentence, and only a reader can tell. Code, headings and the targets of links
//! do not count. A cell of a table and an entry of a list end a sentence, as a full stop does.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::machine::{self, read};

/// A sentence may have so many words.
const LONGEST: usize = 25;

/// What a program adds, keeps or removes, its values do not do.
const MOTION: [&str; 10] = ["come", "comes", "go", "goes", "lie", "lies", "stand", "stands", "stay", "stays"];

/// Words that stand for a noun wherever they are.
const BARE: [&str; 4] = ["none", "whatever", "whoever", "what"];

/// Words that stand for a noun unless the noun follows.
const BARE_ALONE: [&str; 8] = ["another", "both", "neither", "one", "other", "others", "that", "those"];

/// What follows such a word if it stands alone.
const NO_NOUN: [&str; 25] = [
    "", "and", "are", "as", "at", "by", "can", "does", "for", "from", "has", "have", "if", "in", "is", "must", "of",
    "on", "or", "than", "to", "was", "were", "with", "one",
];

/// Words after which `that` begins a clause, and stands for nothing.
const THAT_BEGINS: [&str; 3] = ["so", "such", "means"];

/// What the pages of a book have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    words: usize,
    sentences: usize,
    long: usize,
    pronouns: usize,
    motion: usize,
    colons: usize,
    you: usize,
}

/// The pages of `documentation/content/en/book` of kpt at 23c57d7f, by this command.
const KPT: Counts = Counts { words: 11_913, sentences: 894, long: 55, pronouns: 18, motion: 13, colons: 87, you: 138 };

const HEAD: &str = "                        words  words a  longer   pronouns  comes,    colons   you
                               sentence than 25  bare      goes …
                                          a 100  a 1000    a 1000    a 100    a 100";

impl Counts {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        sentences(text).iter().for_each(|sentence| counts.add(Self::of_sentence(sentence)));
        counts
    }

    fn of_sentence(sentence: &str) -> Self {
        let words: Vec<String> = sentence.split_whitespace().map(str::to_lowercase).collect();
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let plain: Vec<String> = words.iter().map(|word| bare(word)).collect();
        let at = |at: usize| plain.get(at).map_or("", String::as_str);
        // A word before a comma has no noun behind it.
        let behind = |i: usize| if words[i].ends_with(char::is_alphanumeric) { at(i + 1) } else { "" };
        let is_pronoun = |i: &usize| {
            let (word, before) = (at(*i), i.checked_sub(1).map_or("", at));
            let is_relative =
                word == "that" && (!before.is_empty() && behind(*i) != "of" || THAT_BEGINS.contains(&before));
            BARE.contains(&word) || BARE_ALONE.contains(&word) && !is_relative && NO_NOUN.contains(&behind(*i))
        };
        let is_you = |word: &&String| ["you", "your", "yours", "yourself"].contains(&word.as_str());
        Self {
            words: plain.len(),
            sentences: 1,
            long: usize::from(plain.len() > LONGEST),
            pronouns: (0..plain.len()).filter(is_pronoun).count(),
            motion: plain.iter().filter(|word| MOTION.contains(&word.as_str())).count(),
            colons: sentence.matches(": ").count() + sentence.matches("; ").count(),
            you: usize::from(plain.iter().any(|word| is_you(&word))),
        }
    }

    fn add(&mut self, other: Self) {
        self.words += other.words;
        self.sentences += other.sentences;
        self.long += other.long;
        self.pronouns += other.pronouns;
        self.motion += other.motion;
        self.colons += other.colons;
        self.you += other.you;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A count for each so many others, to a tenth.
        let per = |count: usize, of: usize, many: usize| {
            let tenths = (count * many * 10 + of / 2).checked_div(of).unwrap_or_default();
            format!("{}.{}", tenths / 10, tenths % 10)
        };
        let [long, colons, you] = [self.long, self.colons, self.you].map(|count| per(count, self.sentences, 100));
        let [pronouns, motion] = [self.pronouns, self.motion].map(|count| per(count, self.words, 1000));
        let length = per(self.words, self.sentences, 1);
        write!(f, "{:>6} {length:>8} {long:>7} {pronouns:>9} {motion:>9} {colons:>8} {you:>8}", self.words)
    }
}

/// The sentences of a page.
fn sentences(text: &str) -> Vec<String> {
    let text = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, rest)| rest);
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    let mut paragraphs = vec![String::new()];
    for line in outside.iter().flat_map(|part| part.lines().chain([""])) {
        let line = line.trim();
        let is_left_out = ["#", "<", "{{", "!["].iter().any(|start| line.starts_with(start)) || line.starts_with("|--");
        let begins = line.is_empty()
            || is_left_out
            || line.starts_with(['|', '*', '-', '>'])
            || line.starts_with(|c: char| c.is_ascii_digit());
        if begins {
            paragraphs.push(String::new());
        }
        if is_left_out {
            continue;
        }
        for (i, cell) in line.trim_start_matches("* ").trim_start_matches("- ").split(" | ").enumerate() {
            if i > 0 {
                paragraphs.push(String::new());
            }
            if let Some(last) = paragraphs.last_mut() {
                last.push_str(cell.trim_matches('|').trim());
                last.push(' ');
            }
        }
    }
    paragraphs.iter().flat_map(|paragraph| split(&plain(paragraph))).collect()
}

/// A paragraph without the targets of links, with a word for each code span.
fn plain(paragraph: &str) -> String {
    let words = paragraph.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let mut out = String::new();
    for (i, part) in words.split("](").enumerate() {
        out.push_str(if i == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) });
    }
    out.replace(['[', '*'], "")
}

/// The sentences of a paragraph that have more than one word.
fn split(paragraph: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for word in paragraph.split_whitespace() {
        if let Some(last) = out.last_mut() {
            last.push_str(word);
            last.push(' ');
        }
        if word.trim_end_matches(['"', ')']).ends_with(['.', '?', '!']) && !["e.g.", "i.e."].contains(&word) {
            out.push(String::new());
        }
    }
    out.into_iter().map(|sentence| sentence.trim().to_owned()).filter(|sentence| sentence.contains(' ')).collect()
}

/// The pages in a folder and below it, sorted.
fn pages(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut out = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            out.extend(pages(&path)?);
        } else if path.extension().is_some_and(|end| end == "md") && !path.ends_with("SUMMARY.md") {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

/// Counts the pages of the book, or of another folder.
///
/// # Errors
/// A page cannot be read.
pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let folder =
        args.next().map_or_else(|| Ok(machine::root()?.join("docs/src")), |path| Ok::<_, String>(path.into()))?;
    let mut all = Counts::default();
    println!("{HEAD}");
    for page in pages(&folder)? {
        let counts = Counts::of(&read(&page)?);
        let name = page.strip_prefix(&folder).unwrap_or(&page).display().to_string();
        println!("{name:<22} {counts}");
        all.add(counts);
    }
    println!("{:<22} {all}\n{:<22} {KPT}", "all", "kpt's book");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_has_what_it_has() {
        let none = Counts::default();
        for (text, want) in [
            ("You see it.", Counts { words: 3, sentences: 1, you: 1, ..none }),
            ("The new one comes.", Counts { words: 4, sentences: 1, motion: 1, ..none }),
            ("Take this one, or none of them.", Counts { words: 7, sentences: 1, pronouns: 2, ..none }),
            ("Both sides changed one field.", Counts { words: 5, sentences: 1, ..none }),
            ("Both are kept: it is that of dest.", Counts { words: 8, sentences: 1, pronouns: 2, colons: 1, ..none }),
            ("The field that has a value, so that it merges.", Counts { words: 10, sentences: 1, ..none }),
            (&"word ".repeat(26), Counts { words: 26, sentences: 1, long: 1, ..none }),
        ] {
            assert_eq!(Counts::of(text), want, "{text}");
        }
    }

    #[test]
    fn code_headings_and_targets_do_not_count() {
        let page = "# What one has\n\nSee [the page](one.md). It `goes on`.\n\n```sh\nit comes\n```\n\n| a field | stays so |\n|---|---|\n* an entry\n";
        assert_eq!(sentences(page), ["See the page.", "It code.", "a field", "stays so", "an entry"]);
    }
}
