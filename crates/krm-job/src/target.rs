//! [`Target`]: selects the items that a source applies to, or the resources that a rule is for.
//!
//! It selects as kustomize's `patches[].target` does: every given condition must match, and a pattern must match the whole value. What is empty
//! differs. kustomize ignores it; here an empty pattern matches an empty value, such as the group of the core types, and an empty selector is an
//! error, for it would select everything. Source: kustomize's `types.Selector` and `SelectorRegex`; `tests/kubectl/targets.rs` compares both. kustomize has no `path`.

mod selector;

use std::fmt;

use krm_package::package::Present;
use krm_package::resource::{Identity, Resource};
use krm_schema::schema::builtin::group_of;
use krm_schema::scope::is_cluster_scoped;
use krm_tree::child::Value as _;
use krm_tree::tree::View;

use crate::glob::Glob;
use crate::name::Name;
use regex_lite::Regex;
use selector::Selector;

/// A `target`, ready to select.
#[derive(Clone, Debug)]
pub struct Target {
    name: Name,
    written: String,
    fields: Vec<(TargetField, Pattern)>,
    labels: Option<Selector>,
    annotations: Option<Selector>,
    path: Option<Glob>,
}

/// The part of an item that a pattern must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetField {
    /// The group of its apiVersion; empty for the core group.
    Group,
    /// The version of its apiVersion.
    Version,
    /// Its kind.
    Kind,
    /// Its name.
    Name,
    /// Its namespace. If none is written, it is `default`. For a cluster-scoped type, it is a word that is never a namespace. Source:
    /// kustomize's `EffectiveNamespace`.
    Namespace,
}

/// The word for the namespace of a type without one, as in kustomize.
const NON_NAMESPACEABLE: &str = "_non_namespaceable_";

/// A pattern for a whole value. Most patterns are plain words, which are compared without a regular expression.
#[derive(Clone, Debug)]
enum Pattern {
    Word(String),
    Expression {
        /// As the user wrote it.
        written: String,
        regex: Regex,
    },
}

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        if let Some(word) = word(text) {
            return Ok(Self::Word(word));
        }
        let text = unquoted(text);
        // The pattern is compiled alone first, so that a `)` that closes no group of its own is an error.
        let whole = Regex::new(&text).and_then(|_| Regex::new(&format!("^(?:{text})$"))).map_err(|e| e.to_string())?;
        Ok(Self::Expression { written: text, regex: whole })
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Word(word) if word.is_empty())
    }

    fn fits(&self, value: &str) -> bool {
        match self {
            Self::Word(word) => word == value,
            Self::Expression { regex, .. } => regex.is_match(value),
        }
    }
}

/// The only text that a pattern fits, if it has no sign of a regular expression but `\` before other signs, as a recorded rule has it.
fn word(pattern: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(pattern.len()), pattern.chars());
    while let Some(c) = rest.next() {
        out.push(match c {
            '\\' => rest.next().filter(char::is_ascii_punctuation)?,
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/') => c,
            _ => return None,
        });
    }
    Some(out)
}

/// A pattern without `\Q…\E`: in Go these quote the text between them, but `regex_lite` does not know them.
fn unquoted(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, behind)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        rest = match behind.strip_prefix("\\Q") {
            Some(quoted) => {
                let (quoted, behind) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                out.push_str(&regex_lite::escape(quoted));
                behind
            }
            None => {
                let end = behind.char_indices().nth(2).map_or(behind.len(), |(at, _)| at);
                out.push_str(&behind[..end]);
                &behind[end..]
            }
        };
    }
    out + rest
}

impl Target {
    /// A target that selects everything; `written` is what the user wrote, for messages.
    pub fn new(name: Name, written: impl Into<String>) -> Self {
        Self { name, written: written.into(), fields: Vec::new(), labels: None, annotations: None, path: None }
    }

    /// Adds a regular expression for a field.
    ///
    /// # Errors
    /// It is not a regular expression; the message says why.
    pub fn with_pattern(mut self, field: TargetField, pattern: &str) -> Result<Self, String> {
        self.fields.push((field, Pattern::new(pattern)?));
        Ok(self)
    }

