//! [`Mode`]: how resources are merged.
//!
//! A mode says how a source is read, which lists merge, and what happens to a source without a partner. The code asks the mode for each of
//! these where it matters; none of them has a separate option.

/// How resources are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum Mode {
    /// The values of a source are set in dest, null removes: for overlays.
    TwoWay,
    /// The change from original to updated is made in dest: for upgrades of a package with local edits.
    ThreeWay,
    /// A patch with directives, by the merge keys of the types: what `kubectl patch` does.
    Strategic,
}
