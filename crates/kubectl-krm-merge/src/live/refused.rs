//! Warns of fields that the server will refuse to change, in objects whose applied state nobody knows.
//!
//! Such objects are merged two-way. That mode does not look for these fields, because its dest may be any text. Here dest is a live object.

use anyhow::Result;
use krm_merge::immutable::refused;
use krm_merge::limit::{Budget, Limit};
use krm_merge::mode::Mode;
use krm_merge::resource::{Origin, Resource};
use krm_merge::schema::Types;
use krm_merge::tree::Tree;
use krm_merge::yaml::Document;
use krm_merge_function::report::Report;
use krm_merge_function::results::Outcome;

use crate::change::Change;

/// The warnings for changed objects.
///
/// # Errors
/// Cannot occur: the texts come from a merge.
pub fn refusals(changes: &[Change], types: &Types<'_>, limit: Limit) -> Result<Vec<Outcome>> {
    let budget = Budget::new(limit);
    let mut told = Vec::new();
    for change in changes {
        let (Some(old), Some(new)) = (&change.old, &change.new) else { continue };
        let documents = [Document::parse(std::str::from_utf8(old)?)?, Document::parse(std::str::from_utf8(new)?)?];
        let [Some(before), Some(after)] = documents.each_ref().map(|d| d.roots().next()) else { continue };
        let origin = Origin::File { name: change.path.clone(), item: None };
        let dest = &Resource { path: Some(&change.path), ..Resource::read(before, origin) };
        let Some(identity) = dest.identity else { continue };
        let cursor = types.root(identity.api_version, identity.kind, Mode::ThreeWay);
        let after = Tree::Node(after);
        let found = refused(before, &after, cursor);
        told.extend(found.into_iter().map(|refused| Outcome::of(&Report::Refused { dest, refused }, &budget)));
    }
    Ok(told)
}
