//! [`Message`]: a line for people, and what it is, so that nobody has to read its words to know.

use std::fmt;

use krm_job::event::{Event, Severity, TextPlace, What};
use krm_tree::path::cut;
use krm_tree::sides::Sides;
use krm_yaml::shown;

use crate::words::{self, own_names};

/// The longest message, in bytes. A message is one line of a terminal or a log; details are in the other fields, or in the input.
const MESSAGE: usize = 8000;

/// The message of an event on one line, without misleading characters, and not too long: details are in its other fields, or in the input.
pub fn message(event: &Event) -> String {
    message_by(event, own_names())
}

/// The same, with these names for the sides.
pub fn message_by(event: &Event, names: Sides<&str>) -> String {
    cut(shown::line(&words::message(&event.what, names)).into_owned(), MESSAGE)
}

/// The message without the place, for hosts that show the place apart.
pub fn without_place(event: &Event) -> String {
    match &event.what {
        What::Wrong { why, place } if event.at().is_some() => words::inside(place) + why,
        What::Lacking { rest, .. } => event.at().map_or_else(|| message(event), |place| words::lacking(rest, place)),
        _ => message(event),
    }
}

/// One line for stderr, with the resource and the file, which are in other fields than the message.
pub fn line(event: &Event) -> String {
    word(event).says(said(event, own_names())).to_string()
}

/// What an event is to people.
fn word(event: &Event) -> Word {
    match event.severity {
        Severity::Error => Word::Error,
        // All else is merged, and the conflict is unresolved in its file. That is no fault.
        Severity::Warning if event.is_open() => Word::Conflict,
        Severity::Warning => Word::Warning,
        Severity::Info => Word::Info,
    }
}

/// The line without its first word.
fn said(event: &Event, names: Sides<&str>) -> String {
    // A line that begins with a place in the resource's own file does not repeat the file.
    let is_there = |at: &&TextPlace| event.file.as_ref().is_some_and(|file| file.path == at.text);
    let at = event.at().filter(is_there);
    at.map_or_else(|| said_with(event, "", &message_by(event, names)), |at| said_at(event, at))
}

/// The same for an error in a text. It begins with the place.
fn said_at(event: &Event, TextPlace { text, position, .. }: &TextPlace) -> String {
    said_with(&Event { file: None, ..event.clone() }, &format!("{text}:{position}: "), &without_place(event))
}

fn said_with(event: &Event, place: &str, message: &str) -> String {
    let mut about = String::new();
    if let Some(r) = &event.resource_ref {
        about.push_str(&r.identity().called());
    }
    // A message without an identity may already name the file; then the line does not repeat it.
    let file = event.file.as_ref().map(|file| shown::name(&file.path));
    if let Some(file) = file.filter(|file| !about.is_empty() || !message.contains(&**file)) {
        about.push_str(&if about.is_empty() { file.into_owned() } else { format!(" ({file})") });
    }
    if !about.is_empty() {
        about = cut(about, MESSAGE) + ": ";
    }
    format!("{place}{about}{}", shown::line(message))
}

/// What a message is. Its first word says it to people, and has a colour where they see colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A part of the work is not done.
    Error,
    /// It is unresolved.
    Conflict,
    /// Someone should look.
    Warning,
    /// What is good to know.
    Info,
    /// What to do now.
    Next,
    /// A package has another release.
    Upgraded,
    /// Nothing of these, and no word says so.
    Plain,
}

impl Word {
    /// How a message of this kind begins.
    pub fn text(self) -> &'static str {
        match self {
            Self::Error => "error: ",
            Self::Conflict => "conflict: ",
            Self::Warning => "warning: ",
            Self::Info => "info: ",
            Self::Next => "next: ",
            Self::Upgraded => "upgraded ",
            Self::Plain => "",
        }
    }

    /// A message of this kind. `text` is what follows the word.
    pub fn says(self, text: impl Into<String>) -> Message {
        Message { word: self, text: text.into() }
    }
}

/// A message for people, which is a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub word: Word,
    /// What follows the word.
    pub text: String,
}

impl Message {
    /// The message for an event.
    pub fn of(event: &Event) -> Self {
        Self::in_words_of(own_names(), event)
    }

    /// The message for an event, with these names for the sides.
    pub fn in_words_of(names: Sides<&str>, event: &Event) -> Self {
        word(event).says(event.at().map_or_else(|| said(event, names), |at| said_at(event, at)))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.word.text(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use krm_job::event::{File, TextForm};

    use super::*;

    #[test]
    fn a_place_comes_first_and_once() {
        let file = Some(File { path: "a.yaml".into(), index: None }.into());
        let position = krm_yaml::Position { line: 3, column: 5 };
        let place = TextPlace::new("a b.yaml", position, TextForm::File);
        let said = |text: &str| Event::new(Severity::Error, text);
        let wrong = Event::of(What::Wrong { why: "it must be".into(), place });
        for (outcome, want) in [
            (wrong, "error: a b.yaml:3:5: it must be"),
            (said("it must be"), "error: a.yaml: it must be"),
            (said("`data.x:1`: it must be"), "error: a.yaml: `data.x:1`: it must be"),
        ] {
            assert_eq!(Message::of(&Event { file: file.clone(), ..outcome }).to_string(), want);
        }
    }
}
