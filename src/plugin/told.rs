//! What is told of a result on one line: one place, before all else, and nothing of a file that could be a secret value.
//!
//! Lines of a file are not repeated, for the one that cannot be read may be a password whose quote is missing. Values of a Secret are in no
//! message of the engine.

use std::collections::HashMap;

use krm_merge::resource::Resource;
use krm_merge_function::results::{Outcome, Severity};

use crate::side::{Held, Side};

/// An error with its causes; some libraries say the cause in the error already.
pub fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        said if said.contains(&cause) => told,
        said => format!("{said}: {cause}"),
    })
}

/// A result for stderr: `error: web.yaml:3:5: Deployment web: …`.
pub fn line(result: &Outcome) -> String {
    let Some((place, message)) = place(&result.message) else { return result.line() };
    let line = Outcome { message: message.to_owned(), file: None, ..result.clone() }.line();
    let (severity, told) = line.split_once(": ").unwrap_or_default();
    format!("{severity}: {place}: {told}")
}

/// The `file:line:column` that a message begins with, and what it says of it.
fn place(message: &str) -> Option<(&str, &str)> {
    let (place, told) = message.split_once(": ")?;
    let mut parts = place.rsplitn(3, ':');
    let is_place = is_number(parts.next()?) && is_number(parts.next()?) && parts.next().is_some();
    is_place.then_some((place, told))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Where a resource stands, as an editor takes it: `web.yaml:3:1`.
pub fn whereabouts(resource: &Resource<'_>) -> String {
    format!("{}:{}", resource.origin.text(), resource.node.position())
}

/// Gives errors of the engine that begin with a place in a file the form that all others have.
pub fn with_places<'s>(results: &mut [Outcome], sides: impl Iterator<Item = &'s Side>) {
    if results.iter().all(|r| r.severity != Severity::Error) {
        return;
    }
    let files: HashMap<&str, &Held> = sides.flat_map(|s| &s.files).map(|f| (f.name.as_str(), f)).collect();
    for result in results.iter_mut().filter(|r| r.severity == Severity::Error) {
        result.message = with_place(&result.message, &files).unwrap_or_else(|| result.message.clone());
    }
}

fn with_place(message: &str, files: &HashMap<&str, &Held>) -> Option<String> {
    // `web.yaml 3:5: what is wrong there`
    if let Some((head, told)) = message.split_once(": ")
        && let Some((name, at)) = head.rsplit_once(' ')
        && at.split_once(':').is_some_and(|(line, column)| is_number(line) && is_number(column))
        && files.contains_key(name)
    {
        return Some(format!("{name}:{at}: {told}"));
    }
    // `web.yaml:3 must have a field`
    let (head, told) = message.split_once(" must have ")?;
    let (name, line) = head.rsplit_once(':')?;
    let mut positions = files.get(name)?.resources().map(|r| r.node.position());
    let at = positions.find(|position| position.line.to_string() == line)?;
    Some(format!("{name}:{at}: the resource must have {told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_first_and_once() {
        for (message, want) in [
            ("a b.yaml:3:5: it must be", "error: a b.yaml:3:5: it must be"),
            ("it must be", "error: a.yaml: it must be"),
            ("`data.x:1`: it must be", "error: a.yaml: `data.x:1`: it must be"),
        ] {
            let file = Some(krm_merge_function::results::File { path: "a.yaml".into(), index: None });
            assert_eq!(line(&Outcome { file, ..Outcome::new(Severity::Error, message) }), want);
        }
    }
}
