//! Which lists of Kubernetes' types merge, by which keys, and what a type says of its fields.
//!
//! [`Types`](schema::Types) are the built-in types, the definitions and the rules that a merge knows. A [`Cursor`](schema::Cursor) goes down in one
//! of them beside a resource, and [`list_kind`](schema::list_kind) says how the list there merges.
//!
//! ```
//! use krm_schema::mode::Mode;
//! use krm_schema::schema::{Inference, ListKind, Types, list_kind};
//! use krm_yaml::Document;
//!
//! let service = Document::parse("spec: {ports: [{name: http, port: 80}]}")?;
//! let spec = service.roots().next().and_then(|root| root.get("spec")).expect("a spec");
//! let types = Types::new([], Inference::On);
//! let ports = types.root("v1", "Service", Mode::ThreeWay).field("spec").field("ports");
//! let elements: Vec<_> = spec.get("ports").expect("ports").elements().collect();
//! let kind = list_kind(ports, &[elements]).expect("a kind");
//! assert!(matches!(kind, ListKind::Map(_)));
//! # Ok::<(), krm_yaml::Error>(())
//! ```
//!
//! It never merges anything, and it asks no cluster: what a server knows comes in as an OpenAPI document. The tables of built-in types and of known
//! custom resources are made by `cargo xtask schema` and `cargo xtask atlas`, never edited by hand: `schema/README.md` says how.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod schema;

pub mod immutable;
pub mod reference;
pub mod scope;

pub mod grounds;

pub mod mode;
