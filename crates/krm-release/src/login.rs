//! The logins of the user: those of registries as docker, podman and helm keep them, those of chart repositories as helm does, and `.netrc`.
//!
//! They are read when a server is asked that needs one, and never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use krm_files::walk::shown;
use serde::Deserialize;

use crate::url::Url;
use crate::web::{Ask, Authorization, Trust};

/// Docker's own registry has one login for all its names.
const HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// By this address a helper knows docker's own registry.
const HUB_OF_HELPERS: &str = "https://index.docker.io/v1/";

/// How long a credential helper may take; it may ask a cloud.
const HELPER: Duration = Duration::from_secs(60);

/// How large a file with logins may be.
const MOST: u64 = 1 << 24;

/// A login.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// A user with a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// What is exchanged for a token.
    Identity(String),
    /// A token for the registry.
    Token(String),
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

impl Login {
    fn basic(user: &str, password: &str) -> Self {
        Self::Basic { user: user.to_owned(), password: password.to_owned() }
    }

    /// The header of a user with a password.
    pub fn as_basic(&self) -> Option<Authorization> {
        let Self::Basic { user, password } = self else { return None };
        Some(Authorization(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))))
    }
}

/// What opens a chart repository.
#[derive(Clone, Debug, Default)]
pub struct Access {
    authorization: Option<Authorization>,
    trust: Trust,
}

impl Access {
    /// A request with it.
    pub fn ask<'a>(&'a self, url: &'a Url) -> Ask<'a> {
        Ask { authorization: self.authorization.as_ref(), trust: Some(&self.trust), ..Ask::at(url) }
    }

    /// What is left of it for another server.
    pub fn elsewhere(self) -> Self {
        Self { authorization: None, trust: self.trust.elsewhere() }
    }
}

/// The files with logins.
#[derive(Clone, Debug, Default)]
pub struct Logins {
    /// Those for registries. The first one with a login counts.
    pub registries: Vec<PathBuf>,
    /// That of `helm repo add`.
    pub repositories: Option<PathBuf>,
    /// `.netrc`.
    pub netrc: Option<PathBuf>,
}

impl Logins {
    /// Those of the user.
    pub fn of_user() -> Self {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = named("HOME").or_else(|| named("USERPROFILE"));
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = named("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        let helm = named("HELM_CONFIG_HOME").or_else(|| match (env::consts::OS, named("XDG_CONFIG_HOME")) {
            ("macos", None) => in_home("Library/Preferences/helm"),
            ("windows", None) => named("APPDATA").map(|folder| folder.join("helm")),
            _ => config.as_ref().map(|folder| folder.join("helm")),
        });
        let in_helm = |path: &str| helm.as_ref().map(|helm| helm.join(path));
        let podman = named("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json"));
        let registries = [
            named("HELM_REGISTRY_CONFIG").or_else(|| in_helm("registry/config.json")),
            named("REGISTRY_AUTH_FILE"),
            podman,
            config.as_ref().map(|folder| folder.join("containers/auth.json")),
            named("DOCKER_CONFIG").or_else(|| in_home(".docker")).map(|folder| folder.join("config.json")),
        ];
        Self {
            registries: registries.into_iter().flatten().collect(),
            repositories: named("HELM_REPOSITORY_CONFIG").or_else(|| in_helm("repositories.yaml")),
            netrc: named("NETRC").or_else(|| in_home(if cfg!(windows) { "_netrc" } else { ".netrc" })),
        }
    }

    /// The login for an image of a registry.
    ///
    /// # Errors
    /// A file cannot be read, or a helper that is there for this registry fails.
    pub fn of_registry(&self, host: &str, path: &str) -> Result<Option<Login>> {
        for file in &self.registries {
            let Some(text) = read(file)? else { continue };
            let config: Config = serde_json::from_str(&text).ok().with_context(|| {
                format!("{}: the file with logins must be JSON as `docker login` writes it", shown(file))
            })?;
            let login = config.login(host, path).with_context(|| shown(file))?;
            if login.is_some() {
                return Ok(login);
            }
        }
        Ok(None)
    }

    /// What opens a chart repository: the login that `helm repo add` or `.netrc` has, and the certificates of `helm repo add`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of_repository(&self, repo: &Url) -> Result<Access> {
        let text = self.repositories.as_ref().map(|file| read(file)).transpose()?.flatten().unwrap_or_default();
        let known: Option<Option<Repositories>> = yaml_serde::from_str(&text).ok();
        let known = known.with_context(|| {
            let file = self.repositories.as_deref().map(shown).unwrap_or_default();
            format!("{file}: the file must be YAML as `helm repo add` writes it")
        })?;
        let is_it = |entry: &&Repository| {
            let bare = |url: &Url| url.text().trim_end_matches('/').to_owned();
            Url::read(&entry.url).is_ok_and(|url| bare(&url) == bare(repo))
        };
        let entries: Vec<Repository> = known.map(|known| known.repositories).unwrap_or_default();
        let entries: Vec<&Repository> = entries.iter().filter(is_it).collect();
        let login = entries.iter().find(|entry| !entry.username.is_empty());
        let login = match login {
            Some(entry) => Some(Login::basic(&entry.username, &entry.password)),
            None => self.of_host(repo)?,
        };
        let trust = entries.iter().map(|entry| entry.trust()).find(|trust| *trust != Trust::default());
        Ok(Access { authorization: login.as_ref().and_then(Login::as_basic), trust: trust.unwrap_or_default() })
    }

    /// The login of `.netrc` for a host.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_host(&self, url: &Url) -> Result<Option<Login>> {
        let Some(file) = &self.netrc else { return Ok(None) };
        Ok(read(file)?.and_then(|text| in_netrc(&text, url.host())))
    }
}

