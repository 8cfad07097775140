# Sourced by the scripts that measure memory: `$time` is GNU time. Without it, the script ends.

if [ -x /usr/bin/time ]; then
    time=/usr/bin/time
else
    # A shell's own `time` knows no memory; `command -p` and `env` find only programs.
    time=$(env which time 2>/dev/null) || time=
fi
if [ -z "$time" ] || ! "$time" -f '%e %M' true >/dev/null 2>&1; then
    echo "$(basename "$0"): GNU time is absent (package \`time\`); there are no figures without it" >&2
    exit 1
fi
