"""Runs `kubectl-krm_merge three-way` on folders, and says what came out."""
import collections
import gzip
import json
import os
import re
import subprocess
import tempfile

import oracle

Done = collections.namedtuple("Done", "code files conflicts told errors")


def cases(paths):
    """The cases of real histories in files with a case a line, as JSON."""
    for path in paths:
        with gzip.open(path, "rt") as file:
            yield from map(json.loads, file)


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="") as f:
            f.write(text)


def three_way(plugin, original, updated, dest, *flags):
    """Merges three packages, each a map of file names to texts."""
    with tempfile.TemporaryDirectory() as folder:
        for side, files in (("original", original), ("updated", updated), ("dest", dest)):
            os.mkdir(os.path.join(folder, side))
            write(os.path.join(folder, side), files)
        run = subprocess.run([plugin, "three-way", "--original", "original", "--updated", "updated", "--dest", "dest", "--in-place", "-o", "results", *flags],
                             cwd=folder, capture_output=True, text=True, timeout=300)
        files = {}
        for below, _, names in os.walk(os.path.join(folder, "dest")):
            for name in names:
                path = os.path.join(below, name)
                with open(path, newline="") as f:
                    files[os.path.relpath(path, os.path.join(folder, "dest"))] = f.read()
    results = (oracle.yaml.load(run.stdout, Loader=oracle.LOADER) or {}).get("results", []) if run.stdout.strip() else []
    conflicts = [r for r in results if (r.get("tags") or {}).get("krm-merge.dev/reason") == "conflict"]
    return Done(run.returncode, files, conflicts, [place(r) for r in results if "resourceRef" in r or "field" in r], run.stderr)


def place(result):
    """The resource and the path that a result names."""
    ref = result.get("resourceRef") or {}
    name = ""
    if ref.get("name"):
        name = "/".join(str(x) for x in (str(ref.get("apiVersion")).split("/")[0], ref.get("kind"), ref.get("namespace"), ref["name"]))
    return name, steps((result.get("field") or {}).get("path", ""))


def steps(path):
    """The steps of a path as results print it: fields, and elements in brackets."""
    return [s.strip('"') if not s.startswith("[") or s.startswith('["') else s for s in
            (m.group(0).strip(".") for m in re.finditer(r'\["[^"]*"\]|\[[^\]]*\]|[^.\[]+', path))]