/// The text of a file; `None` if there is none.
fn read(file: &Path) -> Result<Option<String>> {
    let Ok(found) = fs::metadata(file) else { return Ok(None) };
    if !found.is_file() || found.len() > MOST {
        bail!("{}: it must be a file with at most {MOST} bytes", shown(file));
    }
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(e) => Err(e).with_context(|| shown(file)),
    }
}

#[derive(Deserialize)]
struct Repositories {
    #[serde(default)]
    repositories: Vec<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(default)]
    url: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default, rename = "caFile")]
    authorities: PathBuf,
    #[serde(default, rename = "certFile")]
    certificate: PathBuf,
    #[serde(default, rename = "keyFile")]
    key: PathBuf,
    #[serde(default, rename = "insecure_skip_tls_verify")]
    is_blind: bool,
}

impl Repository {
    fn trust(&self) -> Trust {
        let named = |file: &PathBuf| Some(file.clone()).filter(|file| !file.as_os_str().is_empty());
        let identity = named(&self.certificate).zip(named(&self.key)).map(|(certificate, key)| [certificate, key]);
        Trust { authorities: named(&self.authorities), identity, is_blind: self.is_blind }
    }
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    auths: BTreeMap<String, Entry>,
    #[serde(default, rename = "credHelpers")]
    helpers: BTreeMap<String, String>,
    #[serde(default, rename = "credsStore")]
    store: String,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Entry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
    registrytoken: String,
}

impl Config {
    fn login(&self, host: &str, path: &str) -> Result<Option<Login>> {
        let helper = self.helpers.iter().find(|(key, _)| fits(key, host, "").is_some());
        let key = if HUB.contains(&host) { HUB_OF_HELPERS } else { host };
        if let Some((_, helper)) = helper {
            return ask(helper, key).with_context(|| format!("the credential helper \"docker-credential-{helper}\""));
        }
        // Docker asks its store alone, but a store may have been set up after a login.
        let stored = if self.store.is_empty() { None } else { ask(&self.store, key).ok().flatten() };
        let entries = self.auths.iter().filter_map(|(key, entry)| Some((fits(key, host, path)?, entry)));
        let mut entries: Vec<(usize, &Entry)> = entries.collect();
        entries.sort_by_key(|(length, _)| *length);
        Ok(stored.or_else(|| entries.into_iter().rev().find_map(|(_, entry)| entry.login())))
    }
}

