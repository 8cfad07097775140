//! Knows which values mean the same to the server, and gives applied values the spelling of the live object.
//!
//! For its own types, the server keeps values, not text. It writes a quantity in its shortest form, a time in UTC, base64 without line
//! breaks, and omits empty fields. Only the cluster knows the type of every field, so its OpenAPI decides. Copying the spelling of the live
//! object needs no knowledge of how the server writes.

use anyhow::Result;
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, list_kind};
use krm_tree::child::{by_keys, element_key};
use krm_yaml::{Document, NodeRef};
use serde_json::{Map, Value};

use crate::object::{Object, value};
use crate::openapi::{Child, Form, Schema};
use crate::quantity::nanos;

/// Numbers and booleans of the built-in types that mean the same as a missing field if they are 0 or false. Most servers then omit them.
/// Fields with another default, such as `replicas`, are left out. So are fields where 0 or false has a meaning of its own, such as
/// `automountServiceAccountToken` and `runAsUser`.
const NOTHING_TO_SAY: [&str; 24] = [
    "allowVolumeExpansion",
    "deprecated",
    "globalDefault",
    "healthCheckNodePort",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "immutable",
    "initialDelaySeconds",
    "insecureSkipTLSVerify",
    "minReadySeconds",
    "nodePort",
    "optional",
    "paused",
    "preserveUnknownFields",
    "privileged",
    "publishNotReadyAddresses",
    "readOnly",
    "readOnlyRootFilesystem",
    "stdin",
    "stdinOnce",
    "tty",
    "unschedulable",
];

/// Fields of the built-in types in which an empty text differs from a missing field: it asks for no class at all.
const EMPTY_IS_A_VALUE: [&str; 2] = ["ingressClassName", "storageClassName"];

/// Fields of the built-in types that ask the cluster to choose a value if they are empty.
const CHOSEN: [&str; 6] =
    ["clusterIP", "healthCheckNodePort", "nodeName", "nodePort", "serviceAccountName", "volumeName"];

/// The object whose spelling is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// An object of the cluster. Fields that the server omits are removed.
    Live,
    /// An object that someone wrote. All fields stay, because a missing field has a meaning, too.
    Written,
}

/// The known type of a value.
#[derive(Clone, Copy)]
pub enum Known<'d> {
    /// Any type is possible: values that could mean the same under some type count as the same.
    Open,
    /// The schema that the cluster gives.
    Typed(Schema<'d>),
    /// The cluster gives no schema for the value.
    Unsaid,
}

impl<'d> Known<'d> {
    /// The known type of a value with this schema, if the cluster has one.
    pub fn said(schema: Option<Schema<'d>>) -> Self {
        schema.map_or(Self::Unsaid, Self::Typed)
    }

    /// The known type of a field.
    pub fn field(self, name: &str) -> Self {
        match self {
            Self::Typed(schema) => Self::said(schema.field(name)),
            other => other,
        }
    }

    /// The known type of the elements of a list.
    pub fn element(self) -> Self {
        match self {
            Self::Typed(schema) => Self::said(schema.items()),
            other => other,
        }
    }

    fn is(self, form: Form) -> bool {
        match self {
            Self::Open => true,
            Self::Typed(schema) => schema.form() == form,
            Self::Unsaid => false,
        }
    }

