#!/usr/bin/env python3
"""The verdicts on real values over real charts, beside what helm says.

    overlay_verdicts.py RECORDS CHARTS [--helm] [--list WHAT]

RECORDS is a file of JSON lines, packed or not; each is a release of a chart whose version was raised:

    id, chart_repo, chart_path, old_rev, new_rev   the chart: CHARTS/OWNER+NAME/REV/PATH is its folder
    overrides_before                               the values, a list of {source, text}
    verdicts                                       what values.yaml alone says of a place: {path, verdict}
    truth                                          {path, rendered_same_without, rendered_same_without_old}, by helm
    edits                                          the places that the team edited: {path, edit, verdict}
    helm                                           {old_renders, new_renders}, with all values

A file of YAML has cases by hand instead, such as `verdicts/cases.yaml` over the charts beside it: each must have exactly its `verdicts`, and with
`--helm` those of `helm` as well. The truth of these is asked for here, with and without each place.

With `--helm`, the `helm` on PATH settles what the templates leave open, of the records that have `helm`. All that is gone must be found then, and the charts that do not render
are those of the records.

The records compare values.yaml alone, so some verdicts differ from theirs, each for a reason:

    holds, not nowhere      a template reads the place, or a map that it is in, and the defaults have no such field
    gone, not nowhere       the same of the old release, and the new one no longer reads it
    hides, not gone         the new release has no default, but reads the place
    nowhere, not gone       neither release reads it, though the old one had a default
    gone or nowhere, not holds or same    the new release has a default that no template reads
    holds, not appears      the new default is null, which says nothing
    holds, not other kind before          both releases have this kind, and the default did not change
    other kind, not holds   the new release has a list or a scalar where the value is in a map
    unknown, not holds      the files of the subchart are not there
    same newly, not gone    with `--helm`: another value there changes what the new chart renders, so it reads the place
    unsettled, not both     the old chart does not render here, because its dependencies are not those of the record's own run

It fails if `gone`, `does not render` or `newly the same` is wrong, or if too little of what is gone is found. `--list` prints places: `wrong`, `missed`, `edits`,
`render` (records that helm did not settle, or otherwise than expected) or `other` (those whose verdict differs from the one of the record).
"""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import yaml

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
    "DoesNotRender": "does not render",
    "Unsettled": "unsettled",
    "AnotherElement": "another element",
}


