#!/usr/bin/env python3
"""overlays.py PLUGIN [--part N/M] [--at-most N] CASES...: the laws of `diff` and `extract`, over real histories.

CASES are files with a case a line, as JSON: id, path, original, updated, dest. PLUGIN is `kubectl-krm_merge`. Values are compared without the program.

  differs  `diff` tells something exactly if values differ, in each format, and its exit code says so
  same     `extract` of a file from itself is empty
  back     what `extract` gives, applied to original, has dest's values; if something is missing, it exits with 1 and names it
  next     applied to updated, it has the values of the three-way merge, if that has no conflict, `extract` told nothing, and upstream renamed no resource

Exit 1 if more than N cases break a law (0 where it is not given)."""
import argparse
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

import merge
import oracle

FORMATS = ("fields", "name", "json", "diff", "results", "markdown")


class Folder:
    """Folders with a file each."""

    def __init__(self, plugin, name, texts):
        self.plugin, self.name, self.folder = plugin, name, tempfile.TemporaryDirectory()
        for side, text in texts.items():
            self.write(side, text)

    def write(self, side, text):
        os.makedirs(os.path.join(self.folder.name, side), exist_ok=True)
        with open(os.path.join(self.folder.name, side, self.name), "w", newline="") as file:
            file.write(text)

    def run(self, *args):
        return subprocess.run([self.plugin, *args], cwd=self.folder.name, capture_output=True, text=True, timeout=300)

    def applied(self, mode, side, patch):
        """The values after a merge of a patch into a copy of a side; or what went wrong."""
        with open(os.path.join(self.folder.name, "patch.yaml"), "w", newline="") as file:
            file.write(patch)
        flag = "--source" if mode == "two-way" else "--patch"
        shutil.rmtree(os.path.join(self.folder.name, "copy"), ignore_errors=True)
        self.write("copy", self.read(side))
        run = self.run(mode, flag, "patch.yaml", "--dest", "copy", "--in-place")
        return without_nulls(values(self.read("copy"))) if run.returncode == 0 else run.stderr

    def read(self, side):
        path = os.path.join(self.folder.name, side, self.name)
        if not os.path.exists(path):
            return ""
        with open(path, newline="") as file:
            return file.read()


def identity(document):
    """What a resource is called."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    return repr([document.get("apiVersion"), document.get("kind"), metadata.get("namespace"), metadata.get("name")]) if isinstance(document, dict) else ""


def listed(document):
    """A document, or the items of a list of resources."""
    items = document.get("items") if isinstance(document, dict) and str(document.get("kind")).endswith("List") else None
    return [one for item in items for one in listed(item)] if isinstance(items, list) else [document]


def values(text):
    """The resources of a text, in an order of their own."""
    documents = oracle.read(text)[0] if text else []
    return sorted((one for document in documents for one in listed(document)), key=lambda one: (identity(one), repr(one)))


def without_nulls(value):
    """A value without the fields that are null: a patch removes a field by a null, so it cannot set one."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def laws(plugin, case):
    """The laws that a case breaks, each with what shows it."""
    folder = Folder(plugin, os.path.basename(case["path"]), {side: case[side] for side in ("original", "updated", "dest")})
    try:
        known = {side: values(case[side]) for side in ("original", "updated", "dest")}
    except (oracle.yaml.YAMLError, ValueError, TypeError):
        return
    for one, other in (("original", "updated"), ("original", "dest"), ("dest", "dest")):
        differ = known[one] != known[other]
        for output in FORMATS:
            run = folder.run("diff", one, other, "-o", output)
            told = {"json": run.stdout.strip() not in ("", "[]"), "results": run.returncode != 0, "markdown": run.returncode != 0}.get(output, run.stdout.strip() != "")
            if (run.returncode, told) != ((1, True) if differ else (0, False)):
                yield "differs", "%s %s -o %s: %d\n%s%s" % (one, other, output, run.returncode, run.stdout[:600], run.stderr)
                break
    for mode in ("two-way", "strategic"):
        run = folder.run("extract", "--mode", mode, "dest", "dest")
        if (run.returncode, run.stdout.strip()) != (0, ""):
            yield "same", "%s: %d\n%s%s" % (mode, run.returncode, run.stdout, run.stderr)
        run = folder.run("extract", "--mode", mode, "--values", "original", "dest")
        if run.returncode > 1:
            yield "back", "%s: %d\n%s" % (mode, run.returncode, run.stderr)
            continue
        if run.returncode == 1 and not run.stderr.strip():
            yield "back", "%s: nothing is named" % mode
        if run.returncode != 0 or not run.stdout.strip():
            continue
        back = folder.applied(mode, "original", run.stdout)
        if back != without_nulls(known["dest"]):
            yield "back", "%s: %s\n%s\n%s" % (mode, back, run.stdout, run.stderr)
        # A patch names its resources, so it does not follow one that upstream renames.
        names = [sorted(map(identity, known[side])) for side in ("original", "updated")]
        if run.stderr.strip() or names[0] != names[1]:
            continue
        folder.write("merged", case["dest"])
        merged = folder.run("three-way", "--original", "original", "--updated", "updated", "--dest", "merged", "--in-place", "--on-conflict", "fail")
        if merged.returncode == 0 and (after := folder.applied(mode, "updated", run.stdout)) != without_nulls(values(folder.read("merged"))):
            yield "next", "%s: %s\nmerged:\n%s\npatch:\n%s" % (mode, after if isinstance(after, str) else folder.read("copy"), folder.read("merged"), run.stdout)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("cases", nargs="+")
    args.add_argument("--part", default="0/1", help="only each M-th case, from the N-th")
    args.add_argument("--at-most", type=int, default=0)
    args = args.parse_args()
    plugin = os.path.abspath(args.plugin)
    first, step = map(int, args.part.split("/"))
    cases, broken, wrong = list(merge.cases(args.cases))[first::step], collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, found in zip(cases, pool.map(lambda case: list(laws(plugin, case)), cases)):
            wrong += bool(found)
            for law, shown in found:
                broken[law] += 1
                print("%s: %s: %s" % (case["id"], law, shown))
    print("%d cases, %d of them break a law: %s" % (len(cases), wrong, dict(broken)))
    return 1 if wrong > args.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
