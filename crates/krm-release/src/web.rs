//! Requests: with a bound in time and bytes for each, and credentials for one server alone.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Error, Result, anyhow, bail};
use flate2::read::MultiGzDecoder;
use krm_files::credentials::hidden;
use krm_files::walk::shown;
use rustls::crypto::ring;
use ureq::http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, IF_NONE_MATCH, LOCATION};
use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::tls::{ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};

use crate::proxy::proxy;
use crate::url::Url;

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 10;

/// How long a server may take.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Until the connection is there.
    pub connect: Duration,
    /// Until it begins to answer.
    pub answer: Duration,
    /// Until it has answered.
    pub whole: Duration,
    /// Before the one second try, if what went wrong goes by.
    pub pause: Duration,
}

/// For a slow line and a large release.
pub const TIMES: Times = Times {
    connect: Duration::from_secs(20),
    answer: Duration::from_secs(60),
    whole: Duration::from_secs(600),
    pause: Duration::from_secs(1),
};

/// What says who asks. It is never shown.
#[derive(Clone)]
pub struct Authorization(pub String);

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorization")
    }
}

/// How a server and who asks it know each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trust {
    /// The file with the certificates that count, instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// The files with the certificate of who asks, and with its key.
    pub identity: Option<[PathBuf; 2]>,
    /// Any certificate of the server counts.
    pub is_blind: bool,
}

impl Trust {
    /// What is left of it for another server.
    pub fn elsewhere(self) -> Self {
        Self { authorities: self.authorities, ..Self::default() }
    }
}

/// A request.
#[derive(Debug)]
pub struct Ask<'a> {
    /// The address.
    pub url: &'a Url,
    /// The types of content that are understood.
    pub accept: &'a str,
    /// For the server of `url` alone.
    pub authorization: Option<&'a Authorization>,
    /// But for the authorities, for the server of `url` alone.
    pub trust: Option<&'a Trust>,
    /// The ETag of what is known.
    pub etag: Option<&'a str>,
    /// The encodings of content that are understood.
    pub encoding: Option<&'a str>,
    /// What is sent, as a form.
    pub form: Option<&'a str>,
}

impl<'a> Ask<'a> {
    /// Asks for whatever is at an address.
    pub fn at(url: &'a Url) -> Self {
        Self { url, accept: "*/*", authorization: None, trust: None, etag: None, encoding: None, form: None }
    }
}

/// An answer, whose body was not read yet.
pub struct Answer {
    /// The address that answered, after redirects.
    pub url: Url,
    /// The status.
    pub status: u16,
    headers: HeaderMap,
    body: Body,
    until: Instant,
    whole: Duration,
}

/// Sends requests.
#[derive(Debug)]
pub struct Web {
    times: Times,
    /// One for each way to servers.
    agents: Mutex<BTreeMap<Way, Agent>>,
}

/// How servers are reached: by the proxy at an address, if by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    proxy: Option<String>,
    trust: Trust,
}

impl Web {
    /// Without any state but its connections.
    pub fn new(times: Times) -> Self {
        Self { times, agents: Mutex::default() }
    }

