//! The output of the plugin. Only this file writes to stdout and stderr.
//!
//! A name from an input is never printed unchanged. A [`Page`] takes lines, in which misleading characters are escaped. It also takes data,
//! which stay unchanged unless a person at a terminal reads them. `clippy.toml` refuses every other way to print.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use crossterm::Command;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, size,
};
use krm_files::disk::{Ended, Finished, Repaired, Step};
use krm_files::terminal::is_someone_there;
use krm_files::walk;
use krm_words::{Message, Word};
use krm_yaml::shown;

use crate::args::Color;

/// The reader of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person at a terminal with colours.
    Colour,
    /// A person at a terminal without colours.
    Bare,
    /// A file or a program. Data stay unchanged for it.
    Program,
}

impl Reader {
    /// The reader of stdout. `color` is the user's choice, or that of the [whole run](choose); by default, a terminal gets colours, unless
    /// `NO_COLOR` is set, and with `CLICOLOR_FORCE` others do, too. Sources: no-color.org, bixense.com/clicolors.
    pub fn of_stdout(color: Color) -> Self {
        match (Wanted::of(color), is_at_terminal()) {
            (Wanted::Always | Wanted::Forced, _) | (Wanted::AtTerminals, true) => Self::Colour,
            (Wanted::Never, true) => Self::Bare,
            (Wanted::AtTerminals | Wanted::Never, false) => Self::Program,
        }
    }

    /// The reader of stderr. A program that reads it gets colours only by `CLICOLOR_FORCE`.
    pub fn of_stderr() -> Self {
        match (Wanted::of(Color::Auto), is_told_to_someone()) {
            (Wanted::Forced, _) | (Wanted::Always | Wanted::AtTerminals, true) => Self::Colour,
            _ => Self::Bare,
        }
    }

    /// The reader of data, which have no colours. So it does not count who wants colours: what goes into a pipe stays as it is.
    pub fn of_data() -> Self {
        if is_at_terminal() { Self::Bare } else { Self::Program }
    }
}

/// Where the user wants colours.
enum Wanted {
    /// Also where no terminal is, by a flag.
    Always,
    /// The same, by the environment.
    Forced,
    AtTerminals,
    Never,
}

impl Wanted {
    /// What a flag, the whole run or the environment says. A flag counts before the environment.
    fn of(color: Color) -> Self {
        let color = if color == Color::Auto { CHOSEN.get().copied().unwrap_or(color) } else { color };
        match color {
            Color::Always => Self::Always,
            Color::Never => Self::Never,
            Color::Auto if of_environment("NO_COLOR").is_some() => Self::Never,
            Color::Auto if of_environment("CLICOLOR_FORCE").is_some_and(|value| value != "0") => Self::Forced,
            Color::Auto if of_environment("TERM").is_some_and(|term| term == "dumb") => Self::Never,
            Color::Auto => Self::AtTerminals,
        }
    }
}

/// A variable of the environment that is not empty.
fn of_environment(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// What the user chose for the whole run.
static CHOSEN: OnceLock<Color> = OnceLock::new();

/// Chooses colours for the whole run. The first choice counts.
pub fn choose(color: Color) {
    let _ = CHOSEN.set(color);
}

/// Whether the user wants to hear only of what someone must look at or decide.
static IS_QUIET: OnceLock<()> = OnceLock::new();

/// Tells from now on neither what was done, nor what is good to know, nor what comes next.
pub fn be_quiet() {
    let _ = IS_QUIET.set(());
}

/// Whether the run tells only what someone must look at or decide.
pub fn is_quiet() -> bool {
    IS_QUIET.get().is_some()
}

/// Whether stdout is a terminal.
#[expect(clippy::disallowed_methods, reason = "nothing is printed")]
fn is_at_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A colour, or the weight of letters. Source: ECMA-48, Select Graphic Rendition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// No colour.
    Plain = 0,
    /// Headings.
    Bold = 1,
    /// Removed text.
    Red = 31,
    /// Added text.
    Green = 32,
    /// Text that needs attention.
    Yellow = 33,
    /// A place.
    Cyan = 36,
}

