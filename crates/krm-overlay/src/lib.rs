//! What lies over a release, such as your values over a chart or your patches over a base, and what a new release changes below it.
//!
//! A [`Chart`] is one release, read from its files. [`review`] asks of each place in your values what the new release does to it, and answers
//! with a [`Finding`]: the place and a [`Verdict`]. [`settle`] asks a [`Renderer`], such as helm, what the templates alone leave open. [`rebase`] makes the edits of your text for what you choose. [`overlays`] finds such values in files, and says which chart lies below.
//! [`review_kustomization`] asks the same of each thing that a kustomization says, and [`patched`] finds kustomizations.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use krm_overlay::{Chart, Layer, Named, Verdict, review};
//! use krm_yaml::Document;
//!
//! let chart = |defaults: &str| {
//!     let files = [
//!         ("Chart.yaml", "{name: web, version: 1.0.0}"),
//!         ("values.yaml", defaults),
//!         ("templates/web.yaml", "replicas: {{ .Values.replicas }}"),
//!     ];
//!     Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into())
//! };
//! let ours = Document::parse("replicas: 2\n")?;
//! let layer = Layer::of(ours.roots().next().expect("a document"));
//! let findings = review(&chart("replicas: 1")?, &chart("replicas: 3")?, &[layer], &Named::default());
//! assert!(matches!(findings[0].verdict, Verdict::Hides(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It knows no disk, no network, no git and no `helm`: the caller gives texts. It never runs a template itself. Where a template decides at run time
//! what it reads, the place counts as read, so a place is called gone only if nothing reads it.
//!
//! The modules in reading order, from the whole down to the bytes:

mod found;

mod patch_review;

mod base;

mod operations;
mod strategic;

mod json_patch;
mod objects;

mod argo;
mod dependency;
mod flux;
mod helmfile;
mod kustomize;
mod record;

mod resources;

mod overlay;

mod layer_place;
mod texts;
mod unread;

mod changed;
mod rebase;
mod settled;

mod review;

mod moved;

mod compared;

mod verdict;

mod chart;

mod reads;

mod values;

pub use base::{Address, BaseFiles, Released};
pub use changed::{ChangedDefault, changed_defaults};
pub use chart::{Chart, ChartError, Dependency, Files};
pub use found::{overlays, pasted};
pub use layer_place::LayerPlace;
pub use overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
pub use patch_review::{BothFiles, PatchFinding, PatchReview, Patched, patched, review_kustomization};
pub use reads::{Blind, Named};
pub use rebase::{Choice, RebaseError, rebase};
pub use review::{Layer, review};
pub use settled::{NotRendered, Release, Renderer, Unsettled, settle};
pub use unread::{Spot, Unread, Why};
pub use values::Value;
pub use verdict::{Copied, Finding, Hidden, HiddenAs, KnownBy, MovedTo, Unknown, Verdict};
