//! `explain`: how each list of a type merges, and which source says so.
//!
//! It asks the same sources as a merge, in the same order: the flags; the definitions and resources of files, or the cluster; and the types
//! that the engine knows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, anyhow, bail};
use krm_files::held::Held;
use krm_folders::end::End;
use krm_folders::given;
use krm_merge::resource::Resource;
use krm_merge_function::config::Mode;
use krm_schema::schema::explain::Explained;
use krm_schema::schema::{Basis, Inference, ListKind, Types, atlas, builtin};
use krm_show::screen::{Page, Paint, Reader};
use krm_yaml::{Document, NodeRef};

use crate::cli::Explain;
use crate::setting;

/// An apiVersion and a kind.
type Type = (String, String);

/// Prints how the lists of a type merge.
///
/// # Errors
/// A file cannot be read; the type is unknown, or exists in several groups; no list is at the path; or the cluster answers with an error.
pub fn explain(args: &Explain) -> Result<End> {
    let sides = args.filename.iter().map(|path| given::side("--filename", path)).collect::<Result<Vec<_>>>()?;
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
    let (api_version, kind) = one_of(&args.kind, types.named(kind_of(&args.kind)).into_iter().chain(of_files))?;
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

    let below = |list: &Explained| match &args.path {
        Some(path) => list.path == *path || list.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')),
        None => true,
    };
    let lists: Vec<Explained> =
        types.explain(&api_version, &kind, Mode::ThreeWay, &values).into_iter().filter(below).collect();
    if lists.is_empty() {
        let path = args.path.as_deref().unwrap_or_default();
        bail!("PATH must be that of a list of `{api_version} {kind}`, or of what holds one, not \"{path}\"");
    }
    let of_patch = types.explain(&api_version, &kind, Mode::Strategic, &values);
    let of_patch: BTreeMap<String, Explained> = of_patch.into_iter().map(|list| (list.path.clone(), list)).collect();
    let instead = types.instead(&api_version, &kind);
    let mut page = Page::new(Reader::of_stdout(args.color));
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

/// The newest version of the type that the user asked for as KIND, KIND.GROUP or KIND.VERSION.GROUP.
fn one_of(asked: &str, known: impl Iterator<Item = Type>) -> Result<Type> {
    let (name, rest) = asked.split_once('.').unwrap_or((asked, ""));
    let with_version = rest.split_once('.').or(Some((rest, ""))).filter(|(version, _)| atlas::age(version).0 > 0);
    let fits = |(api_version, kind): &Type| {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_of_group = match with_version {
            Some((asked, of)) => version == asked && group == of,
            None => rest.is_empty() || group == rest,
        };
        kind.eq_ignore_ascii_case(name) && is_of_group
    };
    let mut found: BTreeSet<Type> = known.filter(fits).collect();
    let group = |(version, _): &Type| version.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
    if found.iter().any(|one| builtin::is_served(&group(one))) {
        found.retain(|one| builtin::is_served(&group(one)));
    }
    let groups: BTreeSet<String> = found.iter().map(group).collect();
    if groups.len() > 1 {
        let all: Vec<String> = groups.iter().map(|group| format!("`{name}.{group}`").replace(".`", "`")).collect();
        bail!("\"{asked}\" must name one type, and there are {}", all.join(", "));
    }
    let newest = found.into_iter().max_by(|(a, _), (b, _)| {
        let version = |api_version: &str| api_version.rsplit('/').next().unwrap_or_default().to_owned();
        let (a, b) = (version(a), version(b));
        atlas::age(&a).cmp(&atlas::age(&b))
    });
    let asked_for = with_version
        .map(|(version, group)| (format!("{group}/{version}").trim_start_matches('/').to_owned(), name.to_owned()));
    newest.or(asked_for).with_context(|| {
        format!(
            "\"{asked}\" must be a type that is known: built in, public, or of a definition or resource in `--filename`; with `--live`, say KIND.VERSION.GROUP"
        )
    })
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
        Some(Basis::MergeKeys) => "`--merge-keys`".to_owned(),
        Some(Basis::Kustomize) => "kustomize".into(),
        Some(Basis::OpenApi) if is_live => "the cluster".into(),
        Some(Basis::OpenApi) => "the OpenAPI document".into(),
        Some(Basis::Definition) => "the CustomResourceDefinition of the files".into(),
        Some(Basis::BuiltIn) => "Kubernetes".into(),
        Some(Basis::Atlas) => match instead {
            Some(version) => format!("its public definition of {version}, the nearest version that is known"),
            None => "its public definition".into(),
        },
        Some(Basis::Shape) => "the built-in type that it looks like".into(),
        Some(Basis::Inferred) => "inferred from its elements; a patch replaces it".into(),
        None => "no source names it".into(),
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
