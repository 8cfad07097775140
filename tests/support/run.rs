//! Programs that tests run, and the folders and files for them.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]
#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "skip.rs"]
mod skip;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use skip::{has, skipped};

/// What a program did.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// The run, which must have gone through.
    #[track_caller]
    pub fn passes(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// The run, which must have failed.
    #[track_caller]
    pub fn fails(self) -> Self {
        assert_ne!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// All that the user saw.
    pub fn shown(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a program with an empty stdin.
pub fn run(command: &mut Command) -> Run {
    run_with(command, "")
}

/// Runs a program with this text on stdin.
pub fn run_with(command: &mut Command, stdin: &str) -> Run {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut pipe = child.stdin.take().expect("stdin");
    let stdin = stdin.to_owned();
    // A program that does not read its stdin closes it, which is not what is tested.
    let writer = std::thread::spawn(move || drop(pipe.write_all(stdin.as_bytes())));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("written");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The root of the repository, for the tests of each package.
pub fn root() -> &'static Path {
    let folders = &mut Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").is_file()).expect("a workspace")
}

/// An empty folder.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes a file, and the folders above it.
pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// Every file below a folder, by its path in it. Bytes that are not text are replaced.
pub fn files(folder: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
            let path = format!("{prefix}{}", entry.file_name().into_string().expect("UTF-8"));
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{path}/"), out);
            } else {
                let bytes = fs::read(entry.path()).expect("readable");
                out.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(folder, "", &mut out);
    out
}

/// Makes an executable of a file.
pub fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
}
