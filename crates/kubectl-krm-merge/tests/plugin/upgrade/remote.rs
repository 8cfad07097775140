//! Upstreams behind git's own servers, on the loopback interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, map, skipped};

/// What a server does beside what git's program does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    /// Nothing.
    Plain,
    /// It knows repositories only with `.git` in their names.
    OfWholeNames,
    /// It asks for a password.
    Private,
}

/// Serves the repositories of a folder by `git http-backend`, and returns the address.
fn serve(folder: &Path, server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder, server));
        }
    });
    address
}

/// Answers one request by `git http-backend`.
fn answer(mut stream: TcpStream, folder: &PathBuf, server: Server) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, rest) = line.split_once(' ')?;
    let (path, query) = rest.split(' ').next()?.split_once('?').unwrap_or((rest.split(' ').next()?, ""));
    let refused = match server {
        Server::OfWholeNames if !path.contains(".git/") => Some("404 Not Found\r\n"),
        Server::Private => Some("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n"),
        _ => None,
    };
    let mut backend = Command::new("git");
    backend.arg("http-backend").env("GIT_PROJECT_ROOT", folder).env("GIT_HTTP_EXPORT_ALL", "1");
    backend.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "content-type" => _ = backend.env("CONTENT_TYPE", value),
            "content-encoding" => _ = backend.env("HTTP_CONTENT_ENCODING", value),
            "git-protocol" => _ = backend.env("GIT_PROTOCOL", value),
            _ => {}
        }
    }
    if let Some(refused) = refused {
        stream
            .write_all(format!("HTTP/1.1 {refused}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
            .ok()?;
        return Some(());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    backend.env("CONTENT_LENGTH", length.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = backend.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().ok()?.stdout;
    let status = output.strip_prefix(b"Status: ").and_then(|rest| rest.split(|byte| *byte == b'\r').next());
    let status = String::from_utf8_lossy(status.unwrap_or(b"200 OK")).into_owned();
    stream.write_all(format!("HTTP/1.1 {status}\r\nConnection: close\r\n").as_bytes()).ok()?;
    stream.write_all(&output).ok()
}

fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "served/up.git");
    for tag in ["v1", "v2", "v3"] {
        let other = ("other/large.txt".to_owned(), format!("{tag}\n").repeat(1000));
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", tag), ("w", "x")])), other], tag);
    }
    upstream
}

/// A program of git that is no command for users; `None` if it is not installed.
fn program(name: &str) -> Option<PathBuf> {
    let path = Command::new("git").arg("--exec-path").output().expect("git runs").stdout;
    let program = Path::new(String::from_utf8_lossy(&path).trim_end()).join(name);
    if !program.is_file() {
        skipped(name, "is not installed");
        return None;
    }
    Some(program)
}

fn has_backend() -> bool {
    program("git-http-backend").is_some()
}

#[test]
fn a_package_comes_and_is_upgraded_over_http() {
    if !has_backend() {
        return;
    }
    for server in [Server::Plain, Server::OfWholeNames] {
        let folder = Folder::new();
        let upstream = upstream(&folder);
        let address = serve(&folder.path("served"), server);
        folder.run(&["get", &format!("{address}/up.git/d@v1"), "mine/d"]).passed();
        let record = folder.read("mine/d/.krm-merge.yaml");
        assert!(record.contains(&format!("repo: {address}/up\n")), "{record}");
        folder.write("mine/d/a.yaml", map("a", &[("v", "v1"), ("w", "ours")]));
        commit(&folder.path("mine"), "edit");
        folder.run(&["upgrade", "mine/d", "--to", "v2"]).passed();
        // A commit that no branch or tag names any more can still be fetched.
        git(&upstream.bare, &["tag", "--delete", "v2"]);
        std::fs::remove_dir_all(folder.path(".cache")).expect("removed");
        let told = folder.run(&["upgrade", "mine/d", "--allow-dirty"]).failed(2);
        assert!(told.contains("has no tag, branch or whole commit \"v2\"; the newest releases are v3, v1"), "{told}");
        folder.run(&["upgrade", "mine/d", "--allow-dirty", "--to", "v3"]).passed();
        assert_eq!(folder.read("mine/d/a.yaml"), map("a", &[("v", "v3"), ("w", "ours")]));
        // Files of other folders are not fetched.
        let large = git(&upstream.bare, &["rev-parse", "v3:other/large.txt"]);
        let cache = std::fs::read_dir(folder.path(".cache/krm-merge/git"))
            .expect("a cache")
            .map(|entry| entry.expect("an entry").path());
        let cache = cache.into_iter().find(|path| path.is_dir()).expect("a repository");
        let mut has = Command::new("git");
        has.arg("--git-dir")
            .arg(&cache)
            .args(["cat-file", "-e", &large])
            .env("GIT_NO_LAZY_FETCH", "1")
            .stderr(Stdio::null());
        assert!(!has.status().expect("git runs").success());
    }
}

#[test]
fn a_server_that_asks_for_a_password_is_told_without_a_question() {
    if !has_backend() {
        return;
    }
    let folder = Folder::new();
    upstream(&folder);
    let address = serve(&folder.path("served"), Server::Private);
    let ran = folder.run_within(&["get", &format!("{address}/up.git/d@v1"), "d"], std::time::Duration::from_secs(20));
    let told = ran.failed(2);
    assert!(
        told.contains("must be a git repository that `git ls-remote` reaches from here")
            && told.contains("git: fatal: "),
        "{told}"
    );
}

/// The size of all files below a folder.
fn size(folder: &Folder, path: &str) -> usize {
    folder.files(path).values().map(Vec::len).sum()
}

#[test]
fn a_server_that_leaves_nothing_out_costs_what_changed() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    git(&upstream.bare, &["config", "uploadpack.allowFilter", "false"]);
    // Text that cannot be compressed much.
    let large: String = (0_u64..200_000).map(|at| format!("{:x}\n", at.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    for tag in ["v1", "v2", "v3"] {
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", tag)])), ("large".to_owned(), large.clone())], tag);
    }
    folder.run(&["get", &upstream.source("d@v1"), "d"]).passed();
    let mut before = size(&folder, ".cache");
    assert!(before > 1_000_000, "the server sends it once: {before}");
    for tag in ["v2", "v3"] {
        folder.run(&["upgrade", "d", "--to", tag]).passed();
        let after = size(&folder, ".cache");
        assert!(after < before + 20_000, "{tag}: {before} {after}");
        before = after;
    }
}

#[test]
fn a_repository_and_a_user_may_have_either_kind_of_object_names() {
    for format in ["sha1", "sha256"] {
        for own in ["sha1", "sha256"] {
            let folder = Folder::new();
            let work = folder.path("work");
            std::fs::create_dir_all(&work).expect("a folder");
            git(&work, &["init", "--quiet", &format!("--object-format={format}")]);
            for value in ["1", "2"] {
                folder.write("work/d/a.yaml", map("a", &[("v", &format!("'{value}'"))]));
                commit(&work, value);
                git(&work, &["tag", &format!("v{value}")]);
            }
            folder.write("config", format!("[init]\n\tdefaultObjectFormat = {own}\n"));
            let run = |args: &[&str]| {
                let mut command = folder.command(args);
                command.env("GIT_CONFIG_GLOBAL", folder.path("config")).env("GIT_DEFAULT_HASH", own);
                crate::support::Ran::of(command.output().expect("the plugin runs"))
            };
            let source = format!("file://{}/.git/d@v1", work.display());
            run(&["get", &source, "d"]).passed();
            run(&["upgrade", "d"]).passed();
            assert!(folder.read("d/a.yaml").contains("v: '2'"), "{format} {own}");
            // The address now leads to a repository of the other kind.
            let other = if format == "sha1" { "sha256" } else { "sha1" };
            std::fs::remove_dir_all(work.join(".git")).expect("removed");
            git(&work, &["init", "--quiet", &format!("--object-format={other}")]);
            commit(&work, "again");
            git(&work, &["tag", "v3"]);
            run(&["get", &source.replace("@v1", "@v3"), "again"]).passed();
        }
    }
}

/// Stops a server at the end of a test.
struct Stopped(std::process::Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_package_comes_from_the_daemon_of_git() {
    let folder = Folder::new();
    upstream(&folder);
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    // `git daemon` would start this program, and leave it when it is killed.
    let Some(daemon) = program("git-daemon") else { return };
    let mut daemon = Command::new(daemon);
    daemon.args(["--export-all", "--reuseaddr", "--listen=127.0.0.1", &format!("--port={port}")]);
    daemon.arg(format!("--base-path={}", folder.path("served").display())).stdout(Stdio::null()).stderr(Stdio::null());
    let _stopped = Stopped(daemon.spawn().expect("the server runs"));
    for _ in 0..200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    folder.run(&["get", &format!("git://127.0.0.1:{port}/up.git/d@v1"), "d"]).passed();
    folder.run(&["upgrade", "d"]).passed();
    assert!(folder.read("d/a.yaml").contains("v: v3"));
}
