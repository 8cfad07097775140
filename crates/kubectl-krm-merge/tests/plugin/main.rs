//! The kubectl plugin as a user runs it: the built program, real files, the real git and kubectl.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

mod action;
mod brought;
mod compare;
mod completion;
#[path = "../../../../tests/support/steps.rs"]
mod counts;
mod diff_corpus;
mod differences;
mod documents;
mod explain;
mod extract;
mod folders;
#[path = "../support/function.rs"]
mod function;
mod git;
mod help;
mod hosts;
mod html;
mod in_place;
mod laws;
mod limits;
mod links;
mod live;
mod machines;
mod mark;
mod mistakes;
mod moves;
mod names;
mod pairs;
mod people;
mod presence;
mod real;
mod record;
#[path = "../../../../tests/support/render.rs"]
mod render;
mod renovate;
mod resolve;
#[path = "../../../../tests/support/run.rs"]
mod run;
mod schema;
mod secrets;
#[path = "../support/server.rs"]
mod server;
#[path = "../../../../tests/support/mod.rs"]
mod shared;
mod shown;
mod signals;
mod steps;
mod strategic;
mod streams;
mod support;
mod upgrade;
mod upgrades;
