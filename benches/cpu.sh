# Sourced by the other scripts: `dir` is their temporary folder, and `runs` says how often a command runs.

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
