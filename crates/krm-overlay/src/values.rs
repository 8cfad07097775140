//! [`Value`]: values as helm has them, and how it lays one over another.
//!
//! Everything that is special about helm's values is in this file. A map is merged field by field, a list is replaced as a whole, and a null
//! removes what is below it. Source: helm's `pkg/chart/common/util/coalesce.go`.

use std::collections::BTreeMap;
use std::fmt;

use krm_tree::child::Value as _;
use krm_tree::tree::View;
use krm_yaml::{Kind, NodeRef, Scalar, Style, plain_or_quoted, quoted_json};

/// A value of helm: what a text of values means, without its formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A map. Helm sorts the fields.
    Map(BTreeMap<String, Value>),
    /// A list.
    List(Vec<Value>),
    /// Anything else.
    Scalar(Scalar<'static>),
}

impl Value {
    /// The value of a node.
    pub fn of(node: NodeRef<'_>) -> Self {
        let node = node.resolve();
        if node.is_map() {
            let fields = node.fields().filter(|(key, _)| !key.is_container());
            return Self::Map(fields.map(|(key, value)| (key.string().to_owned(), Self::of(value))).collect());
        }
        if node.is_list() {
            return Self::List(node.elements().map(Self::of).collect());
        }
        match node.scalar() {
            Some(Scalar::String(text)) if node.style() == Style::Plain && node.tag().is_none() => {
                Self::Scalar(old_bool(&text).map_or_else(|| Scalar::String(text.into_owned().into()), Scalar::Bool))
            }
            scalar => Self::Scalar(owned(scalar.unwrap_or(Scalar::Null))),
        }
    }

    /// The value of what a merge made.
    pub(crate) fn of_view(view: View<'_, '_>) -> Self {
        match view {
            View::Node(node) => Self::of(node),
            view if view.is_list() => Self::List(view.elements().into_iter().map(Self::of_view).collect()),
            view if view.is_map() => {
                let fields = view.fields().into_iter();
                Self::Map(fields.map(|(name, value)| (name.to_owned(), Self::of_view(value))).collect())
            }
            view => Self::Scalar(owned(view.scalar().unwrap_or(Scalar::Null))),
        }
    }

    /// The value at a path of fields.
    pub fn at<S: AsRef<str>>(&self, path: &[S]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| value.field(name.as_ref()))
    }

    /// The value of a field; `None` if this is not a map.
    pub fn field(&self, name: &str) -> Option<&Self> {
        if let Self::Map(fields) = self { fields.get(name) } else { None }
    }

    /// The value at a path of fields, to be changed.
    pub(crate) fn at_mut<S: AsRef<str>>(&mut self, path: &[S]) -> Option<&mut Self> {
        path.iter().try_fold(self, |value, name| match value {
            Self::Map(fields) => fields.get_mut(name.as_ref()),
            _ => None,
        })
    }

    /// Sets the value at a path of fields, with the maps on the way.
    pub(crate) fn set(&mut self, path: &[&str], value: Self) {
        let (Some((name, rest)), Self::Map(fields)) = (path.split_first(), &mut *self) else {
            *self = value;
            return;
        };
        fields.entry((*name).to_owned()).or_insert_with(Self::empty).set(rest, value);
    }

    /// A map without fields.
    pub(crate) fn empty() -> Self {
        Self::Map(BTreeMap::new())
    }

    /// A text.
    pub(crate) fn string(text: &str) -> Self {
        Self::Scalar(Scalar::String(text.to_owned().into()))
    }

    /// The text of a scalar; `None` for anything else.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Scalar(Scalar::String(text)) => Some(text.to_string()),
            Self::Scalar(scalar) if *scalar != Scalar::Null => Some(self.to_string()),
            _ => None,
        }
    }

    /// Whether it is a map, a list or a scalar.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Map(_) => Kind::Map,
            Self::List(_) => Kind::List,
            Self::Scalar(_) => Kind::Scalar,
        }
    }

    /// Its text behind the colon of a field at the left margin, in block style.
    pub(crate) fn block(&self) -> String {
        let indented = |text: &str| text.replace('\n', "\n  ");
        match self {
            Self::Map(fields) if !fields.is_empty() => {
                let field = |(name, value): (&String, &Self)| {
                    format!("\n  {}:{}", plain_or_quoted(name), indented(&value.block()))
                };
                fields.iter().map(field).collect()
            }
            Self::List(elements) if !elements.is_empty() => {
                let element = |value: &Self| match value {
                    Self::List(_) => indented(&value.block()),
                    _ => value.block(),
                };
                elements.iter().map(|value| format!("\n- {}", element(value).trim_start())).collect()
            }
            Self::Scalar(Scalar::String(text)) => format!(" {}", plain_or_quoted(text)),
            _ => format!(" {self}"),
        }
    }

    /// Whether it is a null, which removes what is below it.
    pub fn is_null(&self) -> bool {
        *self == Self::Scalar(Scalar::Null)
    }
}

/// It is written as JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(fields) => {
                f.write_str("{")?;
                for (number, (name, value)) in fields.iter().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    write!(f, "{comma}{}: {value}", quoted_json(name))?;
                }
                f.write_str("}")
            }
            Self::List(elements) => {
                f.write_str("[")?;
                for (number, element) in elements.iter().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
            Self::Scalar(Scalar::Null) => f.write_str("null"),
            Self::Scalar(Scalar::Bool(value)) => write!(f, "{value}"),
            Self::Scalar(Scalar::Number(number)) => f.write_str(number.to_decimal().as_deref().unwrap_or(".nan")),
            Self::Scalar(Scalar::Timestamp(text) | Scalar::String(text) | Scalar::Tagged(_, text)) => {
                f.write_str(&quoted_json(text))
            }
        }
    }
}

/// Values with others laid over them. A null removes what is below it.
pub(crate) fn laid_over(below: &Value, above: &Value) -> Value {
    let (Value::Map(below), Value::Map(above)) = (below, above) else { return above.clone() };
    let mut fields = below.clone();
    for (name, value) in above {
        match fields.get(name) {
            Some(_) if value.is_null() => _ = fields.remove(name),
            Some(known) => {
                let value = laid_over(known, value);
                fields.insert(name.clone(), value);
            }
            None => _ = fields.insert(name.clone(), value.clone()),
        }
    }
    Value::Map(fields)
}

/// The words of YAML 1.1 that helm reads as a boolean, and go-yaml v3 as a string.
fn old_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn owned(scalar: Scalar<'_>) -> Scalar<'static> {
    match scalar {
        Scalar::Null => Scalar::Null,
        Scalar::Bool(value) => Scalar::Bool(value),
        Scalar::Number(number) => Scalar::Number(number),
        Scalar::Timestamp(text) => Scalar::Timestamp(text.into_owned().into()),
        Scalar::String(text) => Scalar::String(text.into_owned().into()),
        Scalar::Tagged(tag, text) => Scalar::Tagged(tag.into_owned().into(), text.into_owned().into()),
    }
}
