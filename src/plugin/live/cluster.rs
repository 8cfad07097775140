//! A cluster over HTTP: what it has at an address, what it knows of types, and what is sent to it.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::params::{GetParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Request, Resource};
use kube::{Client, Config};
use serde_json::Value;

use super::object::Object;
use crate::cli::Live;
use crate::walk::shown;

/// A connection, and what is known of the types so far.
pub struct Cluster {
    client: Client,
    namespace: String,
    timeout: Duration,
    types: HashMap<String, Vec<Served>>,
    schemas: HashMap<String, Option<Value>>,
}

/// A type as the cluster serves it.
#[derive(Clone, Debug)]
struct Served {
    kind: String,
    plural: String,
    namespaced: bool,
}

/// Where a resource lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its namespace; `None` for a resource of the cluster.
    pub namespace: Option<String>,
    kind: GroupVersionKind,
    plural: String,
    name: String,
}

impl Address {
    /// The apiVersion.
    pub fn api_version(&self) -> String {
        self.kind.api_version()
    }

    fn url(&self) -> Request {
        let resource = ApiResource::from_gvk_with_plural(&self.kind, &self.plural);
        Request::new(DynamicObject::url_path(&resource, self.namespace.as_deref()))
    }
}

impl fmt::Display for Address {
    /// `prod/deployment.apps/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.kind.kind.to_lowercase())?;
        if !self.kind.group.is_empty() {
            write!(f, ".{}", self.kind.group)?;
        }
        write!(f, "/{}", self.name)
    }
}

/// What is sent.
#[derive(Debug)]
pub enum Send {
    /// A new object.
    Create(Value),
    /// A JSON merge patch.
    Patch(Value),
}

/// Whether the server keeps what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// It only checks it.
    Dry,
    /// It keeps it.
    Real,
}

impl Cluster {
    /// Connects as the kubeconfig says.
    ///
    /// # Errors
    /// A kubeconfig that cannot be read, or a context that is not in it.
    pub async fn connect(args: &Live) -> Result<Self> {
        let options = KubeConfigOptions { context: args.context.clone(), ..Default::default() };
        let of_environment = if args.kubeconfig.is_none() { of_environment()? } else { None };
        let mut config = match (&args.kubeconfig, of_environment) {
            (Some(file), _) => {
                let kubeconfig = Kubeconfig::read_from(file).with_context(|| shown(file))?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(|| shown(file))?
            }
            (None, Some(kubeconfig)) => {
                Config::from_custom_kubeconfig(kubeconfig, &options).await.context("the kubeconfig")?
            }
            (None, None) if args.context.is_some() => {
                Config::from_kubeconfig(&options).await.context("the kubeconfig")?
            }
            (None, None) => {
                Config::infer().await.context("there must be a kubeconfig, or this must run in a cluster")?
            }
        };
        let timeout = Duration::from_secs(args.timeout);
        config.connect_timeout = Some(timeout);
        let namespace = args.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let client = Client::try_from(config).context("the kubeconfig")?;
        Ok(Self { client, namespace, timeout, types: HashMap::new(), schemas: HashMap::new() })
    }

    /// Where a resource lies, by what the cluster says of its type.
    ///
    /// # Errors
    /// A type that the cluster does not have.
    pub async fn address(&mut self, object: &Object) -> Result<Address> {
        let api_version = object.api_version().to_owned();
        let served = match self.types.get(&api_version) {
            Some(served) => served.clone(),
            None => {
                let served = self.served(&api_version).await?;
                self.types.insert(api_version.clone(), served.clone());
                served
            }
        };
        let Some(found) = served.iter().find(|s| s.kind == object.kind()) else {
            bail!("the cluster must know the kind `{}` of `{api_version}`, but it does not", object.kind());
        };
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let namespace = object.namespace().unwrap_or(&self.namespace).to_owned();
        Ok(Address {
            namespace: found.namespaced.then_some(namespace),
            kind: GroupVersionKind::gvk(group, version, object.kind()),
            plural: found.plural.clone(),
            name: object.name().to_owned(),
        })
    }

    async fn served(&self, api_version: &str) -> Result<Vec<Served>> {
        let listed = async {
            match api_version.contains('/') {
                true => self.client.list_api_group_resources(api_version).await,
                false => self.client.list_core_api_resources(api_version).await,
            }
        };
        let Some(list) = found(self.within(listed).await)? else {
            bail!("the cluster must know `{api_version}`, but it does not");
        };
        let of_type = list.resources.into_iter().filter(|r| !r.name.contains('/'));
        Ok(of_type.map(|r| Served { kind: r.kind, plural: r.name, namespaced: r.namespaced }).collect())
    }

