//! The client against a real registry, and what the real helm pushes and indexes.

#[path = "../../../../tests/support/skip.rs"]
mod skip;

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;

/// The user `me` with the password `secret`.
const PASSWORDS: &str = "me:$2y$05$YGi1hcv7HOOlXiYrY0IpZOhqSbToa571QCFze5UJnVejqbDwM.rpq\n";

/// Debian's `docker-registry`.
struct Registry {
    process: Child,
    authority: String,
    folder: TemporaryFolder,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Registry {
    /// Starts one. `auth` is what its configuration says of logins.
    fn start(auth: &str) -> Self {
        let folder = TemporaryFolder::new("test-of-registry").expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let authority = listener.local_addr().expect("an address").to_string();
        drop(listener);
        let path = folder.path().display();
        let auth = auth.replace("FOLDER", &path.to_string());
        let config = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {path}/data}}}}\nhttp: {{addr: \"{authority}\"}}\n{auth}"
        );
        folder.add("passwords", PASSWORDS.as_bytes()).expect("added");
        let config = folder.add("config.yml", config.as_bytes()).expect("added");
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("started");
        let begun = Instant::now();
        while TcpStream::connect(&authority).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "docker-registry must listen");
            thread::sleep(Duration::from_millis(50));
        }
        Self { process, authority, folder }
    }

    /// Sends bytes to it, and returns its status and where it leads.
    fn send(&self, method: &str, path: &str, kind: &str, bytes: &[u8]) -> (u16, String) {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("http://{}{path}", self.authority) };
        let login = format!("Basic {}", STANDARD.encode("me:secret"));
        let request = ureq::http::Request::builder().method(method).uri(url);
        let request = request.header("authorization", login).header("content-type", kind).body(bytes.to_vec());
        let agent = ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build().new_agent();
        let response = agent.run(request.expect("a request")).expect("an answer");
        let location = response.headers().get("location").map(|value| value.to_str().expect("a text").to_owned());
        (response.status().as_u16(), location.unwrap_or_default())
    }

    fn push(&self, path: &str, tag: &str, kind: &str, bytes: &[u8]) {
        let config = b"{}";
        for blob in [bytes, config] {
            let (status, location) = self.send("POST", &format!("/v2/{path}/blobs/uploads/"), "", b"");
            assert_eq!(status, 202);
            let url = format!("{location}&digest=sha256:{}", digest::of(blob));
            assert_eq!(self.send("PUT", &url, "application/octet-stream", blob).0, 201);
        }
        let layer = |kind: &str, bytes: &[u8]| {
            format!("{{\"mediaType\":\"{kind}\",\"digest\":\"sha256:{}\",\"size\":{}}}", digest::of(bytes), bytes.len())
        };
        let of_manifest = "application/vnd.oci.image.manifest.v1+json";
        let (config, layer) = (layer("application/vnd.cncf.helm.config.v1+json", config), layer(kind, bytes));
        let manifest =
            format!("{{\"schemaVersion\":2,\"mediaType\":\"{of_manifest}\",\"config\":{config},\"layers\":[{layer}]}}");
        assert_eq!(self.send("PUT", &format!("/v2/{path}/manifests/{tag}"), of_manifest, manifest.as_bytes()).0, 201);
    }

    fn image(&self, path: &str) -> Repo {
        Repo::Oci(format!("{}/{path}", self.authority))
    }
}

/// Without a password, and with one.
fn registries() -> [(Registry, User); 2] {
    let open = Registry::start("");
    let closed = Registry::start("auth: {htpasswd: {realm: r, path: FOLDER/passwords}}\n");
    let login = STANDARD.encode("me:secret");
    let config = format!("{{\"auths\":{{\"{}\":{{\"auth\":\"{login}\"}}}}}}", closed.authority);
    [(open, User::new()), (closed, User::with(&[("config.json", config)]))]
}

#[test]
fn a_real_registry_lists_and_gives_its_artifacts() {
    if !skip::has("docker-registry") {
        return;
    }
    for (registry, user) in registries() {
        let (chart, web) = (packed("1.0.0"), registry.image("charts/web"));
        for tag in ["1.0.0", "1.0.0_b1", "1.1.0"] {
            registry.push("charts/web", tag, oci::CHART, &chart);
        }
        let mut names = user.names(&web);
        names.sort();
        assert_eq!(names, ["1.0.0", "1.0.0+b1", "1.1.0"]);
        let fetched = user.files(&web, "1.0.0+b1");
        assert_eq!(paths(&fetched), ["Chart.yaml", "values.yaml"]);
        let exact = user.digest(&web, "1.0.0").expect("a digest").expect("a release");
        let source = user.source(&web).expect("a source");
        assert_eq!(source.files(None, &exact).expect("by its digest"), fetched.files);
        for (upstream, name, want) in
            [(&web, "2.0.0", "no such release"), (&registry.image("charts/none"), "1.0.0", "no such release")]
        {
            let told = user.error(upstream, name);
            assert!(told.contains(want), "{told}");
        }
        assert!(matches!(user.releases(&registry.image("charts/none")), Releases::Refused(_)));
    }
    let [_, (closed, _)] = registries();
    let told = User::new().error(&closed.image("charts/web"), "1.0.0");
    assert!(told.contains("log in by `helm registry login"), "{told}");
}

