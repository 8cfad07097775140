#!/usr/bin/env python3
"""doors.py PLUGIN [--part N/M] CASES...: merges real histories as folders, by the plugin and by `merge`, which has the merge of the library and of the module.

CASES are files with a case a line, as JSON: id, path, original, updated, dest. PLUGIN is `kubectl-krm_merge`. Both programs must write the same bytes, and
both must refuse, or neither. Exit 1 if a case differs."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

import merge

KEEP = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {onConflict: KeepDest}\n"


def by_merge(plugin, sides):
    """The files after the merge, or None if it refuses; and what it told."""
    run = subprocess.run([plugin, "merge"], input=json.dumps({**sides, "functionConfig": KEEP}), capture_output=True, text=True, timeout=300)
    if not run.stdout:
        return None, run.stderr
    out = json.loads(run.stdout)
    return out["files"] if out["passed"] else None, json.dumps(out["results"], indent=1)


def judged(plugin, case):
    name = os.path.basename(case["path"])
    sides = {side: {name: case[side]} for side in ("original", "updated", "dest")}
    done = merge.three_way(plugin, *sides.values(), "--on-conflict", "keep-dest")
    own, told = by_merge(plugin, sides)
    if (done.files if done.code == 0 else None) == own:
        return None
    return "by the plugin (%d):\n%s\n%s\nby merge:\n%s\n%s" % (done.code, done.files.get(name), done.errors, (own or {}).get(name), told)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("cases", nargs="+")
    args.add_argument("--part", default="0/1", help="only each M-th case, from the N-th")
    args = args.parse_args()
    plugin = os.path.abspath(args.plugin)
    first, step = map(int, args.part.split("/"))
    cases, wrong = list(merge.cases(args.cases))[first::step], 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, found in zip(cases, pool.map(lambda case: judged(plugin, case), cases)):
            if found:
                wrong += 1
                print("%s: %s" % (case["id"], found))
    print("%d merges, %d of them differ" % (len(cases), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
