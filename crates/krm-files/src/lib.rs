//! The files of a package on disk: found, held open, read, and written all or none.
//!
//! A [`Side`](side::Side) is what a merge reads: the files of a folder, of a release or of a stream, each [`Held`](held::Held) with its text and
//! its resources. A [`Change`](change::Change) is what a merge makes of a file, and [`disk::write`] is the one place that replaces
//! the files of a package.
//!
//! It never writes outside of the folder that it was given: where the system has calls for it, that holds also if someone swaps a folder for a
//! symbolic link meanwhile. It never leaves half of a package written: a run that fails or is stopped by a signal puts back what it replaced,
//! and what a killed run left is finished by the next one.
//! It starts no git, asks no cluster and prints nothing.
//!
//! The modules in reading order, from the whole down to the bytes:

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test makes its own files"))]

pub mod config_file;

pub mod credentials;
pub mod told;

pub mod side;

pub mod held;

pub mod disk;

pub mod change;
pub mod temporary;

pub mod cache;
pub mod made;

mod folder;
pub mod owner;
pub mod signals;
pub mod terminal;

pub mod walk;

pub mod command;
pub mod cores;
pub mod regular;
