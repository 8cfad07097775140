//! The credentials for a cluster: turns the user of a kubeconfig into credentials that fit into a request. No error shows any part of them.
//!
//! As with kubectl, white space around a token does not belong to it, because most token files end with a line break. The command of `exec`
//! is run here: once, and again when what it gave ends or is refused. Its stderr may be secret, too, so it is shown only to a person who can answer it.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use http::HeaderValue;
use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;
use krm_files::walk;
use krm_show::screen;
use krm_yaml::shown;
use kube::config::{AuthInfo, AuthProviderConfig, ExecConfig, ExecInteractiveMode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

/// The longest credential that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// How often to check whether a command that prints nothing more has ended.
const POLL: Duration = Duration::from_millis(10);

/// How long a file's token counts before the file is read again. Source: `cachingFileTokenSource` of client-go/transport.
const FILE_LASTS: Duration = Duration::from_secs(60);

/// How long the credentials of a user count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// The kubeconfig has them.
    Always,
    /// A file or a command gives them, and may give others: after this time, if there is one, or if the cluster refuses them.
    Until(Option<Timestamp>),
}

/// Turns every kind of credential into a token or a certificate, which need no further steps. A user name with a password stays.
///
/// # Errors
/// A credential does not fit into a request, or is not available in time.
pub fn settle(user: &mut AuthInfo, timeout: Duration) -> Result<Lasts> {
    let provider = user.auth_provider.take();
    let inline = user.token.take().filter(|token| !token.expose_secret().trim().is_empty());
    let (file, exec) = (user.token_file.take(), user.exec.take());
    if let Some(provider) = provider {
        user.token = Some(token_of(&id_token(&provider)?, "`id-token`")?);
    } else if user.username.is_some() && user.password.is_some() {
        // kubectl then uses no other credential either.
    } else if let Some(inline) = inline {
        user.token = Some(token_of(inline.expose_secret(), "`token`")?);
    } else if let Some(file) = file {
        let name = walk::shown(file.as_ref());
        let text = text_of(file.into(), timeout).with_context(|| format!("`tokenFile` must be readable: {name}"))?;
        user.token = Some(token_of(&text, &format!("`tokenFile` {name}"))?);
        return Ok(Lasts::Until(Timestamp::now().checked_add(FILE_LASTS).ok()));
    } else if let Some(exec) = exec {
        return of_command(&exec, user, timeout).map(Lasts::Until);
    }
    Ok(Lasts::Always)
}

/// A token that fits into a header. Source: client-go's `cachingFileTokenSource`, which also trims the token.
fn token_of(text: &str, what: &str) -> Result<SecretString> {
    let token = text.trim();
    if token.is_empty() || HeaderValue::from_str(token).is_err() {
        bail!("{what} of the user must be a token, which is one line without control characters");
    }
    Ok(token.to_owned().into())
}

/// The token of `oidc`, the only auth provider that kubectl still supports. Source: Kubernetes 1.26, which removed the others.
fn id_token(provider: &AuthProviderConfig) -> Result<String> {
    if provider.name != "oidc" {
        bail!("the user's `auth-provider` must be `oidc`, not \"{}\": use `exec` for others", provider.name);
    }
    provider.config.get("id-token").cloned().context("the user's `auth-provider` must have an `id-token`")
}

/// Takes the credentials that the command of `exec` prints, and returns their end, if they have one. Source: ExecCredential of
/// client.authentication.k8s.io/v1.
fn of_command(exec: &ExecConfig, user: &mut AuthInfo, timeout: Duration) -> Result<Option<Timestamp>> {
    let program = exec.command.as_deref().context("the user's `exec` must have a `command`")?;
    let what = format!("the command of the user's `exec`, {},", shown::name(program));
    let ended = run(exec, program, Instant::now() + timeout);
    let Some((status, stdout)) = ended.map_err(|e| anyhow!("{what} must be one that can be run: {e}"))? else {
        bail!("{what} must end within {} seconds (`--timeout`)", timeout.as_secs());
    };
    if !status.success() {
        bail!(
            "{what} failed with {status}; its output is not shown, because it may hold a secret. Run it to see the output"
        );
    }
    let credential: Value = yaml_serde::from_slice(&stdout).unwrap_or_default();
    let text = |field: &str| credential["status"][field].as_str();
    let end = text("expirationTimestamp").and_then(|end| end.parse().ok());
    if let (Some(certificate), Some(key)) = (text("clientCertificateData"), text("clientKeyData")) {
        let base64 = |text: &str| json!(ByteString(text.as_bytes().to_vec())).as_str().map(str::to_owned);
        user.client_certificate_data = base64(certificate);
        user.client_key_data = base64(key).map(SecretString::from);
        return Ok(end);
    }
    match text("token") {
        Some(token) => user.token = Some(token_of(token, "the `status.token` that `exec` prints")?),
        None => bail!("{what} must print an ExecCredential with a `token`, or with a certificate and a key"),
    }
    Ok(end)
}

/// The text of a file. The time is limited, because the file may be a pipe to which nobody writes.
fn text_of(file: PathBuf, timeout: Duration) -> Result<String> {
    let text = || {
        let mut text = String::new();
        File::open(file)?.take(LONGEST).read_to_string(&mut text).map(|_| text)
    };
    match in_the_background(text).recv_timeout(timeout) {
        Ok(text) => Ok(text?),
        Err(_) => bail!("it must come within {} seconds (`--timeout`)", timeout.as_secs()),
    }
}