/// Runs helm in a folder, with a home of its own.
fn helm(folder: &Path, args: &[&str]) {
    let mut command = Command::new("helm");
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(name, folder.join(name));
    }
    let ran = command.current_dir(folder).args(args).output().expect("helm runs");
    assert!(ran.status.success(), "helm {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn what_the_real_helm_packs_indexes_and_pushes_is_the_same_from_both() {
    if !skip::has("helm") || !skip::has("docker-registry") {
        return;
    }
    let made = TemporaryFolder::new("test-of-helm").expect("a folder");
    let at = made.path();
    helm(at, &["create", "web"]);
    for version in ["1.0.0", "1.1.0"] {
        helm(at, &["package", "web", "--version", version, "--app-version", "7"]);
    }
    helm(at, &["repo", "index", "."]);
    let folder = at.to_owned();
    let server = Server::start(move |asked| {
        fs::read(folder.join(asked.path.trim_start_matches('/'))).map_or_else(|_| reply(404, ""), ok)
    });
    let from_repo = chart(&server.url(""), "web");
    let [(open, user), (closed, with_login)] = registries();
    helm(at, &["registry", "login", &closed.authority, "--username", "me", "--password", "secret", "--plain-http"]);
    let logins = at.join("HELM_CONFIG_HOME/registry/config.json");
    assert!(fs::read_to_string(&logins).expect("the logins of helm").contains(&closed.authority));
    drop(with_login);
    let with_login = User::with(&[("config.json", fs::read_to_string(&logins).expect("the logins of helm"))]);
    for (registry, user) in [(open, user), (closed, with_login)] {
        for version in ["1.0.0", "1.1.0"] {
            let to = format!("oci://{}/charts", registry.authority);
            helm(at, &["push", &format!("web-{version}.tgz"), &to, "--plain-http"]);
            let (a, b) = (user.files(&from_repo, version), user.files(&registry.image("charts/web"), version));
            assert_eq!(a.files, b.files);
            assert!(a.files.len() > 8 && paths(&a).contains(&"templates/deployment.yaml"), "{:?}", paths(&a));
        }
        let mut names = user.names(&registry.image("charts/web"));
        names.sort();
        assert_eq!(names, ["1.0.0", "1.1.0"]);
        assert!(registry.folder.path().exists());
    }
}

/// `openssl` as a server of the files of a folder, with more flags. It ends with the test.
struct Tls(Child, String);

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Tls {
    fn start(folder: &Path, flags: &[&str]) -> Self {
        let port =
            TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port().to_string();
        let mut command = Command::new("openssl");
        command
            .args(["s_server", "-accept", &port, "-cert", "own.pem", "-key", "own.key", "-WWW", "-quiet"])
            .args(flags);
        let process = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        let begun = Instant::now();
        while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "openssl must listen");
            thread::sleep(Duration::from_millis(50));
        }
        Self(process, format!("https://localhost:{port}"))
    }
}

#[test]
fn a_repository_is_trusted_as_helm_repo_add_says() {
    if !skip::has("openssl") {
        return;
    }
    let made = TemporaryFolder::new("test-of-tls").expect("a folder");
    let at = made.path();
    let certificate = |name: &str, more: &[&str]| {
        let (key, file) = (format!("{name}.key"), format!("{name}.pem"));
        let mut command = Command::new("openssl");
        command.args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ]);
        command.args(["-subj", &format!("/CN={name}"), "-keyout", &key, "-out", &file]).args(more).current_dir(at);
        let ran = command.output().expect("openssl runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    certificate("ca", &[]);
    let of_ca = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"];
    certificate("own", &[&of_ca[..], &["-addext", "subjectAltName=DNS:localhost"]].concat());
    certificate("me", &of_ca);
    made.add("index.yaml", b"entries: {web: [{version: 1.0.0, urls: [web.tgz]}]}\n").expect("added");
    made.add("web.tgz", &packed("1.0.0")).expect("added");
    let (open, closed) = (Tls::start(at, &[]), Tls::start(at, &["-Verify", "1", "-CAfile", "ca.pem"]));
    let file = |name: &str| at.join(name).display().to_string();
    let (ca, me) =
        (format!("caFile: {}", file("ca.pem")), format!("certFile: {}, keyFile: {}", file("me.pem"), file("me.key")));
    let not_trusted = "must be one that this system trusts";
    for (Tls(_, url), fields, want) in [
        (&open, String::new(), not_trusted),
        (&open, ca.clone(), ""),
        (&open, "insecure_skip_tls_verify: true".to_owned(), ""),
        (&open, format!("caFile: {}", file("me.pem")), not_trusted),
        (&open, format!("caFile: {}", file("none.pem")), "none.pem, which the file of `helm repo add` names"),
        (&open, format!("caFile: {}", file("index.yaml")), "must have certificates or a key as PEM"),
        (&closed, format!("{ca}, {me}"), ""),
        (&closed, ca, url_of(&closed)),
    ] {
        let entry = format!("repositories:\n- {{name: x, url: '{url}', {fields}}}\n");
        let user = User::with(&[("repositories.yaml", entry)]);
        match want {
            "" => assert_eq!(paths(&user.files(&chart(url, "web"), "1.0.0")), ["Chart.yaml", "values.yaml"]),
            want => {
                let told = user.error(&chart(url, "web"), "1.0.0");
                assert!(told.contains(want), "{told}");
            }
        }
    }
}

fn url_of(Tls(_, url): &Tls) -> &str {
    url
}
