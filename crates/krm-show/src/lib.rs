//! A merge, shown to people and to programs.
//!
//! [`page::of`] gives the [`Page`](screen::Page) of a merge in the format that the user chose: a diff, an HTML file, SARIF, Markdown, annotations of GitHub, or
//! the resources. [`screen`] is the one place that prints.
//!
//! It never shows a person a name or a value with characters that mislead: they are escaped. It decides nothing about a merge, and reads no
//! file.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod page;

pub mod review;

pub mod diff;
pub mod github;
pub mod html;
pub mod markdown;
pub mod output;
pub mod sarif;

pub mod clash;
mod place;
pub mod spot;

pub mod progress;
pub mod screen;

pub mod args;

#[cfg(test)]
mod tests;
