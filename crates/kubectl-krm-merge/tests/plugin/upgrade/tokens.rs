//! A token or password of an address gets into no file and no message.

use super::good;
use crate::support::{Folder, Ran, map};

const TOKEN: &str = "tok-123";

/// Addresses of a repository that git could fetch, each with a token.
const ADDRESSES: [&str; 15] = [
    "https://tok-123@example.com/up.git",
    "https://me:tok-123@example.com/up.git",
    "https://:tok-123@example.com/up.git",
    "https://tok-123:@example.com/up.git",
    "https://tok-123:x-oauth-basic@example.com/up.git",
    "HTTPS://tok-123@example.com/up.git",
    "hTTp://me:tok-123@example.com:8080/up.git",
    "https://me:a/tok-123@example.com/up.git",
    "https:/me:tok-123@example.com/up.git",
    "ssh://me:tok-123@example.com/up.git",
    "git://me:tok-123@example.com/up.git",
    "me:tok-123@example.com:up.git",
    "https://example.com/up.git?access_token=tok-123",
    "https://example.com/up.git?tok-123",
    "https://example.com/up.git#private_token=tok-123",
];

/// Fails if a message, or a file below a folder, has the token.
fn check(folder: &Folder, ran: &Ran, what: &str) {
    assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN), "{what}: {ran:?}");
    for (path, text) in folder.files(".") {
        let has_token = String::from_utf8_lossy(&text).contains(TOKEN);
        assert!(!has_token || path.starts_with("given/"), "{what}: {path}");
    }
}

#[test]
fn an_address_with_a_token_is_refused_and_not_repeated() {
    let folder = Folder::new();
    folder.write("p/a.yaml", map("a", &[("v", "'1'")]));
    for address in ADDRESSES {
        // With and without what tells where the repository ends.
        let bare = address.replace(".git", "");
        for source in [format!("{address}/d@v1"), format!("{address}@v1"), address.to_owned(), bare] {
            let upstream = format!("--upstream={source}");
            for args in [
                vec!["get", &source],
                vec!["get", &source, "q"],
                vec!["upgrade", "p", &upstream, "--from", "v1"],
                vec!["diff", &source, "p"],
                vec!["three-way", "--original", &source, "--updated", "p", "--dest", "p"],
            ] {
                let ran = folder.run(&args);
                assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
                check(&folder, &ran, &format!("{args:?}"));
            }
        }
    }
    let told = folder.run(&["get", "https://tok-123@example.com/up.git/d@v1"]).failed(2);
    assert!(told.contains("Let a credential helper of git supply"), "{told}");
}

#[test]
fn a_record_of_another_tool_with_a_token_is_named_by_its_line() {
    let folder = Folder::new();
    for (number, address) in ADDRESSES.iter().enumerate() {
        let name = format!("given/{number}");
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\nupstream:\n  type: git\n  git:\n    repo: \"{address}\"\n    directory: /d\n    ref: v1\n"
        );
        folder.write(&format!("{name}/Kptfile"), kptfile);
        let ran = folder.run(&["upgrade", &name]);
        check(&folder, &ran, address);
        let told = ran.failed(2);
        assert!(told.contains(&format!("{name}/Kptfile:6:3: ")) && told.contains("must not hold a password"), "{told}");
    }
}

/// The user's configuration of git may name the token of an address. git says it when it fails.
#[test]
fn what_git_says_is_told_without_tokens() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    for (number, to) in [
        "http://me:tok-123@127.0.0.1:1/up",
        "http://tok-123@127.0.0.1:1/up",
        "http://127.0.0.1:1/up.git?access_token=tok-123",
        "ftp://me:tok-123@127.0.0.1:1/up",
        "file:///tok@nowhere/?private_token=tok-123",
    ]
    .iter()
    .enumerate()
    {
        let config = format!("[url \"{to}\"]\n\tinsteadOf = file://{}\n", upstream.bare.with_extension("").display());
        folder.write("given/config", config);
        let (source, new) = (upstream.source("d@v1"), format!("q{number}"));
        for args in [["get", &source, &new], ["upgrade", "p", "--allow-dirty"]] {
            let mut command = folder.command(&args);
            command.env("GIT_CONFIG_GLOBAL", folder.path("given/config"));
            let ran = Ran::of(command.output().expect("the plugin runs"));
            check(&folder, &ran, to);
            let told = ran.failed(2);
            assert!(told.contains("git: fatal: "), "{told}");
        }
    }
}
