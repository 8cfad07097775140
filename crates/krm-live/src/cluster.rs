//! A cluster over HTTP: reads its objects and types, and sends changes to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource, APIResourceList};
use krm_job::event::{Event, Severity};
use krm_schema::immutable::group_of;
use kube::core::params::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
};
use kube::core::{GroupVersionKind, Request};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use crate::address::Address;
use crate::args::Connection;
use crate::http::{Cause, Http, OtherAnswer, all, causes, code, found, without_words};
use crate::kubeconfig;
use crate::object::Object;

/// How long to wait before asking the cluster again for a type that it should serve soon.
pub const POLL: Duration = Duration::from_millis(200);

/// The group and kind of a Secret.
const SECRET: (&str, &str) = ("", "Secret");

/// A connection to a cluster, and the types that are known so far.
pub struct Cluster {
    http: Http,
    /// The namespace from `-n`.
    asked: Option<String>,
    /// The namespace for resources that have none.
    namespace: String,
    types: BTreeMap<String, Vec<Served>>,
    announced: BTreeMap<String, Vec<Served>>,
    schemas: HashMap<String, Option<Value>>,
}

/// A type as the cluster serves it.
#[derive(Clone, Debug)]
pub struct Served {
    pub api_version: String,
    pub kind: String,
    pub plural: String,
    pub namespaced: bool,
    /// The name of the CustomResourceDefinition in the files that defines the type; `None` if the cluster already knows the type.
    defined_by: Option<String>,
}

impl Served {
    /// The address of an object of the type.
    ///
    /// # Errors
    /// A part of it cannot be part of a URL.
    pub fn address(&self, name: &str, namespace: Option<&str>) -> Result<Address> {
        segment("metadata.name", name)?;
        segment("plural", &self.plural)?;
        namespace.map_or(Ok(()), |namespace| segment("metadata.namespace", namespace))?;
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        Ok(Address {
            namespace: namespace.filter(|_| self.namespaced).map(str::to_owned),
            name: name.to_owned(),
            defined_by: self.defined_by.clone(),
            kind: GroupVersionKind::gvk(group, version, &self.kind),
            plural: self.plural.clone(),
        })
    }
}

/// A change to send.
#[derive(Clone, Debug)]
pub enum Send {
    /// A new object.
    Create(Value),
    /// A JSON merge patch.
    Patch(Value),
    /// The whole applied resource, which the server merges.
    Apply(Value, Takes),
}

impl Send {
    /// The same, which takes over all fields that others own.
    pub fn forced(&self) -> Self {
        match self {
            Self::Apply(object, _) => Self::Apply(object.clone(), Takes::Differing),
            other => other.clone(),
        }
    }
}

/// Whether an apply patch may take over fields of other managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: the server refuses the whole patch if it would take a field.
    Nothing,
    /// All refused fields. It is already checked that the user takes each of them.
    Differing,
}

/// Whether the server keeps what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The server only checks it.
    Dry,
    /// The server keeps it.
    Real,
}

impl Cluster {
    /// Connects as the kubeconfig says; `asked` is the user's namespace for resources that name none.
    ///
    /// # Errors
    /// The kubeconfig cannot be read, or lacks the context.
    pub async fn connect(args: &Connection, asked: Option<String>) -> Result<Self> {
        let reached = kubeconfig::reached(args)?;
        let namespace = asked.clone().unwrap_or_else(|| reached.config.default_namespace.clone());
        let renewed = args.clone();
        let http = Http::new(reached, args.answers_within(), Box::new(move || kubeconfig::reached(&renewed)))?;
        Ok(Self { http, asked, namespace, types: BTreeMap::new(), announced: BTreeMap::new(), schemas: HashMap::new() })
    }

    /// What the server has warned of since this was asked before, each warning once.
    pub fn warnings(&self) -> Vec<Event> {
        let told = self.http.warnings();
        told.into_iter().map(|text| Event::new(Severity::Warning, format!("the cluster warns: {text}"))).collect()
    }

    /// Notes the types that a CustomResourceDefinition of the files defines. Source: CustomResourceDefinitionSpec of the API.
    pub fn announce(&mut self, definition: &Object) {
        let spec = definition.spec();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for version in spec["versions"].as_array().into_iter().flatten().filter(|v| v["served"] == true) {
            let of_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            self.announced.entry(of_version.clone()).or_default().push(Served {
                api_version: of_version,
                kind: text(&spec["names"]["kind"]),
                plural: text(&spec["names"]["plural"]),
                namespaced: spec["scope"] == "Namespaced",
                defined_by: Some(definition.name().to_owned()),
            });
        }
    }

