//! What the plugin prints and tells: the only place that writes to stdout and stderr.
//!
//! A name of an input never gets there as it is: a [`Page`] takes lines, in which what could mislead is an escape, and data, which stay to the
//! byte for whoever is no terminal. `clippy.toml` refuses any other way.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;
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
    /// A file or a program, which takes data as they are.
    Program,
}

impl Reader {
    /// As the user says, or else colours on a terminal, unless `NO_COLOR` says otherwise. Source: no-color.org.
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
    /// As all is.
    Plain = 0,
    /// What heads something.
    Bold = 1,
    /// What goes.
    Red = 31,
    /// What comes.
    Green = 32,
    /// What someone should look at.
    Yellow = 33,
    /// Where something is.
    Cyan = 36,
}

/// What is printed on stdout.
#[derive(Debug)]
pub struct Page {
    reader: Reader,
    text: String,
}

impl Page {
    /// An empty one.
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

    /// A line in a colour, with a tab behind it.
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

    /// A line of a file behind its mark in a diff: data.
    pub fn line_of_file(&mut self, paint: Paint, mark: char, text: &str) {
        match self.reader {
            Reader::Program => self.text.extend([mark.encode_utf8(&mut [0; 4]), text]),
            Reader::Colour | Reader::Bare => {
                // With its break, for a carriage return may be a part of that.
                let line = format!("{mark}{text}\n");
                self.paint(paint, shown::lines(&line).trim_end_matches('\n'));
            }
        }
        self.text.push('\n');
    }

    /// A text that is data, of lines of its own.
    pub fn data(&mut self, text: &str) {
        match self.reader {
            Reader::Program => self.text.push_str(text),
            Reader::Colour | Reader::Bare => self.text.push_str(&shown::lines(text)),
        }
    }

    /// Another page behind this one.
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

    /// Tells it on stderr.
    #[expect(clippy::disallowed_methods, reason = "this is where the plugin tells")]
    pub fn tell(&self) {
        // What is told is in the exit code, too, for whoever has closed stderr.
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

/// Tells a line on stderr.
pub fn tell(line: &str) {
    let mut page = Page::new(Reader::Bare);
    page.line(line);
    page.tell();
}

/// Tells a text of several lines on stderr, of which only this program has broken any.
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

/// Gives the terminal a screen of its own, which what stands there survives.
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

/// Gives it back the one that it had.
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
            // Before the text, for behind one that is as wide as the screen its last character would go.
            Clear(ClearType::CurrentLine).write_ansi(out)?;
            out.push_str(&page.text);
        }
        Ok(())
    })
}

/// Writes commands of a terminal at once, so that nothing half-drawn is seen.
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
