use super::*;

/// A registry with a chart, one of whose answers is another one.
fn liar(path: &'static str, lie: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
    let bytes = packed("1.0.0");
    let manifest = oci::manifest(&[(oci::CHART, &bytes)]);
    Server::start(move |asked| match asked.path.as_str() {
        asked_path if asked_path.contains(path) => lie(asked),
        asked_path if asked_path.contains("/blobs/") => ok(bytes.clone()),
        _ => ok(manifest.clone()),
    })
}

fn body(body: Body) -> Reply {
    Reply { status: 200, headers: Vec::new(), body }
}

#[test]
fn a_hostile_server_is_an_error_that_says_why() {
    let zeros = "0".repeat(64);
    let length = |n: &str| ok("a: 1\n").with("Content-Length", n);
    let stuck = |n: &str| body(Body::Stuck(b"a".to_vec())).with("Content-Length", n);
    let (silent, long) = ("must answer within", "the answer must have at most");
    type Lie = Box<dyn Fn(&Request) -> Reply + Send + Sync>;
    let registries: Vec<(&str, &'static str, Lie, &str)> = vec![
        ("another layer", "/blobs/", Box::new(|_| ok(packed("2.0.0"))), "which the manifest says, but it has"),
        (
            "a lie of a digest",
            "/manifests/",
            Box::new(move |_| ok("{}").with("Docker-Content-Digest", &format!("sha256:{zeros}"))),
            "which the registry says",
        ),
        ("no manifest", "/manifests/", Box::new(|_| ok("<html>")), "a manifest must be JSON"),
        (
            "a path for a digest",
            "/manifests/",
            Box::new(|_| ok("{\"layers\":[{\"digest\":\"sha256:../../x\"}]}")),
            "named by its sha256",
        ),
        (
            "another hash",
            "/manifests/",
            Box::new(|_| ok("{\"layers\":[{\"digest\":\"md5:00\"}]}")),
            "named by its sha256",
        ),
        (
            "a layer that is too large",
            "/manifests/",
            Box::new(|_| {
                ok(format!("{{\"layers\":[{{\"digest\":\"sha256:{}\",\"size\":9999999999}}]}}", "0".repeat(64)))
            }),
            "at most 268435456 bytes",
        ),
        (
            "an index of itself",
            "/manifests/",
            Box::new(|_| ok(format!("{{\"manifests\":[{{\"digest\":\"sha256:{}\"}}]}}", "0".repeat(64)))),
            "which is its name",
        ),
        ("a manifest without end", "/manifests/", Box::new(|_| body(Body::Endless)), long),
        ("a long manifest", "/manifests/", Box::new(move |_| length("99999999999")), long),
        ("a slow layer", "/blobs/", Box::new(|_| body(Body::Slow)), silent),
        ("a layer that stops", "/blobs/", Box::new(move |_| stuck("100")), silent),
        (
            "a login for ever",
            "/manifests/",
            Box::new(|_| reply(401, "").with("WWW-Authenticate", "Basic")),
            "log in by",
        ),
        (
            "a login of another kind",
            "/manifests/",
            Box::new(|_| reply(401, "").with("WWW-Authenticate", "Negotiate")),
            "must ask for a login as others do",
        ),
        (
            "a login at no address",
            "/manifests/",
            Box::new(|_| reply(401, "").with("WWW-Authenticate", "Bearer realm=\"file:///etc/passwd\"")),
            "must begin with `https://`",
        ),
        (
            "a token that is none",
            "",
            Box::new(|asked| match asked.path.starts_with("/t") {
                true => ok("{\"token\":\"secret\\r\\nX: y\"}"),
                false => reply(401, "")
                    .with("WWW-Authenticate", &format!("Bearer realm=\"http://{}/t\"", asked.header("host"))),
            }),
            "must send a token as JSON",
        ),
        (
            "a token without end",
            "",
            Box::new(|asked| match asked.path.starts_with("/t") {
                true => body(Body::Endless),
                false => reply(401, "")
                    .with("WWW-Authenticate", &format!("Bearer realm=\"http://{}/t\"", asked.header("host"))),
            }),
            long,
        ),
        (
            "an address that leads to itself",
            "/blobs/",
            Box::new(|asked| to(&asked.path)),
            "more than 10 other addresses",
        ),
        ("an address of a file", "/blobs/", Box::new(|_| to("file:///etc/passwd")), "must begin with `https://`"),
        ("an address with a user", "/blobs/", Box::new(|_| to("http://me:secret@127.0.0.1/")), "must have no user"),
        ("an error of the server", "/blobs/", Box::new(|_| reply(500, "secret")), "must answer with HTTP 200, not 500"),
        ("too many questions", "/blobs/", Box::new(|_| reply(429, "secret")), "asked too often"),
        (
            "no answer",
            "/manifests/",
            Box::new(|_| {
                thread::sleep(Duration::from_secs(20));
                ok("")
            }),
            silent,
        ),
    ];
    for (what, path, lie, want) in registries {
        let server = liar(path, lie);
        let told = User::new().error(&oci(&server, "a"), "1.0.0");
        assert!(told.contains(want), "{what}: {told}");
    }
    // What was asked for by its digest is that.
    let server = liar("/none", |_| ok(""));
    let told = User::new().error(&oci(&server, "a"), &format!("sha256:{}", "1".repeat(64)));
    assert!(told.contains("which is its name"), "{told}");

    let bomb = {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
        (0..65).for_each(|_| bomb.write_all(&vec![b' '; 1 << 20]).expect("written"));
        bomb.finish().expect("finished")
    };
    let repositories: Vec<(&str, Lie, &str)> = vec![
        ("no list", Box::new(|_| ok("<html>")), "must be YAML as `helm repo index`"),
        ("a list without end", Box::new(|_| body(Body::Endless)), long),
        (
            "a list that is too short",
            Box::new(|_| body(Body::Bytes(b"a".to_vec())).with("Content-Length", "10")),
            "stopped in the middle",
        ),
        ("a bomb of a list", Box::new(move |_| ok(bomb.clone()).with("Content-Encoding", "gzip")), long),
        ("no UTF-8", Box::new(|_| ok(b"\xff".to_vec())), "must be UTF-8"),
        ("no address", Box::new(|_| ok("entries: {web: [{version: 1.0.0}]}")), "must have an address for the chart"),
        (
            "an address of a file",
            Box::new(|_| ok("entries: {web: [{version: 1.0.0, urls: [\"file:///etc/passwd\"]}]}")),
            "must begin with `https://`",
        ),
        (
            "an image that is none",
            Box::new(|_| ok("entries: {web: [{version: 1.0.0, urls: [\"oci://127.0.0.1/../x\"]}]}")),
            "an image must be a host",
        ),
        (
            "another chart",
            Box::new(|asked| match asked.path.ends_with("yaml") {
                true => ok(format!("entries: {{web: [{{version: 1.0.0, digest: {}, urls: [x]}}]}}", "0".repeat(64))),
                false => ok(packed("1.0.0")),
            }),
            "which the list of",
        ),
        (
            "no chart",
            Box::new(|asked| match asked.path.ends_with("yaml") {
                true => ok("entries: {web: [{version: 1.0.0, urls: [x]}]}"),
                false => ok("<html>"),
            }),
            "the archive must be a `.tar.gz`",
        ),
    ];
    for (what, lie, want) in repositories {
        let server = Server::start(lie);
        let told = User::new().error(&chart(&server.url(""), "web"), "1.0.0");
        assert!(told.contains(want), "{what}: {told}");
    }
    let told = User::new().error(&http("http://krm-merge.invalid/a.yaml"), "");
    assert!(told.contains("krm-merge.invalid"), "{told}");
}

