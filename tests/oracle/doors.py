#!/usr/bin/env python3
"""doors.py PLUGIN [--random N] [--part N/M] [CASES...]: merges packages as folders, by the plugin and by `merge`, which has the merge of the library and of the module.

CASES are files with a case a line, as JSON: id, path, original, updated, dest. `--random` adds packages of packages.py, by the numbers from 0.
PLUGIN is `kubectl-krm_merge`. Both programs must write the same bytes, and both must refuse, or neither. Exit 1 if a case differs."""
import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys

import merge
import packages

KEEP = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {onConflict: KeepDest}\n"


def by_merge(plugin, sides):
    """The files after the merge, or None if it refuses; and what it told."""
    run = subprocess.run([plugin, "merge"], input=json.dumps({**sides, "functionConfig": KEEP}), capture_output=True, text=True, timeout=300)
    if not run.stdout:
        return None, run.stderr
    out = json.loads(run.stdout)
    return out["files"] if out["passed"] else None, json.dumps(out["results"], indent=1)


def of_history(case):
    """The packages of a case, which have one file."""
    name = os.path.basename(case["path"])
    return {"id": case["id"], **{side: {name: case[side]} for side in packages.SIDES}}


def judged(plugin, case):
    """What differs, if anything does. `case` gives the case when a worker asks for it, because most of the work may be to make it."""
    case = case()
    sides = {side: case[side] for side in packages.SIDES}
    done = merge.three_way(plugin, *sides.values(), "--on-conflict", "keep-dest")
    theirs = done.files if done.code == 0 else None
    own, told = by_merge(plugin, sides)
    if theirs == own:
        return None
    apart = [path for path in sorted({**(theirs or {}), **(own or {})}) if (theirs or {}).get(path) != (own or {}).get(path)]
    texts = ["%s\nby the plugin:\n%s\nby merge:\n%s" % (path, (theirs or {}).get(path), (own or {}).get(path)) for path in apart]
    return "%s: exit %d of the plugin\n%s\ntold by merge:\n%s\n%s" % (case["id"], done.code, done.errors, told, "\n".join(texts))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("cases", nargs="*")
    args.add_argument("--random", type=int, default=0, help="how many random packages")
    args.add_argument("--part", default="0/1", help="only each M-th case, from the N-th")
    args = args.parse_intermixed_args()
    plugin = os.path.abspath(args.plugin)
    first, step = map(int, args.part.split("/"))
    histories = (lambda case=case: of_history(case) for case in merge.cases(args.cases))
    made = (lambda seed=seed: packages.case(seed) for seed in range(args.random))
    cases, wrong = list(itertools.chain(histories, made))[first::step], 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda case: judged(plugin, case), cases):
            if found:
                wrong += 1
                print(found)
    print("%d merges, %d of them differ" % (len(cases), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
