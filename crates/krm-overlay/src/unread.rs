//! [`Unread`]: what could not be read of a place in a file, and why.

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file.
    pub file: String,
    /// The offset of its first byte.
    pub offset: usize,
}

/// What could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where it is named.
    pub at: Spot,
    /// The cause.
    pub why: Why,
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The text is not YAML.
    NotYaml(String),
    /// Nothing names the chart.
    NoChart,
    /// No file has the resource that is named.
    Missing {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// Several files have a resource of this name, which are not the same.
    Ambiguous {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// A resource lacks a field.
    Lacking {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
        /// The path of the field.
        field: String,
    },
    /// Charts from such a source are not read.
    Source(String),
    /// Values in a Secret are not read.
    Secret(String),
    /// No file has this path.
    NoFile(String),
    /// It has a variable that somebody replaces later.
    Variable(String),
    /// It is not a map of values.
    NotValues,
    /// It cannot be had; the message says why.
    NotRead(String),
    /// The field is not read.
    Field(String),
}
