#!/bin/sh
# Makes a git repository with the package `gate` in two releases, which the tags v1 and v2 name: upstream.sh FOLDER.git
set -eu
from=$(cd "$(dirname "$0")" && pwd)
git init --quiet --initial-branch=main "$1"
cd "$1"
mkdir gate
printf 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: gate\n' > gate/Kptfile
for release in v1 v2; do
    rm -f gate/*.yaml
    cp "$from/$release"/* gate/
    git add --all
    git commit --quiet --message "$release"
    git tag "$release"
done
