//! A cluster over HTTP: what it has at an address, what it knows of types, and what is sent to it.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIResource, APIResourceList};
use k8s_openapi::jiff::{Timestamp, fmt::rfc2822};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::params::{GetParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Request, Resource};
use kube::{Client, Config};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use super::object::Object;
use crate::cli::Live;
use crate::walk::shown;

/// How often a cluster is asked that is too busy to answer.
const TRIES: u32 = 5;

/// How long to wait before a cluster is asked again for a type that it is about to serve.
const POLL: Duration = Duration::from_millis(200);

/// A connection, and what is known of the types so far.
pub struct Cluster {
    client: Client,
    namespace: String,
    timeout: Duration,
    types: HashMap<String, Vec<Served>>,
    announced: HashMap<String, Vec<Served>>,
    schemas: HashMap<String, Option<Value>>,
}

/// A type as the cluster serves it.
#[derive(Clone, Debug)]
struct Served {
    kind: String,
    plural: String,
    namespaced: bool,
    /// The CustomResourceDefinition of the files that says so, where the cluster does not.
    defined_by: Option<String>,
}

/// Where a resource lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its namespace; `None` for a resource of the cluster.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The CustomResourceDefinition of the files that defines its type, where the cluster does not know it yet.
    pub defined_by: Option<String>,
    kind: GroupVersionKind,
    plural: String,
}

impl Address {
    /// The apiVersion.
    pub fn api_version(&self) -> String {
        self.kind.api_version()
    }