/// How well a key of a file names an image: the number of bytes of its path that the key has.
fn fits(key: &str, host: &str, path: &str) -> Option<usize> {
    let key = key.split_once("://").map_or(key, |(_, rest)| rest).trim_end_matches('/');
    let key = ["/v1", "/v2"].iter().find_map(|end| key.strip_suffix(end)).unwrap_or(key);
    let (own, below) = key.split_once('/').unwrap_or((key, ""));
    let is_same = own.eq_ignore_ascii_case(host) || (HUB.contains(&own) && HUB.contains(&host));
    let is_above =
        below.is_empty() || path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    (is_same && is_above).then_some(below.len())
}

impl Entry {
    fn login(&self) -> Option<Login> {
        let decoded = STANDARD.decode(self.auth.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let (user, password) = match decoded.as_deref().and_then(|text| text.split_once(':')) {
            // Docker once filled passwords up.
            Some((user, password)) => (user, password.trim_end_matches('\0')),
            None => (self.username.as_str(), self.password.as_str()),
        };
        match self {
            Self { registrytoken, .. } if !registrytoken.is_empty() => Some(Login::Token(registrytoken.clone())),
            Self { identitytoken, .. } if !identitytoken.is_empty() => Some(Login::Identity(identitytoken.clone())),
            _ if !user.is_empty() => Some(Login::basic(user, password)),
            _ => None,
        }
    }
}

/// What a credential helper prints.
#[derive(Deserialize)]
struct Printed {
    #[serde(rename = "Username")]
    user: String,
    #[serde(rename = "Secret")]
    secret: String,
}

/// Asks a credential helper. What it prints is never shown, for it may be secret.
fn ask(helper: &str, key: &str) -> Result<Option<Login>> {
    if helper.is_empty() || !helper.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        bail!("its name must have letters, digits, `-`, `_` and `.` only");
    }
    let program = format!("docker-credential-{helper}");
    let mut command = Command::new(&program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context("it must be on `PATH`")?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (done, printed) = mpsc::channel();
    let key = key.to_owned();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = input.map(|mut input| input.write_all(key.as_bytes()));
        let read = output.map(|output| output.take(MOST).read_to_string(&mut text));
        let _ = done.send(read.and_then(Result::ok).map(|_| text));
    });
    let Ok(text) = printed.recv_timeout(HELPER) else {
        let _ = child.kill();
        let _ = child.wait();
        bail!("it must answer within {} seconds", HELPER.as_secs());
    };
    let status = child.wait()?;
    let text = text.unwrap_or_default();
    if !status.success() {
        if text.contains("credentials not found") {
            return Ok(None);
        }
        bail!("it must not fail: {status}");
    }
    let printed: Printed =
        serde_json::from_str(&text).ok().context("it must print JSON with `Username` and `Secret`")?;
    Ok(match printed.user.as_str() {
        "<token>" => Some(Login::Identity(printed.secret)),
        "" => None,
        user => Some(Login::basic(user, &printed.secret)),
    })
}

/// The login for a host, or that of `default`.
fn in_netrc(text: &str, host: &str) -> Option<Login> {
    let mut words = netrc_words(text).into_iter();
    let (mut is_it, mut user, mut password) = (false, None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "machine" | "default" => {
                if is_it && user.is_some() {
                    break;
                }
                is_it = word == "default" || words.next().is_some_and(|name| name.eq_ignore_ascii_case(host));
            }
            "login" => user = words.next().filter(|_| is_it).or(user),
            "password" => password = words.next().filter(|_| is_it).or(password),
            "account" => drop(words.next()),
            _ => {}
        }
    }
    Some(Login::Basic { user: user?, password: password.unwrap_or_default() })
}

