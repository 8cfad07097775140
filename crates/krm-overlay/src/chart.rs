//! [`Chart`]: a release of a chart, read from its files.

use std::collections::BTreeMap;
use std::fmt;

use krm_yaml::{Document, NodeRef};

use crate::reads::{Blind, Reads, Source, Sources};
use crate::values::{Value, laid_over};

/// How many charts may be in each other.
const MOST_DEEP: usize = 8;

/// The longest link, in bytes.
const LONGEST_LINK: usize = 300;

/// A release of a chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its name, as `Chart.yaml` has it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its default values, over those of its subcharts.
    pub defaults: Value,
    /// The charts that it needs.
    pub dependencies: Vec<Dependency>,
    /// A link that its `Chart.yaml` has, to what changed or to its sources.
    pub notes: Option<String>,
    /// The places that its templates read.
    pub(crate) reads: Reads,
}

/// A chart that another chart needs.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The name of the chart.
    pub name: String,
    /// The field of the values that lie over this chart: its alias, or its name.
    pub field: String,
    /// Whether its files are there.
    pub files: Files,
}

/// Whether the files of a chart are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// They are.
    Present,
    /// They are not, so nothing is known of the values that lie over it.
    Missing,
}

/// Why the files are not a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartError {
    /// There is no `Chart.yaml`.
    NoChart,
    /// A file is not YAML.
    Unreadable {
        /// The path of the file.
        file: String,
        /// What is wrong with it.
        message: String,
    },
}

impl fmt::Display for ChartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChart => f.write_str("a chart must have a file `Chart.yaml`"),
            Self::Unreadable { file, message } => write!(f, "{file}: {message}"),
        }
    }
}

impl std::error::Error for ChartError {}

impl Chart {
    /// Reads a chart. The paths of the files begin at the folder of the chart, such as `Chart.yaml` and `charts/redis/values.yaml`; packed
    /// subcharts must have been unpacked to `charts/NAME/`.
    ///
    /// # Errors
    /// There is no `Chart.yaml`, or a file is not YAML.
    pub fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, ChartError> {
        let parts = Parts::read(&Folder { files, at: String::new() }, 0)?;
        let reads = Reads::of(&parts.sources);
        let mut defaults = parts.defaults;
        for path in &reads.at_the_root {
            defaults = defaults.at(path).cloned().map_or(defaults.clone(), |below| laid_over(&below, &defaults));
        }
        let Parts { name, version, dependencies, notes, .. } = parts;
        Ok(Self { name, version, defaults, dependencies, notes, reads })
    }
}

impl Chart {
    /// A chart of which only the `values.yaml` is known. So each place counts as read.
    pub fn of_defaults(values: NodeRef<'_>) -> Self {
        let (defaults, reads) = (Value::of(values), Reads::not_known(Blind::NoTemplates));
        let (name, version) = (String::new(), String::new());
        Self { name, version, defaults, dependencies: Vec::new(), notes: None, reads }
    }

    /// Why it is not known what its templates read; `None` if it is known.
    pub fn blind(&self) -> Option<&Blind> {
        self.reads.unknown.as_ref()
    }
}

/// A folder of a chart among all files.
struct Folder<'f> {
    files: &'f BTreeMap<String, Vec<u8>>,
    at: String,
}

impl<'f> Folder<'f> {
    fn get(&self, file: &str) -> Option<&'f [u8]> {
        self.files.get(&format!("{}{file}", self.at)).map(Vec::as_slice)
    }

    /// The files, by their paths from this folder on.
    fn all(&self) -> impl Iterator<Item = (&'f str, &'f [u8])> {
        let from = self.files.range(self.at.clone()..);
        let inside = from.map_while(|(path, bytes)| Some((path.strip_prefix(&self.at)?, bytes.as_slice())));
        inside.collect::<Vec<_>>().into_iter()
    }

    /// The map of a YAML file; an empty one if it is missing or says nothing.
    fn map(&self, file: &str) -> Result<Value, ChartError> {
        let Some(bytes) = self.get(file) else { return Ok(Value::empty()) };
        let unreadable = |message: String| ChartError::Unreadable { file: format!("{}{file}", self.at), message };
        let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        let document = Document::parse(text).map_err(|error| unreadable(error.to_string()))?;
        let value = document.roots().next().map(Value::of);
        Ok(value.filter(|value| matches!(value, Value::Map(_))).unwrap_or_else(Value::empty))
    }
}

/// What is read of a chart, with all charts in it.
struct Parts {
    name: String,
    version: String,
    defaults: Value,
    dependencies: Vec<Dependency>,
    notes: Option<String>,
    sources: Sources,
}

