#!/bin/sh
# Measures the merge driver beside git alone: the CPU time of `git merge-tree` over files that both branches changed, with and without it.
#
#   benches/driver.sh [N...]      files in a merge; default: 60
#   RUNS=20 benches/driver.sh     so many runs are added up; default: 10
#
# Each file has a Deployment of about 2 KB. One branch sets its replicas, the other one an image, so that git merges it clean.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 60

if ! git merge-tree -h 2>&1 | grep -q write-tree; then
    echo 'driver.sh: git must be 2.38 or newer' >&2
    exit 1
fi
. benches/plugin.sh

# deployment NUMBER REPLICAS TAG
deployment() {
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%s\n  labels:\n    app: web\nspec:\n  # how many\n  replicas: %s\n' "$1" "$2"
    printf '  selector:\n    matchLabels:\n      app: web\n  template:\n    metadata:\n      labels:\n        app: web\n    spec:\n      containers:\n      - name: app\n        image: example.com/web:%s\n        env:\n' "$3"
    for variable in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
        printf '        - name: %s\n          # what it is for\n          value: "%s of web"\n' "$variable" "$variable"
    done
}

printf '%6s %12s %12s %7s\n' files 'git, ms' 'driver, ms' times
for n in "$@"; do
    repository=$dir/$n
    git init --quiet --initial-branch=main "$repository"
    cd "$repository"
    fill() {
        i=0
        while [ "$i" -lt "$n" ]; do
            deployment "$i" "$1" "$2" >"web-$i.yaml"
            i=$((i + 1))
        done
        git add --all
        git commit --quiet --message "$1 $2"
    }
    fill 1 1.0
    git checkout --quiet -b topic
    fill 1 1.1
    git checkout --quiet main
    fill 3 1.0
    alone=$(cpu git merge-tree --write-tree main topic)
    "$plugin" git-install >/dev/null
    with=$(cpu git merge-tree --write-tree main topic)
    awk -v n="$n" -v runs="$runs" -v a="$alone" -v b="$with" 'BEGIN { printf "%6d %12.1f %12.1f %7s\n", n, a / runs, b / runs, (a > 0 ? sprintf("%.1f", b / a) : "-") }'
    cd - >/dev/null
done
