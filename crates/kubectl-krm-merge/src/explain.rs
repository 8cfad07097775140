//! `explain`: how each list of a type merges, and which source says so.
//!
//! It asks the same sources as a merge, in the same order: the flags; the definitions and resources of files, or the cluster; and the types
//! that the engine knows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, anyhow, bail};
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::held::Held;
use krm_job::config::Mode;
use krm_package::resource::Resource;
use krm_schema::schema::explain::Explained;
use krm_schema::schema::{Basis, Inference, ListKind, Types, builtin, files};
use krm_show::args::Color;
use krm_show::screen::{Page, Paint, Reader};
use krm_tree::path::PathPattern;
use krm_words::explained::{NoType, is_below, one_of, source_of};
use krm_yaml::{Document, NodeRef};
use similar::get_close_matches;

use crate::cli::Explain;
use crate::setting;

/// Prints how the lists of a type merge.
///
/// # Errors
/// A file cannot be read; the type is unknown, or exists in several groups; no list is at the path; or the cluster answers with an error.
pub fn explain(args: &Explain) -> Result<End> {
    let sides = args.filename.iter().map(|path| given::side("--filename", path, &[])).collect::<Result<Vec<_>>>()?;
    let resources: Vec<Resource<'_>> = sides.iter().flat_map(|side| &side.files).flat_map(Held::resources).collect();
    let rules = setting::merge_keys(&args.merge_keys).map(|named| Ok(named?.rule)).collect::<Result<Vec<_>>>()?;
    let given = args.openapi.as_deref().map(setting::openapi).transpose()?;
    let definitions = resources.iter().filter(|resource| resource.is_definition()).map(|definition| definition.node());
    let types = Types::new(rules, Inference::On).with_definitions(definitions);
    let types = match &given {
        Some((name, document)) => with_openapi(types, name, document)?,
        None => types,
    };

    let of_files = resources.iter().filter_map(|r| r.identity).map(|i| (i.api_version.to_owned(), i.kind.to_owned()));
    let nearest = || {
        let own = resources.iter().filter_map(|r| r.identity).map(|i| i.kind.to_owned());
        nearest(kind_of(&args.kind), own.chain(types.kinds()).collect())
    };
    let found = one_of(&args.kind, types.named(kind_of(&args.kind)).into_iter().chain(of_files));
    let (api_version, kind) = match files::type_of(&args.kind) {
        Some([api_version, kind]) => (api_version.to_owned(), kind.to_owned()),
        None => found.map_err(|none| {
            let known = match none {
                NoType::Unknown(_) => ". A type is built in, public, or of a CustomResourceDefinition or resource in `--filename`. With `--live`, write KIND.VERSION.GROUP",
                NoType::Several { .. } => "",
            };
            match nearest() {
                Some(like) => anyhow!("{none}{known}. Did you mean `{like}`?"),
                None => anyhow!("{none}{known}"),
            }
        })?,
    };
    // For Kubernetes' own types, the cluster knows no more than the engine.
    let live =
        if args.cluster.is_meant() && builtin::root(&api_version, &kind).is_none() {
            let known = args.cluster.definitions(&api_version, &kind)?;
            Some(known.with_context(|| {
                format!("the cluster must know the kind `{kind}` of `{api_version}`, but it does not")
            })?)
        } else {
            None
        };
    let types = match &live {
        Some(document) => with_openapi(types, "the cluster", document)?,
        None => types,
    };
    let of_type =
        resources.iter().filter(|r| r.identity.is_some_and(|i| (i.api_version, i.kind) == (&*api_version, &*kind)));
    let values: Vec<NodeRef<'_>> = of_type.map(|resource| resource.node()).collect();

    let path =
        args.path.as_deref().map(PathPattern::parse).transpose().map_err(|e| anyhow!("`PATH` is no path: {e}"))?;
    let below = |list: &Explained| path.as_ref().is_none_or(|path| is_below(list, path));
    let lists: Vec<Explained> =
        types.explain(&api_version, &kind, Mode::ThreeWay, &values).into_iter().filter(below).collect();
    if lists.is_empty() {
        let path = args.path.as_deref().unwrap_or_default();
        bail!(
            "`PATH` must be that of a list of `{api_version} {kind}`, or of what holds one, not \"{path}\": without it, all lists are printed"
        );
    }
    let of_patch = types.explain(&api_version, &kind, Mode::Strategic, &values);
    let of_patch: BTreeMap<String, Explained> = of_patch.into_iter().map(|list| (list.path.clone(), list)).collect();
    let instead = types.instead(&api_version, &kind);
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    page.painted(Paint::Bold, &format!("{api_version} {kind}"));
    let rows: Vec<[String; 3]> =
        lists.iter().map(|list| row(list, of_patch.get(&list.path), args.cluster.is_meant(), instead)).collect();
    let [first, second] = [0, 1].map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or_default());
    for [path, how, who] in &rows {
        page.line(&format!("{path:first$}  {how:second$}  {who}"));
    }
    page.print()?;
    Ok(End::Done)
}

fn with_openapi<'d>(types: Types<'d>, name: &str, document: &'d Document<'static>) -> Result<Types<'d>> {
    let root = document.roots().next().with_context(|| format!("{name}: there must be an OpenAPI document"))?;
    let no_types =
        |_| anyhow!("{name}: the document must have `definitions` or `components.schemas`, and a resource among them");
    types.with_openapi(root).map_err(no_types)
}

fn kind_of(asked: &str) -> &str {
    asked.split('.').next().unwrap_or_default()
}

/// The kind that is most like a word, if one is like it.
fn nearest(word: &str, kinds: BTreeSet<String>) -> Option<String> {
    let by_name: BTreeMap<String, &String> = kinds.iter().rev().map(|kind| (kind.to_lowercase(), kind)).collect();
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    let like = get_close_matches(word.to_lowercase().as_str(), &names, 1, 0.75);
    like.first().and_then(|name| by_name.get(*name)).map(|kind| (*kind).clone())
}

/// The row of a list: its path, how it merges, and which source says so.
fn row(list: &Explained, of_patch: Option<&Explained>, is_live: bool, instead: Option<&str>) -> [String; 3] {
    let how = match (&list.list, of_patch.map(|patch| &patch.list)) {
        // If both sides changed the list, a three-way merge still merges it element by element (`conflictLevel`).
        (ListKind::Atomic, patch) => {
            let named = list.names.as_ref().map(|names| format!(", named by {names}")).unwrap_or_default();
            let patch = patch.filter(|patch| **patch != ListKind::Atomic);
            let patch = patch.map(|patch| format!("; in a patch: {}", how(patch))).unwrap_or_default();
            format!("replaced; three-way: element by element{named}{patch}")
        }
        (list, Some(patch)) if patch != list => format!("{}; in a patch: {}", how(list), how(patch)),
        (list, _) => how(list),
    };
    let who = match list.basis {
        Some(Basis::OpenApi) if is_live => "the cluster".to_owned(),
        _ => source_of(list, instead),
    };
    [list.path.clone(), how, who]
}

fn how(list: &ListKind<String>) -> String {
    match list {
        ListKind::Atomic => "replaced".into(),
        ListKind::Set => "by value".into(),
        ListKind::Map(keys) => format!("by {}", keys.join(", ")),
    }
}
