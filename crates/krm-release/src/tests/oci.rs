use super::*;

pub const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const FLUX: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// A manifest with these layers.
pub fn manifest(layers: &[(&str, &[u8])]) -> String {
    let layer = |(kind, bytes): &(&str, &[u8])| {
        format!("{{\"mediaType\":\"{kind}\",\"digest\":\"sha256:{}\",\"size\":{}}}", digest::of(bytes), bytes.len())
    };
    let layers: Vec<String> = layers.iter().map(layer).collect();
    format!("{{\"schemaVersion\":2,\"config\":{{\"digest\":\"sha256:x\"}},\"layers\":[{}]}}", layers.join(","))
}

/// A registry with images of one layer, each with its path, its tag and the type of its layer. A page has two tags.
pub fn registry(images: &[(&str, &str, &str, &[u8])]) -> Server {
    let mut at: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, tag, kind, bytes) in images {
        let manifest = manifest(&[(kind, bytes)]);
        at.insert(format!("/v2/{path}/manifests/sha256:{}", digest::of(manifest.as_bytes())), manifest.clone().into());
        at.insert(format!("/v2/{path}/manifests/{tag}"), manifest.into());
        at.insert(format!("/v2/{path}/blobs/sha256:{}", digest::of(bytes)), bytes.to_vec());
        tags.entry((*path).to_owned()).or_default().push((*tag).to_owned());
    }
    Server::start(move |asked| {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        if let Some(bytes) = at.get(path) {
            return ok(bytes.clone());
        }
        let image = path.strip_prefix("/v2/").and_then(|path| path.strip_suffix("/tags/list")).unwrap_or_default();
        let Some(all) = tags.get(image) else { return reply(404, "{}") };
        let last = query.split_once("last=").map(|(_, last)| last);
        let from = last.and_then(|last| all.iter().position(|tag| tag == last)).map_or(0, |at| at + 1);
        let page: Vec<String> = all.iter().skip(from).take(2).cloned().collect();
        let body = format!("{{\"name\":\"{image}\",\"tags\":{page:?}}}");
        match page.last().filter(|_| from + 2 < all.len()) {
            Some(last) => ok(body).with("Link", &format!("<{path}?n=2&last={last}>; rel=\"next\"")),
            None => ok(body),
        }
    })
}

#[test]
fn a_registry_lists_and_gives_its_artifacts() {
    let (chart, plain) = (packed("1.0.0"), tgz(&[("deploy/a.yaml", "a: 1\n"), ("deploy/b/c.yaml", "b: 1\n")]));
    let server = registry(&[
        ("charts/web", "1.0.0", CHART, &chart),
        ("charts/web", "1.0.0-rc.1", CHART, &chart),
        ("charts/web", "1.0.0_b1", CHART, &chart),
        ("charts/web", "latest", CHART, &chart),
        ("charts/web", "not_a_version", CHART, &chart),
        ("flux", "v1", FLUX, &plain),
        ("any", "v1", "application/vnd.oci.image.layer.v1.tar+gzip", &plain),
        ("file", "v1", "application/octet-stream", b"a: 1\n"),
    ]);
    let user = User::new();
    let web = oci(&server, "charts/web");
    assert_eq!(user.names(&web), ["1.0.0", "1.0.0-rc.1", "1.0.0+b1", "latest", "not_a_version"]);
    assert_eq!(server.asked().len(), 3);
    let fetched = user.files(&web, "1.0.0+b1");
    assert_eq!(paths(&fetched), ["Chart.yaml", "values.yaml"]);
    let exact = user.digest(&web, "1.0.0+b1").expect("a digest").expect("a release");
    assert_eq!(user.digest(&web, &format!("sha256:{exact}")).expect("itself"), Some(exact.clone()));
    let source = user.source(&web).expect("a source");
    assert_eq!(source.files(Some("moved"), &exact).expect("by its digest"), fetched.files);
    assert_eq!(exact, fetched.digest);
    for image in ["flux", "any"] {
        assert_eq!(paths(&user.files(&oci(&server, image), "v1")), ["deploy/a.yaml", "deploy/b/c.yaml"]);
    }
    for (image, tag, want) in [
        ("charts/web", "2.0.0+b1", "no such release"),
        ("file", "v1", "the archive must be a `.tar.gz`, a `.tar` or a `.zip`"),
        ("charts/web", "../x", "a tag must have letters"),
    ] {
        let told = user.error(&oci(&server, image), tag);
        assert!(told.contains(want), "{told}");
    }
    let Releases::Refused(told) = user.releases(&oci(&server, "none")) else { panic!("a list") };
    assert!(told.contains("the registry must have this image"), "{told}");
}

