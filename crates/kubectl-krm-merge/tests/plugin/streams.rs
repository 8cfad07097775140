//! What the user names may be a pipe or a device. One without end takes no more memory than a large file, and signals end the program
//! while it is read.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, Ran, map, send};

const CONFLICT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n<<<<<<< ours\n  x: '1'\n=======\n  x: '2'\n>>>>>>> theirs\n";

/// Runs that each read this path.
fn readers(path: &str) -> Vec<Vec<&str>> {
    let sides = ["three-way", "--original", "a.yaml", "--updated", "a.yaml", "--dest", "a.yaml"];
    vec![
        [&sides[..], &["--config", path]].concat(),
        [&sides[..], &["--openapi", path]].concat(),
        vec!["three-way", "--original", path, "--updated", "a.yaml", "--dest", "a.yaml"],
        vec!["two-way", "-s", path, "-d", "a.yaml"],
        vec!["two-way", "-s", "a.yaml", "-d", path],
        vec!["diff", "a.yaml", path],
        vec!["resolve", "--answers", path, "m.yaml"],
        vec!["resolve", "--take", "ours", "--record", path, "m.yaml"],
    ]
}

fn folder() -> Folder {
    Folder::with(&[("a.yaml", &map("a", &[])), ("m.yaml", CONFLICT)])
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_end_is_refused() {
    for args in readers("/dev/zero") {
        let folder = folder();
        let before = folder.files("");
        let err = folder.run_within(&args, Duration::from_secs(120)).failed(2);
        let is_told = err.contains("it must have at most 268435456 bytes") || err.contains("it must be a regular file");
        assert!(is_told, "{args:?}: {err}");
        assert_eq!(folder.files(""), before);
    }
    let mut command = folder().command(&["two-way", "-s", "-", "-d", "a.yaml"]);
    let zero = std::fs::File::open("/dev/zero").expect("there");
    let ran = Ran::of(command.current_dir(&folder().0).stdin(Stdio::from(zero)).output().expect("runs"));
    assert!(ran.failed(2).contains("at most 268435456 bytes"));
}

/// Whether this process, and so each that it starts, ignores a signal, as what a shell runs in the background does.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or_default();
    ignored & (1 << (number - 1)) != 0
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_that_waits_for_a_pipe() {
    for (number, signal) in [(2, "INT"), (15, "TERM")].into_iter().filter(|(number, _)| !is_ignored(*number)) {
        for args in readers("pipe") {
            let folder = folder();
            let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo");
            assert!(made.success());
            let mut child = folder.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
            std::thread::sleep(Duration::from_millis(100));
            send(signal, &child.id().to_string());
            let start = Instant::now();
            let status = loop {
                match child.try_wait().expect("a state") {
                    Some(status) => break status,
                    None if start.elapsed() > Duration::from_secs(10) => {
                        child.kill().expect("killed");
                        panic!("{signal} does not end {args:?}");
                    }
                    None => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            use std::os::unix::process::ExitStatusExt;
            // A FIFO for rules is refused at once.
            assert!(status.signal() == i32::try_from(number).ok() || status.code() == Some(2), "{args:?}: {status:?}");
        }
    }
}
