//! The resources of the files, each with three states: the last applied one, the one in the files, and the one in the cluster.

use std::collections::BTreeSet;

use anyhow::{Context, Result, anyhow, bail};
use krm_folders::side::{Side, SidePart};
use krm_folders::told::whereabouts;
use krm_job::config::{Config, Mode, Settings, Task};
use krm_job::name::Name;
use krm_job::target::Target;
use krm_package::resource::Resource;
use krm_schema::schema::builtin;
use krm_tree::limit::{Budget, Limit};
use krm_yaml::{Document, NodeRef};
use serde_json::{Map, Value, json};

use crate::address::Address;
use crate::args::Live;
use crate::cluster::Cluster;
use crate::handover::handed_over;
use crate::http::all;
use crate::kubectl;
use crate::marks;
use crate::object::{self, Object};
use crate::openapi::{self, Schema};
use crate::owners::{Owner, Owners};
use crate::text;
use crate::unset::{OfType, settled};

/// The OpenAPI models of the types that are not built in, by name.
pub type Models = Map<String, Value>;

/// A resource of the files, with its state in the cluster.
#[derive(Debug)]
pub struct Local {
    /// Its place in the files, for messages: `web.yaml:3:1`.
    pub name: String,
    /// The file that has it.
    pub place: Place,
    /// The resource of the files, without the fields that the server populates.
    pub applied: Object,
    /// The whole resource of the files, with its namespace.
    pub written: Value,
    /// kubectl's note of the resource, for its annotation.
    pub note: String,
    /// `applied` as the cluster would store it.
    pub updated: Object,
    /// Its address in the cluster.
    pub address: Address,
    /// The whole live object; `None` if the cluster does not have it.
    pub live: Option<Value>,
    /// The live object without the fields that the server populates, and without nulls.
    pub dest: Option<Object>,
    /// The last applied state, as kubectl noted it.
    pub noted: Option<Object>,
    /// The last applied state: `noted` as the cluster stores it, or else the fields of the live object that a server-side applier owns.
    pub original: Option<Object>,
    /// Who set which field of the live object; after the handover, if there is one.
    pub owners: Owners,
    /// The `managedFields` of the live object after the handover to server-side apply; `None` if there is nothing to hand over.
    pub handover: Option<Value>,
    /// The new Namespace, or the CustomResourceDefinition, of the files that must be sent before this resource.
    pub needs: Option<Address>,
}

/// Where a resource is in the files.
#[derive(Clone, Debug)]
pub struct Place {
    /// The number of its side.
    pub side: usize,
    /// The number of its file.
    pub file: usize,
    /// The namespace that the file gives the resource.
    pub namespace: Option<String>,
}

/// Reads the state of each resource in the cluster, and the models of the types that are not built in. Independent requests are sent at the
/// same time. `set` is the ApplySet whose members the resources are.
///
/// # Errors
/// A resource is bad, or takes more than the limit; or the cluster does not answer, or refuses.
pub async fn read(
    cluster: &mut Cluster,
    sides: &[Side],
    args: &Live,
    limit: Limit,
    set: Option<&str>,
) -> Result<(Vec<Local>, Models)> {
    let mut given = given(cluster, sides, args, limit)?;
    if let Some(set) = set {
        for Given { name, written, applied, .. } in &mut given {
            marks::join(written, set).with_context(|| name.clone())?;
            *applied = Object::live(written.clone());
        }
    }
    cluster.discover(given.iter().map(|given| (given.name.as_str(), &given.applied))).await?;
    let given = located(cluster, given)?;
    let answers = given.iter().map(async |(given, address)| {
        cluster.get(address).await.with_context(|| format!("{address} ({})", given.name))
    });
    let answers = all(answers).await?;
    let states: Vec<_> = given.into_iter().zip(answers).collect();
    // Only the types say what a manager owns.
    let by_owners = |given: &Given, address: &Address, live: &Value| {
        let owners = Owners::of(live, None, &args.field_manager);
        let noted = noted(live, &given.applied, address);
        args.server_side || args.adopt || applier(&owners, noted.as_ref(), &given.applied, args).is_some()
    };
    let owned = states
        .iter()
        .filter(|((given, address), live)| live.as_ref().is_some_and(|live| by_owners(given, address, live)));
    cluster.learn(owned.map(|((_, address), _)| address.api_version()).collect()).await?;
    let mut locals: Vec<Local> = Vec::new();
    for ((given, address), live) in states {
        let of = cluster.schema(given.applied.api_version());
        let schema = of.and_then(|of| Schema::of_type(of, given.applied.api_version(), given.applied.kind()));
        locals.push(given.beside(address, live, args, schema));
    }
    let needs: Vec<_> = locals.iter().map(|local| needed(local, &locals)).collect();
    locals.iter_mut().zip(needs).for_each(|(local, needs)| local.needs = needs);
    let models = models(cluster, &locals).await?;
    if args.adopt {
        cluster.learn(locals.iter().map(|local| local.address.api_version()).collect()).await?;
    } else {
        settle(cluster, &mut locals, &models)?;
    }
    Ok((locals, models))
}

