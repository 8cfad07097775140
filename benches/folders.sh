#!/bin/sh
# Measures packages of many small files, of which upstream and dest each changed one in a thousand: `three-way` on the folders, and `upgrade`
# of the package, beside git for the merge of the same three trees. git compares the names of objects; the folders are read.
#
#   benches/folders.sh [N...]      files; default: 10000
#   RUNS=3 benches/folders.sh      the least of so many runs counts; default: 10
#
# GNU time is needed, as for measure.sh.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 10000
. benches/time.sh
. benches/plugin.sh
export XDG_CACHE_HOME="$dir/cache"

# fill FOLDER N IMAGE REPLICAS: n Deployments, of which each thousandth has this image, and the one after it so many replicas.
fill() {
    awk -v folder="$1" -v n="$2" -v image="$3" -v replicas="$4" 'BEGIN {
        for (i = 0; i < n; i++) {
            if (i % 1000 == 0) { below = sprintf("%s/g%04d", folder, i / 1000); system("mkdir -p " below) }
            file = sprintf("%s/w%07d.yaml", below, i)
            printf "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%d\n  namespace: team-%d\nspec:\n  replicas: %s\n", i, i % 50, i % 1000 == 1 ? replicas : 2 >file
            printf "  selector:\n    matchLabels:\n      app: web-%d\n  template:\n    metadata:\n      labels:\n        app: web-%d\n    spec:\n", i, i >file
            printf "      containers:\n      # The server.\n      - name: web\n        image: example.com/web:%s\n", i % 1000 == 0 ? image : 1 >file
            printf "        ports:\n        - containerPort: 8080\n        resources:\n          limits: {cpu: 100m, memory: 64Mi}\n" >file
            close(file)
        }
    }'
}

# measure N WHAT BYTES COMMAND...: one line of the table. The exit code 1 is that of a difference.
measure() {
    n=$1 what=$2 bytes=$3
    shift 3
    : >"$dir/figures"
    run=0
    while [ "$run" -lt "$runs" ]; do
        "$time" -f '%U %S %M' -o "$dir/figure" "$@" >/dev/null 2>"$dir/err" || [ $? -le 1 ] || { cat "$dir/err" >&2; exit 1; }
        tail -n 1 "$dir/figure" >>"$dir/figures"
        run=$((run + 1))
    done
    awk -v n="$n" -v what="$what" -v bytes="$bytes" '
        NR == 1 || $1 + $2 < cpu { cpu = $1 + $2 }
        NR == 1 || $3 < peak { peak = $3 }
        END { printf "%8d %-12s %8.1f %8.2f %8.1f %8.1f\n", n, what, bytes / 1e6, cpu, peak * 1024 / 1e6, peak * 1024 / bytes }' "$dir/figures"
}

printf '%8s %-12s %8s %8s %8s %8s\n' files command 'MB' 'CPU s' 'peak MB' times
for n in "$@"; do
    rm -rf "$dir/up" "$dir/mine" "$dir/o" "$dir/u" "$dir/d" "$dir/cache"
    fill "$dir/o" "$n" 1 2
    fill "$dir/u" "$n" 2 2
    fill "$dir/d" "$n" 1 5
    bytes=$(find "$dir/o" "$dir/u" "$dir/d" -type f -exec cat {} + | wc -c)
    measure "$n" three-way "$bytes" "$plugin" three-way --original "$dir/o" --updated "$dir/u" --dest "$dir/d" -o name
    mkdir "$dir/up" "$dir/mine"
    (
        cd "$dir/up"
        git init --quiet --initial-branch=main
        for side in o u d; do
            rm -rf p && cp -R "$dir/$side" p && git add --all && git commit --quiet --message "$side" && git tag "$side"
            git checkout --quiet o 2>/dev/null
        done
        git gc --quiet
        cd "$dir/mine"
        git init --quiet --initial-branch=main
        "$plugin" get "$dir/up/.git/p@o" p >/dev/null 2>&1
        cp -R "$dir/d/." p && git add --all && git commit --quiet --message mine
    )
    measure "$n" upgrade "$bytes" "$plugin" upgrade --to u --dry-run "$dir/mine/p"
    measure "$n" 'git merge' "$bytes" git -C "$dir/up" merge-tree --write-tree d u
done