/// The words of `.netrc`: without comments and macros, and without the quotes around a word.
fn netrc_words(text: &str) -> Vec<String> {
    let (mut words, mut is_macro) = (Vec::new(), false);
    for line in text.lines() {
        // A macro ends with an empty line.
        is_macro = (is_macro || line.trim_start().starts_with("macdef")) && !line.trim().is_empty();
        if is_macro || line.trim_start().starts_with('#') {
            continue;
        }
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (mut word, mut is_escaped) = (String::new(), false);
            let quoted = rest.strip_prefix('"');
            let body = quoted.unwrap_or(rest);
            let is_end = |c: char| if quoted.is_some() { c == '"' } else { c.is_whitespace() };
            let mut end = body.len();
            for (at, c) in body.char_indices() {
                if !is_escaped && is_end(c) {
                    end = at + usize::from(quoted.is_some());
                    break;
                }
                if !is_escaped && c == '\\' && quoted.is_some() {
                    is_escaped = true;
                    continue;
                }
                is_escaped = false;
                word.push(c);
            }
            words.push(word);
            rest = body[end..].trim_start();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(login: Option<Login>) -> String {
        match login {
            Some(Login::Basic { user, password }) => format!("{user}:{password}"),
            Some(Login::Identity(token)) => format!("identity {token}"),
            Some(Login::Token(token)) => format!("token {token}"),
            None => String::new(),
        }
    }

    #[test]
    fn the_login_of_a_registry_is_that_of_the_longest_key() {
        let of = |user: &str| format!("{{\"auth\": \"{}\"}}", STANDARD.encode(format!("{user}:p:{user}")));
        let text = format!(
            r#"{{"auths": {{"https://index.docker.io/v1/": {}, "h.test:5000": {}, "h.test:5000/a": {}, "h.test:5000/a/b": {},
                "https://full.test/v2/": {}, "user.test": {{"username": "u", "password": "q"}}, "id.test": {{"auth": "", "identitytoken": "i"}},
                "reg.test": {{"registrytoken": "r"}}, "empty.test": {{}}}}, "HttpHeaders": {{}}}}"#,
            of("hub"),
            of("h"),
            of("a"),
            of("ab"),
            of("full")
        );
        let config: Config = serde_json::from_str(&text).expect("JSON");
        for (host, path, want) in [
            ("docker.io", "library/x", "hub:p:hub"),
            ("registry-1.docker.io", "library/x", "hub:p:hub"),
            ("h.test:5000", "x", "h:p:h"),
            ("h.test:5000", "a", "a:p:a"),
            ("h.test:5000", "ab", "h:p:h"),
            ("h.test:5000", "a/b/c", "ab:p:ab"),
            ("h.test", "a", ""),
            ("full.test", "x", "full:p:full"),
            ("user.test", "x", "u:q"),
            ("id.test", "x", "identity i"),
            ("reg.test", "x", "token r"),
            ("empty.test", "x", ""),
        ] {
            assert_eq!(basic(config.login(host, path).expect("a login")), want, "{host} {path}");
        }
        assert_eq!(format!("{:?}", Login::basic("u", "p")), "Login");
    }

    #[test]
    fn netrc_has_hosts_comments_macros_and_quotes() {
        let text = "# machine a.test login x password y\nmachine a.test\n  login me password \"p \\\"w\"\nmacdef init\nmachine b.test login no\n\nmachine b.test account z login you\ndefault login any password way\n";
        for (host, want) in [("a.test", "me:p \"w"), ("A.test", "me:p \"w"), ("b.test", "you:"), ("c.test", "any:way")]
        {
            assert_eq!(basic(in_netrc(text, host)), want, "{host}");
        }
        for text in ["", "machine", "machine a.test login", "machine a.test", "login x password y", "\"", "machine \"a"]
        {
            assert_eq!(basic(in_netrc(text, "a.test")), "", "{text}");
        }
    }
}