    /// Its group and kind.
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.kind.group, &self.kind.kind)
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
        // Asked again is below, where it is told.
        config.default_retry = false;
        let namespace = args.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let client = Client::try_from(config).context("the kubeconfig")?;
        Ok(Self {
            client,
            namespace,
            timeout,
            types: HashMap::new(),
            announced: HashMap::new(),
            schemas: HashMap::new(),
        })
    }

    /// Notes the types that a CustomResourceDefinition of the files defines. Source: CustomResourceDefinitionSpec of the API.
    pub fn announce(&mut self, definition: &Object) {
        let spec = definition.spec();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for version in spec["versions"].as_array().into_iter().flatten().filter(|v| v["served"] == true) {
            let of_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            self.announced.entry(of_version).or_default().push(Served {
                kind: text(&spec["names"]["kind"]),
                plural: text(&spec["names"]["plural"]),
                namespaced: spec["scope"] == "Namespaced",
                defined_by: Some(definition.name().to_owned()),
            });
        }
    }

    /// Where a resource lies, by what the cluster says of its type, or else the files.
    ///
    /// # Errors
    /// A type that neither has.
    pub async fn address(&mut self, object: &Object) -> Result<Address> {
        let api_version = object.api_version().to_owned();
        if !self.types.contains_key(&api_version) {
            let served = self.served(&api_version).await?;
            self.types.insert(api_version.clone(), served);
        }
        let all = || [&self.types, &self.announced].into_iter().filter_map(|types| types.get(&api_version)).flatten();
        let Some(found) = all().find(|s| s.kind == object.kind()) else {
            let what = match all().next() {
                Some(_) => format!("the kind `{}` of `{api_version}`", object.kind()),
                None => format!("`{api_version}`"),
            };
            bail!("the cluster must know {what}, but it does not");
        };
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let namespace = object.namespace().unwrap_or(&self.namespace).to_owned();
        Ok(Address {
            namespace: found.namespaced.then_some(namespace),
            name: object.name().to_owned(),
            defined_by: found.defined_by.clone(),
            kind: GroupVersionKind::gvk(group, version, object.kind()),
            plural: found.plural.clone(),
        })
    }

    /// The types of an apiVersion; none of one that the cluster does not have.
    async fn served(&self, api_version: &str) -> Result<Vec<Served>> {
        let folder = if api_version.contains('/') { "/apis" } else { "/api" };
        let request = Request::new(folder).get(api_version, &GetParams::default())?;
        let Some(text) = found(self.ask(request).await)? else { return Ok(Vec::new()) };
        let list: APIResourceList =
            serde_json::from_str(&text).context("what the cluster says of its types must be an APIResourceList")?;
        let of_type = list.resources.into_iter().filter(|r| !r.name.contains('/'));
        let served =
            |r: APIResource| Served { kind: r.kind, plural: r.name, namespaced: r.namespaced, defined_by: None };
        Ok(of_type.map(served).collect())
    }

    /// Waits until the cluster knows the type of a resource, whose CustomResourceDefinition it was just sent.
    ///
    /// # Errors
    /// A type that it does not know in time.
    pub async fn until_served(&self, address: &Address) -> Result<()> {
        let deadline = Instant::now() + self.timeout;
        while !self.served(&address.api_version()).await?.iter().any(|s| s.kind == address.kind.kind) {
            if Instant::now() >= deadline {
                bail!("the cluster must know its type within {} seconds (`--timeout`)", self.timeout.as_secs());
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// The live object; `None` where there is none.
    ///
    /// # Errors
    /// Any other answer than an object or 404.
    pub async fn get(&self, address: &Address) -> Result<Option<Value>> {
        let request = address.url().get(&address.name, &GetParams::default())?;
        let text = found(self.ask(request).await)?;
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
        let text = found(self.ask(request).await)?;
        text.map(|text| serde_json::from_str(&text).context("the answer of the cluster must be JSON")).transpose()
    }

    /// Sends a change.
    ///
    /// # Errors
    /// What the server answers; [`is_conflict`] tells whether the object changed since it was read.
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
        self.ask(request).await.map(drop)
    }

    /// The answer, if it comes in time. A cluster that is too busy is asked again when it says, as kubectl does.
    async fn ask(&self, request: http::Request<Vec<u8>>) -> Result<String> {
        let deadline = Instant::now() + self.timeout;
        let mut tries = 0;
        loop {
            let answer = timeout_at(deadline, self.answer(request.clone())).await;
            let Ok(answer) = answer else {
                bail!("the cluster must answer within {} seconds (`--timeout`)", self.timeout.as_secs());
            };
            tries += 1;
            let mut refused = match answer? {
                Ok(text) => return Ok(text),
                Err(refused) => refused,
            };
            let Some(wait) = refused.wait else { return Err(refused.into()) };
            let is_in_time = Instant::now().checked_add(wait).is_some_and(|then| then < deadline);
            if tries == TRIES || !is_in_time {
                refused.tries = tries;
                return Err(refused.into());
            }
            sleep(wait).await;
        }
    }

    async fn answer(&self, request: http::Request<Vec<u8>>) -> Result<Result<String, Refused>> {
        let unasked = |e| Error::new(e).context("the cluster cannot be asked");
        let answer = self.client.send(request.map(Body::from)).await.map_err(unasked)?;
        let (head, body) = answer.into_parts();
        let text = body.collect_bytes().await.map_err(unasked)?.to_vec();
        if head.status.is_success() {
            return Ok(Ok(String::from_utf8(text).context("the answer of the cluster must be UTF-8")?));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = serde_json::from_str::<Value>(&text).ok();
        let message = status.as_ref().and_then(|status| status["message"].as_str()).unwrap_or(text.trim());
        let wait = wait(head.status, &head.headers);
        Ok(Err(Refused { code: head.status.as_u16(), message: message.to_owned(), wait, tries: 1 }))
    }
}

/// When to ask again. Source: client-go, which waits at 429 and at 5xx with a `Retry-After`.
fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    if !is_busy && !status.is_server_error() {
        return None;
    }
    let Some(after) = headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()) else {
        return is_busy.then_some(Duration::from_secs(1));
    };
    let until = |date: &str| Some(rfc2822::parse(date).ok()?.timestamp().as_second() - Timestamp::now().as_second());
    let seconds = after.trim().parse().ok().or_else(|| u64::try_from(until(after)?.max(0)).ok());
    Some(Duration::from_secs(seconds.unwrap_or(1)))
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
    /// When it wants to be asked again.
    wait: Option<Duration>,
    /// How often it was asked.
    tries: u32,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.code {
            401 => "the cluster does not know who is asking: ",
            403 => "the cluster does not allow it: ",
            _ => "the cluster answered: ",
        };
        let message: String = self.message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
        write!(f, "{hint}{} {message}", self.code)?;
        if let Some(wait) = self.wait {
            let times = if self.tries == 1 { "once".to_owned() } else { format!("{} times", self.tries) };
            write!(f, " (it was asked {times}, and asks to wait {} seconds before the next time)", wait.as_secs())?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// Whether an object changed since it was read.
pub fn is_conflict(error: &Error) -> bool {
    code(error) == Some(409)
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
