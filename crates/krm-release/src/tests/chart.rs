use super::*;

/// A list with one chart, whose versions have these addresses.
fn list(versions: &[(&str, &str, &[u8])]) -> String {
    let one = |(version, url, bytes): &(&str, &str, &[u8])| {
        let digest = digest::of(bytes);
        format!("  - version: {version}\n    appVersion: \"9\"\n    digest: {digest}\n    urls:\n    - {url}\n")
    };
    format!("apiVersion: v1\nentries:\n  web:\n{}", versions.iter().map(one).collect::<String>())
}

#[test]
fn a_repository_lists_and_gives_its_charts() {
    let (one, two) = (packed("1.0.0"), packed("1.1.0"));
    let other = {
        let two = two.clone();
        Server::start(move |_| ok(two.clone()))
    };
    let text =
        list(&[("1.0.0", "web-1.0.0.tgz", &one), ("v1.1.0", &other.url("/any"), &two), ("1.2.0", "gone.tgz", b"")]);
    let server = Server::start({
        let one = one.clone();
        move |asked: &Request| match asked.path.as_str() {
            "/charts/index.yaml" => ok(text.clone()),
            "/charts/web-1.0.0.tgz" => ok(one.clone()),
            _ => reply(404, "secret"),
        }
    });
    let user = User::new();
    let web = chart(&server.url("/charts"), "web");
    let short = |bytes: &[u8]| digest::of(bytes)[..4].to_owned();
    let want = [format!("1.0.0@{}", short(&one)), format!("v1.1.0@{}", short(&two)), format!("1.2.0@{}", short(b""))];
    assert_eq!(user.names(&web), want);
    for (version, bytes) in [("1.0.0", &one), ("v1.0.0", &one), ("1.1.0", &two)] {
        let fetched = user.files(&web, version);
        assert_eq!((fetched.digest.clone(), paths(&fetched)), (digest::of(bytes), vec!["Chart.yaml", "values.yaml"]));
        assert_eq!(user.digest(&web, version).expect("a digest"), Some(fetched.digest));
    }
    // The list was asked for once, and the other server knows of no login.
    let asked = server.asked();
    assert_eq!(asked.iter().filter(|path| path.contains("index")).count(), 1, "{asked:?}");
    assert_eq!(other.asked(), ["/any"]);
    for (upstream, version, want) in [
        (&web, "3.0.0", "no such release"),
        (&web, "1.2.0", "has nothing there (HTTP 404)"),
        (&chart(&server.url("/charts"), "api"), "1.0.0", "has no chart \"api\"; it has web"),
        (&chart(&server.url("/x"), "web"), "1.0.0", "must be a chart repository, but it has no `index.yaml`"),
    ] {
        let told = user.error(upstream, version);
        assert!(told.contains(want), "{told}");
    }
    assert!(user.client.is_chart_repository(&server.url("/charts/")).expect("an answer"));
    assert!(!user.client.is_chart_repository(&server.url("/x")).expect("an answer"));
    let source = user.source(&web).expect("a source");
    let told = format!("{:#}", source.files(Some("1.0.0"), &digest::of(b"x")).expect_err("another"));
    assert!(told.contains("must have the digest sha256:2d711642"), "{told}");
}

#[test]
fn a_list_that_did_not_change_is_not_sent_again() {
    let body = Arc::new(Mutex::new(("\"1\"", list(&[("1.0.0", "web.tgz", b"")]))));
    let server = Server::start({
        let body = Arc::clone(&body);
        move |asked: &Request| {
            let (etag, text) = body.lock().expect("whole").clone();
            if asked.header("if-none-match") == etag {
                return reply(304, "");
            }
            gzip(&text).with("ETag", etag)
        }
    });
    let mut user = User::new();
    let web = chart(&server.url(""), "web");
    let first = user.names(&web);
    user.again();
    assert_eq!(user.names(&web), first);
    *body.lock().expect("whole") = ("\"2\"", list(&[("2.0.0", "web.tgz", b"")]));
    user.again();
    assert!(user.names(&web)[0].starts_with("2.0.0"));
    // What is broken in the cache is asked for again.
    let kept: Vec<PathBuf> =
        fs::read_dir(user.folder.path()).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    assert_eq!(kept.len(), 1);
    krm_files::made::replace(&kept[0], b"{").expect("written");
    user.again();
    assert!(user.names(&web)[0].starts_with("2.0.0"));
}