#[test]
fn an_artifact_has_one_layer_with_files() {
    let (bytes, other) = (packed("1.0.0"), b"signed".to_vec());
    let chart = manifest(&[(CHART, &bytes), ("application/vnd.cncf.helm.chart.provenance.v1.prov", &other)]);
    let image = manifest(&[
        ("application/vnd.oci.image.layer.v1.tar+gzip", &bytes),
        ("application/vnd.oci.image.layer.v1.tar+gzip", &other),
    ]);
    let index = |manifests: &[&str]| {
        let one = |text: &&str| format!("{{\"digest\":\"sha256:{}\"}}", digest::of(text.as_bytes()));
        format!("{{\"manifests\":[{}]}}", manifests.iter().map(one).collect::<Vec<_>>().join(","))
    };
    let (single, many) = (index(&[&chart]), index(&[&chart, &image]));
    let by_digest = [&chart, &image, &single, &many, &"{}".to_owned()]
        .map(|text| (format!("/v2/a/manifests/sha256:{}", digest::of(text.as_bytes())), text.clone()));
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/v2/a/manifests/chart" => ok(chart.clone()),
        "/v2/a/manifests/image" => ok(image.clone()),
        "/v2/a/manifests/single" => ok(single.clone()),
        "/v2/a/manifests/many" => ok(many.clone()),
        "/v2/a/manifests/empty" => ok("{}"),
        path if path.contains("/manifests/") => by_digest
            .iter()
            .find(|(known, _)| known == path)
            .map_or_else(|| reply(404, ""), |(_, text)| ok(text.clone())),
        _ => ok(bytes.clone()),
    });
    let (user, a) = (User::new(), oci(&server, "a"));
    for tag in ["chart", "single"] {
        assert_eq!(paths(&user.files(&a, tag)), ["Chart.yaml", "values.yaml"]);
    }
    for (tag, want) in [
        ("image", "one layer of a tar, but it has 2 layers"),
        ("many", "it has 2 manifests"),
        ("empty", "it has 0 layers"),
    ] {
        let told = user.error(&a, tag);
        assert!(told.contains(want), "{told}");
    }
}

/// A registry whose image wants a login, which `realm` gives.
fn closed(challenge: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    let bytes = packed("1.0.0");
    let manifest = manifest(&[(CHART, &bytes)]);
    Server::start(move |asked| {
        let authorization = asked.header("authorization").to_owned();
        let is_in =
            authorization == "Bearer let-in" || authorization == format!("Basic {}", STANDARD.encode("me:secret"));
        let is_of_me = is_in || asked.body.contains("refresh_token=secret%2B&");
        match asked.path.split('?').next().unwrap_or_default() {
            "/token" if is_of_me => ok("{\"access_token\":\"let-in\"}"),
            "/token" => reply(401, "secret"),
            "/open" => ok("{\"token\":\"let-in\"}"),
            _ if !is_in => reply(401, "{}").with("WWW-Authenticate", &challenge(asked.header("host"))),
            path if path.contains("/blobs/") => ok(bytes.clone()),
            path if path.contains("/tags/") => ok("{\"tags\":[\"1.0.0\"]}"),
            _ => ok(manifest.clone()),
        }
    })
}

