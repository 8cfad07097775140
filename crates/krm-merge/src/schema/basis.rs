//! [`Basis`]: who says how a list merges.

/// Who says how a list merges, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// A rule of the user.
    MergeKeys,
    /// An OpenAPI document.
    OpenApi,
    /// A CustomResourceDefinition of the package.
    Definition,
    /// A built-in type.
    BuiltIn,
    /// The definitions of public custom resources that the engine carries.
    Atlas,
    /// The look of a built-in type.
    Shape,
    /// The elements, which have a key in common.
    Inferred,
}

impl Basis {
    /// Whether it may be wrong about the type: elements that do not fit then say that it is, and the next source is asked.
    pub fn is_guess(self) -> bool {
        self > Self::BuiltIn
    }
}
