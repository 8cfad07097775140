//! The kubectl plugin as a user runs it: the built program, real files, the real git and kubectl.
#![cfg(feature = "plugin")]

mod action;
mod compare;
mod completion;
#[path = "../support/steps.rs"]
mod counts;
mod diff_corpus;
mod explain;
mod extract;
mod folders;
mod git;
mod help;
mod hosts;
mod html;
mod in_place;
mod laws;
mod limits;
mod live;
mod machines;
mod mark;
mod moves;
mod people;
mod presence;
mod real;
mod record;
mod resolve;
mod schema;
#[path = "../support/mod.rs"]
mod shared;
mod shown;
mod signals;
mod steps;
mod strategic;
mod support;
mod upgrade;
mod upgrades;
