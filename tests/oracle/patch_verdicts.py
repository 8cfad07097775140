#!/usr/bin/env python3
"""The verdicts on patches of kustomize: on real ones beside the verdicts of their records, and on random ones beside kustomize itself.

    patch_verdicts.py RECORDS [--list]
    patch_verdicts.py --random COUNT [--seed N]

RECORDS is a file of JSON lines, packed or not; each is a patch over a base whose version was raised:

    id, kind                  strategic or json6902
    patch, target             the patch, and the target that its kustomization gives it
    old_object, new_object    the object that it is for, as both releases build it; empty if kustomize fails
    leaves                    what the patch says: {place, value, old, new, verdict}

The verdicts differ from those of the records for these reasons:

    hides, not gone           `add` sets the field also where the new release has none
    nothing, not adds         neither release has the place, so there is nothing to say
    newly the same, not same  the record says only what the new release has, and the old one had something else

A random case has two versions of an object, and a patch. kustomize applies the patch to both. What is `gone` must change nothing, fail, or, if
it is an element of a list, add it anew; what holds must have its effect; and `another element` must be an operation by index.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from overlay_verdicts import NAMES, program, read


def verdicts(cases, profile):
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([program("patch_verdicts", profile)], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_records(path, is_listed, profile):
    records = read(path)

    def case(record):
        entry = {"path": "patch.yaml"}
        # The kustomization around it may have put the object into another namespace.
        entry["target"] = record["target"] or {"kind": ".*"}
        return {
            "kustomization": {"patches": [entry]},
            "patch": record["patch"],
            "old": record["old_object"] or "",
            "new": record["new_object"] or "",
        }

    counts, pairs, differences = collections.Counter(), collections.Counter(), []
    for record, found in zip(records, verdicts([case(r) for r in records], profile)):
        own = collections.defaultdict(list)
        for finding in found["findings"]:
            verdict = NAMES[finding["verdict"]]
            counts[verdict] += 1
            own[finding["place"]].append(verdict)
            if is_listed:
                print(f"{record['id']} {finding['line']}: {verdict}: {finding['object']} {finding['place']}")
        if found["unread"]:
            print(f"{record['id']}: not read: {found['unread']}")
        if record["kind"] == "json6902":
            ours = [v for f in found["findings"] for v in [NAMES[f["verdict"]]]]
            theirs = [leaf["verdict"] for leaf in record["leaves"]]
        else:
            theirs = {leaf["place"].replace(".[", "["): leaf["verdict"] for leaf in record["leaves"]}
            ours = [" ".join(own.get(place, ["none"])) for place in theirs]
            for place in own.keys() - theirs.keys():
                differences.append(f"{record['id']}: {own[place]} / no verdict: {place}")
            theirs = list(theirs.values())
        for mine, other in zip(ours, theirs):
            if mine != other:
                pairs[mine, other] += 1
                if (mine, other) != ("holds", "adds"):
                    differences.append(f"{record['id']}: {mine} / {other}")
        if len(ours) != len(theirs):
            differences.append(f"{record['id']}: {len(ours)} verdicts, not {len(theirs)}")
    print("verdicts:", ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    for (mine, other), count in pairs.most_common():
        print(f"  {mine} instead of {other}: {count}")
    print("\n".join(differences))


def build(kustomization, patch, base):
    """What kustomize makes of a base; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "kustomization.yaml").write_text(json.dumps(dict(kustomization, resources=["base.yaml"])))
        (folder / "patch.yaml").write_text(patch)
        (folder / "base.yaml").write_text(base)
        done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    # An empty map is mostly as good as none.
    return done.stdout.replace("data: {}\n", "") if done.returncode == 0 else None