/// The colour of the first word of a message.
fn colour(word: Word) -> Paint {
    match word {
        Word::Error => Paint::Red,
        Word::Conflict | Word::Warning => Paint::Yellow,
        Word::Next => Paint::Cyan,
        Word::Upgraded => Paint::Green,
        Word::Info | Word::Plain => Paint::Plain,
    }
}

/// What stands before the second line of a message, and before each one after it.
const INDENT: &str = "  ";

/// A text in lines of some columns, broken at blanks. The first line begins in column `used`. What is between back-quotes stays together, because
/// someone may copy it. What is longer than a line stays whole, too.
fn wrapped(used: usize, text: &str, columns: usize) -> Vec<&str> {
    let (mut lines, mut begin, mut end, mut used) = (Vec::new(), 0, 0, used);
    let mut is_quoted = false;
    let mut breaks: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices() {
        is_quoted ^= c == '`';
        if c == ' ' && !is_quoted {
            breaks.push(at);
        }
    }
    for next in breaks.into_iter().chain([text.len()]) {
        if end > begin && used + text[begin..next].chars().count() > columns {
            lines.push(&text[begin..end]);
            (begin, used) = (end + 1, INDENT.len());
        }
        end = next;
    }
    lines.push(&text[begin..]);
    lines
}

/// The text to print.
#[derive(Debug)]
pub struct Page {
    reader: Reader,
    /// How wide the terminal is, if messages are broken into lines.
    columns: Option<usize>,
    text: String,
}

impl Page {
    /// An empty page.
    pub fn new(reader: Reader) -> Self {
        Self { reader, columns: None, text: String::new() }
    }

    /// An empty page for stderr. At a terminal, its messages are broken into lines.
    pub fn of_messages() -> Self {
        let columns = is_told_to_someone().then(|| size().ok()).flatten();
        // So narrow a terminal can do that itself.
        let columns = columns.map(|(columns, _)| usize::from(columns)).filter(|columns| *columns >= 40);
        Self { columns, ..Self::new(Reader::of_stderr()) }
    }

    /// The text of the page.
    #[cfg(test)]
    pub fn text(self) -> String {
        self.text
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.pieces(&[(Paint::Plain, text)]);
    }

    /// Adds a line in a colour.
    pub fn painted(&mut self, paint: Paint, text: &str) {
        self.pieces(&[(paint, text)]);
    }

    /// Adds a line in a colour, with a tab at its end.
    pub fn painted_with_tab(&mut self, paint: Paint, text: &str) {
        self.paint(paint, &format!("{}\t", shown::line(text)));
        self.text.push('\n');
    }

    /// Adds a line with several colours.
    pub fn pieces(&mut self, pieces: &[(Paint, &str)]) {
        for (paint, text) in pieces {
            self.paint(*paint, &shown::line(text));
        }
        self.text.push('\n');
    }

    /// Adds a message, with its first word in the colour that says what it is.
    pub fn message(&mut self, word: Word, text: &str) {
        if is_quiet() && !matches!(word, Word::Error | Word::Conflict | Word::Warning) {
            return;
        }
        let text = shown::line(text);
        let lines = match self.columns {
            Some(columns) => wrapped(word.text().chars().count(), &text, columns),
            None => vec![&*text],
        };
        for (at, line) in lines.into_iter().enumerate() {
            match at {
                0 => {
                    let word_alone = word.text().trim_end();
                    self.paint(colour(word), word_alone);
                    self.text.push_str(&word.text()[word_alone.len()..]);
                }
                _ => self.text.push_str(INDENT),
            }
            self.text.extend([line, "\n"]);
        }
    }

    /// Adds a line of a file, with its mark in a diff. The line is data.
    pub fn line_of_file(&mut self, paint: Paint, mark: char, text: &str) {
        match self.reader {
            Reader::Program => self.text.extend([mark.encode_utf8(&mut [0; 4]), text]),
            Reader::Colour | Reader::Bare => {
                // The line break is escaped together with the line, because a carriage return may be part of it.
                let line = format!("{mark}{text}\n");
                self.paint(paint, shown::lines(&line).trim_end_matches('\n'));
            }
        }
        self.text.push('\n');
    }

    /// Adds data, which may have several lines.
    pub fn data(&mut self, text: &str) {
        match self.reader {
            Reader::Program => self.text.push_str(text),
            Reader::Colour | Reader::Bare => self.text.push_str(&shown::lines(text)),
        }
    }