/// A resource of the files.
struct Given {
    /// Its place in the files, for messages: `web.yaml:3:1`.
    name: String,
    /// The file that has it.
    place: Place,
    /// The value of the file, as kubectl reads it.
    written: Value,
    /// `written` without the fields that the server populates.
    applied: Object,
}

impl Given {
    /// Adds the state of the resource in the cluster.
    fn beside(self, address: Address, live: Option<Value>, args: &Live, schema: Option<Schema<'_>>) -> Local {
        let Self { name, place, mut written, applied } = self;
        let handover = live
            .as_ref()
            .filter(|_| args.server_side)
            .and_then(|live| handed_over(live, &written, &args.field_manager));
        let owners = live.as_ref().map(|live| Owners::of(live, handover.as_ref(), &args.field_manager));
        let note = kubectl::note(&written);
        let owned = Owned { live: live.as_ref(), owners: owners.unwrap_or_default(), schema };
        let Before { owners, mut noted, mut original } = before(owned, &applied, &address, args);
        if let Some(live) = &live {
            let marks = marks::of(live, &written);
            if let (true, Some(original)) = (args.server_side, &original) {
                marks::keep(&marks, &original.clone().into_json(), &mut written);
            }
            let without = |object: Object| Object::live(marks::removed(&marks, object.into_json()));
            (noted, original) = (noted.map(without), original.map(without));
        }
        Local {
            name,
            place,
            note,
            updated: if live.is_some() { applied.stored() } else { applied.stored().created() },
            dest: live.clone().map(Object::compared),
            applied,
            written,
            address,
            live,
            noted,
            original,
            owners,
            handover,
            needs: None,
        }
    }
}

/// The resources of the files that match the selector, without those that are only for programs that read the package, as in kpt. The
/// cluster learns the types that they define.
fn given(cluster: &mut Cluster, sides: &[Side], args: &Live, limit: Limit) -> Result<Vec<Given>> {
    let budget = Budget::new(limit);
    let asked = args.selector.as_deref().map(labelled).transpose()?;
    let mut given = Vec::new();
    let all = sides.iter().enumerate().flat_map(|(at, side)| {
        side.resources(SidePart::Role).into_iter().map(move |(file, resource)| (at, file, resource))
    });
    let is_meant = |resource: &Resource<'_>| asked.as_ref().is_none_or(|asked| asked.selects(resource));
    for (side, file, resource) in all.filter(|(.., resource)| !resource.is_local() && is_meant(resource)) {
        let name = whereabouts(&resource);
        if let Some(field) = resource.missing() {
            bail!("{name}: the resource must have `{field}`");
        }
        let written = kubectl::read(resource.node(), &budget).with_context(|| name.clone())?;
        let applied = Object::live(written.clone());
        if applied.kind() == DEFINITION.1 && applied.api_version().starts_with(DEFINITION.0) {
            cluster.announce(&applied);
        }
        let namespace = resource.node().at(&["metadata", "namespace"]).and_then(NodeRef::as_str).map(str::to_owned);
        given.push(Given { name, place: Place { side, file, namespace }, written, applied });
    }
    if let (true, Some(selector)) = (given.is_empty(), &args.selector) {
        bail!("a resource must fit `-l {selector}`, but none does");
    }
    Ok(given)
}

