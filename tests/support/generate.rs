//! Values that more than one law is about.

use proptest::prelude::*;
use serde_json::{Value, json};

/// The names of elements.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// A map of the fields that are there.
pub fn map_of(fields: Vec<(&'static str, Option<Value>)>) -> Value {
    Value::Object(fields.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))).collect())
}

/// Elements of distinct names.
pub fn keyed(element: impl Fn(&'static str) -> BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    (Just(NAMES.to_vec()).prop_shuffle(), 0..=NAMES.len())
        .prop_flat_map(move |(names, count)| names[..count].iter().map(|n| element(n)).collect::<Vec<_>>())
        .prop_map(Value::Array)
}

/// A variable with this value, or with none.
pub fn env(name: &'static str, value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop::option::of(value).prop_map(move |v| map_of(vec![("name", Some(json!(name))), ("value", v)])).boxed()
}
