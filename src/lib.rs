//! Merges Kubernetes resources, two-way, three-way or by strategic merge patch, and leaves every byte that the merge does not change.
//!
//! One idea carries it: a patch is a difference. Each mode lowers its inputs to a [`change::Change`]; one walker that knows no mode applies
//! it to dest and answers with a [`tree::Tree`]; one splicer writes the tree into dest's own text. What a change does not name is not
//! visited, let alone printed again.
//!
//! [`run`] is the whole function, text in and text out:
//!
//! ```
//! let stdin = "\
//! apiVersion: config.kubernetes.io/v1
//! kind: ResourceList
//! items:
//! - apiVersion: v1
//!   kind: ConfigMap
//!   metadata: {name: settings}
//!   data:
//!     level:   info   # as the docs say
//! functionConfig:
//!   apiVersion: krm-merge.dev/v1alpha1
//!   kind: Merge
//!   spec:
//!     mode: TwoWay
//!     source:
//!     - resources:
//!       - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: debug}}
//! ";
//! let output = krm_merge::run(stdin);
//! assert_eq!(output.verdict, krm_merge::Verdict::Passed);
//! assert_eq!(output.stdout, stdin.replace("level:   info", "level:   debug"));
//! ```
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod exec_plugin;

pub mod function;

pub mod config;
pub mod resource_list;
pub mod roles;

pub mod resource;
pub mod results;
pub mod target;
pub mod transport;

pub mod diff;
pub mod patch;

pub mod change;
pub mod merge;
pub mod policy;
pub mod review;
pub mod warning;

pub mod alias;
pub mod splice;
pub mod tree;

pub mod child;
pub mod file_path;
pub mod host;
pub mod limit;
pub mod path;
pub mod schema;
pub mod yaml;

pub mod shown;

pub use function::{Output, Verdict, run};
