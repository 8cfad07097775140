//! What a kubeconfig says of a cluster and of who asks it. No error repeats what it or its commands hold: that may be a token.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow};
use kube::Config;
use kube::client::AuthError;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::cli::Live;
use crate::walk::shown;

/// The cluster that the flags and the environment name.
///
/// # Errors
/// A kubeconfig that cannot be read, or a context that is not in it.
pub async fn config(args: &Live) -> Result<Config> {
    let options = KubeConfigOptions { context: args.context.clone(), ..Default::default() };
    let (read, name) = match &args.kubeconfig {
        Some(file) => (Some(one(file)?), shown(file)),
        None => (of_environment()?, "the kubeconfig".to_owned()),
    };
    let config = match read {
        Some(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
        None if args.context.is_some() => Config::from_kubeconfig(&options).await,
        None => return Config::infer().await.context("there must be a kubeconfig, or this must run in a cluster"),
    };
    config.map_err(told).context(name)
}

/// What the files of `KUBECONFIG` say together; as under kubectl, those that are not there say nothing. `None` where there is none.
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
    Kubeconfig::read_from(file).map_err(told).with_context(|| shown(file))
}

fn told(error: KubeconfigError) -> Error {
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => anyhow!("it must be a kubeconfig, which it is not at {}:{}", at.line(), at.column()),
            None => anyhow!("it must be a kubeconfig"),
        },
        other => other.into(),
    }
}

/// Why nobody could say who asks.
pub fn unknown_user(error: &AuthError) -> Error {
    match error {
        AuthError::AuthExecStart(e) => anyhow!("the command of the user's `exec` must be one that can be run: {e}"),
        AuthError::AuthExecRun { out, .. } => {
            let told = String::from_utf8_lossy(&out.stderr);
            anyhow!("the command of the user's `exec` failed with {}: {}", out.status, told.trim())
        }
        AuthError::AuthExecParse(_) => anyhow!("the command of the user's `exec` must print an ExecCredential"),
        other => anyhow!("{other}"),
    }
}
