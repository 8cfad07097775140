//! Merges Kubernetes resources.
pub mod yaml;
