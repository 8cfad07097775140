//! Results as one line each. The place comes first, and no text of a file is shown that could be secret.
//!
//! Lines of a file are not repeated, because a line that cannot be read may be a password without its closing quote. The engine's messages
//! contain no values of Secrets.

use std::collections::HashSet;

use krm_merge::resource::Resource;
use krm_merge_function::results::{At, Outcome, Severity};
pub use krm_merge_function::results::{Message, Word, counted};

use crate::held::YamlFault;
use crate::side::Side;

/// The message of an error with its causes. Some libraries already put the cause into the message; then it is not repeated.
pub fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        said if said.contains(&cause) => told,
        said => format!("{said}: {cause}"),
    })
}

/// A result for stderr: `error: web.yaml:3:5: Deployment web: …`.
pub fn line(result: &Outcome) -> String {
    Message::of(result).to_string()
}

/// The place of a resource in the form that editors accept: `web.yaml:3:1`.
pub fn whereabouts(resource: &Resource<'_>) -> String {
    format!("{}:{}", resource.origin.text(), resource.node().position())
}

/// One warning about all files that should be YAML but are not. If several sides have such a file at the same path, the warning names only
/// the first side's. Files with one reason stand together, because a chart may have many templates.
pub fn of_no_yaml<'s>(sides: impl Iterator<Item = &'s Side>) -> Option<Outcome> {
    let mut paths = HashSet::new();
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, YamlFault { place, why }) in sides.flat_map(Side::no_yaml).filter(|(path, _)| paths.insert(*path)) {
        match by_reason.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, places)) => places.push(place),
            None => by_reason.push((why, vec![place])),
        }
    }
    let are = match paths.len() {
        0 => return None,
        1 => "1 file is no YAML and is treated as a plain file".to_owned(),
        count => format!("{count} files are no YAML and are treated as plain files"),
    };
    let told = by_reason.into_iter().map(|(why, places)| format!("{}: {why}", places.join(", ")));
    let told: Vec<String> = told.collect();
    Some(Outcome::new(Severity::Warning, format!("{are}, without resources: {}", told.join("; "))))
}

/// Adds the file and position to errors in files of the sides, as in all other errors.
pub fn with_places<'s>(results: &mut [Outcome], sides: impl Iterator<Item = &'s Side>) {
    if results.iter().all(|r| r.severity != Severity::Error) {
        return;
    }
    let files: HashSet<&str> = sides.flat_map(|s| &s.files).map(|f| f.name.as_str()).collect();
    for result in results.iter_mut() {
        result.at = result.at.take().filter(|at| files.contains(at.text.as_str()));
        if let Some(At { text, position, told }) = &result.at {
            result.message = format!("{text}:{position}: {told}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_first_and_once() {
        let file = Some(krm_merge_function::results::File { path: "a.yaml".into(), index: None });
        let position = krm_yaml::Position { line: 3, column: 5 };
        let at = At { text: "a b.yaml".into(), position, told: "it must be".into() };
        for (message, at, want) in [
            ("a b.yaml:3:5: it must be", Some(at), "error: a b.yaml:3:5: it must be"),
            ("it must be", None, "error: a.yaml: it must be"),
            ("`data.x:1`: it must be", None, "error: a.yaml: `data.x:1`: it must be"),
        ] {
            assert_eq!(line(&Outcome { file: file.clone(), at, ..Outcome::new(Severity::Error, message) }), want);
        }
    }
}
