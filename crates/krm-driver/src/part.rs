//! A part of a merged text: either it is the same whichever side wins, or a person must choose.

use krm_tree::sides::Sides;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is the same whichever side wins.
    Same(String),
    /// A person must choose.
    Choice(Choice),
}

/// The texts among which a person must choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The text of each side.
    pub texts: Sides<String>,
    /// How much of it is chosen at once.
    pub grain: Grain,
}

/// How much a person chooses at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// The whole choice.
    #[default]
    Whole,
    /// Each run of differing lines on its own, as in a text of many lines.
    Lines,
    /// Each run of differing lines on its own that lines enough set apart from the next one, as git does it.
    Hunks,
}

impl Part {
    /// A choice, or the text alone if ours and theirs have the same text.
    pub fn of(choice: Choice) -> Self {
        if choice.texts.dest == choice.texts.updated { Self::Same(choice.texts.dest) } else { Self::Choice(choice) }
    }

    /// Whether a side has text here.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Same(text) => !text.is_empty(),
            Self::Choice(choice) => choice.texts.iter().any(|(_, text)| !text.is_empty()),
        }
    }

    /// The texts: one for each side that may win, or one alone.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Same(text) => vec![text],
            Self::Choice(Choice { texts: Sides { original, updated, dest }, .. }) => vec![original, updated, dest],
        }
    }
}
