#!/usr/bin/env python3
"""replays.py PLUGIN [--at-most N] [--all] CASES...: judges each clean merge of a real history at which git stops.

CASES are files with a case a line, as JSON: id, path, original, updated, dest, and `git`, the text of git's clean merge or null. PLUGIN is
`kubectl-krm_merge`. The rule is in oracle.py. With --all, merges that are clean in git are judged, too. Exit 1 if more than N merges are wrong
(0 where it is not given)."""
import argparse
import concurrent.futures
import os
import sys

import merge
import oracle


def judged(plugin, case):
    name = os.path.basename(case["path"])
    done = merge.three_way(plugin, {name: case["original"]}, {name: case["updated"]}, {name: case["dest"]})
    if done.code != 0 or done.conflicts:
        return None
    try:
        return oracle.faults(case["original"], case["updated"], case["dest"], done.files.get(name, ""), done.told)
    except oracle.yaml.YAMLError as error:
        return ["the result cannot be read: %s" % str(error).splitlines()[0]]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("cases", nargs="+")
    args.add_argument("--at-most", type=int, default=0)
    args.add_argument("--all", action="store_true")
    args = args.parse_args()
    plugin = os.path.abspath(args.plugin)
    cases = [case for case in merge.cases(args.cases) if args.all or case["git"] is None]
    gains, wrong = 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, found in zip(cases, pool.map(lambda case: judged(plugin, case), cases)):
            gains += found is not None
            if found:
                wrong += 1
                print(case["id"])
                for line in found[:5]:
                    print("    " + line)
    print("%d merges, %d clean here, %d of them wrong" % (len(cases), gains, wrong))
    return 1 if wrong > args.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
