//! The output of the plugin. Only this file writes to stdout and stderr.
//!
//! A name from an input is never printed unchanged. A [`Page`] takes lines, in which misleading characters are escaped. It also takes data,
//! which stay unchanged unless a person at a terminal reads them. `clippy.toml` refuses every other way to print.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use crossterm::Command;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use krm_files::terminal::is_someone_there;
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

/// The text to print on stdout.
#[derive(Debug)]
pub struct Page {
    reader: Reader,
    text: String,
}

impl Page {
    /// An empty page.
    pub fn new(reader: Reader) -> Self {
        Self { reader, text: String::new() }
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

    /// Adds a line of a message, with its first word in the colour that says what it is.
    pub fn message(&mut self, text: &str) {
        const WORDS: [(&str, Paint); 5] = [
            ("error:", Paint::Red),
            ("conflict:", Paint::Yellow),
            ("warning:", Paint::Yellow),
            ("next:", Paint::Cyan),
            ("upgraded", Paint::Green),
        ];
        match WORDS.iter().find_map(|(word, paint)| Some((*paint, *word, text.strip_prefix(word)?))) {
            Some((paint, word, rest)) => self.pieces(&[(paint, word), (Paint::Plain, rest)]),
            None => self.line(text),
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

/// Writes a line to stderr.
pub fn tell(line: &str) {
    let mut page = Page::new(Reader::of_stderr());
    page.message(line);
    page.tell();
}

/// Prints messages to stderr, each on a line.
pub fn tell_each(messages: &[impl fmt::Display]) {
    messages.iter().for_each(|message| tell(&message.to_string()));
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
    fn the_first_word_of_a_message_has_a_colour() {
        let page = |reader, text| {
            let mut page = Page::new(reader);
            page.message(text);
            page.text
        };
        assert_eq!(page(Reader::Colour, "warning: a"), "\x1b[33mwarning:\x1b[0m a\n");
        assert_eq!(page(Reader::Colour, "a warning: b"), "a warning: b\n");
        assert_eq!(page(Reader::Bare, "error: a"), "error: a\n");
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
