//! [`Output`]: what the function gives back, and whether it went through.

use krm_job::event::{Event, Severity};
use krm_job::results::Verdict;
use krm_words::next_step;

/// The output of the function.
#[derive(Clone, Debug, PartialEq)]
pub struct Output<Text = String> {
    /// The ResourceList to write; empty only if the input was not a ResourceList.
    pub stdout: Text,
    /// The errors and warnings, one line each; an error in a text also has the line of that text, with a caret.
    pub stderr: Vec<String>,
    /// Whether any result is an error.
    pub verdict: Verdict,
}

impl<Text> Output<Text> {
    /// The output with this text, and with the stderr and the exit code that the results call for. If a conflict stops the run, stderr also
    /// says which rules decided nothing, and what to do next: kustomize shows only stderr.
    pub fn of(stdout: Text, results: &[Event]) -> Self {
        let stop = results.iter().find(|r| r.is_conflict() && r.severity == Severity::Error);
        let shown = results.iter().filter(|r| r.severity != Severity::Info || (stop.is_some() && r.idle().is_some()));
        let excerpt = |r: &Event| r.excerpt.iter().flat_map(|e| e.lines()).map(str::to_owned).collect::<Vec<_>>();
        let lines = shown.flat_map(|r| [vec![krm_words::line(r)], excerpt(r)].concat());
        let stderr = lines.chain(stop.map(next_step)).collect();
        Self { stdout, stderr, verdict: Verdict::of(results) }
    }
}
