#!/bin/sh
# Installs krm-merge @VERSION@ by both of its names: curl -fsSL URL/install.sh | sh
#
#   KRM_MERGE_BIN=FOLDER    where they go; default: ~/.local/bin
#   KRM_MERGE_FROM=URL      where the archives are; default: the release of this version
set -eu

version=@VERSION@
from=${KRM_MERGE_FROM:-https://github.com/krm-merge/krm-merge/releases/download/v$version}
bin=${KRM_MERGE_BIN:-$HOME/.local/bin}

# Over HTTPS alone. Who names a folder of this machine means it.
case $from in
    file://*) protocols='=file' ;;
    *) protocols='=https' ;;
esac

fail() {
    echo "error: $1" >&2
    exit 1
}

case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "the system must be Linux or macOS, not \"$(uname -s)\": on Windows, use pip, npm or the archive" ;;
esac
case $(uname -m) in
    x86_64 | amd64) cpu=amd64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "the processor must be amd64 or arm64, not \"$(uname -m)\"" ;;
esac
if command -v sha256sum >/dev/null; then
    sum() { sha256sum "$1"; }
else
    sum() { shasum -a 256 "$1"; }
fi

main() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    get() { curl -fsSL --proto "$protocols" --proto-redir "$protocols" --retry 3 --output "$work/$1" "$from/$1" || fail "$from/$1 cannot be fetched"; }
    get checksums.txt
    archive=krm-merge-$os-$cpu.tar.gz
    get "$archive"
    want=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/checksums.txt")
    has=$(sum "$work/$archive" | cut -d ' ' -f 1)
    [ -n "$want" ] && [ "$want" = "$has" ] || fail "the checksum of $archive must be \"$want\", and is \"$has\": nothing was installed"
    mkdir -p "$bin"
    for program in krm-merge kubectl-krm_merge; do
        tar -xzf "$work/$archive" -C "$work" "$program"
        # A program that runs cannot be written over, but it can be replaced.
        mv "$work/$program" "$bin/.$program.new"
        mv -f "$bin/.$program.new" "$bin/$program"
        echo "installed $bin/$program"
    done
    case :$PATH: in
        *:"$bin":*) ;;
        *) echo "$bin must be on PATH, and is not" ;;
    esac
}

# All of it has arrived when this line has.
main
