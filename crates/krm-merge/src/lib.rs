//! Merges Kubernetes resources, two-way, three-way or by strategic merge patch, and leaves every byte that the merge does not change.
//!
//! [`Merge`] merges packages, which are texts of files: resources, and files without resources, such as a README or the template of a chart. It
//! merges what the programs `krm-merge` and `kubectl krm-merge` merge, with the same rules. [`MergedPackage`] is a merge whose conflicts a program
//! decides. [`Plan`] has the files that change, and the [`Event`]s that say what happened. All of them are owned, so that a function can return one,
//! and a thread can have it.
//!
//! ```
//! use krm_merge::{FileChange, Merge, Package, Pick, words};
//!
//! let types = "apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: sites.example.com}
//! spec: {group: example.com, names: {kind: Site}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {
//!   hosts: {type: array, items: {type: object}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [host]}}}}}}}]}
//! ";
//! let site = |hosts: &str| format!("apiVersion: example.com/v1\nkind: Site\nmetadata: {{name: a}}\nspec: {{hosts: [{hosts}]}}\n");
//! let package = |hosts: &str| Package::of_files([("types.yaml".into(), types.into()), ("site.yaml".into(), site(hosts))]);
//! let original = package("{host: a, port: 1}, {host: b, port: 1}")?;
//! let updated = package("{host: a, port: 2}, {host: b, port: 2}")?;
//! let dest = package("{host: b, port: 3}, {host: a, port: 1}")?;
//!
//! let merged = Merge::three_way(&original, &updated, &dest).run()?;
//! let merged = merged.decide(|conflict| (conflict.path() == "spec.hosts[host=b].port").then_some(Pick::Dest));
//! let plan = merged.plan(Pick::Updated.into())?;
//! for event in &plan.events {
//!     println!("{}", words::line(event));
//! }
//! for change in plan.changes {
//!     let FileChange::Changed { path, text, .. } = change else { continue };
//!     assert_eq!((&path[..], text), ("site.yaml", site("{host: b, port: 3}, {host: a, port: 2}")));
//! }
//! # Ok::<(), krm_merge::Error>(())
//! ```
//!
//! It never reads or writes a file. What it stands on has crates of its own: `krm-job` is one merge as a user asks for it, `krm-words` makes
//! sentences of events, `krm-package` merges the resources of a package, `krm-merge-core` one resource.

pub mod extract;
pub mod packages;

pub use krm_job::event::{Clash, Dispute, Event, Field, InTheWay, ResourceRef, Severity, Value, What};
pub use krm_merge_core::policy::{ConflictLevel, NewElements, OnConflict, Renames, Treatment};
pub use krm_names::file_path::PathFault;
pub use krm_package::package::FileChange;
pub use krm_package::resource::{Identity, Resource};
pub use krm_schema::schema::{Inference, ListKind, ListRule, NoTypes, Types};
pub use krm_tree::limit::Exceeded;
pub use krm_tree::splice::{NotJson, Unwritable, WriteFault};
pub use krm_tree::tree::Pick;
pub use krm_words as words;
pub use krm_yaml::{Document, Edit, Error as YamlError, NodeRef, Overlap, Position, TextEdits};

pub use packages::{Conflict, Difference, EmptyUpdated, Error, Merge, MergedPackage, Package, Plan, Reveal};