    /// Sends a request, and follows redirects.
    ///
    /// # Errors
    /// No answer came in time, or what came is none.
    pub fn ask(&self, ask: &Ask<'_>) -> Result<Answer> {
        let until = Instant::now() + self.times.whole;
        let (mut url, mut authorization) = (ask.url.clone(), ask.authorization);
        let mut trust = ask.trust.cloned().unwrap_or_default();
        for _ in 0..=MOST_REDIRECTS {
            let uri: Uri = url.text().parse().with_context(|| format!("{url} must be an address"))?;
            let proxy = proxy(&uri, None, |name| std::env::var(name).ok())?;
            let by =
                proxy.as_ref().and_then(Uri::host).map_or_else(String::new, |host| format!(" (by the proxy {host})"));
            let agent = self.agent(Way { proxy: proxy.map(|proxy| proxy.to_string()), trust: trust.clone() })?;
            let send = || send(&agent, uri.clone(), ask, authorization);
            let mut response = send();
            if goes_by(&response) {
                thread::sleep(self.times.pause);
                response = send();
            }
            let response = response.map_err(|e| self.failed(&url, &by, e))?;
            let status = response.status().as_u16();
            let location = response.headers().get(LOCATION).filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308));
            let Some(location) = location else {
                let (parts, body) = response.into_parts();
                return Ok(Answer { url, status, headers: parts.headers, body, until, whole: self.times.whole });
            };
            if ask.form.is_some() {
                bail!("{url}: the server must answer itself, for what was sent there may be secret");
            }
            let location = String::from_utf8_lossy(location.as_bytes());
            let next = url.join(&location).with_context(|| format!("{url} led to another address"))?;
            if next.is_plain() && !url.is_plain() {
                bail!("{url} led to {next}: what begins with `https://` must not lead to `http://`");
            }
            if Instant::now() > until {
                return Err(late(&url, self.times.whole));
            }
            // What went to another server once gets none when it comes back.
            if !next.is_of_server_of(&url) {
                (authorization, trust) = (None, trust.elsewhere());
            }
            url = next;
        }
        bail!("{}: it must not lead to more than {MOST_REDIRECTS} other addresses", ask.url)
    }

    /// The agent for a way.
    fn agent(&self, way: Way) -> Result<Agent> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = agents.get(&way) {
            return Ok(agent.clone());
        }
        // The text of a proxy may have a password.
        let proxy = way.proxy.as_deref().map(Proxy::new).transpose();
        let proxy = proxy.ok().context("the variable for a proxy must have an address")?;
        let agent = agent(self.times, proxy, &way.trust)?;
        agents.insert(way, agent.clone());
        Ok(agent)
    }

    /// Says in plain words why no answer came.
    fn failed(&self, url: &Url, by: &str, error: ureq::Error) -> Error {
        let Times { answer, whole, .. } = self.times;
        let of_tls = |error: &rustls::Error| match error {
            rustls::Error::InvalidCertificate(_) => Some(anyhow!(
                "{url}: the certificate of the server must be one that this system trusts; `SSL_CERT_FILE` may name a file with others: {error}"
            )),
            rustls::Error::InvalidMessage(_) => {
                Some(anyhow!("{url}: the server must speak TLS, for the address does not begin with `http://`"))
            }
            _ => None,
        };
        let of_io = |e: &io::Error| of_tls(e.get_ref()?.downcast_ref()?);
        match error {
            ureq::Error::Timeout(_) => late(url, whole.min(answer)),
            ureq::Error::Io(e) if matches!(e.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => late(url, answer),
            ureq::Error::HostNotFound => anyhow!("{url}: no host has this name"),
            ureq::Error::Io(e) => of_io(&e).unwrap_or_else(|| anyhow!("{url} did not answer{by}: {e}")),
            ureq::Error::Rustls(e) => of_tls(&e).unwrap_or_else(|| anyhow!("{url} did not answer{by}: {e}")),
            // An error of the request may quote a header.
            ureq::Error::Http(_) => anyhow!("{url}: the login must be a text that a request can hold"),
            e => anyhow!("{url} did not answer{by}: {}", hidden(&e.to_string())),
        }
    }
}

/// Whether what came may be another answer soon.
fn goes_by(response: &Result<Response<Body>, ureq::Error>) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match response {
        Ok(response) => matches!(response.status().as_u16(), 502..=504),
        Err(ureq::Error::Io(e)) => matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof),
        Err(_) => false,
    }
}

/// What a file with certificates and keys holds.
fn pem(file: &PathBuf) -> Result<Vec<PemItem<'static>>> {
    let told = || format!("{}, which the file of `helm repo add` names", shown(file));
    let bytes = fs::read(file).with_context(told)?;
    let items = parse_pem(&bytes).collect::<Result<Vec<_>, _>>().ok().filter(|items| !items.is_empty());
    items.with_context(|| format!("{}, must have certificates or a key as PEM", told()))
}

