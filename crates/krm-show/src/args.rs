//! What the user may choose of the output, as flags and their values.

use clap::{Args, ValueEnum};
use krm_tree::limit::{Asked, Limit};

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

/// How a review of values is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reviewed {
    /// A line for each value that somebody must look at, the worst first, and a total
    Text,
    /// A list with all that is known, for programs
    Json,
    /// Annotations of a GitHub Actions workflow, beside the lines of the values
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A comment of a pull request, with a table for each chart
    Markdown,
    /// One HTML file
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

/// How much a run may write.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MaxOutput {
    /// How many bytes of new text and results a run may write, as `64Mi` or `1Gi` [default: 20 times the input, at least 32Mi]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_output: Option<Asked>,
}

impl MaxOutput {
    /// Whether the user gave one.
    pub fn is_given(self) -> bool {
        self.max_output.is_some()
    }

    /// The limit, before the size of the input is known.
    pub fn limit(self) -> Limit {
        Limit::new(0, self.max_output, "--max-output")
    }
}

/// A size, in the form of the functionConfig.
fn size(text: &str) -> Result<Asked, &'static str> {
    Asked::parse(text).ok_or("must be a number of bytes, as `64Mi`, `1Gi` or `1048576`")
}
