//! One merge of the resources of a package, as a user asks for it: it is what all hosts run.
//!
//! A [`Job`](job::Job) takes resources and a [`Config`](config::Config), which says who plays which role, how lists merge, and who wins a conflict.
//! It gives edits of the user's own texts, and [`Event`](event::Event)s: what happened, as data. Nothing here reads a file or prints, and nothing
//! makes a sentence of an event: that is `krm-words`.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod job;

pub mod compared;
pub mod forms;

pub mod carried;

pub mod roles;

pub mod config;

pub mod marked;
pub mod recorded;

pub mod results;

pub mod event;

pub mod decision;
pub mod newest;

pub mod aim;
pub mod target;

pub mod glob;

pub mod line_end;
pub mod name;
pub mod role;
