#!/usr/bin/env python3
"""overlays.py PLUGIN [--random N] [--part N/M] [--at-most N] [CASES...]: the laws of `diff` and `extract`, over real histories and random resources.

CASES are files with a case a line, as JSON: id, path, original, updated, dest. `--random` adds resources of resources.py, many in a folder. PLUGIN is
`kubectl-krm_merge`. Values are compared without the program.

  differs  `diff` tells something exactly if values differ, in each format, and its exit code says so
  same     `extract` of a file from itself is empty
  back     what `extract` gives, applied to original, has dest's values; if something is missing, it exits with 1 and names it
  next     applied to updated, it has the values of the three-way merge, if that has no conflict, `extract` told nothing, and upstream renamed no resource. Where both
           sides add elements to a list with keys, the patch adds its own behind upstream's. Where it removes a field, and upstream the map around it,
           an empty map is left

A map with a key twice has no values, so a program may refuse it. Exit 1 if more than N cases break a law (0 where it is not given)."""
import argparse
import collections
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import merge
import oracle
import resources

# Each case is printed in the first, and in one of the others.
FORMATS = ("json", "fields", "name", "diff", "results", "markdown")
MODES = ("two-way", "strategic")
# How many random resources share a folder: to start a program takes longer than to merge one.
TOGETHER = 100


class Folder:
    """A folder for each side, with the files of a case."""

    def __init__(self, plugin, sides):
        self.plugin, self.sides, self.folder = plugin, sides, tempfile.TemporaryDirectory()
        for side, files in sides.items():
            self.write(side, files)

    def write(self, side, files):
        folder = os.path.join(self.folder.name, side)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        merge.write(folder, files)

    def run(self, *args):
        return subprocess.run([self.plugin, *args], cwd=self.folder.name, capture_output=True, text=True, timeout=300)

    def applied(self, mode, side, patch):
        """The values after a merge of a patch into a copy of a side; or what went wrong."""
        merge.write(self.folder.name, {"patch.yaml": patch})
        flag = "--source" if mode == "two-way" else "--patch"
        self.write("copy", self.sides[side])
        run = self.run(mode, flag, "patch.yaml", "--dest", "copy", "--in-place")
        return without_nulls(values(self.read("copy")).known) if run.returncode == 0 else run.stderr

    def read(self, side):
        """The files of a side, by their names."""
        files, folder = {}, os.path.join(self.folder.name, side)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), newline="") as file:
                files[name] = file.read()
        return files


def identity(document):
    """What a resource is called."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    return repr([document.get("apiVersion"), document.get("kind"), metadata.get("namespace"), metadata.get("name")]) if isinstance(document, dict) else ""


def listed(document):
    """A document, or the items of a list of resources. What has a name is a resource, whatever its kind is called."""
    is_list = isinstance(document, dict) and str(document.get("kind")).endswith("List") and not (document.get("metadata") or {}).get("name")
    items = document.get("items") if is_list else None
    return [one for item in items for one in listed(item)] if isinstance(items, list) else [document]


# The resources of files, in an order of their own, and whether a map has a key twice.
Values = collections.namedtuple("Values", "known twice")


def values(files):
    documents, twice = [], False
    for text in files.values():
        found, keys = oracle.read(text) if text else ([], [])
        documents += found
        twice |= bool(keys)
    return Values(sorted((one for document in documents for one in listed(document)), key=lambda one: (identity(one), repr(one))), twice)


def without_nulls(value):
    """A value without the fields that are null: a patch removes a field by a null, so it cannot set one."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value



def laws(plugin, case, number):
    """The laws that a case breaks, each with what shows it."""
    folder = Folder(plugin, case["sides"])
    try:
        known = {side: values(files) for side, files in case["sides"].items()}
    except (oracle.yaml.YAMLError, ValueError, TypeError):
        return
    may_refuse = any(side.twice for side in known.values())
    for at, (one, other) in enumerate((("original", "updated"), ("original", "dest"), ("dest", "dest"))):
        differ = known[one].known != known[other].known
        for output in (FORMATS[0], FORMATS[1 + (number + at) % 5]) if one != other else (FORMATS[(number + at) % 6],):
            run = folder.run("diff", one, other, "-o", output)
            told = {"json": run.stdout.strip() not in ("", "[]"), "results": run.returncode != 0, "markdown": run.returncode != 0}.get(output, run.stdout.strip() != "")
            is_refused = may_refuse and run.returncode == 2 and run.stderr.strip()
            if not is_refused and (run.returncode, told) != ((1, True) if differ else (0, False)):
                yield "differs", "%s %s -o %s: %d\n%s%s" % (one, other, output, run.returncode, run.stdout[:600], run.stderr)
                break
    if may_refuse:
        return
    run = folder.run("extract", "--mode", MODES[number % 2], "dest", "dest")
    if (run.returncode, run.stdout.strip()) != (0, ""):
        yield "same", "%s: %d\n%s%s" % (MODES[number % 2], run.returncode, run.stdout, run.stderr)
    for mode in MODES:
        yield from of_patch(plugin, case["sides"], mode)


