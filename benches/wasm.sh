#!/bin/sh
# Measures the module for JavaScript in Node, beside the program, on the same lists in one run: benches/wasm.sh [N...], default 1 1000
#
# The time of the program is that of its whole process; that of the module is one call in a process that runs already, the best of five.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 1 1000
cargo build --quiet --release --package krm-merge-function
cargo xtask wasm
target=${CARGO_TARGET_DIR:-target}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
for n in "$@"; do
    KRM_MERGE_WORKLOADS=$dir KRM_MERGE_SIZE=$n cargo bench --quiet --profile dev --locked --bench merge
done
node --input-type=module --eval '
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";
const [target, dir, ...sizes] = process.argv.slice(1);
const bytes = readFileSync(`${target}/wasm/krm_merge_bg.wasm`);
console.log(`the module: ${(bytes.length / 1e6).toFixed(2)} MB, ${(gzipSync(bytes, { level: 9 }).length / 1e6).toFixed(2)} MB compressed`);
const { default: init, run } = await import(`${target}/wasm/index.js`);
const best = (work) => {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
};
const start = performance.now();
await init();
console.log(`loaded in ${(performance.now() - start).toFixed(0)} ms`);
for (const mode of ["two-way", "three-way", "strategic"]) {
  for (const n of sizes) {
    const input = readFileSync(`${dir}/${mode}-${n}.yaml`, "utf8");
    const program = best(() => spawnSync(`${target}/release/krm-merge`, { input, maxBuffer: 1 << 30 }));
    const module = best(() => run(input));
    console.log(`${mode} ${n}: ${(input.length / 1e6).toFixed(2)} MB, program ${program.toFixed(1)} ms, module ${module.toFixed(1)} ms`);
  }
}
' "$(cd "$target" && pwd)" "$dir" "$@"
