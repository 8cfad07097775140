//! What the plugin prints and reports: the only place that writes to stdout and stderr.
//!
//! A name from an input never gets there raw: a [`Page`] takes lines, in which misleading characters are escaped, and data, which stay
//! byte-equal unless a terminal reads them. `clippy.toml` refuses any other way.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anyhow::{Result, bail};
use crossterm::Command;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use krm_merge::shown;

use crate::cli::Color;

/// Who reads stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Someone at a terminal with colours.
    Colour,
    /// Someone at a terminal without them.
    Bare,
    /// A file or a program, which takes data unchanged.
    Program,
}

impl Reader {
    /// As the user says; by default, colours on a terminal, unless `NO_COLOR` is set. Source: no-color.org.
    #[expect(clippy::disallowed_methods, reason = "nothing is printed")]
    pub fn of_stdout(color: Color) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        match (color, io::stdout().is_terminal()) {
            (Color::Always, _) => Self::Colour,
            (_, false) => Self::Program,
            (Color::Never, true) => Self::Bare,
            (Color::Auto, true) if refused || is_dumb => Self::Bare,
            (Color::Auto, true) => Self::Colour,
        }
    }
}

/// A colour, or the weight of letters. Source: ECMA-48, Select Graphic Rendition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Unpainted.
    Plain = 0,
    /// Headings.
    Bold = 1,
    /// What is removed.
    Red = 31,
    /// What is added.
    Green = 32,
    /// What someone should look at.
    Yellow = 33,
    /// Where something is.
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

    /// The text so far.
    #[cfg(test)]
    pub fn text(self) -> String {
        self.text
    }

    /// A line.
    pub fn line(&mut self, text: &str) {
        self.pieces(&[(Paint::Plain, text)]);
    }

    /// A line in a colour.
    pub fn painted(&mut self, paint: Paint, text: &str) {
        self.pieces(&[(paint, text)]);
    }

    /// A line in a colour, followed by a tab.
    pub fn painted_with_tab(&mut self, paint: Paint, text: &str) {
        self.paint(paint, &format!("{}\t", shown::line(text)));
        self.text.push('\n');
    }

    /// A line of several colours.
    pub fn pieces(&mut self, pieces: &[(Paint, &str)]) {
        for (paint, text) in pieces {
            self.paint(*paint, &shown::line(text));
        }
        self.text.push('\n');
    }

    /// A line of a file after its mark in a diff: data.
    pub fn line_of_file(&mut self, paint: Paint, mark: char, text: &str) {
        match self.reader {
            Reader::Program => self.text.extend([mark.encode_utf8(&mut [0; 4]), text]),
            Reader::Colour | Reader::Bare => {
                // With its line break, because a carriage return may be part of it.
                let line = format!("{mark}{text}\n");
                self.paint(paint, shown::lines(&line).trim_end_matches('\n'));
            }
        }
        self.text.push('\n');
    }

    /// A text that is data, with its own lines.
    pub fn data(&mut self, text: &str) {
        match self.reader {
            Reader::Program => self.text.push_str(text),
            Reader::Colour | Reader::Bare => self.text.push_str(&shown::lines(text)),
        }
    }

    /// Another page after this one.
    pub fn append(&mut self, other: Self) {
        self.text.push_str(&other.text);
    }

    /// Prints it.
    ///
    /// # Errors
    /// A stdout that cannot be written.
    #[expect(clippy::disallowed_methods, reason = "this is where the plugin prints")]
    pub fn print(&self) -> Result<()> {
        Ok(io::stdout().lock().write_all(self.text.as_bytes())?)
    }

    /// Writes it to stderr.
    #[expect(clippy::disallowed_methods, reason = "this is where the plugin tells")]
    pub fn tell(&self) {
        // The exit code says the same, for whoever has closed stderr.
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
/// A stdout that cannot be written.
pub fn print(data: &str) -> Result<()> {
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    page.data(data);
    page.print()
}

/// Writes a line to stderr.
pub fn tell(line: &str) {
    let mut page = Page::new(Reader::Bare);
    page.line(line);
    page.tell();
}

/// Writes a text of several lines to stderr; only this program may have broken the lines.
pub fn tell_lines(text: &str) {
    let mut page = Page::new(Reader::Bare);
    page.data(text);
    page.tell();
}

/// Whether someone sees stdout, and can press keys.
#[expect(clippy::disallowed_methods, reason = "nothing is printed")]
pub fn is_someone_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Checks that someone still sees stdout. A terminal that goes away ends the program by a signal, unless this signal never comes: a shell may
/// keep it for itself, and `nohup` makes programs ignore it.
///
/// # Errors
/// A terminal that went away.
pub fn check_someone_stays() -> Result<()> {
    if !is_someone_there() {
        bail!("the terminal must stay until all conflicts are decided; nothing was written");
    }
    Ok(())
}

/// Gives the terminal a screen of its own; the old screen survives.
///
/// # Errors
/// A stdout that cannot be written.
pub fn open() -> Result<()> {
    command(|out| {
        EnterAlternateScreen.write_ansi(out)?;
        DisableLineWrap.write_ansi(out)?;
        Hide.write_ansi(out)
    })
}

/// Gives the terminal its old screen back.
///
/// # Errors
/// As [`open`].
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
/// As [`open`].
pub fn draw<'t>(rows: impl Iterator<Item = (Paint, &'t str)>) -> Result<()> {
    command(|out| {
        for (i, (paint, text)) in rows.enumerate() {
            let mut page = Page::new(Reader::of_stdout(Color::Auto));
            page.paint(paint, &shown::line(text));
            MoveTo(0, u16::try_from(i).unwrap_or(u16::MAX)).write_ansi(out)?;
            // Before the text: after a text as wide as the screen, this would clear its last character.
            Clear(ClearType::CurrentLine).write_ansi(out)?;
            out.push_str(&page.text);
        }
        Ok(())
    })
}

/// Writes terminal commands all at once, so that nobody sees a half-drawn screen.
#[expect(clippy::disallowed_methods, reason = "this is where the plugin prints")]
fn command(write: impl FnOnce(&mut String) -> fmt::Result) -> Result<()> {
    let mut text = String::new();
    write(&mut text)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Whether someone sees stderr.
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
