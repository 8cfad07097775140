//! [`explain`]: how the lists of a type merge.

use krm_json::files::Files;
use krm_merge::Package;
use krm_merge::packages::PackageSide;
use krm_package::resource::Resource;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListKind, Types};
use krm_words::explained::{NoType, one_of, source_of};
use serde::Serialize;

/// A type, and how its lists merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedType {
    /// The apiVersion.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Its lists, in the order of the type.
    pub lists: Vec<ExplainedList>,
}

/// How a list merges in a three-way merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedList {
    /// The fields from the root to the list, with dots; `*` is any field.
    pub path: String,
    /// `Atomic`, `Set` or `Map`.
    pub kind: &'static str,
    /// The merge keys of a `Map`.
    pub keys: Vec<String>,
    /// Who says so, in words.
    pub source: String,
}

/// Says how the lists of a type merge. `kind` is KIND, KIND.GROUP or KIND.VERSION.GROUP; `files` may have CustomResourceDefinitions, and
/// resources of the type.
///
/// # Errors
/// A file is not YAML; or the type is not known, or is in several groups.
pub fn explain(kind: &str, files: &Files) -> Result<ExplainedType, String> {
    let package = Package::of_files(files.to_owned()).map_err(|error| error.to_string())?;
    let resources = PackageSide::of("files", &package).resources;
    let definitions = resources.iter().filter(|resource| resource.is_definition()).map(Resource::node);
    let types = Types::new([], Inference::On).with_definitions(definitions);
    let of_files = resources.iter().filter_map(|r| r.identity).map(|i| (i.api_version.to_owned(), i.kind.to_owned()));
    let known = types.named(kind.split('.').next().unwrap_or_default()).into_iter().chain(of_files);
    let (api_version, kind) = one_of(kind, known).map_err(|none| match none {
        NoType::Unknown(_) => {
            format!("{none}. A type is built in, public, or of a CustomResourceDefinition or resource in `files`")
        }
        NoType::Several { .. } => none.to_string(),
    })?;
    let is_of_type = |r: &&Resource<'_>| r.identity.is_some_and(|i| (i.api_version, i.kind) == (&api_version, &kind));
    let values: Vec<_> = resources.iter().filter(is_of_type).map(Resource::node).collect();
    let instead = types.instead(&api_version, &kind);
    let lists = types.explain(&api_version, &kind, Mode::ThreeWay, &values).into_iter().map(|list| {
        let source = source_of(&list, instead);
        let (kind, keys) = match list.list {
            ListKind::Atomic => ("Atomic", Vec::new()),
            ListKind::Set => ("Set", Vec::new()),
            ListKind::Map(keys) => ("Map", keys),
        };
        ExplainedList { path: list.path, kind, keys, source }
    });
    let lists = lists.collect();
    Ok(ExplainedType { api_version, kind, lists })
}
