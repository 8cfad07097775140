//! A folder of its own for each test, and the plugin run in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use crate::run::{has, root, skipped};

pub const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-krm_merge");

/// A folder that is removed with its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        Self::below(std::env::temp_dir())
    }

    /// In memory, where the system has such files: for what is written often, and not to last.
    pub fn in_memory() -> Self {
        let memory = PathBuf::from("/dev/shm");
        Self::below(if memory.is_dir() { memory } else { std::env::temp_dir() })
    }

    fn below(parent: PathBuf) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("krm-merge-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = parent.join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    /// With these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("written");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect(path)
    }

    /// All files below a folder, hidden ones and temporary ones included.
    pub fn files(&self, path: &str) -> BTreeMap<String, Vec<u8>> {
        fn walk(folder: &Path, prefix: &str, out: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type().expect("a type").is_dir() {
                    walk(&entry.path(), &format!("{name}/"), out);
                } else if entry.file_type().expect("a type").is_file() {
                    out.insert(name, fs::read(entry.path()).expect("readable"));
                }
            }
        }
        let mut out = BTreeMap::new();
        walk(&self.path(path), "", &mut out);
        out
    }

    /// PATH with this folder before all others.
    pub fn first_on_path(&self) -> OsString {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths([self.0.clone()].into_iter().chain(std::env::split_paths(&rest))).expect("a PATH")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PLUGIN);
        command.args(args).current_dir(&self.0).stdin(Stdio::null()).env_remove("NO_COLOR");
        command.env("XDG_CACHE_HOME", self.path(".cache"));
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("the plugin runs"))
    }

    /// Runs, and kills what takes longer.
    pub fn run_within(&self, args: &[&str], time: Duration) -> Ran {
        let mut command = self.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the plugin runs");
        let start = Instant::now();
        while child.try_wait().expect("a state").is_none() {
            if start.elapsed() > time {
                child.kill().expect("killed");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ran::of(child.wait_with_output().expect("the plugin ends"))
    }

    pub fn run_with(&self, stdin: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the plugin runs");
        child.stdin.take().expect("piped").write_all(stdin.as_bytes()).expect("written");
        Ran::of(child.wait_with_output().expect("the plugin ends"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A small disk in the folder `small`, which goes with its end.
pub struct SmallDisk {
    pub path: PathBuf,
}

impl SmallDisk {
    /// One of this size, such as `2m`; `None` where nobody may make one, which is told.
    pub fn below(folder: &Folder, size: &str) -> Option<Self> {
        let path = folder.path("small");
        fs::create_dir(&path).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "none"]).arg(&path).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            skipped("mount", "must make a small disk");
            return None;
        }
        Some(Self { path })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}

/// Sends a signal to a process, or with a `-` before its number to all of its group, and says whether that could be done. The shell does
/// it: a machine may have no program `kill`.
pub fn send(signal: &str, to: &str) -> bool {
    let mut sh = Command::new("sh");
    let sent = sh.args(["-c", "kill -s \"$0\" -- \"$1\"", signal, to]).stderr(Stdio::null()).status();
    sent.expect("a shell").success()
}

/// How many times as often random cases are tried: `KRM_MERGE_LAWS`.
pub fn laws() -> usize {
    std::env::var("KRM_MERGE_LAWS").ok().map_or(1, |n| n.parse().expect("`KRM_MERGE_LAWS` is a number"))
}

/// A number for each run, so that what is random is something else; 0 for all where nobody asks for more, and what
/// `KRM_MERGE_SEED` says where someone wants a run again.
pub fn seed() -> u64 {
    if let Ok(seed) = std::env::var("KRM_MERGE_SEED") {
        return seed.parse().expect("`KRM_MERGE_SEED` is a number");
    }
    let Ok(_) = std::env::var("KRM_MERGE_LAWS") else { return 0 };
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Its stdout, after an end without a fault.
    pub fn passed(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Its stderr, after this exit code.
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.stderr
    }
}

/// A ConfigMap with one line of data for each pair.
pub fn map(name: &str, data: &[(&str, &str)]) -> String {
    let data: String = data.iter().map(|(k, v)| format!("  {k}: {v}\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}")
}
