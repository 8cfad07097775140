//! Types of patched items of which nothing is known.
//!
//! Lists of such a type are replaced, or merged by inferred keys. A user may not expect that. A source without a list replaces none.

use std::collections::BTreeSet;

use krm_package::resource::Resource;
use krm_schema::schema::files::is_of_file;

use super::{Package, Told};
use crate::event::{Event, What};
use crate::results::Results;

/// A result for each such type.
pub(super) fn types(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let has_lists = |source: &&Resource<'_>| source.node.has_lists();
    let patched = package.subjects.iter().filter(|subject| subject.sources.iter().any(has_lists));
    let identities = patched.filter_map(|subject| subject.sides.dest?.identity);
    let types: BTreeSet<(&str, &str)> = identities.map(|i| (i.api_version, i.kind)).collect();
    // In a file that is no resource, all lists are replaced, and those that lose something are named.
    let types = types.into_iter().filter(|(api_version, _)| !is_of_file(api_version));
    let unknown = types.filter(|(api_version, kind)| !package.rules.types.know(api_version, kind));
    let inference = package.config.inference;
    let of = |(api_version, kind): (&str, &str)| [api_version, kind].map(str::to_owned);
    results.tell(unknown.map(|own| Event::of(What::UnknownType { of: of(own), inference })))
}
