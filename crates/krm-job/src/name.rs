//! [`Name`]: how messages name something that the user wrote.

use std::fmt;

/// A field of the functionConfig, or a flag that is used instead of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A field: `spec.mergeKeys[0]`.
    Field(String),
    /// A flag with its value.
    Flag {
        /// The flag: `--merge-keys`.
        flag: &'static str,
        /// The value that the user gave.
        value: String,
    },
}

impl Name {
    /// The name of a part of the field, or of the flag's value.
    pub fn of(&self, part: &str) -> String {
        match self {
            Self::Field(field) => format!("`{field}.{part}`"),
            Self::Flag { .. } => format!("`{part}` of {self}"),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => write!(f, "`{field}`"),
            Self::Flag { flag, value } => write!(f, "`{flag}` \"{value}\""),
        }
    }
}