def read(path):
    if path.suffix == ".yaml":
        return [by_hand(number, case) for number, case in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")))]
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def by_hand(number, case):
    """A case by hand, as a record."""
    return {
        "id": f"case {number + 1}",
        "chart_repo": case["chart"],
        "chart_path": ".",
        "old": "1.0.0",
        "new": "2.0.0",
        "old_rev": "1.0.0",
        "new_rev": "2.0.0",
        "overrides_before": [{"text": case["values"]}],
        **case,
        "verdicts": [],
        "expected": case["verdicts"],
        "expected_by_helm": case["verdicts"] | case.get("helm", {}),
    }


def leaves(values, path=()):
    if isinstance(values, dict) and values:
        for name, value in values.items():
            yield from leaves(value, (*path, name))
    else:
        yield path


def without(values, path):
    if path and isinstance(values, dict):
        rest = {name: without(value, path[1:]) if name == path[0] else value for name, value in values.items()}
        return {name: value for name, value in rest.items() if len(path) > 1 or name != path[0]}
    return values


def rendered(folder, values):
    """What helm makes of a chart; `None` if it refuses the values."""
    command = ["helm", "template", "rel", str(folder), "--namespace", "ns", "--values", "-"]
    done = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def ask_helm(record, charts):
    """Adds the truth to a case by hand."""
    values = yaml.safe_load(record["overrides_before"][0]["text"])
    folders = [charts / record["chart_repo"] / record[side] for side in ("old_rev", "new_rev")]
    whole = [rendered(folder, values) for folder in folders]
    is_fixed = [rendered(folder, values) == text for folder, text in zip(folders, whole)]
    record["helm"] = {"old_renders": whole[0] is not None, "new_renders": whole[1] is not None}
    record["truth"] = []
    if all(is_fixed) and None not in whole:
        for path in leaves(values):
            parts = [rendered(folder, without(values, path)) for folder in folders]
            same = [None if part is None else part == text for part, text in zip(parts, whole)]
            truth = {"path": path, "verdict": "by hand", "rendered_same_without_old": same[0], "rendered_same_without": same[1]}
            record["truth"].append(truth)


def program(example, profile):
    """An example of krm-overlay, built with the features that the workspace has in this profile."""
    which = ["-p", "krm-overlay", "--release"] if profile == "release" else ["--workspace"]
    subprocess.run(["cargo", "build", "--quiet", *which, "--example", example], cwd=ROOT, check=True)
    return ROOT / "target" / profile / "examples" / example


def folder(charts, record, side):
    path = record["chart_path"]
    # A packed chart has its version in its name, and the record has the name of the new one.
    if path.endswith(".tgz"):
        path = f"{record['chart']}-{record[side].removeprefix('v')}.tgz"
    return str(charts / record["chart_repo"].replace("/", "+") / record[f"{side}_rev"] / path)


def is_refused(charts, record):
    """Whether helm refuses the new chart with the texts of the values. The chart in a record's own run may have had other dependencies."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["helm", "template", "rel", folder(charts, record, "new"), "--namespace", "ns", "--kube-version", "1.34.0"]
        for number, layer in enumerate(record["overrides_before"]):
            file = pathlib.Path(scratch, f"{number}.yaml")
            file.write_text(layer["text"], encoding="utf-8")
            command += ["--values", str(file)]
        return subprocess.run(command, capture_output=True, check=False).returncode != 0


def verdicts(records, charts, profile, helm):
    """The verdicts of each record: those of its places, by their paths."""
    cases = [
        {"old": folder(charts, r, "old"), "new": folder(charts, r, "new"), "layers": [o["text"] for o in r["overrides_before"]]}
        for r in records
    ]
    text = "".join(json.dumps(case) + "\n" for case in cases)
    started = time.monotonic()
    command = [program("verdicts", profile), *(["--helm"] if helm else [])]
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("the example `verdicts` failed")
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
    parser.add_argument("--list", choices=["wrong", "missed", "edits", "other", "moved", "render"], default=None)
    parser.add_argument("--profile", choices=["debug", "release"], default="debug")
    parser.add_argument("--helm", action="store_true")
    args = parser.parse_args()
    records = read(args.records)
    if args.helm and args.records.suffix == ".yaml":
        for record in records:
            ask_helm(record, args.charts)
    if args.helm:
        records = [record for record in records if "helm" in record]
    found = verdicts(records, args.charts, args.profile, args.helm)
    unexpected = 0
    counts, differ, listed = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    wrong, right, missed, gone = collections.Counter(), collections.Counter(), 0, 0
    edited, named, by_helm = 0, 0, 0
    renders = collections.Counter()
    for record, places in zip(records, found):
        known = {tuple(v["path"]): v["verdict"] for v in record["verdicts"]}
        head = f"{record['id']} {record['chart']} {record['old']} -> {record['new']}"
        if "expected" in record:
            expected = record["expected_by_helm" if args.helm else "expected"]
            own = {".".join(path): NAMES[finding["verdict"]] for path, finding in places.items()}
            if own != expected:
                unexpected += 1
                print(f"{head}: {own}, and not {expected}")
        whole = places.pop((), None)
        if args.helm:
            helm = record.get("helm") or {}
            theirs = helm.get("err") or {(True, True): "both", (True, False): "old", (None, None): "unknown"}.get((helm.get("old_renders"), helm.get("new_renders")), "no old")
            own = NAMES[whole["verdict"]] if whole else "both"
            if (own, theirs) == ("does not render", "both") and is_refused(args.charts, record):
                theirs = "both, but not here"
            renders[own, theirs] += 1
            if (own, theirs) not in (("both", "both"), ("does not render", "old"), ("unsettled", "no old")):
                listed["render"].append(f"{own} / {theirs}: {head} {(whole or {}).get('why', '')[:300]}")
        for path, finding in places.items():
            own = NAMES[finding["verdict"]]
            by_helm += finding["helm"]
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
    if args.helm:
        print(f"gone by renderings alone: {by_helm}")
        for (own, theirs), count in renders.most_common():
            print(f"  {own}, in the record {theirs}: {count}")
    print("other than by values.yaml alone:")
    for (own, theirs), count in differ.most_common():
        print(f"  {own} instead of {theirs}: {count}")
    for name in ("gone", "same newly", "nowhere"):
        print(f"{name}: {right[name]} right, {wrong[name]} wrong by helm")
    print(f"gone by helm: {gone}, of which {gone - missed} were found")
    print(f"gone, and edited by people: {edited}, of which {named} were named")
    for line in listed.get(args.list, []):
        print(line)
    if wrong["gone"] or wrong["same newly"] or unexpected:
        sys.exit("a verdict is wrong")
    if renders["does not render", "both"]:
        sys.exit("a chart renders that should not")
    if (gone - missed) * 100 < gone * (100 if args.helm else 80) or named * 100 < edited * 85:
        sys.exit("too little was found")


if __name__ == "__main__":
    main()
