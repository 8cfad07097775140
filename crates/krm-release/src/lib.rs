//! Releases that no git repository holds: those of a chart repository, of an OCI registry, and of an address.
//!
//! A [`Client`] gives a [`Source`](krm_git::source::Source) for each of them. It answers three questions: which releases there are, what one of them
//! is exactly, and its files.
//!
//! What a server says is a stranger's word. So each digest is checked, each answer has a bound in bytes and in time, credentials go to the
//! server alone that they are for, and an archive with anything but plain files and folders is an error. Nothing is written but the cache.
//! It knows neither repositories of git, nor resources, nor records.
//!
//! The modules in reading order:

mod client;

mod chart;
mod index;
mod oci;
mod page;

mod challenge;
mod image;
mod login;
mod unpack;
mod web;

mod digest;
pub mod proxy;
mod url;

#[cfg(test)]
mod tests;

pub use client::Client;
pub use oci::Registries;
pub use unpack::packed_chart;