class Random:
    """Objects of two releases, and patches that say one thing each."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, values, least=0):
        values = [value for value in values if self.random.random() < 0.6] or values[:least]
        self.random.shuffle(values)
        return values

    def value(self):
        return self.random.choice(["a", "b", "c", "1"])

    def object(self):
        kind = self.random.choice(["Deployment", "Deployment", "ConfigMap", "Custom"])
        if kind == "ConfigMap":
            data = {key: self.value() for key in self.some(["x", "y", "a.b/c"])}
            return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web"}, "data": data}
        if kind == "Custom":
            items = [{"name": name, "v": self.value()} for name in self.some(["x", "y", "z"])]
            spec = {"items": items, "m": {key: self.value() for key in self.some(["x", "y"])}}
            return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec}
        containers = []
        for name in self.some(["app", "proxy", "log"], 1):
            container = {"name": name, "image": f"{name}:{self.random.randint(1, 2)}"}
            container["env"] = [{"name": env, "value": self.value()} for env in self.some(["A", "B", "C"])]
            container["args"] = [f"--{flag}={self.value()}" for flag in self.some(["x", "y", "z"])]
            if self.random.random() < 0.5:
                container["resources"] = {"limits": {key: "1" for key in self.some(["cpu", "memory"])}}
            for field in self.some(["env", "args"]):
                if self.random.random() < 0.3:
                    del container[field]
            containers.append(container)
        spec = {"template": {"spec": {"containers": containers}}}
        if self.random.random() < 0.7:
            spec["replicas"] = self.random.randint(1, 3)
        metadata = {"name": "web", "labels": {key: self.value() for key in self.some(["x", "y"])}}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}

    def changed(self, value):
        """Another release of a value."""
        if isinstance(value, dict):
            out = {}
            for key, below in value.items():
                if key in ("apiVersion", "kind", "name", "metadata", "spec", "template", "containers"):
                    out[key] = below if isinstance(below, str) else self.changed(below)
                elif self.random.random() > 0.2:
                    out[key] = self.changed(below)
            return out
        if isinstance(value, list):
            out = [self.changed(below) for below in value if self.random.random() > 0.2] or value[:1]
            if self.random.random() < 0.2:
                self.random.shuffle(out)
            return out
        if self.random.random() < 0.3:
            return value + 1 if isinstance(value, int) else value[:-1] + self.random.choice("123")
        return value

    def leaf(self, value, path=()):
        """A place of a value, which is mostly there."""
        if isinstance(value, dict) and value and self.random.random() < 0.95:
            key = self.random.choice(list(value))
            return self.leaf(value[key], (*path, key))
        if isinstance(value, list) and value and self.random.random() < 0.9:
            at = self.random.randrange(len(value))
            return self.leaf(value[at], (*path, at))
        return path

    def patch(self, one):
        """A patch of an object that says one thing."""
        while True:
            path = self.leaf(one)
            keys = [step for step in path if not isinstance(step, int)]
            if not path or path[0] in ("apiVersion", "kind") or keys[-1] == "name":
                continue
            break
        if self.random.random() < 0.5:
            return self.operation(one, path)
        at, patch = one, {}
        head = {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": {"name": "web"}}
        new = self.random.choice([self.value(), self.value(), None])
        made = patch
        for number, step in enumerate(path):
            at = at[step]
            is_last = number == len(path) - 1
            after = path[number + 1] if not is_last else None
            if isinstance(step, int):
                element = {"name": at["name"]} if isinstance(at, dict) else new
                if not isinstance(element, dict):
                    made.append(self.value())
                    break
                if is_last:
                    element["$patch"] = "delete"
                made.append(element)
                made = element
            elif is_last:
                made[step] = new if not isinstance(at, (dict, list)) or new is None else type(at)()
            else:
                made[step] = [] if isinstance(after, int) else {}
                made = made[step]
        for key, below in head.items():
            patch[key] = dict(patch.get(key) or {}, **below) if isinstance(below, dict) else below
        return patch

    def operation(self, one, path):
        there = one
        for step in path:
            there = there[step]
        does = self.random.choice(["replace", "add", "remove", "replace"])
        path = list(path)
        if does == "add" and isinstance(path[-1], int):
            path[-1] = self.random.choice([path[-1], "-"])
        pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
        operation = {"op": does, "path": pointer}
        if does != "remove":
            # A value of another kind is no object for kustomize.
            operation["value"] = type(there)() if isinstance(there, (dict, list)) else self.value()
        return [operation]


def of_random(count, seed, profile):
    made = Random(seed)
    cases = []
    for _ in range(count):
        old = made.object()
        new, patch = made.changed(old), made.patch(old)
        entry = {"path": "patch.yaml"}
        if isinstance(patch, list):
            entry["target"] = {"kind": old["kind"]}
        texts = [json.dumps(one) for one in (patch, old, new)]
        cases.append(dict(zip(("patch", "old", "new"), texts), kustomization={"patches": [entry]}))
    counts, wrong = collections.Counter(), 0
    for case, found in zip(cases, verdicts(cases, profile)):
        findings = [NAMES[finding["verdict"]] for finding in found["findings"]]
        places = " ".join(finding["place"] for finding in found["findings"])
        plain = {side: build({}, "", case[side]) for side in ("old", "new")}
        after = {side: build(case["kustomization"], case["patch"], case[side]) for side in ("old", "new")}
        fails, idle = after["new"] is None, after["new"] == plain["new"]
        is_new_element = case["patch"].startswith("{") and "[" in places
        is_added = '"add"' in case["patch"]
        counts.update(findings)
        for verdict in findings or ["none"]:
            fits = {
                "gone": fails or idle or is_new_element,
                "nowhere": after["old"] in (None, plain["old"]) and (fails or idle),
                "same": idle or is_added,
                "same newly": idle or is_added,
                "another element": not fails and case["patch"].startswith("["),
                "none": idle,
            }.get(verdict, not fails and not idle)
            if not fits:
                wrong += 1
                end = "fails" if fails else "changes nothing" if idle else "changes it"
                print(f"{verdict}, but kustomize {end}: {case['patch']}\n  {case['old']}\n  {case['new']}")
    print("verdicts:", ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    if wrong:
        sys.exit(f"{wrong} verdicts are wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=pathlib.Path, nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--random", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", choices=["debug", "release"], default="debug")
    args = parser.parse_args()
    if args.records:
        of_records(args.records, args.list, args.profile)
    if args.random:
        of_random(args.random, args.seed, args.profile)


if __name__ == "__main__":
    main()
