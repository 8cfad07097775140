#!/bin/sh
# Counts the instructions of the release binary for each mode and size of workload, and compares them with those in `instructions.txt`. For
# one resource, it also counts those of the binary of the image, in the empty environment that it has in a container.
#
# A count does not depend on what else runs on the machine, so a slower program shows at once. It depends a little on the compiler, the
# C library and the processor: that is what the tolerance is for.
#
#   benches/instructions.sh [N...]     fails if a run takes over 2 % more than its line says; only those of these sizes
#   benches/instructions.sh --write    makes the lines again
#
# Without valgrind it says so and does nothing; `KRM_MERGE_REQUIRE=valgrind` makes that an error.
set -eu
cd "$(dirname "$0")/.."
lines=benches/instructions.txt
tolerance=2
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
[ $# != 0 ] || set -- 1 1000 10000

if ! command -v valgrind >/dev/null; then
    echo "instructions.sh: valgrind is absent, so no instructions are counted" >&2
    case ",${KRM_MERGE_REQUIRE:-}," in *,valgrind,*) exit 1 ;; esac
    exit 0
fi

cargo build --quiet --release --locked --bin krm-merge-function
binary=${CARGO_TARGET_DIR:-target}/release/krm-merge-function
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
image/build "" "$dir/image"

# count NAME MODE N PROGRAM...: a line of the table.
count() {
    name=$1 mode=$2 n=$3
    shift 3
    "$@" <"$dir/$mode-$n.yaml" 2>&1 >/dev/null |
        awk -v name="$name" -v n="$n" -v bytes="$(wc -c <"$dir/$mode-$n.yaml")" '
            / Collected : / { printf "%-16s %6d %12.0f %8.1f\n", name, n, $NF, $NF / bytes }'
}

callgrind="valgrind --tool=callgrind --callgrind-out-file=/dev/null"
modes="two-way three-way strategic"
for n in "$@"; do
    # Only the texts are needed here, so the generator is built as the tests are.
    KRM_MERGE_WORKLOADS=$dir KRM_MERGE_SIZE=$n cargo bench --quiet --profile dev --locked --bench merge
    for mode in $modes; do
        count "$mode" "$mode" "$n" $callgrind "$binary" >"$dir/$mode-$n.count" &
    done
    wait
    for mode in $modes; do
        cat "$dir/$mode-$n.count"
        [ "$n" != 1 ] || count "$mode/image" "$mode" "$n" env -i $callgrind "$dir/image"
        rm "$dir/$mode-$n.yaml"
    done
done >"$dir/now"

if [ -n "$write" ]; then
    printf '%-16s %6s %12s %8s\n' mode N instructions per-byte | cat - "$dir/now" >"$lines"
    cat "$lines"
    exit 0
fi
awk -v tolerance="$tolerance" -v sizes=" $* " '
    FNR == 1 { file += 1 }
    file == 1 { was[$1, $2] = $3; wanted += index(sizes, " " $2 " ") > 0; next }
    {
        seen += 1
        change = ($1, $2) in was ? 100 * ($3 / was[$1, $2] - 1) : 100
        printf "%s  %+.1f %%\n", $0, change
        if (change > tolerance) { worse = 1 }
        if (change < -tolerance) { better = 1 }
    }
    END {
        if (!seen || seen != wanted) { print "instructions.sh: every run must give a count"; exit 1 }
        if (better) { print "instructions.sh: fewer than before: run it with --write, so that it stays so" }
        if (worse) { print "instructions.sh: more than " tolerance " % more instructions than '"$lines"' says; make it faster, or run it with --write and say why"; exit 1 }
    }' "$lines" "$dir/now"
