//! Reads a cluster and its user from a kubeconfig. No error shows the contents of the file or of its commands, because they may be a token.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail};
use http::{HeaderName, HeaderValue};
use krm_files::credentials;
use krm_files::errors;
use krm_files::walk::shown;
use krm_release::proxy::proxy;
use krm_yaml::shown as names;
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig, KubeconfigError};

use crate::args::Connection;
use crate::credential::{self, Lasts};

/// A cluster, and how to reach it.
pub struct Reached {
    /// The address, the user, and the default namespace.
    pub config: Config,
    /// The context that names the cluster; `None` if this runs inside of the cluster.
    pub context: Option<String>,
    /// How long the user's credentials count.
    pub lasts: Lasts,
}

/// The cluster that the flags and the environment name.
///
/// # Errors
/// The kubeconfig cannot be read, or lacks the context.
pub fn reached(args: &Connection) -> Result<Reached> {
    let (read, name) = match &args.kubeconfig {
        Some(file) => (Some(one(file)?), shown(file)),
        None => (of_environment()?, "the kubeconfig".to_owned()),
    };
    let is_named = read.is_some() || args.context.is_some();
    let read = read.map_or_else(|| Kubeconfig::read().map_err(said), Ok);
    let context = |kubeconfig: &Kubeconfig| args.context.clone().or_else(|| kubeconfig.current_context.clone());
    let mut own_proxy = None;
    let read = match read {
        Ok(kubeconfig) => {
            has_what_is_asked_for(&kubeconfig, args).context(name.clone())?;
            let context = context(&kubeconfig);
            chosen(&kubeconfig, args).and_then(|chosen| {
                own_proxy = chosen.cluster.proxy_url.clone();
                Ok(Reached { config: chosen.config()?, context, lasts: Lasts::Always })
            })
        }
        Err(error) => Err(error),
    };
    let mut reached = match read {
        Ok(reached) => reached,
        Err(error) if is_named => return Err(error).context(name),
        Err(error) => match Config::incluster() {
            Ok(config) => Reached { config, context: None, lasts: Lasts::Always },
            Err(_) => return Err(error).context("there must be a kubeconfig, or this must run in a cluster"),
        },
    };
    reached.lasts = credential::settle(&mut reached.config.auth_info, args.answers_within()).context(name.clone())?;
    asked_for(&mut reached.config, args)?;
    let variable = |name: &str| std::env::var(name).ok();
    reached.config.proxy_url = proxy(&reached.config.cluster_url, own_proxy.as_deref(), variable).context(name)?;
    Ok(reached)
}

/// The parts of a kubeconfig that the flags choose.
struct Chosen {
    cluster: Cluster,
    user: AuthInfo,
    namespace: Option<String>,
}

/// The context that the flags name, or the current one, with its cluster and its user. As with kubectl, the user may be missing.
fn chosen(kubeconfig: &Kubeconfig, args: &Connection) -> Result<Chosen> {
    let name = args.context.as_ref().or(kubeconfig.current_context.as_ref());
    let name = name.ok_or(KubeconfigError::CurrentContextNotSet).map_err(said)?;
    let of_name = kubeconfig.contexts.iter().find(|context| context.name == *name);
    let context = of_name.and_then(|context| context.context.clone());
    let context = context.ok_or_else(|| KubeconfigError::LoadContext(name.clone())).map_err(said)?;
    let name = args.cluster.as_ref().unwrap_or(&context.cluster);
    let of_name = kubeconfig.clusters.iter().find(|cluster| cluster.name == *name);
    let cluster = of_name.and_then(|cluster| cluster.cluster.clone());
    let cluster = cluster.ok_or_else(|| KubeconfigError::LoadClusterOfContext(name.clone())).map_err(said)?;
    let name = args.user.as_ref().or(context.user.as_ref());
    let of_name = name.and_then(|name| kubeconfig.auth_infos.iter().find(|user| user.name == *name));
    let user = of_name.and_then(|user| user.auth_info.clone()).unwrap_or_default();
    Ok(Chosen { cluster, user, namespace: context.namespace })
}