/// Runs a job in a thread, because the job may never end. The returned channel gets its result. A thread that does not end is stopped with
/// the program.
fn in_the_background<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (end, is_ended) = channel();
    std::thread::spawn(move || end.send(job()));
    is_ended
}

/// Runs the command. Returns its exit status and output, or `None` if it took too long and was killed.
fn run(exec: &ExecConfig, program: &str, deadline: Instant) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let may_ask = exec.interactive_mode != Some(ExecInteractiveMode::Never);
    let is_interactive = may_ask && io::stdin().is_terminal() && screen::is_told_to_someone();
    let mut spec = json!({"interactive": is_interactive});
    if let Some(cluster) = &exec.cluster {
        spec["cluster"] = serde_json::to_value(cluster)?;
    }
    let info = json!({"apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec});
    let variables = exec.env.iter().flatten().filter_map(|one| Some((one.get("name")?, one.get("value")?)));
    let mut command = Command::new(program);
    command.args(exec.args.iter().flatten()).envs(variables).env("KUBERNETES_EXEC_INFO", info.to_string());
    let talk = |mut talk: Command| match is_interactive {
        true => talk.stdin(Stdio::inherit()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn(),
        false => talk.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped()).spawn(),
    };
    let mut child = talk(command)?;
    let asks = child.stderr.take().map(|asks| in_the_background(|| pass_on(asks, screen::tell_lines)));
    let prints = child.stdout.take().map(|prints| {
        in_the_background(|| {
            let mut stdout = Vec::new();
            prints.take(LONGEST).read_to_end(&mut stdout).map(|_| stdout)
        })
    });
    let left = || deadline.saturating_duration_since(Instant::now());
    let stdout = prints.map_or(Ok(Ok(Vec::new())), |prints| prints.recv_timeout(left()));
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if stdout.is_err() || left().is_zero() => break None,
            None => std::thread::sleep(POLL.min(left())),
        }
    };
    let (Ok(stdout), Some(status)) = (stdout, status) else {
        child.kill()?;
        child.wait()?;
        return Ok(None);
    };
    // A process that the command started may keep stderr open, so this waits only briefly.
    let _ = asks.map(|is_ended| is_ended.recv_timeout(Duration::from_secs(1)));
    Ok(Some((status, stdout?)))
}

/// Passes text on as it arrives. It does not wait for the end of a line, because a question has none.
fn pass_on(mut from: impl Read, tell: impl Fn(&str)) {
    let (mut pending, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => pending.extend_from_slice(&chunk[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        }
        let whole = match std::str::from_utf8(&pending) {
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => pending.len(),
        };
        tell(&String::from_utf8_lossy(&pending[..whole]));
        pending.drain(..whole);
    }
    tell(&String::from_utf8_lossy(&pending));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const SOON: Duration = Duration::from_secs(10);

    fn user(fields: Value) -> AuthInfo {
        serde_json::from_value(fields).expect("a user")
    }

    #[test]
    fn a_token_is_trimmed_and_one_that_no_header_can_hold_is_refused() {
        for (fields, want) in [
            (json!({"token": "abc"}), "abc"),
            (json!({"token": "abc\n"}), "abc"),
            (json!({"token": " \tabc\r\n\n"}), "abc"),
            (json!({"auth-provider": {"name": "oidc", "config": {"id-token": "abc\n"}}}), "abc"),
        ] {
            let mut user = user(fields);
            settle(&mut user, SOON).expect("a token");
            assert_eq!(user.token.expect("a token").expose_secret(), want);
        }
        for fields in [
            json!({"token": "SECRET\nSECRET"}),
            json!({"token": "SECRET\u{1b}"}),
            json!({"token": "SECRET\u{0}x"}),
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": "SECRET\nx"}}}),
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": "\n"}}}),
            json!({"auth-provider": {"name": "oidc"}}),
            json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "echo", "cmd-args": "SECRET"}}}),
        ] {
            let error = settle(&mut user(fields.clone()), SOON).expect_err("no token").to_string();
            assert!(error.contains("of the user must be") || error.contains("`auth-provider` must"), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
        let mut empty = user(json!({"token": "\n", "tokenFile": "none"}));
        let error = format!("{:#}", settle(&mut empty, SOON).expect_err("no file"));
        assert!(error.starts_with("`tokenFile` must be readable: none: "), "{error}");
        let mut basic = user(json!({"username": "a", "password": "b", "token": "c\nd"}));
        settle(&mut basic, SOON).expect("a password");
        assert!(basic.token.is_none());
    }

    #[test]
    fn what_a_command_asks_is_passed_on_as_it_comes() {
        /// A letter of two bytes that comes in two parts.
        struct Parts(Vec<&'static [u8]>);
        impl Read for Parts {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                if self.0.is_empty() {
                    return Ok(0);
                }
                let part = self.0.remove(0);
                into[..part.len()].copy_from_slice(part);
                Ok(part.len())
            }
        }
        let told = RefCell::new(Vec::new());
        pass_on(Parts(vec![b"who\n", b"name \xc3", b"\xa9: ", b"\xff\xc3"]), |text| {
            told.borrow_mut().push(text.to_owned());
        });
        assert_eq!(told.into_inner().concat(), "who\nname é: \u{fffd}\u{fffd}");
    }
}
