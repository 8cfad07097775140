//! [`Verdict`]: what a new release does to a place that lies over it.

use std::ops::Range;

use krm_tree::path::FieldPath;

use crate::unread::Why;
use crate::values::Value;

/// A place of a layer, and what the new release does to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the layer.
    pub layer: usize,
    /// The object that a patch is for, such as `Deployment web`; `None` for values.
    pub object: Option<String>,
    /// The place in the values of the chart, such as `image.tag`. A list is one place.
    pub place: FieldPath<'static>,
    /// The bytes of the field in the text of the layer's document, from its key to the end of its value.
    pub span: Range<usize>,
    /// What the new release does to it.
    pub verdict: Verdict,
}

/// What a new release does to a place that lies over it. The worst comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The old release renders with the values, and the new one does not. This is a verdict on all values, so the place is the whole.
    DoesNotRender {
        /// The message of the program that renders it.
        message: String,
    },
    /// The index of a patch names another element in the new release than in the old one.
    AnotherElement {
        /// The name of the element in the old release.
        original: String,
        /// The name of the element in the new release.
        updated: String,
    },
    /// The old release read or had this place, and the new one does not.
    Gone {
        /// Where the new release reads it instead, if that is known.
        moved_to: Option<MovedTo>,
        /// What says so.
        known_by: KnownBy,
    },
    /// The releases have another kind of value here, which the layer does not fit: a map over a text, or a text over a map.
    OtherKind {
        /// The default of the old release.
        original: Option<Value>,
        /// The default of the new release.
        updated: Value,
    },
    /// The new release has another default, and the layer hides it.
    Hides(Hidden),
    /// Only the new release has a default here, and it is not what the layer says.
    Appears {
        /// The default of the new release.
        updated: Value,
    },
    /// The layer says what the new release says, and the old release said something else. So it can go.
    NewlySame {
        /// What says so.
        known_by: KnownBy,
    },
    /// What lies below is not known.
    Unknown(Unknown),
    /// Neither release reads this place.
    Nowhere,
    /// The layer says what both releases say.
    Same,
    /// There is nothing to say.
    Holds,
}

/// Where a place went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedTo {
    /// The place in the new release.
    pub place: FieldPath<'static>,
}

/// What says that a release does not need a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// The files of the release, whatever the other values are.
    Chart,
    /// A rendering: with these values, the release renders the same without the place. With other values, it may not.
    Rendering,
}

/// A default that changed, and that a layer hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The default of the old release.
    pub original: Option<Value>,
    /// The default of the new release; `None` if it has none.
    pub updated: Option<Value>,
    /// What the layer says.
    pub ours: Value,
    /// The fields beside this one that only the new release has.
    pub siblings: Vec<String>,
    /// Whether the layer is a copy of the old default.
    pub copied: Copied,
    /// The outermost map above this place that only the old release has defaults for.
    pub lost_with: Option<FieldPath<'static>>,
    /// What kind of value it is.
    pub hidden_as: HiddenAs,
}

/// Whether a layer says what the old release said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It says the same: you copied what upstream has now changed.
    Original,
    /// It says something of its own.
    No,
}

/// What kind of value a layer hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenAs {
    /// The tag or the digest of an image. These change with each release, so all of them are told in one line.
    Image,
    /// Any other value.
    Value,
}

/// Why nothing is known of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The files of this chart, which the release needs, are missing.
    NoSubchart(String),
    /// The patch is for an object that may be in what was not read.
    NotRead(Why),
    /// It is no patch for the object; the message says why.
    NoPatch(String),
}
