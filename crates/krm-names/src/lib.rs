//! Names and texts that strangers chose: where a new file may be written, and how a text is shown to people.
//!
//! [`file_path`] decides which paths a new file of a package may have, and which names are our own. [`shown`] escapes the characters of a text
//! that could mislead a reader.
//!
//! It reads no file, and knows neither YAML nor Kubernetes. So the crates of files and git use it, and so do those of the merge.
//!
//! The modules in reading order:

pub mod file_path;

pub mod shown;