/// The resources with their addresses. Two resources with the same address are an error.
fn located(cluster: &Cluster, given: Vec<Given>) -> Result<Vec<(Given, Address)>> {
    let mut located: Vec<(Given, Address)> = Vec::new();
    for mut given in given {
        let name = &given.name;
        let address = cluster.address(&given.applied).with_context(|| name.clone())?;
        if let Some((twice, _)) = located.iter().find(|(_, other)| *other == address) {
            bail!("{address} must be given once, not in {} and {name}", twice.name);
        }
        given.applied.settle(&address);
        object::place(&mut given.written, &address);
        located.push((given, address));
    }
    Ok(located)
}

/// The models of the types that are not built in, from the cluster.
async fn models(cluster: &mut Cluster, locals: &[Local]) -> Result<Models> {
    let all = locals.iter().map(|local| (local.updated.api_version(), local.updated.kind()));
    let own: BTreeSet<(&str, &str)> =
        all.filter(|(api_version, kind)| builtin::root(api_version, kind).is_none()).collect();
    cluster.learn(own.iter().map(|(api_version, _)| (*api_version).to_owned()).collect()).await?;
    let of_types = own.into_iter().filter_map(|(api_version, kind)| {
        cluster.schema(api_version).and_then(|schema| openapi::models(schema, api_version, kind))
    });
    Ok(of_types.flatten().map(|(name, model)| (name.clone(), model.clone())).collect())
}

/// A target that selects the resources whose labels match a selector.
fn labelled(selector: &str) -> Result<Target> {
    let name = Name::Flag { flag: "--selector", value: selector.to_owned() };
    Target::new(name, selector).with_labels(selector).map_err(|wrong| anyhow!("`--selector` \"{selector}\": {wrong}"))
}

/// The last applied state of an object, and its owners.
struct Before {
    owners: Owners,
    noted: Option<Object>,
    original: Option<Object>,
}

/// A live object with its owners and its type.
struct Owned<'l> {
    live: Option<&'l Value>,
    owners: Owners,
    schema: Option<Schema<'l>>,
}

/// kubectl's note on a live object. Someone may have copied the annotation together with another object. Such a note does not count. Neither
/// does one of another version of a custom resource, which may name other fields.
fn noted(live: &Value, applied: &Object, address: &Address) -> Option<Object> {
    let mut noted = Object::parse(object::last_applied(live)?).ok()?;
    let is_of_version =
        noted.api_version() == address.api_version() || builtin::root(&address.api_version(), applied.kind()).is_some();
    if !is_of_version || (noted.kind(), noted.name()) != (applied.kind(), applied.name()) {
        return None;
    }
    noted.settle(address);
    Some(noted)
}

/// The manager that says what was applied last, more than the note does.
fn applier<'o>(owners: &'o Owners, noted: Option<&Object>, applied: &Object, args: &Live) -> Option<&'o Owner> {
    let manager = args.field_manager.as_str();
    match noted {
        _ if args.server_side => owners.applied_under(manager),
        Some(noted) => owners.applier_after(noted, manager),
        None => owners.applier(applied, manager),
    }
}

