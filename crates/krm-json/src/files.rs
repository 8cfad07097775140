//! [`Files`]: the files of a package as texts, and what a program must give.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Texts by the paths of their files.
pub type FilesByPath = BTreeMap<String, String>;

/// The files of a package.
#[derive(Clone, Debug)]
pub enum Files {
    /// One text, whose path is empty.
    Text(String),
    /// Texts by their paths.
    ByPath(FilesByPath),
}

impl Default for Files {
    fn default() -> Self {
        Self::ByPath(FilesByPath::new())
    }
}

impl Files {
    /// Reads the files that a program gives as `name`.
    ///
    /// # Errors
    /// They are something else.
    pub fn of(name: &str, value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Object(files) => {
                let of = |(path, value): (String, Value)| match value {
                    Value::String(text) => Ok((path, text)),
                    other => Err(must_be("a string", &format!("{name}[{}]", Value::from(path)), &other)),
                };
                files.into_iter().map(of).collect::<Result<_, _>>().map(Self::ByPath)
            }
            other => Err(must_be("a string, or an object with a string for each path", name, &other)),
        }
    }

    /// The texts by their paths.
    pub fn by_path(&self) -> BTreeMap<&str, &str> {
        match self {
            Self::Text(text) => BTreeMap::from([("", text.as_str())]),
            Self::ByPath(files) => files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect(),
        }
    }

    /// The same, to be changed.
    pub fn to_owned(&self) -> FilesByPath {
        self.by_path().into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
    }
}

/// The fields of an object that a program gives as `name`.
///
/// # Errors
/// It is something else.
pub fn fields(name: &str, value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(must_be("an object", name, &other)),
    }
}

/// A text that a program gives as `name`, or `None` for null.
///
/// # Errors
/// It is something else.
pub fn text(name: &str, value: Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(must_be("a string", name, &other)),
    }
}

/// The error for a field of another name. `what` has these `fields`.
pub fn no_field(name: &str, what: &str, fields: &str) -> String {
    format!("`{name}` must be a field of the {what}: {fields}")
}

/// The error for something in the place of what must be there.
pub fn must_be(what: &str, name: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("`{name}` must be {what}, not {found}")
}
