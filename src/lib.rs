//! Merges Kubernetes resources.
pub mod alias;
pub mod change;
pub mod config;
pub mod diff;
pub mod function;
pub mod merge;
pub mod patch;
pub mod path;
pub mod resource;
pub mod resource_list;
pub mod results;
pub mod roles;
pub mod schema;
pub mod splice;
pub mod transport;
pub mod yaml;

pub use function::{Output, Verdict, run};
