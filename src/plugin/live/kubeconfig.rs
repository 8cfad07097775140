//! What a kubeconfig says of a cluster and of who asks it. No error repeats what it or its commands hold: that may be a token.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use super::credential;
use crate::cli::Connection;
use crate::told;
use crate::walk::shown;

/// The cluster that the flags and the environment name.
///
/// # Errors
/// A kubeconfig that cannot be read, or a context that is not in it.
pub async fn config(args: &Connection) -> Result<Config> {
    let options = KubeConfigOptions { context: args.context.clone(), ..Default::default() };
    let (read, name) = match &args.kubeconfig {
        Some(file) => (Some(one(file)?), shown(file)),
        None => (of_environment()?, "the kubeconfig".to_owned()),
    };
    let is_named = read.is_some() || args.context.is_some();
    let read = match read {
        Some(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
        None => Config::from_kubeconfig(&options).await,
    };
    let mut config = match read {
        Ok(config) => config,
        Err(error) if is_named => return Err(said(error)).context(name),
        Err(error) => match Config::incluster() {
            Ok(config) => config,
            Err(_) => return Err(said(error)).context("there must be a kubeconfig, or this must run in a cluster"),
        },
    };
    credential::settle(&mut config.auth_info).context(name)?;
    Ok(config)
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

/// What is said of an error, without the users and passwords of the addresses that it repeats.
pub fn without_users(error: Error) -> String {
    let text = told::chain(&error);
    let mut parts = text.split("//");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).unwrap_or(part.len());
        let host = part[..end].rfind('@').map_or(0, |at| at + 1);
        out.extend(["//", &part[host..]]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_users() {
        for (text, want) in [
            ("proxy socks5://u:p@host:1 is", "proxy socks5://host:1 is"),
            ("\"https://u:p@ss@host/x@y\", http://h", "\"https://host/x@y\", http://h"),
            ("//u:p@host", "//host"),
            ("a@b", "a@b"),
        ] {
            assert_eq!(without_users(anyhow!("{text}")), want);
        }
    }
}
