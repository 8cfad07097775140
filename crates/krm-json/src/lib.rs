//! The merge for programs: JSON with texts in, JSON with texts and results out. These are the shapes of the npm package `@krm-merge/wasm`, which its
//! `index.d.ts` describes, and of `krm-merge merge`.
//!
//! [`merge::merge`] merges packages whose files are texts, with the words of the program. A program decides a conflict by a rule in the
//! functionConfig ([`decide::decide`]) and merges again, so the functionConfig holds all decisions.
//!
//! It reads no file, asks no network and keeps no state. What a user wrote is never an error of it: what is wrong is among the results. What a program
//! gives in another shape is an error that names the field.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod decide;
pub mod merge;

pub mod files;