impl Parts {
    fn read(folder: &Folder<'_>, depth: usize) -> Result<Self, ChartError> {
        if folder.get("Chart.yaml").is_none() {
            return Err(ChartError::NoChart);
        }
        let chart = folder.map("Chart.yaml")?;
        let text = |value: &Value, field: &str| value.field(field).and_then(Value::text).unwrap_or_default();
        let mut sources = Sources::default();
        let is_library = text(&chart, "type") == "library";
        for (path, bytes) in folder.all().filter(|(path, _)| !path.starts_with("charts/")) {
            let Ok(file) = std::str::from_utf8(bytes) else { continue };
            let name = path.rsplit('/').next().unwrap_or_default();
            let source = || Source { file: format!("{}{path}", folder.at), text: file.to_owned() };
            match path.strip_prefix("templates/") {
                Some(_) if is_library || name.starts_with('_') => sources.definitions.push(source()),
                Some(_) => sources.rendered.push(source()),
                None if !path.contains('/') && !path.starts_with("values") => {}
                None if path.ends_with(".md") || path.starts_with("values.schema") => {}
                None if file.contains("{{") && file.contains(".Values") => sources.texts.extend(actions(file)),
                None => {}
            }
        }
        let mut inside = subcharts(folder, depth)?;
        let mut needed: Vec<Value> = Vec::new();
        for file in [&chart, &folder.map("requirements.yaml")?] {
            if let Some(Value::List(all)) = file.field("dependencies") {
                needed.extend(all.iter().cloned());
            }
        }
        // Charts that are there, but that nothing asks for, are used as well.
        for name in inside.keys() {
            if !needed.iter().any(|needed| text(needed, "name") == *name) {
                needed.push(Value::Map([("name".to_owned(), Value::string(name))].into()));
            }
        }
        let (mut defaults, mut dependencies) = (Value::empty(), Vec::new());
        for need in needed {
            let name = text(&need, "name");
            let field = Some(text(&need, "alias")).filter(|alias| !alias.is_empty()).unwrap_or_else(|| name.clone());
            sources.named.extend(conditions(&text(&need, "condition")));
            sources.named.push(vec!["tags".to_owned()]);
            if need.field("import-values").is_some() {
                sources.named.push(vec![field.clone()]);
            }
            let found = inside.get_mut(&name);
            let files = if found.is_some() { Files::Present } else { Files::Missing };
            match found {
                Some(parts) => {
                    let below = Value::Map([(field.clone(), parts.defaults.clone())].into());
                    defaults = laid_over(&defaults, &below);
                    sources.subcharts.push((field.clone(), parts.sources.clone()));
                }
                None => {
                    sources.missing.get_or_insert(name.clone());
                    sources.named.push(vec![field.clone()]);
                }
            }
            dependencies.push(Dependency { name, field, files });
        }
        // A place that the schema requires may not go, whoever reads it.
        if let Ok(schema) = folder.map("values.schema.json") {
            add_required(&schema, &mut Vec::new(), &mut sources.named);
        }
        let defaults = laid_over(&defaults, &folder.map("values.yaml")?);
        let (name, version, notes) = (text(&chart, "name"), text(&chart, "version"), notes(&chart));
        Ok(Self { name, version, defaults, dependencies, notes, sources })
    }
}

/// The places that the condition of a dependency names.
pub(crate) fn conditions(condition: &str) -> impl Iterator<Item = Vec<String>> {
    let places = condition.split(',').map(str::trim).filter(|place| !place.is_empty());
    places.map(|place| place.split('.').map(str::to_owned).collect())
}

/// Adds the places that a JSON schema requires.
fn add_required(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    if let Some(Value::List(required)) = schema.field("required") {
        let places = required.iter().filter_map(Value::text);
        found.extend(places.map(|name| path.iter().cloned().chain([name.to_owned()]).collect()));
    }
    if let Some(Value::Map(properties)) = schema.field("properties") {
        for (name, below) in properties {
            path.push(name.clone());
            add_required(below, path, found);
            path.pop();
        }
    }
}

/// The first link of a `Chart.yaml`: of what its annotation for Artifact Hub says of changes, of its sources, or of its home.
fn notes(chart: &Value) -> Option<String> {
    let listed = chart.at(&["annotations", "artifacthub.io/changes"]).and_then(Value::text);
    let listed = listed.and_then(|listed| Document::parse(listed).ok());
    let changes = listed.iter().flat_map(|listed| listed.roots()).flat_map(NodeRef::elements);
    let links = changes.filter_map(|change| change.get("links")).flat_map(NodeRef::elements);
    let links: Vec<String> = links.filter_map(|link| Some(link.get("url")?.as_str()?.to_owned())).collect();
    let sources = match chart.field("sources") {
        Some(Value::List(sources)) => sources.iter().filter_map(Value::text).collect(),
        _ => Vec::new(),
    };
    let home = chart.field("home").and_then(Value::text);
    links.into_iter().chain(sources).chain(home).find(|link| is_link(link))
}

/// Whether a text is a link that may stand in any page as it is.
fn is_link(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#@&=+,;%!*".contains(&byte);
    let is_of_web = text.starts_with("https://") || text.starts_with("http://");
    is_of_web && text.len() <= LONGEST_LINK && text.bytes().all(is_plain)
}

/// The charts in the folder `charts`, by their names.
fn subcharts(folder: &Folder<'_>, depth: usize) -> Result<BTreeMap<String, Parts>, ChartError> {
    let mut found = BTreeMap::new();
    for (path, _) in folder.all() {
        let Some(name) = path.strip_prefix("charts/").and_then(|path| path.strip_suffix("/Chart.yaml")) else {
            continue;
        };
        if name.contains('/') || depth > MOST_DEEP {
            continue;
        }
        let parts =
            Parts::read(&Folder { files: folder.files, at: format!("{}charts/{name}/", folder.at) }, depth + 1)?;
        found.insert(parts.name.clone(), parts);
    }
    Ok(found)
}

/// The actions of a text, one after the other.
fn actions(text: &str) -> Vec<String> {
    let all = text.match_indices("{{").map(|(at, _)| &text[at..]);
    let ends = all.filter_map(|from| from.find("}}").map(|end| from[..end + 2].to_owned()));
    ends.filter(|action| action.contains(".Values")).collect()
}