    /// Asks the cluster for the types of each apiVersion of some objects, once. Each object comes with its name for error messages.
    ///
    /// # Errors
    /// A name or an apiVersion cannot be part of a URL; or the cluster answers with anything but types or 404.
    pub async fn discover<'o>(&mut self, objects: impl Iterator<Item = (&'o str, &'o Object)>) -> Result<()> {
        let mut asked: Vec<(&str, &str)> = Vec::new();
        for (name, object) in objects {
            let api_version = object.api_version();
            let check = || {
                let mut all = [("metadata.name", object.named()?)].into_iter().chain(parts(api_version));
                all.try_for_each(|(field, part)| segment(field, part))
            };
            check().with_context(|| name.to_owned())?;
            if !self.types.contains_key(api_version) && asked.iter().all(|(other, _)| *other != api_version) {
                asked.push((api_version, name));
            }
        }
        let answers = asked.into_iter().map(async |(api_version, name)| {
            let served = self.served(api_version).await.with_context(|| name.to_owned())?;
            anyhow::Ok((api_version.to_owned(), served))
        });
        let answers = all(answers).await?;
        self.types.extend(answers);
        Ok(())
    }

    /// The address of a resource. Its type comes from the cluster, or else from a definition in the files.
    ///
    /// # Errors
    /// Neither has the type.
    pub fn address(&self, object: &Object) -> Result<Address> {
        let api_version = object.api_version().to_owned();
        let types = || [&self.types, &self.announced].into_iter().filter_map(|types| types.get(&api_version)).flatten();
        let Some(found) = types().find(|s| s.kind == object.kind()) else {
            let what = match types().next() {
                Some(_) => format!("the kind `{}` of `{api_version}`", object.kind()),
                None => format!("`{api_version}`"),
            };
            bail!("the cluster must know {what}, but it does not");
        };
        let namespace = if found.namespaced { Some(self.namespace_of(object)?) } else { None };
        found.address(object.name(), namespace.as_deref())
    }

    /// A type of a group, in the version that the cluster prefers among those that have it; `None` if the cluster has no such type.
    ///
    /// # Errors
    /// The group cannot be part of a URL; or the cluster answers with anything but types or 404.
    pub async fn find(&mut self, group: &str, is_meant: impl Fn(&Served) -> bool) -> Result<Option<Served>> {
        let is_it = |served: &&Served| group_of(&served.api_version) == group && is_meant(served);
        if let Some(known) = self.types.values().flatten().find(is_it) {
            return Ok(Some(known.clone()));
        }
        for api_version in self.versions(group).await? {
            if !self.types.contains_key(&api_version) {
                let served = self.served(&api_version).await?;
                self.types.insert(api_version.clone(), served);
            }
            if let Some(found) = self.types[&api_version].iter().find(is_it) {
                return Ok(Some(found.clone()));
            }
        }
        Ok(None)
    }

    /// The apiVersions of a group; the cluster prefers the first.
    async fn versions(&self, group: &str) -> Result<Vec<String>> {
        if group.is_empty() {
            return Ok(vec!["v1".to_owned()]);
        }
        segment("group", group)?;
        let request = Request::new("/apis").get(group, &GetParams::default())?;
        let Some(text) = found(self.http.ask(request).await)? else { return Ok(Vec::new()) };
        let found: APIGroup = serde_json::from_str(&text).context("the cluster must answer with an APIGroup")?;
        Ok(found.versions.into_iter().map(|version| version.group_version).collect())
    }

    /// The namespace of an object: its own, or else that of the flags or the kubeconfig. As with kubectl, an object's namespace must not
    /// contradict `-n`.
    fn namespace_of(&self, object: &Object) -> Result<String> {
        let said = object.namespace()?;
        if let (Some(said), Some(asked)) = (said, self.asked.as_deref())
            && said != asked
        {
            bail!("`metadata.namespace` must be the one that `-n` says, \"{asked}\", not \"{said}\"");
        }
        Ok(said.unwrap_or(&self.namespace).to_owned())
    }

    /// The types of an apiVersion; empty if the cluster does not have it.
    async fn served(&self, api_version: &str) -> Result<Vec<Served>> {
        let folder = if api_version.contains('/') { "/apis" } else { "/api" };
        let request = Request::new(folder).get(api_version, &GetParams::default())?;
        let Some(text) = found(self.http.ask(request).await)? else { return Ok(Vec::new()) };
        let list: APIResourceList =
            serde_json::from_str(&text).context("the cluster must answer with an APIResourceList")?;
        let of_type = list.resources.into_iter().filter(|r| !r.name.contains('/'));
        let served = |r: APIResource| Served {
            api_version: api_version.to_owned(),
            kind: r.kind,
            plural: r.name,
            namespaced: r.namespaced,
            defined_by: None,
        };
        Ok(of_type.map(served).collect())
    }

    /// Waits until the cluster serves some types of one apiVersion, after their CustomResourceDefinitions were sent.
    ///
    /// # Errors
    /// The cluster does not serve a type in time.
    pub async fn until_served(&self, api_version: &str, kinds: &BTreeSet<&str>) -> Result<()> {
        let deadline = Instant::now() + self.http.timeout;
        loop {
            let served = self.served(api_version).await?;
            if kinds.iter().all(|kind| served.iter().any(|s| s.kind == *kind)) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                bail!("the cluster must know its type within {} seconds (`--timeout`)", self.http.timeout.as_secs());
            }
            sleep(POLL).await;
        }
    }

    /// The live object; `None` if it does not exist.
    ///
    /// # Errors
    /// The cluster answers with anything but the object or 404.
    pub async fn get(&self, address: &Address) -> Result<Option<Value>> {
        let request = address.url().get(&address.name, &GetParams::default())?;
        let text = found(self.http.ask(request).await)?;
        text.map(|text| match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => checked(value, address),
            Ok(_) => bail!("the cluster must answer with an object"),
            Err(e) => Err(anyhow!("the answer of the cluster must be JSON: {e}")),
        })
        .transpose()
    }

    /// The objects of a type in a namespace whose labels match a selector.
    ///
    /// # Errors
    /// The cluster answers with anything but a list.
    pub async fn list(&self, of: &Served, namespace: Option<&str>, selector: &str) -> Result<Vec<Value>> {
        // The address of a list is that of its objects, without a name.
        let of_objects = of.address("all", namespace)?.url();
        let request = of_objects.list(&ListParams::default().labels(selector))?;
        let text = self.http.ask(request).await?;
        let mut list: Value = serde_json::from_str(&text).context("the answer of the cluster must be JSON")?;
        let Value::Array(items) = list["items"].take() else { bail!("the cluster must answer with a list") };
        // The elements of a list of a built-in type do not name it.
        let named = items.into_iter().map(|item| {
            let mut object = Map::new();
            object.insert("apiVersion".to_owned(), of.api_version.as_str().into());
            object.insert("kind".to_owned(), of.kind.as_str().into());
            object.extend(item.as_object().cloned().unwrap_or_default());
            Value::Object(object)
        });
        Ok(named.collect())
    }

    /// Deletes an object as it was read, and afterwards what it owns.
    ///
    /// # Errors
    /// The server's refusal; [`is_conflict`] says whether the object changed since it was read.
    pub async fn delete(&self, address: &Address, live: &Value, run: Run) -> Result<()> {
        let text = |field: &str| live["metadata"][field].as_str().map(str::to_owned);
        let params = DeleteParams {
            dry_run: run == Run::Dry,
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(Preconditions { uid: text("uid"), resource_version: text("resourceVersion") }),
            ..DeleteParams::default()
        };
        let mut request = address.url().delete(&address.name, &params)?;
        if run == Run::Dry {
            // The body says it, too, but there are proxies that drop the body of a deletion.
            *request.uri_mut() = format!("{}dryRun=All", request.uri()).parse()?;
        }
        self.http.ask(request).await.map(drop)
    }

    /// Asks for the OpenAPI v3 document of each apiVersion, once. The server has one document for each apiVersion.
    ///
    /// # Errors
    /// The cluster answers with anything but a document or 404.
    pub async fn learn(&mut self, api_versions: BTreeSet<String>) -> Result<()> {
        let new = api_versions.into_iter().filter(|api_version| !self.schemas.contains_key(api_version));
        let answers = new.map(async |api_version| {
            let schema = self.read_schema(&api_version).await.with_context(|| format!("the types of {api_version}"))?;
            anyhow::Ok((api_version, schema))
        });
        let answers = all(answers).await?;
        self.schemas.extend(answers);
        Ok(())
    }

    /// The OpenAPI document of an apiVersion that [`Cluster::learn`] has read; `None` if the cluster has no document for it.
    pub fn schema(&self, api_version: &str) -> Option<&Value> {
        self.schemas.get(api_version)?.as_ref()
    }

    async fn read_schema(&self, api_version: &str) -> Result<Option<Value>> {
        let (folder, name) = match api_version.rsplit_once('/') {
            Some((group, version)) => (format!("/openapi/v3/apis/{group}"), version),
            None => ("/openapi/v3/api".to_owned(), api_version),
        };
        let request = Request::new(folder).get(name, &GetParams::default())?;
        let text = found(self.http.ask(request).await)?;
        text.map(|text| serde_json::from_str(&text).context("the answer of the cluster must be JSON")).transpose()
    }

    /// Sends a change, and returns the server's answer.
    ///
    /// # Errors
    /// The server's refusal; [`is_conflict`] says whether the object changed since it was read.
    pub async fn send(&self, address: &Address, send: &Send, run: Run, manager: &str) -> Result<String> {
        let dry_run = run == Run::Dry;
        let mut request = match send {
            Send::Create(object) => {
                let params = PostParams { dry_run, field_manager: Some(manager.to_owned()) };
                address.url().create(&params, serde_json::to_vec(object)?)?
            }
            Send::Patch(patch) => {
                let params = PatchParams { dry_run, field_manager: Some(manager.to_owned()), ..Default::default() };
                address.url().patch(&address.name, &params, &Patch::Merge(patch))?
            }
            Send::Apply(object, takes) => {
                let params = PatchParams {
                    dry_run,
                    force: *takes == Takes::Differing,
                    field_manager: Some(manager.to_owned()),
                    ..Default::default()
                };
                address.url().patch(&address.name, &params, &Patch::Apply(object))?
            }
        };
        // As with kubectl, a field that the type does not have is an error. The server would drop it silently.
        *request.uri_mut() = format!("{}&fieldValidation=Strict", request.uri()).parse()?;
        let sent = self.http.ask(request).await;
        let answer = if address.group_kind() == SECRET { sent.map_err(without_words) } else { sent }?;
        let object: Value = serde_json::from_str(&answer).context(OtherAnswer)?;
        match is_another(&object, address) {
            true => Err(OtherAnswer.into()),
            false => Ok(answer),
        }
    }
}

