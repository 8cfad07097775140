//! The program: arguments, streams and exit codes.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/skip.rs"]
mod skip;

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn krm_merge(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_krm-merge-function"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // A program that does not read its stdin closes it, which is not what is tested.
    let _ = child.stdin.take().expect("stdin").write_all(stdin);
    child.wait_with_output().expect("an end")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_and_version_go_to_stdout_and_leave_stdin_alone() {
    for arg in ["--help", "-h"] {
        let output = krm_merge(&[arg], b"");
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout);
        for part in ["ResourceList", "mode: TwoWay", "mode: ThreeWay", "mode: Strategic", "Exit"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(output.stderr.is_empty());
    }
    let output = krm_merge(&["--version"], b"");
    assert_eq!(output.status.code(), Some(0));
    let want = concat!("krm-merge ", env!("CARGO_PKG_VERSION"), " (types of Kubernetes 1.11 to 1.37)\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), want);
}

/// The examples in the help are functionConfigs, so what a user copies is understood.
#[test]
fn the_examples_in_the_help_are_understood() {
    let help = String::from_utf8(krm_merge(&["--help"], b"").stdout).expect("UTF-8");
    let mut modes = Vec::new();
    for example in help.split("\n\n").filter(|block| block.starts_with("  apiVersion: ")) {
        let stdin =
            format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{example}\n");
        let output = krm_merge(&[], stdin.as_bytes());
        // Understood as a whole: all that is wrong is that there are no items.
        let missing = ["must select at least one item, but no item", "no resource matches the patch"];
        assert!(missing.iter().any(|m| stderr(&output).contains(m)), "{}{example}", stderr(&output));
        modes.push(example.lines().find_map(|l| l.strip_prefix("    mode: ")).expect("a mode"));
    }
    assert_eq!(modes, ["TwoWay", "ThreeWay", "Strategic"]);
}

#[test]
fn any_other_argument_is_an_error_on_stderr() {
    for args in [&["--verbose"][..], &["file.yaml"], &["--help", "me"]] {
        let output = krm_merge(args, b"");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty());
        assert!(stderr(&output).contains(args[0]), "{}", stderr(&output));
    }
}

/// Controls of each kind, breaks of lines, marks of direction, and what has no width, behind which a line of its own would begin.
const ODD: &str = "\u{7}\u{1b}[2J\u{7f}\u{85}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\r\nerror: OWNED";

#[test]
fn no_name_value_or_argument_is_told_as_it_is_where_it_misleads() {
    let text = serde_json::json!(ODD).to_string();
    let text: String = text
        .chars()
        .map(|c| if c.is_ascii_graphic() || c == ' ' { c.into() } else { format!("\\u{:04x}", c as u32) })
        .collect();
    let item = |data: &str, kind: &str| {
        format!(
            "{{\"apiVersion\": \"v1\", \"kind\": {kind}, \"metadata\": {{\"name\": {text}, \"namespace\": {text}, \"annotations\": {{\"config.kubernetes.io/path\": {text}}}}}, \"data\": {{{text}: {data}}}}}"
        )
    };
    let list = |items: &str, spec: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{items}]\nfunctionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec: {{{spec}}}\n"
        )
    };
    let side = |role: &str, data: &str| format!("{role}: [{{resources: [{}]}}]", item(data, &text));
    let dest = item("\"2\"", &text);
    let upgrade = format!("mode: ThreeWay, {}, {}", side("original", "\"1\""), side("updated", &text));
    let mut told = 0;
    for stdin in [
        list(&dest, &upgrade),
        list(&dest, &format!("{upgrade}, onConflict: Fail")),
        list(&format!("{dest}, {dest}"), &upgrade),
        list(&dest, &format!("mode: {text}")),
        list(&dest, &format!("mode: TwoWay, {text}: 1")),
        list(&dest, &format!("mode: Strategic, source: [{{resources: [{}]}}]", item("1", "Other"))),
        list(&dest, "mode: TwoWay, source: [{resources: [\u{202e}\u{feff}\"]}]"),
    ] {
        let output = krm_merge(&[], stdin.as_bytes());
        let said = stderr(&output);
        assert!(!said.chars().any(|c| ODD.contains(c) && !c.is_ascii_graphic() && !" \n".contains(c)), "{said:?}");
        assert!(said.lines().all(|line| !line.starts_with("error: OWNED")), "{said:?}");
        told += said.lines().count();
    }
    assert!(told > 6, "{told}");
    for args in [&[ODD][..], &["--help", ODD], &[&format!("--{ODD}")]] {
        let said = stderr(&krm_merge(args, b""));
        assert!(said.contains("\\u001b[2J") || said.contains("--help"), "{said:?}");
        assert_eq!(said.lines().count(), 1, "{said:?}");
        assert!(!said.chars().any(|c| ODD.contains(c) && !c.is_ascii_graphic() && !" \n".contains(c)), "{said:?}");
    }
}

