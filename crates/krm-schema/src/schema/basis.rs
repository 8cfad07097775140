//! [`Basis`]: which source says how a list merges.

/// The sources that say how a list merges, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// A rule of the user.
    MergeKeys,
    /// kustomize's declarations for its own types.
    Kustomize,
    /// An OpenAPI document.
    OpenApi,
    /// A CustomResourceDefinition of the package.
    Definition,
    /// A built-in type.
    BuiltIn,
    /// The definitions of public custom resources that the engine carries.
    Atlas,
    /// The shape of a built-in type.
    Shape,
    /// The elements, which have a key in common.
    Inferred,
}

impl Basis {
    /// Whether the type may be a wrong guess. Elements that do not fit show that the guess is wrong; then the next source is asked.
    pub fn is_guess(self) -> bool {
        self > Self::BuiltIn
    }
}
