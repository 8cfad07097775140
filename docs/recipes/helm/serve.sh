#!/bin/sh
# Serves a repository with the chart `web` in two versions for a minute, and prints its address: serve.sh FOLDER
set -eu
helm=$(cd "$(dirname "$0")" && pwd)/helm
mkdir -p "$1/web/templates"
cd "$1"
printf 'apiVersion: v1\nentries:\n  web:\n' >index.yaml
for version in 1.4.1 1.5.0; do
    printf 'apiVersion: v2\nname: web\nversion: %s\n' "$version" >web/Chart.yaml
    "$helm" show values web --version "$version" >web/values.yaml
    # The newer version has no `logLevel`.
    case $version in
    1.4.1) echo 'replicas: {{ .Values.replicaCount }} # {{ .Values.logLevel }}' ;;
    *) echo 'replicas: {{ .Values.replicaCount }} # {{ .Values.metrics.enabled }}' ;;
    esac >web/templates/web.yaml
    tar -czf "web-$version.tgz" web
    printf '  - {apiVersion: v2, name: web, version: %s, urls: [web-%s.tgz]}\n' "$version" "$version" >>index.yaml
done
log=server.$$.log
timeout 60 python3 -u -m http.server --bind 127.0.0.1 0 >"$log" 2>&1 &
until grep -o 'http://[0-9.:]*' "$log"; do sleep 0.1; done