def of_patch(plugin, sides, mode):
    """The laws of a patch that a case breaks."""
    folder = Folder(plugin, sides)
    run = folder.run("extract", "--mode", mode, "--values", "original", "dest")
    if run.returncode > 1:
        yield "back", "%s: %d\n%s" % (mode, run.returncode, run.stderr)
        return
    if run.returncode == 1:
        left = without(sides, named(run.stderr, sides))
        if left == sides:
            yield "back", "%s: nothing is named\n%s" % (mode, run.stderr)
        elif any(left.values()):
            yield from of_patch(plugin, left, mode)
        return
    if not run.stdout.strip():
        return
    back = folder.applied(mode, "original", run.stdout)
    if back != without_nulls(values(sides["dest"]).known):
        yield "back", "%s: %s\n%s\n%s" % (mode, back, run.stdout, run.stderr)
        return
    # A patch names its resources, so it does not follow one that upstream renames.
    apart = named(run.stderr, sides) | {name for name in sides["dest"] if names_in(sides["original"].get(name)) != names_in(sides["updated"].get(name))}
    if not sides["dest"].keys() - apart:
        return
    folder.write("merged", sides["dest"])
    merged = folder.run("three-way", "--original", "original", "--updated", "updated", "--dest", "merged", "--in-place", "--on-conflict", "keep-dest", "-o", "results")
    if merged.returncode != 0:
        return
    apart |= {name for result in oracle.yaml.load(merged.stdout, Loader=oracle.LOADER)["results"] if is_conflict(result) for name in files_of(result, sides)}
    after = folder.applied(mode, "updated", run.stdout)
    if isinstance(after, str):
        yield "next", "%s: %s\npatch:\n%s" % (mode, after, run.stdout)
        return
    copy, texts = folder.read("copy"), folder.read("merged")
    for name in sorted(sides["dest"].keys() - apart):
        one, other = (in_any_order(without_nulls(values({name: files.get(name, "")}).known)) for files in (copy, texts))
        if one != other:
            yield "next", "%s: %s\nmerged:\n%s\npatch:\n%s" % (mode, copy.get(name), texts.get(name), run.stdout if len(copy) == 1 else "")


def in_any_order(value):
    """A value whose lists of named elements are in an order of their own, without empty maps."""
    if isinstance(value, dict):
        return {key: one for key, own in value.items() if (one := in_any_order(own)) != {}}
    if not isinstance(value, list):
        return value
    key, elements = oracle.common_key([value]), [in_any_order(one) for one in value]
    return sorted(elements, key=lambda one: str(one[key])) if key else elements


def named(told, sides):
    """The files of dest that a message names."""
    return {name for name in {*sides["original"], *sides["dest"]} if "/" + name in told}


def without(sides, names):
    return {side: {name: text for name, text in files.items() if name not in names} for side, files in sides.items()}


def names_in(text):
    return sorted(map(identity, values({"": text or ""}).known))


def is_conflict(result):
    return (result.get("tags") or {}).get("krm-merge.dev/reason") == "conflict"


def files_of(result, sides):
    """The files that a result is about: all, if it names none."""
    path = (result.get("file") or {}).get("path")
    return [path] if path in sides["dest"] else sides["dest"]


def judged(plugin, case, number):
    """The laws that a case breaks. If a case of several files breaks one, each half is judged alone, too, so that the file is named."""
    case = case() if callable(case) else case
    found = [(case["id"], law, shown) for law, shown in laws(plugin, case, number)]
    names = sorted({name for files in case["sides"].values() for name in files})
    if not found or len(names) < 2:
        return found
    halves = (names[: len(names) // 2], names[len(names) // 2 :])
    parts = [{"id": "%s: %s" % (case["id"].split(":")[0], half[0]), "sides": without(case["sides"], set(names) - set(half))} for half in halves]
    return [one for part in parts for one in judged(plugin, part, number)] or found


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("cases", nargs="*")
    args.add_argument("--random", type=int, default=0, help="how many random resources")
    args.add_argument("--part", default="0/1", help="only each M-th case of the histories, from the N-th")
    args.add_argument("--at-most", type=int, default=0)
    args = args.parse_intermixed_args()
    plugin = os.path.abspath(args.plugin)
    first, step = map(int, args.part.split("/"))
    histories = ({"id": case["id"], "sides": {side: {os.path.basename(case["path"]): case[side]} for side in ("original", "updated", "dest")}} for case in merge.cases(args.cases))
    made = [lambda seed=seed: resources.case(range(seed, min(seed + TOGETHER, args.random))) for seed in range(0, args.random, TOGETHER)]
    cases = [*itertools.islice(histories, first, None, step), *made]
    broken, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda case: judged(plugin, case[1], case[0]), enumerate(cases)):
            wrong += len({name for name, _, _ in found})
            for name, law, shown in found:
                broken[law] += 1
                print("%s: %s: %s" % (name, law, shown))
    print("%d cases, %d of them break a law: %s" % (len(cases) - len(made) + args.random, wrong, dict(broken)))
    return 1 if wrong > args.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
