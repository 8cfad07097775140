//! The resources of a package, and their merge.
//!
//! A [`Resource`](resource::Resource) is a map of a text, with its identity and its place. [`package::members`] says which resources of three sides
//! are one, and [`package::Merged`] is the merge of all of them: a value whose conflicts are open until its host settles them, and which then is
//! written as edits of dest's own texts. Nothing here knows who decides, what is told, or where the texts are kept: that is `krm-merge`.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod package;

pub mod rules;

pub mod composed;

pub mod documents;

pub mod layout;
pub mod transport;

pub mod resource;

pub mod list;