    /// Adds a selector over labels, as kubectl's `-l` takes it.
    ///
    /// # Errors
    /// It is not a selector; the message says why.
    pub fn with_labels(mut self, selector: &str) -> Result<Self, String> {
        self.labels = Some(Selector::parse(selector)?);
        Ok(self)
    }

    /// Adds a selector over annotations, in the form of a label selector.
    ///
    /// # Errors
    /// It is not a selector; the message says why.
    pub fn with_annotations(mut self, selector: &str) -> Result<Self, String> {
        self.annotations = Some(Selector::parse(selector)?);
        Ok(self)
    }

    /// Adds the file of a resource, or a folder that contains it, with wildcards.
    ///
    /// # Errors
    /// It is no path; the message says why.
    pub fn with_path(mut self, path: &str) -> Result<Self, String> {
        self.path = Some(Glob::new(path)?);
        Ok(self)
    }

    /// The name by which the user knows it.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Whether it selects a resource.
    pub fn selects(&self, resource: &Resource<'_>) -> bool {
        self.fits(Present { resource, identity: resource.named(), view: View::Node(resource.node()) })
    }

    /// The path that it names: a file, a folder, or one with wildcards.
    pub fn file(&self) -> Option<&str> {
        self.path.as_ref().map(Glob::as_str)
    }

    /// Whether it asks for labels or annotations.
    pub fn has_selector(&self) -> bool {
        self.labels.is_some() || self.annotations.is_some()
    }

    /// Whether a pattern of it names a kind, and does not only fit it.
    pub fn names_kind(&self, kind: &str) -> bool {
        let names = |pattern: &Pattern| match pattern {
            Pattern::Word(word) => word == kind,
            Pattern::Expression { written, .. } => written.split('|').any(|word| word == kind),
        };
        self.fields.iter().any(|(field, pattern)| *field == TargetField::Kind && names(pattern))
    }

    /// The name that it selects, if it selects no other name.
    pub fn selected_name(&self) -> Option<&str> {
        self.fields.iter().find_map(|(field, pattern)| match (field, pattern) {
            (TargetField::Name, Pattern::Word(word)) => Some(word.as_str()),
            _ => None,
        })
    }

