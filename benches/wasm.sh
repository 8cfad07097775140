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
node benches/wasm.mjs "$(cd "$target" && pwd)" "$dir" "$@"