#[test]
fn the_login_of_a_repository_is_for_its_server_alone() {
    let other = Server::start(|_| ok(packed("1.1.0")));
    let text = list(&[("1.0.0", "web.tgz", &packed("1.0.0")), ("1.1.0", &other.url("/x"), &packed("1.1.0"))]);
    let moved = other.url("/moved");
    let server = Server::start(move |asked: &Request| match asked.path.as_str() {
        _ if asked.header("authorization").is_empty() => reply(401, "").with("WWW-Authenticate", "Basic"),
        "/index.yaml" => ok(text.clone()),
        "/moved/index.yaml" => to(&moved),
        _ => ok(packed("1.0.0")),
    });
    let repo = server.url("");
    let helm = format!("repositories:\n- name: x\n  url: {repo}/\n  username: me\n  password: secret\n");
    let host = server.authority.split(':').next().expect("a host");
    let netrc = format!("machine {host}\nlogin me\npassword secret\n");
    // What `.netrc` has is for a host with all its ports.
    for (file, is_for_host) in [(("repositories.yaml", helm), false), (("netrc", netrc), true)] {
        let user = User::with(&[file]);
        let web = chart(&repo, "web");
        user.files(&web, "1.0.0");
        user.files(&web, "1.1.0");
        assert_eq!(server.asked(), ["/index.yaml me:secret", "/web.tgz me:secret"]);
        assert_eq!(other.asked(), ["/x"]);
        let told = user.error(&chart(&server.url("/moved"), "web"), "1.0.0");
        assert_eq!(other.asked().len(), usize::from(is_for_host), "{told}");
        server.asked();
    }
    let told = User::new().error(&chart(&repo, "web"), "1.0.0");
    assert!(told.contains("must be one that you may read, but the server refused (HTTP 401)"), "{told}");
}

#[test]
fn a_list_may_lead_to_a_registry() {
    let bytes = packed("1.0.0");
    let registry = oci::registry(&[("charts/web", "1.0.0", oci::CHART, &bytes)]);
    let address = format!("oci://{}/charts/web:1.0.0", registry.authority);
    let without = format!("oci://{}/charts/web", registry.authority);
    for address in [address, without] {
        let text = list(&[("1.0.0", &address, &bytes)]);
        let server = Server::start(move |_| ok(text.clone()));
        let fetched = User::new().files(&chart(&server.url(""), "web"), "1.0.0");
        assert_eq!((fetched.digest.clone(), paths(&fetched)), (digest::of(&bytes), vec!["Chart.yaml", "values.yaml"]));
    }
}

#[test]
fn what_goes_by_is_asked_again_and_the_next_address_is_taken() {
    let bytes = packed("1.0.0");
    let entry = |version: &str, urls: &str| {
        format!("  - {{version: {version}, digest: {}, urls: [{urls}]}}\n", digest::of(&packed("1.0.0")))
    };
    let text = format!(
        "entries:\n  web:\n{}{}{}",
        entry("1.0.0", "gone.tgz, other.tgz, busy.tgz"),
        entry("1.1.0", "closed.tgz"),
        entry("1.2.0", "broken.tgz, gone.tgz")
    );
    let seen = Mutex::new(Vec::new());
    let server = Server::start(move |asked: &Request| {
        let is_first = !seen.lock().expect("whole").contains(&asked.path);
        seen.lock().expect("whole").push(asked.path.clone());
        match asked.path.as_str() {
            "/index.yaml" => ok(text.clone()),
            "/other.tgz" => ok(packed("2.0.0")),
            "/busy.tgz" if is_first => reply(503, ""),
            "/closed.tgz" if is_first => Reply { status: 0, headers: Vec::new(), body: Body::Nothing },
            "/busy.tgz" | "/closed.tgz" => ok(bytes.clone()),
            "/broken.tgz" => reply(502, ""),
            _ => reply(404, ""),
        }
    });
    let (user, web) = (User::new(), chart(&server.url(""), "web"));
    for (version, want) in [
        ("1.0.0", &["/index.yaml", "/gone.tgz", "/other.tgz", "/busy.tgz", "/busy.tgz"][..]),
        ("1.1.0", &["/closed.tgz", "/closed.tgz"]),
    ] {
        assert_eq!(paths(&user.files(&web, version)), ["Chart.yaml", "values.yaml"]);
        assert_eq!(server.asked(), want);
    }
    // The first address is the one that the list means.
    let told = user.error(&web, "1.2.0");
    assert!(told.contains("broken.tgz\": the server must answer with HTTP 200, not 502"), "{told}");
    assert_eq!(server.asked(), ["/broken.tgz", "/broken.tgz", "/gone.tgz"]);
}
