use super::*;

#[test]
fn an_address_gives_a_file_or_an_archive() {
    let archive = tgz(&[("web-1.0.0/a.yaml", "a: 1\n"), ("web-1.0.0/b/c.yaml", "b: 1\n")]);
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/v1.0.0/install.yaml" | "/a%2Fv1%3F/install.yaml" => ok("a: 1\n"),
        "/web-v1.0.0.tar.gz" => to("/elsewhere"),
        "/elsewhere" => ok(archive.clone()),
        "/broken.zip" => ok("a: 1\n"),
        "/login.yaml" => ok("<!doctype html>").with("Content-Type", "text/html; charset=utf-8"),
        _ => reply(404, ""),
    });
    let user = User::new();
    let file = http(&server.url("/{ref}/install.yaml"));
    let fetched = user.files(&file, "v1.0.0");
    assert_eq!((paths(&fetched), &fetched.digest), (vec!["install.yaml"], &digest::of(b"a: 1\n")));
    server.asked();
    assert_eq!(user.files(&file, "v1.0.0"), fetched);
    assert_eq!(server.asked(), ["/v1.0.0/install.yaml"]);
    assert!(matches!(user.releases(&file), Releases::Unlisted));
    let source = user.source(&file).expect("a source");
    source.files(Some("v1.0.0"), &fetched.digest).expect("the same");
    let told = format!("{:#}", source.files(Some("v1.0.0"), &digest::of(b"x")).expect_err("another"));
    assert!(told.contains("must have the digest sha256:2d711642"), "{told}");
    // A name is one part of a path.
    user.files(&file, "a/v1?");
    assert_eq!(paths(&user.files(&http(&server.url("/web-{ref}.tar.gz")), "v1.0.0")), ["a.yaml", "b/c.yaml"]);
    for (address, name, want) in [
        ("/{ref}/install.yaml", "v2.0.0", "no such release"),
        ("/none.yaml", "latest", "has nothing there (HTTP 404)"),
        ("/{ref}/install.yaml", "..", "must be the name of a release"),
        ("/{ref}/install.yaml", "", "must be the name of a release"),
        ("/broken.zip", "", "the archive must be a `.tar.gz`"),
        ("/login.yaml", "", "a page for browsers, as for a login"),
    ] {
        let told = user.error(&http(&server.url(address)), name);
        assert!(told.contains(want), "{told}");
    }
}

#[test]
fn the_login_of_netrc_is_for_its_host_alone() {
    let other = Server::start(|_| ok("a: 1\n"));
    let elsewhere = other.url("/a.yaml").replace("127.0.0.1", "localhost");
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/same.yaml" => to("/a.yaml"),
        "/other.yaml" => to(&elsewhere),
        _ => ok("a: 1\n"),
    });
    let user = User::with(&[("netrc", "machine 127.0.0.1 login me password secret".to_owned())]);
    user.files(&http(&server.url("/same.yaml")), "");
    user.files(&http(&server.url("/other.yaml")), "");
    assert_eq!(server.asked(), ["/same.yaml me:secret", "/a.yaml me:secret", "/other.yaml me:secret"]);
    assert_eq!(other.asked(), ["/a.yaml"]);
}

/// An archive that a server calls packed is itself what is meant.
#[test]
fn a_file_may_be_packed_though_nobody_asked_for_it() {
    let archive = tgz(&[("a.yaml", "a: 1\n")]);
    let want = digest::of(&archive);
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/a.yaml" => gzip("a: 1\n"),
        "/b.yaml" => ok("a: 1\n").with("Content-Encoding", "gzip"),
        _ => ok(archive.clone()).with("Content-Encoding", "x-gzip"),
    });
    let user = User::new();
    for name in ["/a.yaml", "/b.yaml"] {
        let fetched = user.files(&http(&server.url(name)), "latest");
        assert_eq!((fetched.files[0].bytes.as_slice(), fetched.digest), (&b"a: 1\n"[..], digest::of(b"a: 1\n")));
    }
    assert_eq!(user.files(&http(&server.url("/c.tgz")), "latest").digest, want);
    assert_eq!(paths(&user.files(&http(&server.url("/download")), "latest")), ["a.yaml"]);
}
