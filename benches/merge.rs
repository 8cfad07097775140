//! Benchmarks: whole runs of each mode beside three ways to read the same text.
//!
//! A scan for the ends of the lines is the least that reading can cost; our own parse makes the tree that a merge works on; the bare parse is the
//! event loop of the parser library. The ratios say how much the merge itself costs, and how near reading is to the least, on any machine.
//! With `KRM_MERGE_WORKLOADS=DIR` nothing is measured: the workloads are written to that folder, each in `MODE-N.yaml`, and the resources
//! and patches of `strategic-N.yaml` as a kustomization in `kustomize-N`, and the versions of `three-way-N.yaml` as folders in `packages-N`;
//! `KRM_MERGE_SIZE=N` restricts that to one size. That is how `measure.sh` gets its input.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

mod workload;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use krm_merge_function::{Verdict, edited, run};
use krm_yaml::Document;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use granit_parser::Parser;
use workload::Workload;

/// How many resources there are.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 50_000];

fn main() {
    if let Some(dir) = std::env::var_os("KRM_MERGE_WORKLOADS") {
        return write_workloads(Path::new(&dir));
    }
    let mut criterion = Criterion::default().configure_from_args();
    group(&mut criterion, ("two-way", workload::two_way), &SIZES);
    // Three versions of everything: the largest size alone would take minutes. `measure.sh` has it.
    group(&mut criterion, ("three-way", workload::three_way), &SIZES[..3]);
    group(&mut criterion, ("strategic", workload::strategic), &SIZES[..3]);
    criterion.final_summary();
}

/// Measures one mode, unless it does not pass.
fn group(criterion: &mut Criterion, (mode, workload): Workload, sizes: &[usize]) {
    let output = run(&workload(SIZES[0]));
    if output.verdict == Verdict::Failed {
        eprintln!("{mode}: not built yet: {}", output.stderr.first().map_or("", String::as_str));
        return;
    }
    let mut group = criterion.benchmark_group(mode);
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    for &n in sizes {
        let text = workload(n);
        // Ten runs, however long they take; more of them where they are short.
        group.measurement_time(Duration::from_secs(2)).throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("merge", n), &text, |b, text| b.iter(|| merge(text)));
        group.bench_with_input(BenchmarkId::new("parse", n), &text, |b, text| b.iter(|| Document::parse(text)));
        group.bench_with_input(BenchmarkId::new("bare parse", n), &text, |b, text| b.iter(|| bare_parse(text)));
        group.bench_with_input(BenchmarkId::new("line scan", n), &text, |b, text| b.iter(|| line_scan(text)));
    }
    group.finish();
}

/// A whole run, up to the pieces that the program would write. It never makes one text of them.
fn merge(text: &str) {
    for piece in edited(text).stdout.pieces() {
        black_box(piece);
    }
}

/// The events of a text, looked at and dropped.
fn bare_parse(text: &str) {
    for event in Parser::new_from_str(text) {
        black_box(event.expect("a workload is YAML"));
    }
}

/// The ends of the lines of a text, looked at and dropped.
fn line_scan(text: &str) {
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        black_box(end);
    }
}

fn write_workloads(dir: &Path) {
    let only = std::env::var("KRM_MERGE_SIZE").ok().map(|n| n.parse().expect("`KRM_MERGE_SIZE` must be a number"));
    let sizes = only.map_or(SIZES.to_vec(), |n: usize| vec![n]);
    std::fs::create_dir_all(dir).expect("the folder of the workloads must be writable");
    for n in sizes {
        for (mode, workload) in workload::ALL {
            std::fs::write(dir.join(format!("{mode}-{n}.yaml")), workload(n)).expect("a workload must be writable");
        }
        let folder = dir.join(format!("kustomize-{n}"));
        std::fs::create_dir_all(&folder).expect("a folder of a workload must be writable");
        for (name, text) in workload::kustomization(n) {
            std::fs::write(folder.join(name), text).expect("a workload must be writable");
        }
        for (role, files) in workload::packages(n) {
            let folder = dir.join(format!("packages-{n}")).join(role);
            std::fs::create_dir_all(&folder).expect("a folder of a workload must be writable");
            for (name, text) in files {
                std::fs::write(folder.join(name), text).expect("a workload must be writable");
            }
        }
    }
}
