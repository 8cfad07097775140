//! [`Chart`]: a release of a chart, read from its files.

use std::collections::BTreeMap;
use std::fmt;

use krm_yaml::Document;

use crate::values::Value;

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
}

/// A chart that another chart needs.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The name of the chart.
    pub name: String,
    /// The field of the values that lie over this chart: its alias, or its name.
    pub field: String,
    /// The chart; `None` if its files are missing.
    pub chart: Option<Chart>,
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
        let read = |file: &str| files.get(file).map(|bytes| value(file, bytes)).transpose();
        let chart = read("Chart.yaml")?.ok_or(ChartError::NoChart)?;
        let text = |field: &str| match chart.field(field) {
            Some(Value::Scalar(krm_yaml::Scalar::String(text))) => text.to_string(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let defaults = read("values.yaml")?.unwrap_or_else(|| Value::Map(BTreeMap::new()));
        Ok(Self { name: text("name"), version: text("version"), defaults, dependencies: Vec::new() })
    }
}

/// The values of a file.
fn value(file: &str, bytes: &[u8]) -> Result<Value, ChartError> {
    let unreadable = |message: String| ChartError::Unreadable { file: file.to_owned(), message };
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    let document = Document::parse(text).map_err(|error| unreadable(error.to_string()))?;
    Ok(document.roots().next().map_or_else(|| Value::Map(BTreeMap::new()), Value::of))
}
