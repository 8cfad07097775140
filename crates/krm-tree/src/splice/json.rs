//! A value as JSON, for programs and for readers.

use krm_yaml::NodeRef;

use super::print::{Flow, HostLayout, Rows};
use super::unwritable::{Unwritable, check_json};
use crate::limit::{Budget, Exceeded, Kind as Written};
use crate::tree::Tree;

/// The value of a node as compact JSON, for a program.
///
/// # Errors
/// The text exceeds the rest of the budget; JSON lacks one of the values.
pub fn exact_json(node: NodeRef<'_>, budget: &Budget) -> Result<String, Unwritable> {
    check_json(&Tree::Node(node), None).map_err(Unwritable::NotJson)?;
    Ok(to_json(node, budget)?)
}

/// The value of a node as compact JSON, for a reader: a number that JSON lacks becomes a text.
///
/// # Errors
/// The text exceeds the rest of the budget.
pub fn to_json(node: NodeRef<'_>, budget: &Budget) -> Result<String, Exceeded> {
    json_of(&Tree::Node(node), budget)
}

/// A tree as compact JSON, for a reader.
///
/// # Errors
/// The text exceeds the rest of the budget.
pub fn json_of(tree: &Tree<'_>, budget: &Budget) -> Result<String, Exceeded> {
    let json = HostLayout { indent: 2, list_offset: 0, flow: Flow::TightJson, rows: Rows::Shared, budget }.flow(tree);
    budget.check(Written::Text).map(|()| json)
}
