//! [`Value`]: a value of a field, owned, as a result of a function shows it.

use krm_tree::child::Value as _;
use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use krm_tree::tree::View;
use krm_yaml::{Kind, NodeRef, Scalar};
use serde::{Serialize, Serializer};

/// A value of YAML.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, in decimal notation. An integer of 64 bits or a float has it exactly.
    Number(String),
    /// A text, or a number that no usual type has exactly.
    String(String),
    /// A list.
    List(Vec<Self>),
    /// A map, in the order of the text.
    Map(Vec<(String, Self)>),
    /// A value with a tag that is none of YAML's own.
    Tagged(String, Box<Self>),
}

/// As JSON has it, which knows no tags.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => value.serialize(serializer),
            Self::Number(text) => match (text.parse::<i64>(), text.parse::<u64>(), text.parse::<f64>()) {
                (Ok(number), ..) => number.serialize(serializer),
                (_, Ok(number), _) => number.serialize(serializer),
                (.., Ok(number)) => number.serialize(serializer),
                _ => text.serialize(serializer),
            },
            Self::String(text) => text.serialize(serializer),
            Self::List(elements) => serializer.collect_seq(elements),
            Self::Map(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
            Self::Tagged(_, value) => value.serialize(serializer),
        }
    }
}

/// The value of a node.
///
/// # Errors
/// It takes more than is left of the budget.
pub fn to_value(node: NodeRef<'_>, budget: &Budget) -> Result<Value, Exceeded> {
    let value = value_of(View::Node(node), budget);
    budget.check(Written::Results).map(|()| value)
}

/// A value, as far as the budget allows.
pub(super) fn value_of(view: View<'_, '_>, budget: &Budget) -> Value {
    // Each value takes at least its line break and one character of its own.
    if !budget.take(view.string().len() + 2) {
        return Value::Null;
    }
    let value = match view.kind() {
        Kind::Map => {
            let fields = view.fields().into_iter().filter(|(key, _)| budget.take(key.len()));
            Value::Map(fields.map(|(key, value)| (key.to_owned(), value_of(value, budget))).collect())
        }
        Kind::List => Value::List(view.elements().into_iter().map(|view| value_of(view, budget)).collect()),
        Kind::Scalar | Kind::Alias => match view.scalar() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(value)) => Value::Bool(value),
            Some(Scalar::Number(number)) => {
                let text = view.string();
                let decimal = number.to_decimal().unwrap_or_else(|| text.to_string());
                let is_integer = decimal.parse::<i64>().is_ok() || decimal.parse::<u64>().is_ok();
                match is_integer || decimal.len() <= 15 && decimal.parse::<f64>().is_ok() {
                    true => Value::Number(decimal),
                    false => Value::String(text.into()),
                }
            }
            Some(_) => Value::String(view.string().into()),
        },
    };
    match view.like().and_then(own_tag) {
        Some(tag) => Value::Tagged(tag.to_owned(), Box::new(value)),
        None => value,
    }
}

/// The tag of a value, as it is written, if it is none of YAML's own.
pub(super) fn own_tag(node: NodeRef<'_>) -> Option<&str> {
    node.tag_text().filter(|tag| tag.len() > 1 && !tag.starts_with("!!"))
}
