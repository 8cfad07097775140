#!/bin/sh
# Measures `upgrade --check --all` over many packages of one upstream, whose new release changes ten of them: the CPU time beside that of git
# to compare the two releases and to look for local changes.
#
#   benches/fleet.sh [N...]      packages; default: 300
#   RUNS=20 benches/fleet.sh     so many runs are added up; default: 10
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 300
. benches/plugin.sh
export XDG_CACHE_HOME="$dir/cache"

# fill FROM TO IMAGE: packages of ten Deployments.
fill() {
    package=$1
    while [ "$package" -lt "$2" ]; do
        mkdir -p "p$package"
        for name in a b c d e f g h i j; do
            printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\nspec:\n  template:\n    spec:\n      containers:\n' "$name"
            for container in 1 2 3 4 5 6 7 8; do
                printf '      - name: c%s\n        image: example.com/c%s:%s\n        args: [a, b]\n' "$container" "$container" "$3"
            done
        done >"p$package/all.yaml"
        awk -v RS='apiVersion' -v package="p$package" 'NR > 1 { print "apiVersion" $0 >(package "/" NR ".yaml") }' "p$package/all.yaml"
        rm "p$package/all.yaml"
        package=$((package + 1))
    done
}

compared() { git -C "$dir/up" diff --quiet v1 v2 || git -C "$dir/mine" status --porcelain; }
checked() { "$plugin" upgrade --check --all "$dir/mine" || true; }

printf '%8s %12s %12s\n' packages 'git, ms' 'check, ms'
for n in "$@"; do
    rm -rf "$dir/up" "$dir/mine"
    mkdir "$dir/up" "$dir/mine"
    cd "$dir/up"
    git init --quiet --initial-branch=main
    fill 0 "$n" 1
    git add --all && git commit --quiet --message one && git tag v1
    fill 0 10 2
    git add --all && git commit --quiet --message two && git tag v2
    cd "$dir/mine"
    git init --quiet --initial-branch=main
    package=0
    while [ "$package" -lt "$n" ]; do
        "$plugin" get "$dir/up/.git/p$package@v1" "p$package" >/dev/null 2>&1
        package=$((package + 1))
    done
    git add --all && git commit --quiet --message got
    alone=$(cpu compared)
    with=$(cpu checked 2>/dev/null)
    awk -v n="$n" -v runs="$runs" -v a="$alone" -v b="$with" 'BEGIN { printf "%8d %12.1f %12.1f\n", n, a / runs, b / runs }'
    cd - >/dev/null
done
