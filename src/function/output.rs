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
    pub fn of(stdout: Text, results: Vec<Event>) -> Self {
        let verdict = Verdict::of(&results);
        let stop = results.iter().find(|r| r.is_conflict() && r.severity == Severity::Error).map(next_step);
        let mut stderr = Vec::new();
        // A result goes when its line is there, because there may be many.
        for result in results {
            if result.severity != Severity::Info || (stop.is_some() && result.idle().is_some()) {
                stderr.push(krm_words::line(&result));
                stderr.extend(result.excerpt.iter().flat_map(|excerpt| excerpt.lines()).map(str::to_owned));
            }
        }
        stderr.extend(stop);
        Self { stdout, stderr, verdict }
    }
}
