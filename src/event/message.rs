//! [`Message`]: a line for people, and what it is, so that nobody has to read its words to know.

use std::fmt;

use krm_tree::sides::Sides;

use super::{Event, own_names};

/// What a message is. Its first word says it to people, and has a colour where they see colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A part of the work is not done.
    Error,
    /// Someone must decide.
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
        event.word().says(event.at.as_ref().map_or_else(|| event.said(names), |at| event.said_at(at)))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.word.text(), self.text)
    }
}
