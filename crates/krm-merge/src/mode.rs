//! [`Mode`]: how resources are merged.
//!
//! A mode says how a source is read, which lists merge, and what becomes of a source without a partner. Each of these is asked of the mode
//! where it matters; there is no second name for it.

/// How resources are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum Mode {
    /// What a source holds is set in dest, null removes: for overlays.
    TwoWay,
    /// The change from original to updated is made in dest: for upgrades of a package with local edits.
    ThreeWay,
    /// A patch with directives, by the merge keys of the types: what `kubectl patch` does.
    Strategic,
}