/// The parts of an apiVersion.
fn parts(api_version: &str) -> impl Iterator<Item = (&'static str, &str)> {
    api_version.splitn(2, '/').map(|part| ("apiVersion", part))
}

/// Checks that a value can be one segment of a URL and cannot lead elsewhere. Source: `IsValidPathSegmentName` of
/// k8s.io/apimachinery/pkg/api/validation.
fn segment(field: &str, part: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:@!$&'()*+,;=".contains(c);
    if part.is_empty() || part == "." || part == ".." || !part.chars().all(is_plain) {
        bail!("`{field}` must be a name that can stand in a URL, not {part:?}");
    }
    Ok(())
}

/// The fields that say which object an object is, each with its value and the value that an address says.
fn who<'o>(object: &'o Value, address: &Address) -> [(&'static str, &'o Value, Option<String>); 4] {
    let metadata = &object["metadata"];
    [
        ("apiVersion", &object["apiVersion"], Some(address.api_version())),
        ("kind", &object["kind"], Some(address.kind.kind.clone())),
        ("metadata.name", &metadata["name"], Some(address.name.clone())),
        ("metadata.namespace", &metadata["namespace"], address.namespace.clone()),
    ]
}

/// Whether an object says that it is not the one at an address.
fn is_another(object: &Value, address: &Address) -> bool {
    let differs =
        |(_, found, wanted): &(_, &Value, Option<String>)| !found.is_null() && found.as_str() != wanted.as_deref();
    !object.is_object() || who(object, address).iter().any(differs)
}