#[test]
fn text_that_is_no_utf_8_is_an_error_with_its_offset() {
    let output = krm_merge(&[], b"a: 1\nb: \xff\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert_eq!(stderr(&output), "error: stdin 2:4: the text must be UTF-8, but the byte at offset 8 is not\n");
}

#[test]
fn another_encoding_is_named() {
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| "a: 1\n".encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for (stdin, name) in [
        ([vec![0xff, 0xfe], utf_16(u16::to_le_bytes)].concat(), "UTF-16 (little-endian)"),
        (utf_16(u16::to_be_bytes), "UTF-16 (big-endian)"),
    ] {
        let output = krm_merge(&[], &stdin);
        assert_eq!(output.status.code(), Some(1));
        let want = format!("error: stdin: the text must be UTF-8, not {name}: save it again as UTF-8\n");
        assert_eq!(stderr(&output), want);
    }
}

#[test]
fn exit_0_never_comes_with_an_empty_stdout() {
    for stdin in [&b""[..], b"a: 1", b"{", b"kind: ResourceList"] {
        let output = krm_merge(&[], stdin);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("error: stdin "), "{}", stderr(&output));
    }
}

#[test]
fn a_failed_run_writes_the_list_and_exits_with_1() {
    let stdin = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
    let output = krm_merge(&[], stdin.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(stdin));
    assert_eq!(stderr(&output).lines().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_named() {
    for arg in ["--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there");
        let output =
            Command::new(env!("CARGO_BIN_EXE_krm-merge-function")).arg(arg).stdout(full).output().expect("an end");
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("error: stdout must be writable: "), "{}", stderr(&output));
    }
}

/// A host that closed the pipe has not got the resources, so it must not read success off the exit code.
#[test]
fn a_closed_stdout_is_exit_1_without_a_word() {
    let mut stdin = String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n");
    for i in 0..20_000 {
        stdin.push_str(&format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c{i}}}\n"));
    }
    stdin.push_str("functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {mode: two-way}\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_krm-merge-function"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(child.stdout.take());
    child.stdin.take().expect("stdin").write_all(stdin.as_bytes()).expect("it reads to the end");
    let output = child.wait_with_output().expect("an end");
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), String::new()));
}

/// As in a container: the kernel does nothing with a signal to process 1 that has no handler for it.
#[cfg(target_os = "linux")]
#[test]
fn process_1_ends_at_once_on_signals() {
    use std::time::{Duration, Instant};

    let unshare = |user: &[&str], program: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(user).args(["--pid", "--fork", "--kill-child", program]);
        unshare
    };
    // root may do it at once, and others where the system lets them be root of a namespace.
    let may = |user: &&&[&str]| unshare(user, "true").output().is_ok_and(|ran| ran.status.success());
    let Some(user) = [&[][..], &["--user", "--map-root-user"]].iter().find(may).copied() else {
        return skip::skipped("unshare", "makes no process 1 here");
    };
    let in_namespace = |program: &str| unshare(user, program);
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let mut program = in_namespace(env!("CARGO_BIN_EXE_krm-merge-function"));
        let mut unshare = program.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("unshare");
        // Its stdin stays open, so it waits for the rest of it.
        let children = format!("/proc/{0}/task/{0}/children", unshare.id());
        let start = Instant::now();
        let ended = loop {
            assert!(start.elapsed() < Duration::from_secs(20), "SIG{name} does not end it");
            if let Some(ended) = unshare.try_wait().expect("a state") {
                break ended;
            }
            // The first ones may come before the program is there.
            let inner = std::fs::read_to_string(&children).unwrap_or_default();
            for inner in inner.split_whitespace() {
                let _ = kill(name, inner);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(ended.code(), Some(code), "SIG{name}");
    }
    // Any other process is ended by the signal itself.
    let mut child = Command::new(env!("CARGO_BIN_EXE_krm-merge-function"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("runs");
    kill("TERM", &child.id().to_string()).expect("sh");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().expect("an end")), Some(15));
}

/// Sends a signal by the shell, for some machines have no program `kill`.
#[cfg(unix)]
fn kill(signal: &str, process: &str) -> std::io::Result<std::process::ExitStatus> {
    Command::new("sh").args(["-c", &format!("kill -s {signal} {process}")]).stderr(Stdio::null()).status()
}
