//! [`Compared`]: the verdict on a place by its values alone, for values over a chart and for patches.

use krm_tree::path::FieldPath;

use crate::values::Value;
use crate::verdict::{Copied, Hidden, HiddenAs, KnownBy, Verdict};

/// A place in both releases, and the value that replaces it.
pub struct Compared<'r> {
    /// The value of the old release.
    pub original: Option<&'r Value>,
    /// The value of the new release.
    pub updated: Option<&'r Value>,
    /// The value that replaces it.
    pub ours: &'r Value,
    /// The name of the field.
    pub name: &'r str,
    /// The outermost map above this place that only the old release has.
    pub lost_with: Option<FieldPath<'static>>,
    /// The fields beside this one that only the new release has.
    pub siblings: Vec<String>,
}

impl Compared<'_> {
    /// The verdict.
    pub fn verdict(self) -> Verdict {
        let Self { original, updated, ours, .. } = self;
        let fits = |below: Option<&Value>| {
            below.is_none_or(|below| below.kind() == ours.kind() || below.is_null() || ours.is_null())
        };
        match (original, updated) {
            (original, Some(updated)) if ours == updated => {
                if original == Some(ours) {
                    Verdict::Same
                } else {
                    Verdict::NewlySame { known_by: KnownBy::Chart }
                }
            }
            (original, Some(updated)) if !fits(Some(updated)) && fits(original) => {
                Verdict::OtherKind { original: original.cloned(), updated: updated.clone() }
            }
            (original, updated) if original == updated => Verdict::Holds,
            // A null says that the place is there, and no more.
            (Some(original), None) if original.is_null() && self.lost_with.is_none() => Verdict::Holds,
            (Some(original), updated) => Verdict::Hides(Hidden {
                original: Some(original.clone()),
                updated: updated.cloned(),
                ours: ours.clone(),
                hidden_as: hidden_as(self.name, ours),
                siblings: self.siblings,
                lost_with: self.lost_with,
                copied: if original == ours { Copied::Original } else { Copied::No },
            }),
            (None, Some(updated)) if updated.is_null() => Verdict::Holds,
            (None, Some(updated)) => Verdict::Appears { updated: updated.clone() },
            (None, None) => Verdict::Holds,
        }
    }
}

/// What kind of value a field of this name has.
pub fn hidden_as(name: &str, value: &Value) -> HiddenAs {
    let name = name.to_lowercase();
    let is_image = name == "image" && value.text().is_some();
    if is_image || OF_IMAGES.iter().any(|word| name.ends_with(word)) { HiddenAs::Image } else { HiddenAs::Value }
}

/// The names of fields with the tag or the digest of an image end with these words.
const OF_IMAGES: [&str; 3] = ["tag", "digest", "sha"];
