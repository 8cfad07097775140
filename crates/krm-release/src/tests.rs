//! The client against servers: those that answer as they should, and those that do not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{iter, thread};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use krm_files::temporary::TemporaryFolder;
use krm_git::address::{Chart, Repo};
use krm_git::source::{ReleaseFile, Releases, Source};

use crate::login::Logins;
use crate::oci::Registries;
use crate::web::Times;
use crate::{Client, digest};

mod chart;
mod oci;
mod page;
mod real;
mod servers;

/// A request, as a server reads it.
struct Request {
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// An answer, as a server sends it.
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

enum Body {
    Bytes(Vec<u8>),
    /// These bytes, and then nothing while the connection stays.
    Stuck(Vec<u8>),
    /// A byte after another, for ever.
    Slow,
    /// Bytes for ever.
    Endless,
    /// Not even a status.
    Nothing,
}

fn reply(status: u16, body: impl Into<Vec<u8>>) -> Reply {
    Reply { status, headers: Vec::new(), body: Body::Bytes(body.into()) }
}

fn ok(body: impl Into<Vec<u8>>) -> Reply {
    reply(200, body)
}

/// A text as servers send it that pack all.
fn gzip(text: &str) -> Reply {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).expect("written");
    ok(packed.finish().expect("finished")).with("Content-Encoding", "gzip")
}

fn to(location: &str) -> Reply {
    reply(302, "").with("Location", location)
}

impl Reply {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A server on this machine, for one test.
struct Server {
    authority: String,
    /// What was asked: each path, with the login.
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let authority = listener.local_addr().expect("an address").to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), Arc::clone(&log));
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                thread::spawn(move || serve(&stream, &*answer, &seen));
            }
        });
        Self { authority, log }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    fn asked(&self) -> Vec<String> {
        self.log.lock().expect("whole").drain(..).collect()
    }
}

/// Answers one request, and closes the connection.
fn serve(stream: &TcpStream, answer: &dyn Fn(&Request) -> Reply, seen: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut lines = iter::from_fn(|| {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 2).map(|_| line.trim_end().to_owned())
    });
    let Some(path) = lines.next().and_then(|line| line.split(' ').nth(1).map(str::to_owned)) else { return };
    let fields = lines.filter_map(|line| line.split_once(": ").map(|(k, v)| (k.to_lowercase(), v.to_owned())));
    let headers: BTreeMap<String, String> = fields.collect();
    let mut body = vec![0; headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0)];
    let _ = reader.read_exact(&mut body);
    let request = Request { path, headers, body: String::from_utf8_lossy(&body).into_owned() };
    let login = request.header("authorization").split(' ').next_back().unwrap_or_default();
    let login = STANDARD.decode(login).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(login.to_owned());
    let told = format!("{} {login}", request.path);
    seen.lock().expect("whole").push(told.trim_end().to_owned());
    let Reply { status, headers, body } = answer(&request);
    if matches!(body, Body::Nothing) {
        return;
    }
    let mut head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    for (name, value) in &headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if let Body::Bytes(bytes) = &body
        && !headers.iter().any(|(name, _)| *name == "Content-Length")
    {
        let _ = write!(head, "Content-Length: {}\r\n", bytes.len());
    }
    let mut out = stream;
    let _ = out.write_all((head + "\r\n").as_bytes());
    match body {
        Body::Bytes(bytes) => _ = out.write_all(&bytes),
        Body::Stuck(bytes) => {
            let _ = out.write_all(&bytes);
            thread::sleep(Duration::from_secs(20));
        }
        Body::Slow => {
            while out.write_all(b"a").is_ok() && out.flush().is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        }
        Body::Nothing => {}
        Body::Endless => while out.write_all(&[b'a'; 1 << 16]).is_ok() {},
    }
}

/// A client with a cache and logins of its own.
struct User {
    client: Arc<Client>,
    folder: TemporaryFolder,
}

impl User {
    fn new() -> Self {
        Self::with(&[])
    }

