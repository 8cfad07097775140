//! Reads a node with serde. Errors name the field, quote what was written and say what is allowed.
//!
//! The functionConfig is part of a text that is already parsed. Reading it from the tree parses nothing twice and keeps the places. A
//! detour over another YAML library would lose them.

use std::fmt;

use krm_yaml::{Error, Kind, NodeRef, Scalar};
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor, value::StrDeserializer};

/// Reads a value from a node. `name` is the node's name in messages about the node as a whole.
///
/// # Errors
/// A value that the type does not accept, such as `` `spec.mode` must be … ``, with the place.
pub fn from_node<'a, T: serde::Deserialize<'a>>(node: NodeRef<'a>, name: &str) -> Result<T, Error> {
    T::deserialize(Reader(node)).map_err(|e| {
        let mut path = String::new();
        for step in e.path.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        let subject = if path.is_empty() { name } else { &path };
        node.document().error(e.at.unwrap_or(node.start()), format!("`{subject}` {}", e.message))
    })
}

/// The name by which a type says that a resource may stand in its place. It reads the resource as a unit.
pub const OR_RESOURCE: &str = "resource, or";

/// Whether a node is a resource, not a setting.
fn is_resource(node: NodeRef<'_>) -> bool {
    let is_text = |value: NodeRef<'_>| matches!(value.scalar(), Some(Scalar::String(_)));
    ["apiVersion", "kind"].iter().all(|field| node.get(field).is_some_and(is_text))
}

/// An error, with the path to the field. The path grows from the inside out while the reader unwinds.
#[derive(Debug)]
struct Failure {
    message: String,
    path: Vec<String>,
    at: Option<usize>,
}

impl Failure {
    fn new(message: String) -> Self {
        Self { message, path: Vec::new(), at: None }
    }

    fn within(mut self, step: String, node: NodeRef<'_>) -> Self {
        self.path.push(step);
        self.at.get_or_insert(node.start());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The names in back-quotes, joined by commas and `or`.
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The names of values without their other names, which begin with a small letter: messages say each in one way. The operations of a JSON
/// patch have small letters alone.
fn first_names(names: &'static [&'static str]) -> Vec<&'static str> {
    let is_first = |name: &&str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let first: Vec<_> = names.iter().copied().filter(is_first).collect();
    if first.is_empty() { names.to_vec() } else { first }
}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match unexpected {
            de::Unexpected::Str(s) => format!("\"{s}\""),
            de::Unexpected::Unit => "null".into(),
            de::Unexpected::Map => "a map".into(),
            de::Unexpected::Seq => "a list".into(),
            de::Unexpected::Bool(b) => format!("\"{b}\""),
            de::Unexpected::Signed(n) => format!("\"{n}\""),
            de::Unexpected::Unsigned(n) => format!("\"{n}\""),
            de::Unexpected::Float(n) => format!("\"{n}\""),
            other => other.to_string(),
        };
        let expected = match expected.to_string().as_str() {
            "a sequence" => "a list".to_owned(),
            e if e.starts_with("struct ") || e == "a map" => "a map".to_owned(),
            "a boolean" => "`true` or `false`".to_owned(),
            e => e.to_owned(),
        };
        Self::new(format!("must be {expected}, not {found}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("must be {}, not \"{variant}\"", one_of(&first_names(expected))))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("must not have the field \"{field}\"; allowed: {}", one_of(expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("must have the field `{field}`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("must have the field `{field}` once"))
    }
}

struct Reader<'a>(NodeRef<'a>);

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let node = self.0.resolve();
        match node.kind() {
            Kind::Map => {
                visitor.visit_map(Entries { fields: node.fields().collect::<Vec<_>>().into_iter(), value: None })
            }
            Kind::List => {
                visitor.visit_seq(Elements { elements: node.elements().collect::<Vec<_>>().into_iter(), index: 0 })
            }
            _ => match node.scalar() {
                None | Some(Scalar::Null) => visitor.visit_unit(),
                Some(Scalar::Bool(b)) => visitor.visit_bool(b),
                Some(Scalar::Number(n)) => {
                    let decimal = n.to_decimal().unwrap_or_default();
                    match (decimal.parse::<i64>(), decimal.parse::<u64>(), decimal.parse::<f64>()) {
                        (Ok(n), ..) => visitor.visit_i64(n),
                        (_, Ok(n), _) => visitor.visit_u64(n),
                        (.., Ok(n)) => visitor.visit_f64(n),
                        _ => visitor.visit_borrowed_str(node.string()),
                    }
                }
                Some(Scalar::String(_) | Scalar::Timestamp(_) | Scalar::Tagged(..)) => {
                    visitor.visit_borrowed_str(node.string())
                }
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Failure> {
        if name == OR_RESOURCE && is_resource(self.0.resolve()) {
            return visitor.visit_unit();
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.0.as_str() {
            Some(name) => visitor.visit_enum::<StrDeserializer<'_, Failure>>(name.into_deserializer()),
            None => Err(Failure::new(format!("must be {}", one_of(&first_names(variants))))),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        // serde would also read a struct from a list, by position. Nobody means that.
        if self.0.is_list() {
            Err(Failure::new("must be a map, not a list".into()))
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier
    }
}

struct Entries<'a> {
    fields: std::vec::IntoIter<(NodeRef<'a>, NodeRef<'a>)>,
    value: Option<(NodeRef<'a>, NodeRef<'a>)>,
}

impl<'a> de::MapAccess<'a> for Entries<'a> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let Some((key, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = Some((key, value));
        let name: StrDeserializer<'_, Failure> = key.string().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|mut e| {
            e.at.get_or_insert(key.start());
            e
        })
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        let Some((key, value)) = self.value.take() else {
            return Err(Failure::new("must have a value".into()));
        };
        seed.deserialize(Reader(value)).map_err(|e| e.within(key.string().to_owned(), value))
    }
}

struct Elements<'a> {
    elements: std::vec::IntoIter<NodeRef<'a>>,
    index: usize,
}

impl<'a> de::SeqAccess<'a> for Elements<'a> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let Some(element) = self.elements.next() else {
            return Ok(None);
        };
        let step = format!("[{}]", self.index);
        self.index += 1;
        seed.deserialize(Reader(element)).map(Some).map_err(|e| e.within(step, element))
    }
}
