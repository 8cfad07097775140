#!/bin/sh
# Measures the release binary as a process: time and memory for each mode and size of workload, the plugin's ThreeWay on folders with the
# resources of ThreeWay, and `kubectl kustomize` on the work of Strategic where it is on PATH.
#
# Peak memory is that of a whole process and cannot be had from within a benchmark. Beside another program the CPU time counts, since that
# one uses several cores.
#
#   benches/measure.sh [N...]      default: 100 1000 10000 50000; with 5800, the plugin upgrades a package of 11 MB in 100 files
#   RUNS=5 benches/measure.sh      the best of so many runs counts; default: 3
#
# Up to 25 KB of temporary disk space per resource, so 1.2 GB for 50,000; set TMPDIR where that is short.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 100 1000 10000 50000
runs=${RUNS:-3}

. benches/time.sh

cargo build --quiet --release --package krm-merge-function
cargo build --quiet --release --package kubectl-krm-merge
binary=${CARGO_TARGET_DIR:-target}/release/krm-merge-function
plugin=${CARGO_TARGET_DIR:-target}/release/kubectl-krm_merge
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

compared=yes
if ! kubectl kustomize --help >/dev/null 2>&1; then
    echo 'measure.sh: kubectl is not on PATH, so Strategic is measured alone' >&2
    compared=no
fi

# What is done before each run, outside of the measured time.
before=:

# The dest of a run that writes its files.
fresh() {
    rm -rf "$dir/run"
    cp -R "$dir/packages-$n/dest" "$dir/run"
}

# measure MODE N INPUT_BYTES COMMAND...: one line of the table from the best of the runs; stdin is the command's.
# Leaves the CPU time of a run, the mean of all, in $dir/cpu-MODE.
measure() {
    mode=$1 n=$2 bytes=$3
    shift 3
    : >"$dir/figures"
    run=0
    while [ "$run" -lt "$runs" ]; do
        $before
        if ! "$time" -f '%e %M %U %S' -a -o "$dir/figures" "$@" <"$dir/stdin" >"$dir/out" 2>"$dir/err"; then
            printf '%-10s %7s failed: %s\n' "$mode" "$n" "$(head -n 1 "$dir/err")"
            return 1
        fi
        run=$((run + 1))
    done
    # %M is in KiB.
    sort -n "$dir/figures" | awk -v mode="$mode" -v n="$n" -v bytes="$bytes" -v total="$dir/cpu-$mode" '
        NR == 1 { wall = $1 }
        rss == 0 || $2 < rss { rss = $2 }
        { all += $3 + $4 }
        NR == 1 || $3 + $4 < cpu { cpu = $3 + $4 }
        END {
            rate = wall > 0 ? sprintf("%.0f", bytes / 1e6 / wall) : "-"
            printf "%-10s %7d %10.2f %9.2f %9.2f %9s %10.1f %10.2f\n", mode, n, bytes / 1e6, wall, cpu, rate, rss * 1024 / 1e6, rss * 1024 / bytes
            print all / NR > total
        }'
}

printf '%-10s %7s %10s %9s %9s %9s %10s %10s\n' mode N 'input MB' 'wall s' 'CPU s' 'MB/s' 'RSS MB' RSS/input
for n; do
    KRM_MERGE_WORKLOADS=$dir KRM_MERGE_SIZE=$n cargo bench --quiet --bench merge
    for mode in plain two-way three-way strategic; do
        mv "$dir/$mode-$n.yaml" "$dir/stdin"
        measure "$mode" "$n" "$(wc -c <"$dir/stdin")" "$binary" || true
    done
    : >"$dir/stdin"
    before=fresh
    measure plugin "$n" "$(cat "$dir/packages-$n"/*/*.yaml | wc -c)" "$plugin" three-way --in-place --dest "$dir/run" \
        --original "$dir/packages-$n/original" --updated "$dir/packages-$n/updated" || true
    before=:
    # What grows with the square of the resources would take an hour at 50,000.
    if [ "$compared" = yes ] && [ "$n" -le 10000 ]; then
        bytes=$(cat "$dir/kustomize-$n"/*.yaml | wc -c)
        if measure kustomize "$n" "$bytes" kubectl kustomize "$dir/kustomize-$n"; then
            echo "$(cat "$dir/cpu-kustomize")" "$(cat "$dir/cpu-strategic")" | awk '
                { printf "%-10s %7s %s times the CPU time of strategic\n", "", "", ($2 > 0 ? sprintf("%.0f", $1 / $2) : "many") }'
        fi
    fi
    rm -rf "${dir:?}"/*
done