#[test]
fn a_list_of_tags_ends() {
    let next = |link: String| ok("{\"tags\":[\"1.0.0\"]}").with("Link", &format!("<{link}>; rel=\"next\""));
    let told = |server: &Server| {
        let begun = Instant::now();
        let source = User::new().source(&oci(server, "a")).expect("a source");
        let told = format!("{:#}", source.releases().expect_err("an error"));
        assert!(begun.elapsed() < Duration::from_secs(15), "{told}");
        told
    };
    let circle = Server::start(move |asked| next(asked.path.clone()));
    assert!(told(&circle).contains("must end"));
    let endless = Server::start(move |asked| next(format!("{}x", asked.path)));
    assert!(told(&endless).contains("must end, with at most 1000 pages"));
    // The registry alone is asked, whatever host it names.
    let elsewhere = Server::start(move |asked| match asked.path.contains("last") {
        true => ok("{\"tags\":[\"2.0.0\"]}"),
        false => next("https://example.invalid/v2/a/tags/list?last=1.0.0".to_owned()),
    });
    assert_eq!(User::new().names(&oci(&elsewhere, "a")), ["1.0.0", "2.0.0"]);
}

/// A registry that leads elsewhere, or asks for the login elsewhere, gets no more than it may.
#[test]
fn a_login_goes_to_no_other_server() {
    let bytes = packed("1.0.0");
    let storage = Server::start({
        let bytes = bytes.clone();
        move |_| ok(bytes.clone())
    });
    let (blob, manifest) = (storage.url("/blob?sig=secret"), oci::manifest(&[(oci::CHART, &bytes)]));
    let server = Server::start(move |asked| match asked.path.as_str() {
        _ if asked.header("authorization").is_empty() => reply(401, "").with("WWW-Authenticate", "Basic"),
        path if path.contains("/blobs/") => to(&blob),
        _ => ok(manifest.clone()),
    });
    let login = STANDARD.encode("me:secret");
    let config = |host: &str| ("config.json", format!("{{\"auths\":{{\"{host}\":{{\"auth\":\"{login}\"}}}}}}"));
    User::with(&[config(&server.authority)]).files(&oci(&server, "a"), "1.0.0");
    assert_eq!(storage.asked(), ["/blob?sig=secret"]);
    // Another host that wants a login gets none, also when it leads back.
    let thief = Server::start(|_| reply(401, "").with("WWW-Authenticate", "Basic"));
    let bait = thief.url("/x");
    let server = Server::start(move |_| to(&bait));
    User::with(&[config(&server.authority), config(&thief.authority)][..1]).error(&oci(&server, "a"), "1.0.0");
    assert_eq!(thief.asked(), ["/x"]);
}