    /// The live object; `None` where there is none.
    ///
    /// # Errors
    /// Any other answer than an object or 404.
    pub async fn get(&self, address: &Address) -> Result<Option<Value>> {
        let request = address.url().get(&address.name, &GetParams::default())?;
        let text = found(self.within(self.client.request_text(request)).await)?;
        text.map(|text| match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => checked(value, address),
            Ok(_) => bail!("the cluster must answer with an object"),
            Err(e) => Err(anyhow!("the answer of the cluster must be JSON: {e}")),
        })
        .transpose()
    }

    /// What the cluster says of the types of an apiVersion in OpenAPI v3; `None` where it says nothing.
    ///
    /// # Errors
    /// Any other answer than a document or 404.
    pub async fn schema(&mut self, api_version: &str) -> Result<Option<&Value>> {
        if !self.schemas.contains_key(api_version) {
            let schema = self.read_schema(api_version).await?;
            self.schemas.insert(api_version.to_owned(), schema);
        }
        Ok(self.schemas.get(api_version).and_then(Option::as_ref))
    }

    async fn read_schema(&self, api_version: &str) -> Result<Option<Value>> {
        let (folder, name) = match api_version.rsplit_once('/') {
            Some((group, version)) => (format!("/openapi/v3/apis/{group}"), version),
            None => ("/openapi/v3/api".to_owned(), api_version),
        };
        let request = Request::new(folder).get(name, &GetParams::default())?;
        let text = found(self.within(self.client.request_text(request)).await)?;
        text.map(|text| serde_json::from_str(&text).context("the answer of the cluster must be JSON")).transpose()
    }

    /// Sends a change.
    ///
    /// # Errors
    /// What the server answers, and a conflict where the object changed since it was read.
    pub async fn send(&self, address: &Address, send: &Send, run: Run, manager: &str) -> Result<()> {
        let dry_run = run == Run::Dry;
        let request = match send {
            Send::Create(object) => {
                let params = PostParams { dry_run, field_manager: Some(manager.to_owned()) };
                address.url().create(&params, serde_json::to_vec(object)?)?
            }
            Send::Patch(patch) => {
                let params = PatchParams { dry_run, field_manager: Some(manager.to_owned()), ..Default::default() };
                address.url().patch(&address.name, &params, &Patch::Merge(patch))?
            }
        };
        match self.within(self.client.request_text(request)).await {
            Ok(_) => Ok(()),
            Err(e) if code(&e) == Some(409) => Err(e.context(
                "it changed in the cluster since it was read; run this again to merge with what is there now",
            )),
            Err(e) => Err(e),
        }
    }

    /// An answer, if it comes in time.
    async fn within<T>(&self, answer: impl Future<Output = kube::Result<T>>) -> Result<T> {
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer.map_err(told),
            Err(_) => bail!("the cluster must answer within {} seconds (`--timeout`)", self.timeout.as_secs()),
        }
    }
}

/// What the files of `KUBECONFIG` say together; as under kubectl, those that are not there say nothing. `None` where there is none.
fn of_environment() -> Result<Option<Kubeconfig>> {
    let files = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let mut all: Option<Kubeconfig> = None;
    for file in std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty() && file.exists()) {
        let one = Kubeconfig::read_from(&file).with_context(|| shown(&file))?;
        all = Some(match all {
            Some(before) => before.merge(one).with_context(|| shown(&file))?,
            None => one,
        });
    }
    Ok(all)
}

/// An object, if it is the one that was asked for, and says of which state it is.
fn checked(object: Value, address: &Address) -> Result<Value> {
    let metadata = &object["metadata"];
    let api_version = address.api_version();
    let fields = [
        ("apiVersion", &object["apiVersion"], Some(api_version.as_str())),
        ("kind", &object["kind"], Some(address.kind.kind.as_str())),
        ("metadata.name", &metadata["name"], Some(address.name.as_str())),
        ("metadata.namespace", &metadata["namespace"], address.namespace.as_deref()),
    ];
    for (field, found, wanted) in fields {
        if found.as_str() != wanted {
            let wanted = wanted.map_or_else(|| format!("no `{field}`"), |w| format!("the `{field}` \"{w}\""));
            let told: String = found.to_string().chars().take(100).collect();
            bail!("the cluster must answer with the object that it was asked for, of {wanted}, not {told}");
        }
    }
    if metadata["resourceVersion"].as_str().is_none_or(str::is_empty) {
        bail!("the cluster must answer with an object that has `metadata.resourceVersion`");
    }
    Ok(object)
}

/// What the server said, in its words.
#[derive(Debug)]
struct Refused {
    code: u16,
    message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.code {
            401 => "the cluster does not know who is asking: ",
            403 => "the cluster does not allow it: ",
            _ => "the cluster answered: ",
        };
        let message: String = self.message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
        write!(f, "{hint}{} {message}", self.code)
    }
}

impl std::error::Error for Refused {}

fn told(error: kube::Error) -> Error {
    match error {
        kube::Error::Api(status) => Error::new(Refused { code: status.code, message: status.message.clone() }),
        other => Error::new(other).context("the cluster cannot be asked"),
    }
}

fn code(error: &Error) -> Option<u16> {
    error.downcast_ref::<Refused>().map(|r| r.code)
}

/// `None` for what is not there.
fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(e) if code(&e) == Some(404) => Ok(None),
        Err(e) => Err(e),
    }
}