    /// Whether two values mean the same to the server.
    pub fn is_one(self, a: &Value, b: &Value) -> bool {
        let both = |form: Form, same: bool| same && self.is(form);
        a == b
            || matches!((a, b), (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() && !(a.is_i64() && b.is_i64()))
            || both(Form::Quantity, nanos(a).is_some_and(|n| nanos(b) == Some(n)))
            || both(Form::Bytes, bytes(a).is_some_and(|x| bytes(b) == Some(x)))
            || both(Form::Time, seconds(a).is_some_and(|t| seconds(b) == Some(t)))
            || both(Form::MicroTime, micros(a).is_some_and(|t| micros(b) == Some(t)))
    }

    /// Whether the server does not keep a field with this value.
    pub fn says_nothing(self, name: &str, value: &Value) -> bool {
        let schema = match self {
            // A null asks the server to remove the field.
            _ if value.is_null() => return true,
            Self::Open => return is_empty(value),
            Self::Typed(schema) if schema.is_builtin() => schema,
            Self::Typed(_) | Self::Unsaid => return false,
        };
        let is_field = schema.child() == Child::Field;
        is_empty(value)
            && match value {
                // The server keeps lists in protobuf, which cannot tell an empty list from a missing one.
                Value::Array(_) => true,
                Value::Object(_) => schema.is_map(),
                Value::String(_) => is_field && !EMPTY_IS_A_VALUE.contains(&name),
                _ => is_field && NOTHING_TO_SAY.contains(&name),
            }
    }

    /// Whether an empty field asks the cluster to choose its value.
    pub fn lets_choose(self, name: &str, value: &Value) -> bool {
        let is_builtin = match self {
            Self::Open => true,
            Self::Typed(schema) => schema.is_builtin() && schema.child() == Child::Field,
            Self::Unsaid => false,
        };
        is_builtin && is_empty(value) && CHOSEN.contains(&name)
    }

    /// Whether the server drops a field with this name, because the type does not have it.
    pub fn drops(self, name: &str) -> bool {
        matches!(self, Self::Typed(schema) if schema.is_closed() && schema.field(name).is_none())
    }

    /// Whether the schema says that the server sets this value if nobody sets the field.
    pub fn defaults_to(self, value: &Value) -> bool {
        match self {
            // The schemas of the built-in types give each required field its zero value as default. Such defaults do not count, except an
            // empty map: the server always writes a map that is no pointer in its own code, such as `conditions` of an endpoint.
            Self::Typed(schema) if schema.is_builtin() => {
                (!is_empty(value) || value.is_object()) && schema.default() == Some(value)
            }
            Self::Typed(schema) => schema.default().is_some_and(|default| self.is_made_of(default, value)),
            Self::Open | Self::Unsaid => false,
        }
    }

    /// Whether the server makes this value of a default: it sets the defaults of the fields of a map in the default of the map, too.
    fn is_made_of(self, default: &Value, value: &Value) -> bool {
        let (Value::Object(default), Value::Object(map)) = (default, value) else { return self.is_one(default, value) };
        default.keys().all(|name| map.contains_key(name))
            && map.iter().all(|(name, value)| {
                let field = self.field(name);
                default.get(name).map_or_else(|| field.defaults_to(value), |default| field.is_made_of(default, value))
            })
    }

    /// Whether the value is a map that has one owner as a whole.
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::Typed(schema) if schema.is_atomic())
    }
}

/// Whether a value is null, false, zero or empty.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// The bytes that base64 encodes. As in the server, line breaks are ignored.
fn bytes(value: &Value) -> Option<ByteString> {
    serde_json::from_value(value.as_str()?.replace(['\r', '\n'], "").into()).ok()
}

fn seconds(value: &Value) -> Option<i64> {
    value.as_str()?;
    serde_json::from_value(value.clone()).ok().map(|Time(time)| time.as_second())
}

fn micros(value: &Value) -> Option<i64> {
    value.as_str()?;
    serde_json::from_value(value.clone()).ok().map(|MicroTime(time)| time.as_microsecond())
}

/// An object with the spelling of another object, for values that mean the same to the server.
///
/// # Errors
/// The objects cannot be compared.
pub fn spelled(object: &Object, other: &Object, like: Like, types: &Types<'_>, known: Known<'_>) -> Result<Object> {
    let documents = [Document::parse(object.yaml())?, Document::parse(other.yaml())?];
    let [Some(mine), Some(theirs)] = documents.each_ref().map(|d| d.roots().next()) else { return Ok(object.clone()) };
    let cursor = types.root(other.api_version(), other.kind(), Mode::ThreeWay);
    Ok(Object::live(node(mine, theirs, like, cursor, known)?))
}

