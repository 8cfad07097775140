//! A part of a text that a merge makes: it is the same whoever wins, or someone has to choose.

use krm_merge::sides::Sides;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// It is the same whoever wins.
    Same(String),
    /// Someone has to choose.
    Choice(Choice),
}

/// The lines between which someone has to choose.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The lines of each side.
    pub texts: Sides<String>,
    /// How much of them is chosen at once.
    pub grain: Grain,
}

/// How much is chosen at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// All of it.
    #[default]
    Whole,
    /// Each run of lines separately, as in a text.
    Lines,
}

impl Part {
    /// The choice, or no choice if ours and theirs are equal.
    pub fn of(choice: Choice) -> Self {
        if choice.texts.dest == choice.texts.updated { Self::Same(choice.texts.dest) } else { Self::Choice(choice) }
    }
}