    /// One with these files with logins: `config.json`, `repositories.yaml` and `netrc`.
    fn with(files: &[(&str, String)]) -> Self {
        let folder = TemporaryFolder::new("test-of-release").expect("a folder");
        for (name, text) in files {
            folder.add(name, text.as_bytes()).expect("added");
        }
        let client = Self::client(&folder);
        Self { client, folder }
    }

    /// As the next run has it.
    fn again(&mut self) {
        self.client = Self::client(&self.folder);
    }

    fn client(folder: &TemporaryFolder) -> Arc<Client> {
        let at = |name: &str| folder.path().join(name);
        let logins = Logins {
            registries: vec![at("config.json")],
            repositories: Some(at("repositories.yaml")),
            netrc: Some(at("netrc")),
        };
        let seconds = Duration::from_secs;
        let pause = Duration::from_millis(10);
        let times = Times { connect: seconds(2), answer: seconds(1), whole: seconds(2), pause };
        Arc::new(Client::with(folder.path(), Registries::Https, logins, times))
    }

    fn source(&self, repo: &Repo) -> Result<Rc<dyn Source>> {
        Ok(self.client.source(repo)?.expect("a source"))
    }

    fn releases(&self, repo: &Repo) -> Releases {
        self.source(repo).and_then(|source| source.releases()).unwrap_or_else(|e| panic!("{repo}: {e:#}"))
    }

    /// The names of the releases, each with the start of its digest.
    fn names(&self, repo: &Repo) -> Vec<String> {
        let Releases::Listed(releases) = self.releases(repo) else { panic!("{repo}: no list") };
        let named = |digest: Option<String>| digest.map(|digest| format!("@{}", &digest[..4])).unwrap_or_default();
        releases.into_iter().map(|one| format!("{}{}", one.name, named(one.digest))).collect()
    }

    fn digest(&self, repo: &Repo, name: &str) -> Result<Option<String>> {
        Ok(self.source(repo)?.exact(name)?.map(|exact| exact.digest))
    }

    fn fetched(&self, repo: &Repo, name: &str) -> Result<Fetched> {
        let source = self.source(repo)?;
        let exact = source.exact(name)?.context("no such release")?;
        let files = exact.files.map_or_else(|| source.files(Some(name), &exact.digest), Ok)?;
        Ok(Fetched { digest: exact.digest, files })
    }

    fn files(&self, repo: &Repo, name: &str) -> Fetched {
        self.fetched(repo, name).unwrap_or_else(|e| panic!("{repo}: {e:#}"))
    }

    /// The error of a question, which must come soon and hold no secret.
    fn error(&self, repo: &Repo, name: &str) -> String {
        let begun = Instant::now();
        let told = format!("{:#}", self.fetched(repo, name).expect_err("an error"));
        assert!(begun.elapsed() < Duration::from_secs(15), "{told}: {:?}", begun.elapsed());
        assert!(!told.contains("secret") && told.len() < 600, "{told}");
        told
    }
}

/// A release with its files.
#[derive(Debug, PartialEq, Eq)]
struct Fetched {
    digest: String,
    files: Vec<ReleaseFile>,
}

fn chart(repo: &str, name: &str) -> Repo {
    Repo::Chart(Chart { repo: repo.to_owned(), name: name.to_owned() })
}

fn oci(server: &Server, path: &str) -> Repo {
    Repo::Oci(format!("{}/{path}", server.authority))
}

fn http(url: &str) -> Repo {
    Repo::Http(url.to_owned())
}

/// The archive of files.
fn tgz(files: &[(&str, &str)]) -> Vec<u8> {
    let mut out = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        out.append_data(&mut header, path, text.as_bytes()).expect("added");
    }
    out.into_inner().expect("finished").finish().expect("finished")
}

/// The archive of a chart.
fn packed(version: &str) -> Vec<u8> {
    tgz(&[("web/Chart.yaml", &format!("name: web\nversion: {version}\n")), ("web/values.yaml", "replicas: 1\n")])
}

fn paths(fetched: &Fetched) -> Vec<&str> {
    fetched.files.iter().map(|file| file.path.as_str()).collect()
}
