//! [`review`]: what new defaults of a chart do to the values over them.
//!
//! Nobody gives the templates here, so no value is called gone.

use krm_job::event::Severity;
use krm_json::merge::{Place, ToldResult};
use krm_overlay::{Chart, Layer, Named, Verdict};
use krm_tree::sides::{Side, Sides};
use krm_words::overlay as words;
use krm_yaml::{Document, Position};

/// Says what `updated`, the new `values.yaml` of a chart, does to the values `dest` over `original`, the old one.
pub fn review(texts: Sides<&str>) -> Vec<ToldResult> {
    let parsed = texts.map(Document::parse);
    let fault = |(side, parsed): (Side, &Result<Document<'_>, krm_yaml::Error>)| {
        let error = parsed.as_ref().err()?;
        Some(told(Severity::Error, error.message.clone(), side, error.position))
    };
    let faults: Vec<ToldResult> = parsed.iter().filter_map(fault).collect();
    let Sides { original: Ok(original), updated: Ok(updated), dest: Ok(dest) } = &parsed else { return faults };
    let values = Sides { original, updated, dest }.map(|document| document.roots().next());
    let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } = values else { return faults };
    let [original, updated] = [original, updated].map(Chart::of_defaults);
    let findings = krm_overlay::review(&original, &updated, &[Layer::of(dest)], &Named::default());
    let findings = findings.iter().filter(|found| !matches!(found.verdict, Verdict::Holds | Verdict::Same));
    let all = findings.map(|found| {
        let severity = match found.verdict {
            Verdict::Hides(_) | Verdict::OtherKind { .. } => Severity::Warning,
            _ => Severity::Info,
        };
        let message = format!("{}: {}", words::verdict(&found.verdict), words::of_value(found));
        told(severity, message, Side::Dest, dest.document().position(found.span.start))
    });
    all.collect()
}

fn told(severity: Severity, message: String, side: Side, at: Position) -> ToldResult {
    let place = Place { file: Some(side.name().to_owned()), line: Some(at.line), column: Some(at.column) };
    ToldResult { severity, message, reason: None, resource: None, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(original: &str, updated: &str, dest: &str) -> Vec<String> {
        let line = |told: ToldResult| {
            let Place { file: Some(file), line: Some(line), column: Some(column) } = told.place else {
                return told.message;
            };
            format!("{:?} {file}:{line}:{column} {}", told.severity, told.message)
        };
        review(Sides { original, updated, dest }).into_iter().map(line).collect()
    }

    #[test]
    fn values_are_reviewed_over_defaults() {
        let (old, new) = ("a: 1\nb: {c: 2, d: 3}\ngone: 1\n", "a: 2\nb: {c: 2, d: x, e: 5}\n");
        assert_eq!(
            said(old, new, "# ours\na: 9\nb:\n  c: 9\n  d: x\n  e: 6\ngone: 2\nown: 1\n"),
            [
                "Warning dest:2:1 hides: `a`: the default changed from 1 to 2, you set 9",
                "Info dest:5:3 newly the same: `b.d`: the new default is your value, so you can remove it",
                "Info dest:6:3 appears: `b.e`: the new chart has a default here, 5, which your value hides",
                "Warning dest:7:1 hides: `gone`: the default 1 was removed, you set 2",
            ]
        );
        assert_eq!(said(old, new, "a: [\n").len(), 1);
        assert!(said("a: [\n", "b: ]\n", "a: 1\n")[0].starts_with("Error original:"));
        assert_eq!(said("", new, "a: 1\n"), Vec::<String>::new());
    }
}
