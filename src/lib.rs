//! Merges Kubernetes resources.
pub mod alias;
pub mod change;
pub mod merge;
pub mod patch;
pub mod path;
pub mod schema;
pub mod splice;
pub mod yaml;
