//! [`Reads`]: which places in the values of a chart its templates read.
//!
//! The templates are walked with sets of things that each expression may be ([`run`]). What cannot be known counts as read.

mod functions;
mod places;
mod run;
mod template;

use places::Places;

use crate::values::Value;

/// The templates of a chart, and those of the charts in it.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files that helm renders.
    pub rendered: Vec<Source>,
    /// The files that only define templates.
    pub definitions: Vec<Source>,
    /// Texts that a template may read and run: files beside the templates, and defaults with actions.
    pub texts: Vec<String>,
    /// Places that `Chart.yaml` names, such as the condition of a dependency.
    pub named: Vec<Vec<String>>,
    /// The charts in it, each with the field of its values.
    pub subcharts: Vec<(String, Sources)>,
    /// A chart that it needs, and whose files are missing.
    pub missing: Option<String>,
}

/// A file with a template.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path from the folder of the outermost chart on.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Which places in the values of a chart its templates read.
#[derive(Clone, Debug)]
pub struct Reads {
    places: Places,
    /// Why it is not known what they read; then all of it counts as read.
    pub unknown: Option<Blind>,
    /// Places whose values a template also takes as those of the whole: `common` of a library that merges its own defaults into the values.
    pub at_the_root: Vec<Vec<String>>,
}

/// Why it is not known what templates read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blind {
    /// The files of this chart are missing.
    NoSubchart(String),
    /// A template of this file uses all values at once.
    All(String),
    /// The template in this file is broken.
    Broken(String),
    /// The templates take too many steps.
    TooLarge,
}

impl Reads {
    /// What these templates read.
    pub fn of(sources: &Sources) -> Self {
        run::Run::all(sources)
    }

    /// Whether a place is read. The defaults are those of the chart.
    pub fn read(&self, path: &[String], defaults: &Value) -> bool {
        self.unknown.is_some() || self.places.are_read(path, defaults)
    }
}

/// The places that a text of values names in its actions, such as `{{ .Values.host }}`; `None` if it takes more than places with names.
pub fn named_in(text: &str) -> Option<Vec<Vec<String>>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    if !text.contains("{{") {
        return Some(found);
    }
    for (at, values) in text.match_indices(".Values") {
        let mut rest = &text[at + values.len()..];
        let mut path = Vec::new();
        while let Some(field) = rest.strip_prefix('.') {
            let end = field.find(|c| !is_name(c)).unwrap_or(field.len());
            path.extend(Some(field[..end].to_owned()).filter(|name| !name.is_empty()));
            rest = &field[end..];
        }
        found.push(Some(path).filter(|path| !path.is_empty())?);
    }
    Some(found)
}