    /// Adds the content of another page.
    pub fn append(&mut self, other: Self) {
        self.text.push_str(&other.text);
    }

    /// Prints the page.
    ///
    /// # Errors
    /// Stdout cannot be written.
    #[expect(clippy::disallowed_methods, reason = "this is where the plugin prints")]
    pub fn print(&self) -> Result<()> {
        io::stdout().lock().write_all(self.text.as_bytes()).context("stdout must be writable")
    }

    /// Writes the page to stderr.
    #[expect(clippy::disallowed_methods, reason = "this is where the plugin tells")]
    pub fn tell(&self) {
        // If stderr is closed, the exit code still reports the outcome.
        let _ = io::stderr().lock().write_all(self.text.as_bytes());
    }

    fn paint(&mut self, paint: Paint, shown: &str) {
        match self.reader {
            Reader::Colour if paint != Paint::Plain => {
                self.text.push_str(&format!("\x1b[{}m{shown}\x1b[0m", paint as u8));
            }
            _ => self.text.push_str(shown),
        }
    }
}

/// Prints data, such as resources.
///
/// # Errors
/// Stdout cannot be written.
pub fn print(data: &str) -> Result<()> {
    let mut page = Page::new(Reader::of_data());
    page.data(data);
    page.print()
}

/// Prints a line at once.
///
/// # Errors
/// Stdout cannot be written.
pub fn say(line: &str) -> Result<()> {
    let mut page = Page::new(Reader::Bare);
    page.line(line);
    page.print()
}

/// Writes a message to stderr.
pub fn tell(word: Word, text: &str) {
    let mut page = Page::of_messages();
    page.message(word, text);
    page.tell();
}

/// Writes messages to stderr.
pub fn tell_each(messages: impl IntoIterator<Item = Message>) {
    messages.into_iter().for_each(|Message { word, text }| tell(word, &text));
}

/// Tells what was done about runs that were killed while they wrote, and which files changed for them.
pub fn tell_repaired(repaired: &[Repaired]) {
    tell_each(repaired.iter().flat_map(of_repaired));
}

fn of_repaired(Repaired { folder, finished: Finished { end, files } }: &Repaired) -> Vec<Message> {
    let end = match end {
        Ended::Finished => "finished",
        Ended::TakenBack => "taken back",
    };
    let of_run = format!("{}: a run that was killed while it wrote is now {end}", walk::shown(folder));
    let of_file = |(path, step): &(PathBuf, Step)| {
        let did = if *step == Step::Remove { "deleted" } else { "written" };
        format!("{}: {did} for the run that was killed", walk::shown(&folder.join(path)))
    };
    [of_run].into_iter().chain(files.iter().map(of_file)).map(|text| Word::Info.says(text)).collect()
}

/// Writes several lines to stderr. The line breaks must be those of this program, because they are not escaped.
pub fn tell_lines(text: &str) {
    let mut page = Page::new(Reader::Bare);
    page.data(text);
    page.tell();
}

/// Checks that someone still sees stdout. A terminal that goes away ends the program by a signal, unless this signal never comes: a shell may
/// keep it for itself, and `nohup` makes programs ignore it.
///
/// # Errors
/// The terminal went away.
pub fn check_someone_stays() -> Result<()> {
    if !is_someone_there() {
        bail!("the terminal must stay until all conflicts are decided; nothing was written");
    }
    Ok(())
}

/// Switches the terminal to a screen of its own. The old screen is kept.
///
/// # Errors
/// Stdout cannot be written.
pub fn open() -> Result<()> {
    command(|out| {
        EnterAlternateScreen.write_ansi(out)?;
        DisableLineWrap.write_ansi(out)?;
        Hide.write_ansi(out)
    })
}

/// Switches the terminal back to its old screen.
///
/// # Errors
/// The errors of [`open`].
pub fn close() -> Result<()> {
    command(|out| {
        Show.write_ansi(out)?;
        EnableLineWrap.write_ansi(out)?;
        LeaveAlternateScreen.write_ansi(out)
    })
}

