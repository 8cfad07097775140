//! Which items a patch is for, when it is not the one that it names: the `target` of a source.
//!
//! It selects as kustomize's `patches[].target` does: everything that is given must fit, and a pattern must fit the whole value. Only an
//! empty pattern is another one: there it says nothing, here it fits what is empty, as the core group is. Source: kustomize's
//! `types.Selector` and `SelectorRegex`.

mod selector;

use std::fmt;

use regex_lite::Regex;

use crate::yaml::NodeRef;
use selector::Selector;

/// A `target`, ready to be asked.
#[derive(Debug)]
pub struct Target {
    field: String,
    written: String,
    fields: Vec<(Field, Pattern)>,
    labels: Option<Selector>,
    annotations: Option<Selector>,
}

/// What of an item a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The group of its apiVersion; empty for the core group.
    Group,
    /// The version of its apiVersion.
    Version,
    /// Its kind.
    Kind,
    /// Its name.
    Name,
    /// Its namespace; where none is written, `default` fits, too.
    Namespace,
}

/// A pattern for a whole value. Most are a plain word, and need no expression to be compared.
#[derive(Debug)]
enum Pattern {
    Word(String),
    Expression(Regex),
}

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        if text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/')) {
            return Ok(Self::Word(text.to_owned()));
        }
        let whole = Regex::new(&format!("^(?:{text})$")).map_err(|e| e.to_string())?;
        Ok(Self::Expression(whole))
    }

    fn fits(&self, value: &str) -> bool {
        match self {
            Self::Word(word) => word == value,
            Self::Expression(expression) => expression.is_match(value),
        }
    }
}

impl Target {
    /// One that selects everything; `field` is where the user wrote it and `written` how, for messages.
    pub fn new(field: impl Into<String>, written: impl Into<String>) -> Self {
        Self { field: field.into(), written: written.into(), fields: Vec::new(), labels: None, annotations: None }
    }

    /// With a regular expression for a field.
    ///
    /// # Errors
    /// It is no regular expression; says why.
    pub fn with_pattern(mut self, field: Field, pattern: &str) -> Result<Self, String> {
        self.fields.push((field, Pattern::new(pattern)?));
        Ok(self)
    }

    /// With a selector over labels, as kubectl's `-l` takes it.
    ///
    /// # Errors
    /// It is no selector; says why.
    pub fn with_labels(mut self, selector: &str) -> Result<Self, String> {
        self.labels = Some(Selector::parse(selector)?);
        Ok(self)
    }

    /// The same over annotations.
    ///
    /// # Errors
    /// It is no selector; says why.
    pub fn with_annotations(mut self, selector: &str) -> Result<Self, String> {
        self.annotations = Some(Selector::parse(selector)?);
        Ok(self)
    }

    /// Where it is written: `spec.source[0].target`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Whether it selects a resource.
    pub fn selects(&self, resource: NodeRef<'_>) -> bool {
        let text = |path: &[&str]| resource.at(path).and_then(NodeRef::as_str).unwrap_or_default();
        let of_version = || text(&["apiVersion"]).rsplit_once('/').unwrap_or(("", text(&["apiVersion"])));
        let fits = |(field, pattern): &(Field, Pattern)| match field {
            Field::Group => pattern.fits(of_version().0),
            Field::Version => pattern.fits(of_version().1),
            Field::Kind => pattern.fits(text(&["kind"])),
            Field::Name => pattern.fits(text(&["metadata", "name"])),
            Field::Namespace => match text(&["metadata", "namespace"]) {
                "" => pattern.fits("") || pattern.fits("default"),
                namespace => pattern.fits(namespace),
            },
        };
        let selects = |selector: &Option<Selector>, map: &str| {
            selector.as_ref().is_none_or(|s| s.fits(|key| resource.at(&["metadata", map, key])?.as_str()))
        };
        self.fields.iter().all(fits) && selects(&self.labels, "labels") && selects(&self.annotations, "annotations")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Document;

    const ITEM: &str =
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-1, labels: {app: web}, annotations: {tier: a}}}";

    fn selects(fields: &[(Field, &str)]) -> bool {
        let doc = Document::parse(ITEM).expect("valid");
        let target = fields.iter().try_fold(Target::new("", ""), |t, (field, p)| t.with_pattern(*field, p));
        target.expect("patterns").selects(doc.roots().next().expect("a root"))
    }

    #[test]
    fn everything_given_must_fit_the_whole_value() {
        for (fields, want) in [
            (&[][..], true),
            (&[(Field::Group, "apps"), (Field::Version, "v1"), (Field::Kind, "Deployment")], true),
            (&[(Field::Group, "")], false),
            (&[(Field::Kind, "Deploy")], false),
            (&[(Field::Kind, "Deploy.*")], true),
            (&[(Field::Name, "web-.*")], true),
            (&[(Field::Name, "eb-.")], false),
            (&[(Field::Name, "api|web-1")], true),
            (&[(Field::Name, "web-.*"), (Field::Kind, "Service")], false),
            (&[(Field::Namespace, "default")], true),
            (&[(Field::Namespace, "")], true),
            (&[(Field::Namespace, "prod")], false),
        ] {
            assert_eq!(selects(fields), want, "{fields:?}");
        }
        assert!(Target::new("", "").with_pattern(Field::Name, "web-[").is_err());
    }

    #[test]
    fn labels_and_annotations_are_selected_alike() {
        let doc = Document::parse(ITEM).expect("valid");
        let root = doc.roots().next().expect("a root");
        let labels = |s: &str| Target::new("", "").with_labels(s).expect("a selector").selects(root);
        let annotations = |s: &str| Target::new("", "").with_annotations(s).expect("a selector").selects(root);
        assert_eq!((labels("app=web"), labels("tier=a")), (true, false));
        assert_eq!((annotations("app=web"), annotations("tier in (a, b)")), (false, true));
    }
}