/// The last applied state of a live object. For client-side apply, it is kubectl's note, or what a manager of server-side apply owns if there
/// is no note; if the manager is newer, both. For server-side apply, it is the fields that this manager owns. The server removes only those
/// when the files drop them.
fn before(owned: Owned<'_>, applied: &Object, address: &Address, args: &Live) -> Before {
    let Owned { live, mut owners, schema } = owned;
    let Some(live) = live else { return Before { owners, noted: None, original: None } };
    let noted = noted(live, applied, address).filter(|_| !args.server_side);
    let Some(applier) = applier(&owners, noted.as_ref(), applied, args).map(|applier| applier.manager.clone()) else {
        return Before { owners, original: noted.as_ref().map(Object::stored), noted };
    };
    // What the note names and nobody took since was applied, too.
    if noted.is_some() {
        let all = handed_over(live, &applied.clone().into_json(), &applier);
        owners = Owners::of(live, all.as_ref(), &args.field_manager);
    }
    owners = owners.with_ours(&applier);
    let original = owners.applied_under(&applier).map(|applier| {
        let mut part = Object::live(applier.part_of(live, schema));
        part.identify(applied);
        part
    });
    Before { owners, noted: None, original }
}

/// The group and kind of the resources that define a type.
pub const DEFINITION: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// The resource of the files that must be sent before another one, if any: the definition of its type, or its new namespace.
fn needed(local: &Local, locals: &[Local]) -> Option<Address> {
    let defines = |other: &&Local| other.address.group_kind() == DEFINITION && defines(&other.applied, &local.address);
    let is_its_namespace = |other: &&Local| {
        let is_new = other.live.is_none() && local.live.is_none();
        is_new
            && other.address.group_kind() == ("", "Namespace")
            && local.address.namespace.as_ref() == Some(&other.address.name)
    };
    let found = locals.iter().find(defines).or_else(|| locals.iter().find(is_its_namespace));
    found.map(|found| found.address.clone())
}

/// Whether a CustomResourceDefinition defines the type of a resource.
fn defines(definition: &Object, address: &Address) -> bool {
    let spec = definition.spec();
    (spec["group"].as_str(), spec["names"]["kind"].as_str())
        == (Some(address.group_kind().0), Some(address.group_kind().1))
}

/// Adjusts original and updated for what nobody but the applier set.
fn settle(cluster: &Cluster, locals: &mut [Local], models: &Models) -> Result<()> {
    let said = document(models)?;
    let types = config(Task::of(Mode::ThreeWay), &said, Limit::default())?.types;
    for local in locals.iter_mut() {
        if let Some(dest) = &local.dest {
            let schema = cluster.schema(dest.api_version());
            let schema = schema.and_then(|schema| Schema::of_type(schema, dest.api_version(), dest.kind()));
            let of_type = OfType { types: &types, schema };
            let settled = settled(dest, local.original.as_ref(), &local.updated, &local.owners, of_type)?;
            (local.original, local.updated) = (settled.original, settled.updated);
        }
    }
    Ok(())
}

/// The models of the cluster's types, as an OpenAPI document.
///
/// # Errors
/// Cannot occur: the text is valid YAML.
pub fn document(models: &Models) -> Result<Document<'static>> {
    Ok(Document::parse(text::yaml(&json!({"components": {"schemas": models}})))?)
}

/// The root of a [`document`]; `None` if it has no models.
pub fn models_of<'d>(models: &'d Document<'_>) -> Option<NodeRef<'d>> {
    let has_models =
        |root: &NodeRef<'_>| root.at(&["components", "schemas"]).is_some_and(|all| all.fields().next().is_some());
    models.roots().next().filter(has_models)
}

/// The config of a merge that knows the types of the cluster.
///
/// # Errors
/// The function does not accept the models of the cluster.
pub fn config<'d>(task: Task<'d>, models: &'d Document<'_>, limit: Limit) -> Result<Config<'d>> {
    let name = || Name::Field("components.schemas".to_owned());
    let openapi = models_of(models).map(|models| (name(), models));
    let settings = Settings { openapi, limit, ..Settings::default() };
    Config::new(task, settings).map_err(|e| anyhow!("the types of the cluster: {e}"))
}
