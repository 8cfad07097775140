//! Merges Kubernetes resources, two-way, three-way or by strategic merge patch, and leaves every byte that the merge does not change.
//!
//! [`Merge`] merges packages, which are texts of files. [`MergedPackage`] has the merge with its conflicts: a program decides them, and asks
//! for the files that change.
//!
//! ```
//! use krm_merge::{FileChange, Merge, Package, Pick};
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
//! let merge = Merge::three_way(&original, &updated, &dest);
//! let merged = merge.run()?.decide(|conflict| (conflict.path() == "spec.hosts[host=b].port").then_some(Pick::Dest));
//! for note in merged.notes()? {
//!     println!("{note}");
//! }
//! for change in merged.write(Pick::Updated)? {
//!     let FileChange::Changed { path, text, .. } = change else { continue };
//!     assert_eq!((&path[..], text), ("site.yaml", site("{host: b, port: 3}, {host: a, port: 2}")));
//! }
//! # Ok::<(), krm_merge::Error>(())
//! ```
//!
//! The main idea: a patch is a difference. Each mode lowers its inputs to a `Change`; one walker that knows no mode applies it to dest and
//! returns a `Tree`; one splicer writes the tree into dest's own text. What a change does not name is not visited, and so not printed
//! again.
//!
//! It never reads or writes a file, and knows no host: a program gives texts, and gets the texts that change. What it stands on has crates of its
//! own: `krm-merge-core` merges one resource, `krm-schema` knows the types, `krm-tree` and `krm-yaml` the texts.
//!
//! The modules are what hosts with their own annotations, results and files need, such as the function and the plugin. They may change in any
//! version. The source lists them in reading order, from the whole down to the bytes.

pub mod packages;

pub use krm_merge_core::policy::{ConflictLevel, NewElements, Renames};
pub use krm_merge_core::warning::{Notice, Warning};
pub use krm_names::file_path::{self, PathFault};
pub use krm_schema::schema::{Inference, ListKind, ListRule, NoTypes, Types};
pub use krm_tree::limit::Exceeded;
pub use krm_tree::splice::{NotJson, Unwritable, WriteFault};
pub use krm_tree::tree::Pick;
pub use krm_yaml::{Document, Edit, Error as YamlError, NodeRef, Overlap, Position, TextEdits};

pub use krm_package::package::{Ambiguous, Conflict, FileChange, Note};
pub use packages::{Error, Merge, MergedPackage, Package};

pub mod extract;