/// Draws a screen of rows, each in a colour.
///
/// # Errors
/// The errors of [`open`].
pub fn draw<'t>(rows: impl Iterator<Item = (Paint, &'t str)>) -> Result<()> {
    command(|out| {
        for (i, (paint, text)) in rows.enumerate() {
            let mut page = Page::new(Reader::of_stdout(Color::Auto));
            page.paint(paint, &shown::line(text));
            MoveTo(0, u16::try_from(i).unwrap_or(u16::MAX)).write_ansi(out)?;
            // The row is cleared before its text is written. After a text as wide as the screen, this would clear its last character.
            Clear(ClearType::CurrentLine).write_ansi(out)?;
            out.push_str(&page.text);
        }
        Ok(())
    })
}

/// Writes all terminal commands at once, so that nobody sees a half-drawn screen.
#[expect(clippy::disallowed_methods, reason = "this is where the plugin prints")]
fn command(write: impl FnOnce(&mut String) -> fmt::Result) -> Result<()> {
    let mut text = String::new();
    write(&mut text)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Whether a person sees stderr.
#[expect(clippy::disallowed_methods, reason = "nothing is told")]
pub fn is_told_to_someone() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "a\u{1b}[8m\r\u{9b}\u{202e}\u{2028}\u{200b}b";
    const SHOWN: &str = "a\\u001b[8m\\r\\u009b\\u202e\\u2028\\u200bb";

    #[test]
    fn what_was_done_about_a_killed_run_is_told_file_by_file() {
        let told = |end, files: &[(&str, Step)]| {
            let files = files.iter().map(|(path, step)| (PathBuf::from(path), *step)).collect();
            let repaired = Repaired { folder: "here".into(), finished: Finished { end, files } };
            of_repaired(&repaired).iter().map(Message::to_string).collect::<Vec<_>>()
        };
        let run = "info: here: a run that was killed while it wrote is now";
        assert_eq!(told(Ended::Finished, &[]), [format!("{run} finished")]);
        let files = [("a", Step::Rename), ("sub/b", Step::Remove)];
        let [a, b] =
            ["a: written", "sub/b: deleted"].map(|did| format!("info: here/{did} for the run that was killed"));
        assert_eq!(told(Ended::TakenBack, &files), [format!("{run} taken back"), a, b]);
    }

    #[test]
    fn the_first_word_of_a_message_has_a_colour() {
        let page = |reader, word, text| {
            let mut page = Page::new(reader);
            page.message(word, text);
            page.text
        };
        assert_eq!(page(Reader::Colour, Word::Warning, "a"), "\x1b[33mwarning:\x1b[0m a\n");
        assert_eq!(page(Reader::Colour, Word::Plain, "warning: b"), "warning: b\n");
        assert_eq!(page(Reader::Bare, Word::Error, ODD), format!("error: {SHOWN}\n"));
    }

    #[test]
    fn a_message_is_broken_at_blanks_and_not_in_a_command() {
        let page = |text| {
            let mut page = Page { columns: Some(20), ..Page::new(Reader::Bare) };
            page.message(Word::Next, text);
            page.text
        };
        for (text, want) in [
            ("a", "next: a\n"),
            ("exactly twenty", "next: exactly twenty\n"),
            ("exactly twenty one", "next: exactly twenty\n  one\n"),
            ("run `a b c d e f` now", "next: run\n  `a b c d e f` now\n"),
            ("run `a command that is longer` now", "next: run\n  `a command that is longer`\n  now\n"),
            ("it is `open", "next: it is `open\n"),
            ("", "next: \n"),
        ] {
            assert_eq!(page(text), want);
        }
    }

    #[test]
    fn data_stay_to_the_byte_for_programs_only_and_lines_for_nobody() {
        let page = |reader| {
            let mut page = Page::new(reader);
            page.painted(Paint::Red, &format!("{ODD}\n"));
            page.line_of_file(Paint::Green, '+', &format!("{ODD}\r"));
            page.data(&format!("{ODD}\r\n"));
            page.text
        };
        assert_eq!(page(Reader::Program), format!("{SHOWN}\\n\n+{ODD}\r\n{ODD}\r\n"));
        assert_eq!(page(Reader::Bare), format!("{SHOWN}\\n\n+{SHOWN}\r\n{SHOWN}\r\n"));
        assert_eq!(page(Reader::Colour), format!("\x1b[31m{SHOWN}\\n\x1b[0m\n\x1b[32m+{SHOWN}\r\x1b[0m\n{SHOWN}\r\n"));
    }
}
