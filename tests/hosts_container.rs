//! The function as an image: small, static, and at work without any right.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/hosts.rs"]
mod hosts;

use std::fs;
use std::process::Command;

use hosts::{IMAGE, image, root, run, run_with};

const MEGABYTE: u64 = 1_000_000;

/// The page that says how large the image is and how to run it.
fn page() -> String {
    fs::read_to_string(root().join("docs/src/install.md")).expect("a page")
}

#[test]
fn an_image_does_its_work_without_any_right() {
    if !image() {
        return;
    }
    let stdin = fs::read_to_string(root().join("examples/merge-two-way/resource-list.yaml")).expect("an example");
    let want =
        fs::read_to_string(root().join("examples/merge-two-way/.expected/resource-list.yaml")).expect("expected");
    let page = page();
    let line = page.lines().find(|line| line.starts_with("docker run ")).expect("a command");
    assert_eq!(run(Command::new("sh").args(["-c", line]).current_dir(root())).passes().stdout, want);

    let (command, _) = line.split_once(" <").expect("a file");
    let mut hardened: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(hardened.pop(), Some(IMAGE));
    hardened.extend(["--security-opt=no-new-privileges", IMAGE]);
    assert_eq!(run_with(Command::new("docker").args(&hardened), &stdin).passes().stdout, want);

    let wrong =
        run_with(Command::new("docker").args(&hardened), &stdin.replace("mode: TwoWay", "mode: twoWay")).fails();
    assert!(wrong.stderr.starts_with("error: stdin 30:11: `spec.mode` must be"), "{}", wrong.stderr);
    // What `kpt fn doc` shows.
    let help = run(Command::new("docker").args(&hardened).arg("--help")).passes();
    assert_eq!(help.stdout, fs::read_to_string(root().join("src/usage.txt")).expect("usage"));
}

#[test]
fn an_image_is_small_and_says_what_it_is() {
    if !image() {
        return;
    }
    let inspect =
        |format: &str| run(Command::new("docker").args(["inspect", "--format", format, IMAGE])).passes().stdout;
    let size: u64 = inspect("{{.Size}}").trim().parse().expect("a number");
    let page = page();
    let most = page.split_once("less than ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
    assert!(size < most.expect("a size") * MEGABYTE, "{size}");
    assert_eq!(inspect("{{.Config.User}} {{.Config.Entrypoint}}").trim(), "65534:65534 [/krm-merge]");
    for label in ["title", "description", "source", "licenses", "version"] {
        let label = format!("org.opencontainers.image.{label}");
        assert_ne!(inspect(&format!("{{{{index .Config.Labels {label:?}}}}}")).trim(), "", "{label}");
    }
    let version = inspect("{{index .Config.Labels \"org.opencontainers.image.version\"}}");
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_binary_for_another_machine_is_asked_for_by_its_name() {
    let wrong = run(Command::new(root().join("image/build")).arg("riscv64")).fails();
    assert_eq!(wrong.stderr, "error: the architecture must be `amd64` or `arm64`, not \"riscv64\"\n");
}