impl Chosen {
    /// The way to the cluster, without a proxy. kube reads a kubeconfig itself, but then it looks for a proxy by rules of its own, and an
    /// environment that these do not take is an error.
    fn config(mut self) -> Result<Config> {
        let shown = ExecAuthCluster::try_from(&self.cluster).map_err(said)?;
        let address = self.cluster.server.ok_or(KubeconfigError::MissingClusterUrl).map_err(said)?;
        let address = address.parse().map_err(KubeconfigError::ParseClusterUrl).map_err(said)?;
        let certificates = shown.certificate_authority_data.as_deref().map(pem::parse_many).transpose();
        let certificates =
            certificates.map_err(|e| anyhow!("`certificate-authority` must hold certificates as PEM: {e}"))?;
        if let Some(exec) = self.user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
            exec.cluster = Some(shown);
        }
        let mut config = Config::new(address);
        config.default_namespace = self.namespace.unwrap_or(config.default_namespace);
        config.root_cert = certificates.map(|all| all.into_iter().map(pem::Pem::into_contents).collect());
        config.accept_invalid_certs = self.cluster.insecure_skip_tls_verify.unwrap_or_default();
        config.disable_compression = self.cluster.disable_compression.unwrap_or_default();
        config.tls_server_name = self.cluster.tls_server_name;
        config.auth_info = self.user;
        Ok(config)
    }
}

/// Checks that a kubeconfig has the cluster and the user that the flags name.
fn has_what_is_asked_for(kubeconfig: &Kubeconfig, args: &Connection) -> Result<()> {
    let has_cluster = |name: &String| kubeconfig.clusters.iter().any(|cluster| cluster.name == *name);
    let has_user = |name: &String| kubeconfig.auth_infos.iter().any(|user| user.name == *name);
    if let Some(name) = args.cluster.as_ref().filter(|name| !has_cluster(name)) {
        bail!("`--cluster` must name a cluster of the kubeconfig, not \"{}\"", names::name(name));
    }
    if let Some(name) = args.user.as_ref().filter(|name| !has_user(name)) {
        bail!("`--user` must name a user of the kubeconfig, not \"{}\"", names::name(name));
    }
    Ok(())
}

/// Applies the flags over the kubeconfig: the address, and the user to impersonate.
fn asked_for(config: &mut Config, args: &Connection) -> Result<()> {
    if let Some(server) = &args.server {
        config.cluster_url = server
            .parse()
            .ok()
            .filter(|url: &http::Uri| url.scheme().is_some() && url.host().is_some())
            .context("`--server` must be an address that begins with `http://` or `https://`")?;
    }
    let user = args.as_user.iter().map(|name| ("impersonate-user", name, "--as"));
    let groups = args.as_group.iter().map(|name| ("impersonate-group", name, "--as-group"));
    for (header, name, flag) in user.chain(groups) {
        let value = HeaderValue::from_str(name)
            .ok()
            .with_context(|| format!("`{flag}` must be a name that a header can hold"))?;
        config.headers.push((HeaderName::from_static(header), value));
    }
    Ok(())
}

/// The merged files of `KUBECONFIG`; `None` if there are none. As with kubectl, missing files are ignored.
fn of_environment() -> Result<Option<Kubeconfig>> {
    let files = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let mut all: Option<Kubeconfig> = None;
    for file in std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty() && file.exists()) {
        let one = one(&file)?;
        all = Some(match all {
            Some(before) => before.merge(one).with_context(|| shown(&file))?,
            None => one,
        });
    }
    Ok(all)
}

fn one(file: &Path) -> Result<Kubeconfig> {
    Kubeconfig::read_from(file).map_err(said).with_context(|| shown(file))
}

fn said(error: KubeconfigError) -> Error {
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => anyhow!("it must be a kubeconfig, which it is not at {}:{}", at.line(), at.column()),
            None => anyhow!("it must be a kubeconfig"),
        },
        other => anyhow!(without_users(other.into())),
    }
}

/// The message of an error, without the users and passwords in its addresses.
pub fn without_users(error: Error) -> String {
    credentials::hidden(&errors::chain(&error))
}
