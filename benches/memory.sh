#!/bin/sh
# Measures the peak memory of the release binary of the plugin for shapes of input that ask for much: wide maps of short fields, and many
# small documents. The last column is the peak as a multiple of the input, without what the program takes for an input of no size.
#
#   benches/memory.sh [N]          the number of fields; default: 100000
#
# GNU time is needed, as for measure.sh.
set -eu
cd "$(dirname "$0")/.."
n=${1:-100000}
. benches/time.sh

cargo build --quiet --release --locked --package kubectl-krm-merge
target=${CARGO_TARGET_DIR:-target}
plugin=$(cd "$target/release" && pwd)/kubectl-krm_merge
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"

# map FORM [LINE]: a ConfigMap with n fields, or a Thing with a list of n elements, and one line more below.
map() {
    awk -v n="$n" -v form="$1" -v last="${2:-}" 'BEGIN {
        list = form == "list"
        printf "apiVersion: v1\nkind: %s\nmetadata: {name: x}\ndata:\n", list ? "Thing" : "ConfigMap"
        for (i = 0; i < n; i++) printf list ? "- element-%09d\n" : "  key-%06d: value\n", i
        if (last != "") print last
    }'
}

# head [LINE]: the same without fields.
head() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n%s\n' "${1:-}"
}

# documents: n/4 ConfigMaps of one field.
documents() {
    awk -v n="$n" 'BEGIN { for (i = 0; i < n / 4; i++)
        printf "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x%06d}\ndata: {a: \"1\"}\n", i }'
}

# change FIELD VALUE: changes one field.
change() {
    sed "s/^  key-0*$1: value/&$2/"
}

# kib COMMAND...: the peak memory in KiB.
kib() {
    "$time" -f '%M' -o figure "$@" >out 2>err || [ $? -le 2 ] || { cat err >&2; exit 1; }
    tail -n 1 figure
}

# measure SHAPE COMMAND...: one line of the table. The input is o, u and d, and the driver changes d.
measure() {
    shape=$1 bytes=$(cat o u d | wc -c)
    shift
    peak=$(kib "$@")
    awk -v shape="$shape" -v bytes="$bytes" -v peak="$peak" -v empty="$empty" 'BEGIN {
        printf "%-44s %8.1f %8.1f %8.1f\n", shape, bytes / 1e6, peak * 1024 / 1e6, (peak - empty) * 1024 / bytes }'
}

three="$plugin three-way --original o --updated u --dest d"
driver="$plugin git-driver o d u p.yaml"
patch="--source u --dest d"
head 'data: {a: b}' | tee o u >d
empty=$(kib $three)

printf '%-44s %8s %8s %8s\n' shape 'input MB' 'peak MB' times
: >o; map fields >d; head 'data: {key-000007: w}' >u
measure 'a field of a wide map, two-way' "$plugin" two-way $patch
measure 'a field of a wide map, strategic' "$plugin" strategic $patch
map fields | tee o | change 7 u >u; change 9 d <o >d
measure 'both sides change a field of a wide map' $three
map fields >o; map fields '  u: u' >u; map fields '  d: d' >d
measure 'both sides add a field to a wide map' $three
sed 's/value$/u/' o >u; sed -n 's/^  key/  own/p' o | cat o - >d
measure 'one side changes all fields, one adds as many' $three
sed 's/value$/u/' o >u; sed 's/value$/d/' o >d
measure 'both sides change all fields' $three --on-conflict dest
map fields | tee o | change 7 u >u; change 7 d <o >d
measure 'a conflict in a wide map, git-driver' $driver
sed 's/value$/u/' o >u; sed 's/value$/d/' o >d
measure 'a conflict in each field, git-driver' $driver
map fields | tee o | change 7 u >u; : >d
measure 'one side deletes what the other changes' $three
measure 'one side deletes what the other changes, git-driver' $driver
head | tee o >d; map fields >u
measure 'a new wide map' $three
map fields | tee o >u; head 'data: {a: b}' >d
measure 'a map that only one side has no more' $three
map list | tee o >d; map list '- u' >u
measure 'an element more in a wide list' $three
map list | tee o | sed 's/element-000000007/u/' >u; sed 's/element-000000007/d/' o >d
measure 'a conflict in a wide list, git-driver' $driver
documents | tee o d | sed 's/"1"/"2"/' >u
measure 'small documents, each changed' $three
documents | tee o u >d
measure 'small documents, none changed' $three