    /// The name of a resource, as a target looks at it.
    pub fn name_of<'a>(resource: &Resource<'a>) -> &'a str {
        resource.named().name
    }

    /// Whether it selects a resource, as that is by now.
    pub fn fits(&self, Present { resource, identity, view }: Present<'_, '_, '_>) -> bool {
        let Identity { api_version, kind, namespace, name } = identity;
        // Most items fail by their kind or name, and thousands of targets may look at thousands of items.
        let version = || api_version.rsplit_once('/').map_or(api_version, |(_, version)| version);
        let fits = |(field, pattern): &(TargetField, Pattern)| match field {
            TargetField::Group => pattern.fits(group_of(api_version)),
            TargetField::Version => pattern.fits(version()),
            TargetField::Kind => pattern.fits(kind),
            TargetField::Name => pattern.fits(name),
            TargetField::Namespace => {
                let effective = match namespace {
                    _ if is_cluster_scoped(group_of(api_version), kind) => NON_NAMESPACEABLE,
                    "" => "default",
                    namespace => namespace,
                };
                if pattern.is_empty() { namespace.is_empty() } else { pattern.fits(effective) }
            }
        };
        let selects = |selector: &Option<Selector>, map: &str| {
            let Some(selector) = selector else { return true };
            let map = view.field("metadata").and_then(|metadata| metadata.field(map));
            selector.fits(|key| map?.field(key)?.text())
        };
        let is_there = |path: &Glob| resource.file().is_some_and(|file| path.fits(file));
        self.fields.iter().all(fits)
            && self.path.as_ref().is_none_or(is_there)
            && selects(&self.labels, "labels")
            && selects(&self.annotations, "annotations")
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
    use krm_package::resource::Origin;
    use krm_yaml::Document;

    const ITEM: &str =
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-1, labels: {app: web}, annotations: {tier: a}}}";

    fn selects(fields: &[(TargetField, &str)]) -> bool {
        let doc = Document::parse(ITEM).expect("valid");
        let target = fields
            .iter()
            .try_fold(Target::new(Name::Field(String::new()), ""), |t, (field, p)| t.with_pattern(*field, p));
        target.expect("patterns").selects(&Resource::read(doc.roots().next().expect("a root"), Origin::Item(0)))
    }

    #[test]
    fn everything_given_must_fit_the_whole_value() {
        for (fields, want) in [
            (&[][..], true),
            (&[(TargetField::Group, "apps"), (TargetField::Version, "v1"), (TargetField::Kind, "Deployment")], true),
            (&[(TargetField::Group, "")], false),
            (&[(TargetField::Kind, "Deploy")], false),
            (&[(TargetField::Kind, "Deploy.*")], true),
            (&[(TargetField::Name, "web-.*")], true),
            (&[(TargetField::Name, "eb-.")], false),
            (&[(TargetField::Name, "web-")], false),
            (&[(TargetField::Name, "we.")], false),
            (&[(TargetField::Name, "api|web-1")], true),
            (&[(TargetField::Name, "web|api")], false),
            (&[(TargetField::Name, "api|-1")], false),
            (&[(TargetField::Name, "web-.*"), (TargetField::Kind, "Service")], false),
            (&[(TargetField::Namespace, "default")], true),
            (&[(TargetField::Namespace, "")], true),
            (&[(TargetField::Namespace, "prod")], false),
            (&[(TargetField::Name, r"web\-1")], true),
            (&[(TargetField::Name, r"web\.1")], false),
            (&[(TargetField::Name, r"\Qweb-1\E")], true),
            (&[(TargetField::Name, r"\Qweb-1")], true),
            (&[(TargetField::Name, r"\Qweb-.\E")], false),
            (&[(TargetField::Name, r"w\Qeb\E-\d")], true),
            (&[(TargetField::Name, r"\Qweb\E|\Qapi\E")], false),
        ] {
            assert_eq!(selects(fields), want, "{fields:?}");
        }
        for pattern in ["web-[", "a)|(b", r"\pL+", r"\Q(\E)"] {
            assert!(
                Target::new(Name::Field(String::new()), "").with_pattern(TargetField::Name, pattern).is_err(),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_path_selects_the_file_of_a_resource() {
        let document = Document::parse(ITEM).expect("valid");
        let root = document.roots().next().expect("a root");
        let item = Resource::read(root, Origin::Item(0));
        let file = Resource::read(root, Origin::File { name: "b/web.yaml".to_owned(), item: None });
        let package = Resource { relative_path: Some("a/web.yaml"), ..file.clone() };
        let selects = |path: &str| {
            let target = Target::new(Name::Field(String::new()), "").with_path(path).expect("a path");
            [&item, &file, &package].map(|resource| target.selects(resource))
        };
        assert_eq!(selects("a/*.yaml"), [false, false, true]);
        assert_eq!(selects("b"), [false, true, false]);
    }

    #[test]
    fn labels_and_annotations_are_selected_alike() {
        let doc = Document::parse(ITEM).expect("valid");
        let root = &Resource::read(doc.roots().next().expect("a root"), Origin::Item(0));
        let labels =
            |s: &str| Target::new(Name::Field(String::new()), "").with_labels(s).expect("a selector").selects(root);
        let annotations = |s: &str| {
            Target::new(Name::Field(String::new()), "").with_annotations(s).expect("a selector").selects(root)
        };
        assert_eq!((labels("app=web"), labels("tier=a")), (true, false));
        assert_eq!((annotations("app=web"), annotations("tier in (a, b)")), (false, true));
    }

    #[test]
    fn an_element_of_a_list_has_the_type_that_the_list_gives() {
        let doc =
            Document::parse("{apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}]}").expect("valid");
        let elements = Resource::of_document(doc.roots().next().expect("a root"), Origin::Item);
        let selects = |kind| {
            let target = Target::new(Name::Field(String::new()), "").with_pattern(TargetField::Kind, kind);
            elements.iter().map(|element| target.as_ref().expect("a pattern").selects(element)).collect::<Vec<_>>()
        };
        assert_eq!((selects("ConfigMap"), selects("Secret")), (vec![true], vec![false]));
    }
}
