//! The merge driver for git, and its installation.
//!
//! git merges by line. So changes to neighbouring lines are in conflict, and so are two additions to one list. The driver merges Kubernetes
//! YAML by field, also without a name, and leaves every other file to git.

pub mod choices;
mod comments;
mod definitions;
mod driver;
mod gap;
mod halves;
mod history;
pub mod hunks;
mod install;
pub mod lines;
pub mod marks;
mod merge;
pub mod part;
mod repository;
mod versions;

pub use driver::{drive, style};
pub use history::history;
pub use install::install;
