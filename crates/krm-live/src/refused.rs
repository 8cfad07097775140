//! Warns of fields that the server will refuse to change in live objects.
//!
//! The merge warns of them, too, but not in a two-way merge, because its dest may be any text. And it does not see the status of an object,
//! which decides some: a claim may grow as soon as it is bound.

use anyhow::Result;
use krm_files::change::Change;
use krm_merge::resource::{Origin, Resource};
use krm_merge_function::report::{About, Report};
use krm_merge_function::results::Outcome;
use krm_schema::immutable::refused;
use krm_schema::mode::Mode;
use krm_schema::schema::Types;
use krm_tree::limit::{Budget, Limit};
use krm_tree::tree::Tree;
use krm_yaml::Document;
use serde_json::json;

use crate::local::Local;
use crate::text;

/// The warnings for changed objects.
///
/// # Errors
/// Cannot occur: the texts come from a merge.
pub fn refusals(changes: &[Change], locals: &[Local], types: &Types<'_>, limit: Limit) -> Result<Vec<Outcome>> {
    let budget = Budget::new(limit);
    let mut told = Vec::new();
    for change in changes {
        let (Some(old), Some(new)) = (&change.old, &change.new) else { continue };
        let live = locals.iter().find(|local| local.address.to_string() == change.path);
        let status = live.and_then(|local| local.live.as_ref()?.get("status"));
        let status = status.map(|status| text::yaml(&json!({"status": status}))).unwrap_or_default();
        let old = format!("{}{status}", std::str::from_utf8(old)?);
        let documents = [Document::parse(old)?, Document::parse(std::str::from_utf8(new)?.to_owned())?];
        let [Some(before), Some(after)] = documents.each_ref().map(|d| d.roots().next()) else { continue };
        let origin = Origin::File { name: change.path.clone(), item: None };
        let dest = &Resource { path: Some(&change.path), ..Resource::read(before, origin) };
        let about = About { resource: dest, secret: dest.secret };
        let Some(identity) = dest.identity else { continue };
        let cursor = types.root(identity.api_version, identity.kind, Mode::ThreeWay);
        let after = Tree::Node(after);
        let found = refused(before, &after, cursor);
        told.extend(found.into_iter().map(|refused| Outcome::of(&Report::Refused { dest: about, refused }, &budget)));
    }
    Ok(told)
}
