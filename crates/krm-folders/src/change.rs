//! [`Change`]: the change of one file of dest.

use krm_yaml::TextEdits;

/// The change of one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its path in dest.
    pub path: String,
    /// The old bytes; `None` if the file is new.
    pub old: Option<Vec<u8>>,
    /// The new bytes; `None` if the file is deleted.
    pub new: Option<Vec<u8>>,
    /// Whether anyone may execute it; `None` if that stays as it is.
    pub executable: Option<bool>,
}

/// How a new text is made by edits of a file of dest.
#[derive(Clone, Debug)]
pub struct Made {
    /// The path of the file of dest.
    pub from: String,
    /// The edits of that file's text.
    pub edits: TextEdits,
}
