//! What the user may choose of the output, as values of flags.

use clap::ValueEnum;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The merged resources
    Yaml,
    /// The merged resources; several as a List
    Json,
    /// What changes, and the conflicts
    Diff,
    /// The resources that change
    Name,
    /// What the merge reports: conflicts, warnings, errors
    Results,
    /// The results as annotations of a GitHub Actions workflow, beside the lines of dest
    Github,
    /// The results as SARIF 2.1.0, for code scanning
    Sarif,
    /// The conflicts as a comment of a pull request
    Markdown,
    /// One HTML file for a review: what changes in each resource, and each conflict with the values of all sides
    Html,
}

/// Whether the output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Also if stdout is not a terminal
    Always,
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Nowhere
    Never,
}
