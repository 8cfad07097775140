//! The English of a merge: what happened gets its sentence here, and nowhere else.
//!
//! A merge tells [`Event`](krm_job::event::Event)s, which are data. [`message`] makes a sentence of one, [`line()`] the line of a terminal, and
//! [`Message`] a line with what it is. The names of the sides are an argument where hosts call them differently: `dest` and `updated`, or `ours`
//! and `theirs`. Nothing in the program reads what is made here.

pub mod explained;
pub mod overlay;

mod message;

mod words;

pub use message::{Message, Word, line, message, message_by, without_place};
pub use words::{counted, next_step, outcome, place, what, what_by};