fn agent(times: Times, proxy: Option<Proxy>, trust: &Trust) -> Result<Agent> {
    let certificates = |file: &PathBuf| {
        let items = pem(file)?.into_iter();
        let certificate = |item| if let PemItem::Certificate(one) = item { Some(one) } else { None };
        Ok::<Vec<_>, Error>(items.filter_map(certificate).collect())
    };
    let roots = match &trust.authorities {
        Some(file) => RootCerts::from(certificates(file)?),
        None => RootCerts::PlatformVerifier,
    };
    let identity = match &trust.identity {
        Some([certificate, key]) => {
            let key_in = pem(key)?.into_iter();
            let key_in =
                key_in.rev().find_map(|item| if let PemItem::PrivateKey(key) = item { Some(key) } else { None });
            let key_in = key_in.with_context(|| format!("{}: it must have a key as PEM", shown(key)))?;
            Some(ClientCert::new_with_certs(&certificates(certificate)?, key_in))
        }
        None => None,
    };
    let provider = Arc::new(ring::default_provider());
    let tls = TlsConfig::builder().root_certs(roots).client_cert(identity).disable_verification(trust.is_blind);
    let config = Agent::config_builder()
        .tls_config(tls.unversioned_rustls_crypto_provider(provider).build())
        .proxy(proxy)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("krm-merge/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(times.connect))
        .timeout_recv_response(Some(times.answer))
        .timeout_global(Some(times.whole));
    Ok(config.build().new_agent())
}

/// Sends one request. A request without a form has no body.
fn send(
    agent: &Agent,
    uri: Uri,
    ask: &Ask<'_>,
    authorization: Option<&Authorization>,
) -> Result<Response<Body>, ureq::Error> {
    let method = if ask.form.is_some() { "POST" } else { "GET" };
    // The body of a file is never encoded: its digest is that of its bytes.
    let encoding = ask.encoding.unwrap_or("identity");
    let mut request = Request::builder().method(method).uri(uri);
    request = request.header(ACCEPT, ask.accept).header(ACCEPT_ENCODING, encoding);
    if let Some(authorization) = authorization {
        request = request.header(AUTHORIZATION, &authorization.0);
    }
    if let Some(etag) = ask.etag {
        request = request.header(IF_NONE_MATCH, etag);
    }
    match ask.form {
        Some(form) => {
            let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            agent.run(request.body(form.to_owned())?)
        }
        None => agent.run(request.body(())?),
    }
}

fn late(url: &Url, time: Duration) -> Error {
    anyhow!("{url} must answer within {} seconds", time.as_secs().max(1))
}

impl Answer {
    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads the body of an answer that says yes.
    ///
    /// # Errors
    /// The answer is no, it has more than `most` bytes, or it does not end in time.
    pub fn bytes(self, most: usize) -> Result<Vec<u8>> {
        if !(200..300).contains(&self.status) {
            return Err(self.refusal());
        }
        let url = self.url;
        let large = || anyhow!("{url}: the answer must have at most {most} bytes");
        // Servers that send a part of it say so, too.
        let length = self.body.content_length().unwrap_or_default();
        if length > most as u64 {
            return Err(large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().min(1 << 20));
        let mut reader = self.body.into_reader().take(most as u64 + 1);
        let mut piece = vec![0; 1 << 16];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => bytes.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) if Instant::now() >= self.until => return Err(late(&url, self.whole)),
                Err(e) => bail!("{url} stopped in the middle of its answer: {}", hidden(&e.to_string())),
            }
            if Instant::now() >= self.until {
                return Err(late(&url, self.whole));
            }
        }
        if bytes.len() > most {
            return Err(large());
        }
        Ok(bytes)
    }

    /// The same for a text, without the gzip that it may come in, asked for or not.
    ///
    /// # Errors
    /// Those of [`Answer::bytes`].
    pub fn text(self, most: usize) -> Result<Vec<u8>> {
        let encoding = self.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
        let url = self.url.clone();
        let bytes = self.bytes(most)?;
        if !matches!(encoding.as_str(), "gzip" | "x-gzip") || !bytes.starts_with(&[0x1f, 0x8b]) {
            return Ok(bytes);
        }
        let mut all = Vec::new();
        let read = MultiGzDecoder::new(&*bytes).take(most as u64 + 1).read_to_end(&mut all);
        read.ok().with_context(|| format!("{url}: the answer must be whole"))?;
        if all.len() > most {
            bail!("{url}: the answer must have at most {most} bytes");
        }
        Ok(all)
    }

    /// Why an answer that does not say yes does not.
    pub fn refusal(&self) -> Error {
        let (url, status) = (&self.url, self.status);
        match status {
            401 | 403 => anyhow!("{url} must be one that you may read, but the server refused (HTTP {status})"),
            404 | 410 => anyhow!("{url}: the server has nothing there (HTTP {status})"),
            429 => anyhow!("{url}: the server was asked too often (HTTP 429): log in there, or ask again later"),
            _ => anyhow!("{url}: the server must answer with HTTP 200, not {status}"),
        }
    }

    /// Whether the server says that there is nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self.status, 404 | 410)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.url)
    }
}
