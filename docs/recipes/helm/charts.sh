#!/bin/sh
# Makes a git repository with the chart `charts/web` in two versions, which the tags web-1.4.1 and web-1.5.0 name: charts.sh FOLDER.git
set -eu
helm=$(cd "$(dirname "$0")" && pwd)/helm
git init --quiet --initial-branch=main "$1"
cd "$1"
mkdir -p charts/web/templates
for version in 1.4.1 1.5.0; do
    printf 'apiVersion: v2\nname: web\nversion: %s\n' "$version" >charts/web/Chart.yaml
    "$helm" show values web --version "$version" >charts/web/values.yaml
    echo 'replicas: {{ .Values.replicaCount }}' >charts/web/templates/web.yaml
    git add --all
    git commit --quiet --message "web $version"
    git tag "web-$version"
done
