//! The merge of packages that are files and folders.
//!
//! [`given::side`] reads what the user names: a file, a folder, a release in git, or stdin. It gives a [`Side`](side::Side), whose files are
//! [`Held`](held::Held) with their texts and resources. [`merge::merge`] merges such sides into dest, and gives a
//! [`Merge`](merge::Merge): the [`Change`](change::Change) of each file, and the results. A [`Package`](package::Package) is a folder with its record of upstream.
//!
//! It never writes a file: what changes is a value, which a command prints, or hands to `krm-files` to be written. How a resource merges is
//! the engine's, and `krm-job` says which files merge as files; which file a resource goes to is here.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod given;
pub mod release;
pub mod sources;

pub mod package;
pub mod record;
pub mod selection;

pub mod merge;

pub mod documents;
pub mod one_form;

pub mod carry;

mod beside;
mod brought;

pub mod end;
pub mod replaced;

pub mod told;

pub mod side;

pub mod config_file;
pub mod held;

pub mod change;
