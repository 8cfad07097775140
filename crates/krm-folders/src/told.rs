//! Results as one line each. The place comes first, and no text of a file is shown that could be secret.
//!
//! Lines of a file are not repeated, because a line that cannot be read may be a password without its closing quote. The engine's messages
//! contain no values of Secrets.

use std::collections::HashSet;

use krm_job::event::{Event, NoYaml, Severity, TextForm, What};
use krm_package::resource::Resource;
use krm_words::Message;

use crate::held::YamlFault;
use crate::side::Side;

/// A result for stderr: `error: web.yaml:3:5: Deployment web: …`.
pub fn line(result: &Event) -> String {
    Message::of(result).to_string()
}

/// The place of a resource in the form that editors accept: `web.yaml:3:1`.
pub fn whereabouts(resource: &Resource<'_>) -> String {
    format!("{}:{}", resource.origin.text(), resource.node().position())
}

/// One warning about all files that should be YAML but are not. If several sides have such a file at the same path, the warning names only
/// the first side's. Files with one reason stand together, because a chart may have many templates.
pub fn of_no_yaml<'s>(sides: impl Iterator<Item = &'s Side>) -> Option<Event> {
    let mut paths = HashSet::new();
    let mut files: Vec<NoYaml> = Vec::new();
    for (_, YamlFault { place, why }) in sides.flat_map(Side::no_yaml).filter(|(path, _)| paths.insert(*path)) {
        match files.iter_mut().find(|of_reason| of_reason.why == *why) {
            Some(of_reason) => of_reason.places.push(place.clone()),
            None => files.push(NoYaml { why: why.clone(), places: vec![place.clone()] }),
        }
    }
    (!files.is_empty()).then(|| Event::of(What::NoYaml(files)))
}

/// Adds the file and position to errors in files of the sides, as in all other errors.
pub fn with_places<'s>(results: &mut [Event], sides: impl Iterator<Item = &'s Side>) {
    if results.iter().all(|r| r.severity != Severity::Error) {
        return;
    }
    let files: HashSet<&str> = sides.flat_map(|s| &s.files).map(|f| f.name.as_str()).collect();
    for result in results.iter_mut() {
        if let Some(place) = result.at_mut() {
            let is_known = files.contains(place.text.as_str());
            place.form = if is_known { TextForm::File } else { TextForm::Unknown };
        }
    }
}

#[cfg(test)]
mod tests {
    use krm_job::event::TextPlace;

    use super::*;

    #[test]
    fn a_place_comes_first_and_once() {
        let file = Some(krm_job::event::File { path: "a.yaml".into(), index: None });
        let position = krm_yaml::Position { line: 3, column: 5 };
        let place = TextPlace::new("a b.yaml", position, TextForm::File);
        let said = |text: &str| Event::new(Severity::Error, text);
        let wrong = Event::of(What::Wrong { why: "it must be".into(), place });
        for (outcome, want) in [
            (wrong, "error: a b.yaml:3:5: it must be"),
            (said("it must be"), "error: a.yaml: it must be"),
            (said("`data.x:1`: it must be"), "error: a.yaml: `data.x:1`: it must be"),
        ] {
            assert_eq!(line(&Event { file: file.clone(), ..outcome }), want);
        }
    }
}
