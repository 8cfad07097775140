# Sourced by the scripts that measure the plugin: `$plugin` is the program, `$dir` a temporary folder, and `$runs` says how often a command runs.

runs=${RUNS:-10}
plugin=${PLUGIN:-}
if [ -z "$plugin" ]; then
    cargo build --quiet --release --package kubectl-krm-merge
    plugin=$PWD/${CARGO_TARGET_DIR:-target}/release/kubectl-krm_merge
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com

# CPU time of all runs of a command, in milliseconds.
cpu() {
    run=0
    # A pipe would start a shell that has no time of its own.
    times >"$dir/before"
    while [ "$run" -lt "$runs" ]; do
        "$@" >/dev/null
        run=$((run + 1))
    done
    times >"$dir/after"
    printf '%s %s\n' "$(tail -1 "$dir/before")" "$(tail -1 "$dir/after")" | awk '{
        for (i = 1; i <= 4; i++) { split($i, part, "m"); sub("s", "", part[2]); t[i] = part[1] * 60 + part[2] }
        printf "%.0f", (t[3] + t[4] - t[1] - t[2]) * 1000
    }'
}