#[test]
fn a_registry_gets_the_login_that_it_asks_for() {
    let config = |host: &str, fields: &str| ("config.json", format!("{{\"auths\":{{\"{host}\":{{{fields}}}}}}}"));
    let basic = format!("\"auth\":\"{}\"", STANDARD.encode("me:secret"));
    let bearer =
        |realm: &'static str| move |host: &str| format!("Bearer realm=\"http://{host}{realm}\",service=\"s t\"");
    let server = closed(bearer("/token"));
    let host = server.authority.clone();
    let a = oci(&server, "a/b");
    let user = User::with(&[config(&host, &basic)]);
    assert_eq!(user.names(&a), ["1.0.0"]);
    user.files(&a, "1.0.0");
    let asked = server.asked();
    // One token is for all questions of an image.
    assert_eq!(asked.len(), 6, "{asked:?}");
    assert_eq!(asked[1], "/token?service=s%20t&scope=repository%3Aa%2Fb%3Apull me:secret");
    for fields in ["\"identitytoken\":\"secret+\"", "\"registrytoken\":\"let-in\""] {
        User::with(&[config(&host, fields)]).files(&a, "1.0.0");
    }
    for user in [User::new(), User::with(&[config(&host, &format!("\"auth\":\"{}\"", STANDARD.encode("me:wrong")))])] {
        let told = user.error(&a, "1.0.0");
        assert!(told.contains(&format!("log in by `helm registry login {host}`")), "{told}");
    }
    // Without a login, a token may be had, too.
    User::new().files(&oci(&closed(bearer("/open")), "a"), "1.0.0");
    let server = closed(|_| "Basic realm=\"x\"".to_owned());
    User::with(&[config(&server.authority, &basic)]).files(&oci(&server, "a"), "1.0.0");
    let told = User::new().error(&oci(&server, "a"), "1.0.0");
    assert!(told.contains("log in by"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_credential_helper_is_asked_for_the_login_of_its_registry() {
    // No helper is on `PATH` here, and one that is named for a registry is needed.
    let server = closed(|_| "Basic".to_owned());
    let host = &server.authority;
    for (config, want) in [
        (
            format!("{{\"credHelpers\":{{\"{host}\":\"krm-none\"}}}}"),
            "\"docker-credential-krm-none\": it must be on `PATH`",
        ),
        (format!("{{\"credHelpers\":{{\"{host}\":\"../x\"}}}}"), "its name must have letters"),
        ("{\"credsStore\":\"krm-none\"}".to_owned(), "log in by"),
        ("[".to_owned(), "the file with logins must be JSON"),
    ] {
        let told = User::with(&[("config.json", config)]).error(&oci(&server, "a"), "1.0.0");
        assert!(told.contains(want), "{told}");
    }
}

/// Who may not list the tags may still have the one that is named.
#[test]
fn a_registry_may_refuse_to_list_its_tags() {
    let bytes = packed("1.0.0");
    let manifest = manifest(&[(CHART, &bytes)]);
    let server = Server::start(move |asked| match asked.path.as_str() {
        path if path.contains("/closed/") => reply(401, "").with("WWW-Authenticate", "Basic"),
        path if path.contains("/tags/") => reply(403, ""),
        path if path.contains("/blobs/") => ok(bytes.clone()),
        path if path.contains("/broken/") => reply(500, ""),
        _ => ok(manifest.clone()),
    });
    let user = User::new();
    let refused = |image: &str| match user.source(&oci(&server, image)).expect("a source").releases() {
        Ok(Releases::Refused(why)) => why,
        other => format!("{other:?}"),
    };
    assert!(refused("a").contains("the server refused (HTTP 403)"), "{}", refused("a"));
    assert!(refused("closed/a").contains("log in by"), "{}", refused("closed/a"));
    assert_eq!(paths(&user.files(&oci(&server, "a"), "1.0.0")), ["Chart.yaml", "values.yaml"]);
    let told = format!("{:#}", user.digest(&oci(&server, "broken/a"), "1.0.0").expect_err("an error"));
    assert!(told.contains("must answer with HTTP 200, not 500"), "{told}");
}