/// Checks that an object is the requested one and has a resourceVersion, and returns it.
fn checked(object: Value, address: &Address) -> Result<Value> {
    for (field, found, wanted) in who(&object, address) {
        if found.as_str() != wanted.as_deref() {
            let wanted = wanted.map_or_else(|| format!("no `{field}`"), |w| format!("the `{field}` \"{w}\""));
            let told: String = found.to_string().chars().take(100).collect();
            bail!("the cluster must answer with the object that it was asked for, of {wanted}, not {told}");
        }
    }
    if object["metadata"]["resourceVersion"].as_str().is_none_or(str::is_empty) {
        bail!("the cluster must answer with an object that has `metadata.resourceVersion`");
    }
    Ok(object)
}

/// Whether an object changed since it was read.
pub fn is_conflict(error: &Error) -> bool {
    code(error) == Some(409) && owned_by_others(error).is_empty()
}

/// The fields that the server refuses because other managers own them. Source: `NewConflictError` of
/// k8s.io/apimachinery/pkg/util/managedfields.
pub fn owned_by_others(error: &Error) -> Vec<&Cause> {
    causes(error, "FieldManagerConflict")
}

/// The manager that owns a field which the server refuses. Source: `printManager` of the same file, which writes the name in quotes first.
pub fn owner_of(cause: &Cause) -> &str {
    cause.message.split('"').nth(1).unwrap_or_default()
}