fn node<'a>(mine: NodeRef<'a>, other: NodeRef<'a>, like: Like, cursor: Cursor<'a>, known: Known<'_>) -> Result<Value> {
    if mine.is_map() && other.is_map() {
        let mut out = Map::new();
        for (key, child) in mine.entries() {
            let name = key.string();
            let partner = other.get(name).filter(|o| !o.is_null());
            let (cursor, known) = (cursor.child(name, [child].into_iter().chain(partner)), known.field(name));
            let written = value(child)?;
            let goes = match partner {
                None => known.says_nothing(name, &written),
                Some(partner) => known.lets_choose(name, &written) && !is_empty(&value(partner)?),
            };
            if goes && like == Like::Live {
                continue;
            }
            let kept = partner.map_or(Ok(written), |partner| node(child, partner, like, cursor, known))?;
            out.insert(name.to_owned(), kept);
        }
        return Ok(Value::Object(out));
    }
    if mine.is_list() && other.is_list() {
        let elements = paired(mine, other, cursor).into_iter().map(|(element, partner)| match partner {
            Some(partner) => node(element, partner, like, cursor, known.element()),
            None => value(element),
        });
        return elements.collect::<Result<Vec<_>>>().map(Value::Array);
    }
    let (mine, other) = (value(mine)?, value(other)?);
    Ok(if known.is_one(&mine, &other) { other } else { mine })
}

/// The elements of a list, each with the same element of another list.
pub fn paired<'a>(
    mine: NodeRef<'a>,
    other: NodeRef<'a>,
    cursor: Cursor<'a>,
) -> Vec<(NodeRef<'a>, Option<NodeRef<'a>>)> {
    let lists: [Vec<NodeRef<'a>>; 2] = [mine.elements().collect(), other.elements().collect()];
    let keys = match list_kind(cursor, &lists) {
        Ok(ListKind::Map(keys)) => keys,
        _ => Vec::new(),
    };
    let is_as_long = lists[0].len() == lists[1].len();
    let others = by_keys(other, &keys);
    let partner = |i: usize, element: NodeRef<'a>| match element_key(element, &keys) {
        Some(key) => others.get(&key).copied(),
        None => lists[1].get(i).copied().filter(|_| is_as_long),
    };
    lists[0].iter().enumerate().map(|(i, element)| (*element, partner(i, *element))).collect()
}

/// A live object without its nulls in fields for which `said` has a value. The server writes null for an empty list, as in a Role without
/// rules. A null of the user is different: it removes the field, and `said` has it.
///
/// # Errors
/// The objects cannot be compared.
pub fn without_nulls(live: &Object, said: &Object, types: &Types<'_>) -> Result<Object> {
    let documents = [Document::parse(live.yaml())?, Document::parse(said.yaml())?];
    let [Some(live_root), Some(said_root)] = documents.each_ref().map(|d| d.roots().next()) else {
        return Ok(live.clone());
    };
    Ok(Object::live(node_without_nulls(
        live_root,
        said_root,
        types.root(live.api_version(), live.kind(), Mode::ThreeWay),
    )?))
}

fn node_without_nulls<'a>(live: NodeRef<'a>, said: NodeRef<'a>, cursor: Cursor<'a>) -> Result<Value> {
    if live.is_map() && said.is_map() {
        let mut out = Map::new();
        for (key, child) in live.entries() {
            let name = key.string();
            let kept = match said.get(name).filter(|said| !said.is_null()) {
                Some(_) if child.is_null() => continue,
                Some(said) => node_without_nulls(child, said, cursor.child(name, [child, said]))?,
                None => value(child)?,
            };
            out.insert(name.to_owned(), kept);
        }
        return Ok(Value::Object(out));
    }
    if live.is_list() && said.is_list() {
        let elements = paired(live, said, cursor).into_iter().map(|(element, said)| match said {
            Some(said) => node_without_nulls(element, said, cursor),
            None => value(element),
        });
        return elements.collect::<Result<Vec<_>>>().map(Value::Array);
    }
    value(live)
}
