//! How the work of a program grows with its input: the instructions of each function of it, as valgrind counts them. No clock takes part.
//!
//! A whole run hides a loop that is quadratic and short behind much that is linear. So each function is judged on its own. What a run does
//! once, whatever its input, drops out: the work that is new at 4n is held against the work that is new at 2n. It is twice as much if it is
//! linear, and four times as much if it is quadratic.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most by which the new work of a function may grow if the input doubles.
const MOST: f64 = 2.5;

/// The same for the C library: how it copies and allocates depends on the sizes, so its steps say less.
const MOST_IN_LIBC: f64 = 3.2;

/// How the names of its functions for memory begin.
const LIBC: [&str; 5] = ["__mem", "_int_", "malloc", "free", "realloc"];

/// The functions that join freed pieces of memory, by the beginnings of their names. They join many pieces at once, when the C library
/// decides so. Each piece is joined once, and the steps of `free` show how many pieces there are.
const JOINING: [&str; 2] = ["malloc_consolidate", "unlink_chunk"];

/// The least share of the whole run for which a function counts, as one in so many instructions. Below it, the growth of a table or a
/// buffer shows.
const SHARE: u64 = 400;

/// A program with its arguments, in a folder, and what it reads.
pub struct Run {
    pub program: &'static str,
    pub args: Vec<String>,
    pub folder: Option<std::path::PathBuf>,
    pub stdin: String,
    /// The exit code that it must end with.
    pub code: i32,
}

/// The instructions of each function in a run.
fn counted(run: &Run) -> BTreeMap<String, u64> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("krm-merge-steps-{}-{number}", std::process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=cachegrind", "--cache-sim=no"]);
    command.arg(format!("--cachegrind-out-file={}", file.display())).arg(run.program).args(&run.args);
    if let Some(folder) = &run.folder {
        command.current_dir(folder);
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("valgrind runs");
    let (mut to, text) = (child.stdin.take().expect("a pipe"), run.stdin.clone());
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    let _ = writer.join().expect("no panic");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(run.code), "{told}");
    let counts = std::fs::read(&file).expect("counts");
    std::fs::remove_file(&file).expect("removed");
    let mut functions = BTreeMap::new();
    let mut name = String::new();
    for line in String::from_utf8_lossy(&counts).lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            name = function.to_owned();
        } else if let Some(count) = line.split_once(' ').filter(|(at, _)| at.parse::<u64>().is_ok()) {
            *functions.entry(name.clone()).or_default() += count.1.trim().parse::<u64>().expect("a count");
        }
    }
    functions
}

/// Checks that no function works more than in proportion to the input, at `n`, 2`n` and 4`n`.
///
/// How often a buffer moves depends on its size, so a single step can be too steep by accident. What is quadratic is too steep at the next
/// doubling, too.
pub fn grows_with_the_input(n: usize, run: impl Fn(usize) -> Run) {
    let [one, two, four] = [n, 2 * n, 4 * n].map(|n| counted(&run(n)));
    let at_first = steep(&one, &two, &four);
    if at_first.is_empty() {
        return;
    }
    let again = steep(&two, &four, &counted(&run(8 * n)));
    let both =
        again.iter().filter_map(|(name, growth)| Some(format!("{:.2}, {growth:.2} {name}", at_first.get(name)?)));
    let both: Vec<String> = both.collect();
    assert!(both.is_empty(), "these grow faster than the input:\n{}", both.join("\n"));
}

/// The functions that grow faster than the input, which doubles from each run to the next, with the growth of their new work.
fn steep(
    one: &BTreeMap<String, u64>,
    two: &BTreeMap<String, u64>,
    four: &BTreeMap<String, u64>,
) -> BTreeMap<String, f64> {
    let whole: u64 = four.values().sum();
    let of = |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied().unwrap_or_default() as f64;
    let growth = |name: &String| {
        let (first, second) = (of(two, name) - of(one, name), of(four, name) - of(two, name));
        second / first.max(1.0)
    };
    let heavy = four.iter().filter(|(_, count)| **count > whole / SHARE).map(|(name, _)| name);
    // A sort takes n log n steps, and other ones for a short list.
    let heavy = heavy.filter(|name| !name.contains("core::slice::sort"));
    let heavy = heavy.filter(|name| !JOINING.iter().any(|part| name.starts_with(part)));
    let most = |name: &str| if LIBC.iter().any(|part| name.starts_with(part)) { MOST_IN_LIBC } else { MOST };
    heavy.filter(|name| growth(name) > most(name)).map(|name| (name.clone(), growth(name))).collect()
}
