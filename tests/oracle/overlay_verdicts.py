#!/usr/bin/env python3
"""The verdicts on real values over real charts, beside what helm says.

    overlay_verdicts.py RECORDS CHARTS [--list WHAT]

RECORDS is a file of JSON lines, packed or not; each is a release of a chart whose version was raised:

    id, chart_repo, chart_path, old_rev, new_rev   the chart: CHARTS/OWNER+NAME/REV/PATH is its folder
    overrides_before                               the values, a list of {source, text}
    verdicts                                       what values.yaml alone says of a place: {path, verdict}
    truth                                          {path, rendered_same_without, rendered_same_without_old}, by helm
    edits                                          the places that the team edited: {path, edit, verdict}

The records compare values.yaml alone, so some verdicts differ from theirs, each for a reason:

    holds, not nowhere      a template reads the place, or a map that it is in, and the defaults have no such field
    gone, not nowhere       the same of the old release, and the new one no longer reads it
    hides, not gone         the new release has no default, but reads the place
    nowhere, not gone       neither release reads it, though the old one had a default
    gone or nowhere, not holds or same    the new release has a default that no template reads
    holds, not appears      the new default is null, which says nothing
    holds, not other kind before          both releases have this kind, and the default did not change
    unknown, not holds      the files of the subchart are not there

It fails if `gone` or `newly the same` is wrong, or if too little of what is gone is found. `--list` prints places: `wrong`, `missed`, `edits`
or `other` (those whose verdict differs from the one of the record).
"""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The names of the records.
NAMES = {
    "Gone": "gone",
    "Hides": "hides",
    "Appears": "appears",
    "OtherKind": "other kind",
    "NewlySame": "same newly",
    "Same": "same",
    "Nowhere": "nowhere",
    "Unknown": "unknown",
    "Holds": "holds",
}


def read(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def program(profile):
    command = ["cargo", "build", "--quiet", "-p", "krm-overlay", "--example", "verdicts"]
    subprocess.run(command + (["--release"] if profile == "release" else []), cwd=ROOT, check=True)
    return ROOT / "target" / profile / "examples" / "verdicts"


def verdicts(records, charts, profile):
    """The verdicts of each record: those of its places, by their paths."""

    def folder(record, side):
        path = record["chart_path"]
        # A packed chart has its version in its name, and the record has the name of the new one.
        if path.endswith(".tgz"):
            path = f"{record['chart']}-{record[side].removeprefix('v')}.tgz"
        return str(charts / record["chart_repo"].replace("/", "+") / record[f"{side}_rev"] / path)

    cases = [
        {"old": folder(r, "old"), "new": folder(r, "new"), "layers": [o["text"] for o in r["overrides_before"]]}
        for r in records
    ]
    text = "".join(json.dumps(case) + "\n" for case in cases)
    started = time.monotonic()
    done = subprocess.run([program(profile)], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    print(f"{len(cases)} releases in {time.monotonic() - started:.1f} s")
    out = []
    for line in done.stdout.splitlines():
        places = {}
        # The last layer with a place decides.
        for finding in json.loads(line) or []:
            places[tuple(finding["path"])] = finding
        out.append(places)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("charts", type=pathlib.Path)
    parser.add_argument("--list", choices=["wrong", "missed", "edits", "other", "moved"], default=None)
    parser.add_argument("--profile", choices=["debug", "release"], default="debug")
    args = parser.parse_args()
    records = read(args.records)
    found = verdicts(records, args.charts, args.profile)
    counts, differ, listed = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    wrong, right, missed, gone = collections.Counter(), collections.Counter(), 0, 0
    edited, named = 0, 0
    for record, places in zip(records, found):
        known = {tuple(v["path"]): v["verdict"] for v in record["verdicts"]}
        head = f"{record['id']} {record['chart']} {record['old']} -> {record['new']}"
        for path, finding in places.items():
            own = NAMES[finding["verdict"]]
            counts[own] += 1
            theirs = known.get(path, "holds or same").split(":")[0]
            if own != theirs and not (theirs == "holds or same" and own in ("holds", "same")):
                differ[own, theirs] += 1
                listed["other"].append(f"{own} / {theirs}: {head} {'.'.join(path)}")
            if finding["to"]:
                listed["moved"].append(f"{head}: {'.'.join(path)} -> {'.'.join(finding['to'])}")
        for truth in record.get("truth") or []:
            path = tuple(truth["path"])
            own = NAMES[places[path]["verdict"]] if path in places else "not there"
            now, before = truth["rendered_same_without"], truth["rendered_same_without_old"]
            if own in ("gone", "same newly", "nowhere") and now is not None:
                (right if now else wrong)[own] += 1
                if not now:
                    listed["wrong"].append(f"{own} ({truth['verdict']}): {head} {'.'.join(path)}")
            if now and before is False and own != "same newly":
                gone += 1
                if own != "gone":
                    missed += 1
                    listed["missed"].append(f"{own} ({truth['verdict']}): {head} {'.'.join(path)}")
        for edit in record.get("edits") or []:
            path = tuple(edit["path"])
            if edit["verdict"] == "gone" and edit["edit"] != "added":
                edited += 1
                own = NAMES[places[path]["verdict"]] if path in places else "not there"
                if own in ("gone", "hides", "other kind"):
                    named += 1
                else:
                    listed["edits"].append(f"{own}: {head} {'.'.join(path)}")
    print("verdicts:", ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    print("other than by values.yaml alone:")
    for (own, theirs), count in differ.most_common():
        print(f"  {own} instead of {theirs}: {count}")
    for name in ("gone", "same newly", "nowhere"):
        print(f"{name}: {right[name]} right, {wrong[name]} wrong by helm")
    print(f"gone by helm: {gone}, of which {gone - missed} were found")
    print(f"gone, and edited by people: {edited}, of which {named} were named")
    for line in listed.get(args.list, []):
        print(line)
    if wrong["gone"] or wrong["same newly"]:
        sys.exit("a verdict is wrong")
    if (gone - missed) * 100 < gone * 80 or named * 100 < edited * 85:
        sys.exit("too little was found")


if __name__ == "__main__":
    main()
