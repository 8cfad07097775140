#!/usr/bin/env python3
"""sources.py FUNCTION [--programs N] [--seed N] [--show N]: random programs of sources, run by the function and here on plain values.

A program is a functionConfig in TwoWay or Strategic: patches for the item of their identity or for targets, and edits by path, one after the
other. What it must do is said here a second time, without a tree, a change or a schema: by recursion over dicts and lists, with a table of the
merge keys of a few types. The function must end with the same items, in one run and in the second one, or fail where the program is wrong.
Exit 1 if a run differs."""
import argparse
import concurrent.futures
import copy
import json
import random
import subprocess
import sys

import yaml

import oracle


class Wrong(Exception):
    """What the function must refuse."""


class Unsure(Exception):
    """What this script does not decide."""


# How lists merge: by these keys, with the defaults of some; as a set; or not at all, which is None. Without an entry nothing is known.
PORTS = {"keys": ("containerPort", "protocol"), "defaults": {"protocol": "TCP"}}
CONTAINER = {"env": {"keys": ("name",)}, "ports": PORTS, "args": {"flags": True}, "volumeMounts": {"keys": ("mountPath",)}}
POD = {"containers": {"keys": ("name",), "of": CONTAINER}, "volumes": {"keys": ("name",)}, "tolerations": {}, "imagePullSecrets": {"keys": ("name",)}}
METADATA = {"finalizers": {"set": True}}
TYPES = {
    "Deployment": {"metadata": METADATA, "spec": {"template": {"spec": POD}}},
    "Service": {"metadata": METADATA, "spec": {"ports": {"keys": ("port", "protocol"), "defaults": {"protocol": "TCP"}}}},
    "ClusterRole": {"metadata": METADATA, "rules": {}},
    "ConfigMap": {"metadata": METADATA, "data": {}},
    "Widget": {"metadata": METADATA, "spec": {"parts": {"unknown": True}, "hosts": {"unknown": True}}},
}
VERSIONS = {"Deployment": "apps/v1", "Service": "v1", "ClusterRole": "rbac.authorization.k8s.io/v1", "ConfigMap": "v1", "Widget": "example.com/v1"}
ASSOCIATIVE = ("mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort")
ABSENT = object()
# Fields whose lists the function takes for those of built-in types, by what they hold.
SHAPED = {"containers", "env", "ports", "volumes", "volumeMounts", "tolerations", "imagePullSecrets", "rules", "finalizers"}


def below(known, name):
    """What is known of a field."""
    return known.get(name, {"unknown": True, "shaped": name in SHAPED})


# What a program does.
class Merge:
    """A patch of a mode, merged into values. `creates`: whether what is missing is made."""

    def __init__(self, mode, creates):
        self.strategic, self.creates = mode == "Strategic", creates

    def directive(self, patch):
        said = patch.get("$patch", ABSENT)
        if said is not ABSENT and said not in ("merge", "replace", "delete"):
            raise Wrong
        return said

    def value(self, dest, patch, known, whole=False):
        """What becomes of a value of dest; ABSENT if it goes. `whole`: nothing of dest stays."""
        if isinstance(patch, dict):
            said = self.directive(patch)
            if said == "delete":
                return ABSENT
            return self.map(dest if isinstance(dest, dict) else {}, patch, known, whole or said == "replace")
        if isinstance(patch, list):
            return self.list(dest, patch, known, whole)
        return ABSENT if patch is None else patch

    def map(self, dest, patch, known, whole):
        out = {} if whole else dict(dest)
        for name, value in patch.items():
            if name.startswith("$"):
                continue
            there = dest.get(name, ABSENT)
            if not self.creates and not whole and (there is ABSENT or there is None):
                continue
            new = self.value(there, value, below(known, name), whole)
            out.pop(name, None)
            if new is not ABSENT:
                out[name] = new
        for name, value in patch.items():
            if self.strategic and name.startswith("$deleteFromPrimitiveList/"):
                field = name.split("/")[1]
                if isinstance(out.get(field), list) and known.get(field, {}).get("set"):
                    added = patch.get(field) or []
                    out[field] = [one for one in out[field] if one not in value or one in added]
        return out

    def kind(self, known, sides):
        """The keys of a list, "set" or None."""
        if known.get("shaped") and any(sides):
            raise Unsure
        if known.get("set"):
            return "set"
        if "keys" in known:
            return known["keys"]
        if known.get("unknown") and not self.strategic and any(sides):
            for key in ASSOCIATIVE:
                def names(side):
                    return [str(e[key]) if isinstance(e, dict) and isinstance(e.get(key), (str, int)) else None for e in side]
                if all(None not in names(side) and len(set(names(side))) == len(side) for side in sides):
                    return (key,)
        return None

    def list(self, dest, patch, known, whole):
        dest = dest if isinstance(dest, list) else []
        of_list = [e for e in patch if isinstance(e, dict) and e.get("$patch") == "replace" and (len(e) == 1 or self.strategic)]
        of_list += [e for e in patch if isinstance(e, dict) and e.get("$patch") == "merge" and len(e) == 1]
        rest = [e for e in patch if not any(e is one for one in of_list)]
        kind = self.kind(known, [rest, dest])
        if isinstance(kind, tuple) and not all(isinstance(e, dict) and kind[0] in e for e in rest + dest):
            raise Unsure
        if whole or any(e["$patch"] == "replace" for e in of_list) or kind is None:
            if any(isinstance(e, dict) and "$patch" in e for e in rest):
                raise Unsure
            if any(e["$patch"] == "merge" for e in of_list) and not whole and kind is None:
                raise Wrong
            return [self.replaced(e, known) for e in rest]
        if kind == "set":
            out = list(dict.fromkeys(dest)) if self.strategic else list(dest)
            new = [e for e in dict.fromkeys(patch) if e not in dest]
            return out + (new if self.creates else [])
        out = [copy.deepcopy(e) for e in dest]
        for element in rest:
            key = self.key(element, kind, known, out)
            at = next((i for i, e in enumerate(out) if isinstance(e, dict) and self.key(e, kind, known) == key), None)
            if element.get("$patch") == "delete":
                out = [e for e in out if self.key(e, kind, known) != key]
            elif at is not None:
                out[at] = self.value(out[at], element, known.get("of", {}))
            elif self.creates:
                out.append(self.value(ABSENT, element, known.get("of", {})))
        return out

    def key(self, element, keys, known, others=()):
        if keys[0] not in element:
            raise Unsure
        given = [element.get(k) for k in keys]
        if None in given[1:] and others:
            alike = [e for e in others if all(e.get(k) == v or v is None and k != keys[0] for k, v in zip(keys, given))]
            if len(alike) == 1:
                given = [alike[0].get(k) for k in keys]
            elif len(alike) > 1 or any(e.get(keys[0]) == given[0] for e in others):
                raise Unsure
        return tuple(str(v if v is not None else known.get("defaults", {}).get(k)) for k, v in zip(keys, given))

    def replaced(self, value, known):
        """A value of a list that is replaced: in TwoWay its nulls are values."""
        if isinstance(value, dict):
            if any(name.startswith("$") for name in value):
                raise Unsure
            return {k: self.replaced(v, known) for k, v in value.items() if v is not None or not self.strategic}
        return [self.replaced(v, known) for v in value] if isinstance(value, list) else value


class Edit:
    """An edit by path. Its value is data."""

    def __init__(self, edit, creates):
        self.does = next(name for name in ("set", "append", "delete") if name in edit)
        self.steps, self.data, self.creates = edit["steps"], edit.get("value"), creates and self.does != "delete"

    def value(self, dest, steps, known):
        if not steps:
            return self.end(dest, known)
        if dest is None:
            dest = ABSENT
        step, rest = steps[0], steps[1:]
        if dest is ABSENT:
            if not self.creates or step in ("*", "[*]") or isinstance(step, int):
                return ABSENT
            dest = [] if isinstance(step, tuple) else {}
            if self.value_of_new(step, rest, known) is ABSENT:
                return ABSENT
        if isinstance(dest, (str, int, bool)):
            raise Wrong
        if isinstance(dest, dict):
            if isinstance(step, (tuple, int)):
                raise Wrong
            names = list(dest) if step in ("*", "[*]") else [step]
            out = dict(dest)
            for name in names:
                new = self.value(dest.get(name, ABSENT), rest, below(known, name))
                if new is ABSENT:
                    out.pop(name, None) if self.does == "delete" and not rest else None
                else:
                    out[name] = new
            return out
        if isinstance(step, str) and step not in ("*", "[*]"):
            raise Wrong
        of = known.get("of", {})
        is_meant = (lambda i, e: i == step) if isinstance(step, int) else (lambda i, e: True) if isinstance(step, str) else (
            lambda i, e: isinstance(e, dict) and e.get(step[0]) is not None and str(e[step[0]]) == step[1])
        at = [i for i, e in enumerate(dest) if is_meant(i, e)]
        out = list(dest)
        gone = []
        for i in at:
            new = self.value(dest[i], rest, of)
            if new is ABSENT and self.does == "delete" and not rest:
                gone.append(i)
            elif new is not ABSENT:
                out[i] = new
        out = [e for i, e in enumerate(out) if i not in gone]
        if not at and isinstance(step, tuple) and self.creates:
            new = self.value_of_new(step, rest, known)
            if new is not ABSENT:
                out.append(new)
        return out

    def value_of_new(self, step, rest, known):
        """The child that a step makes where nothing is."""
        if not isinstance(step, tuple):
            return self.value(ABSENT, rest, below(known, step))
        if not rest:
            return self.end(ABSENT, known)
        new = self.value(ABSENT, rest, known.get("of", {}))
        if new is ABSENT:
            return ABSENT
        return {step[0]: int(step[1]) if "ort" in step[0] else step[1], **new}

    def end(self, dest, known):
        if self.does == "delete":
            return ABSENT
        if dest is None:
            dest = ABSENT
        if dest is ABSENT and not self.creates:
            return ABSENT
        if self.does == "set":
            return self.data
        return self.appended([] if dest is ABSENT else dest, known)

    def appended(self, dest, known):
        if not isinstance(dest, list):
            raise Wrong
        merge = Data("ThreeWay", True)
        kind = merge.kind(known, [[self.data], dest])
        if isinstance(kind, tuple):
            if not isinstance(self.data, dict) or kind[0] not in self.data or not all(isinstance(e, dict) and kind[0] in e for e in dest):
                raise Unsure
            key = merge.key(self.data, kind, known)
            at = next((i for i, e in enumerate(dest) if merge.key(e, kind, known) == key), None)
            if at is not None:
                return dest[:at] + [merge.value(dest[at], self.data, known.get("of", {}))] + dest[at + 1:]
            return dest + [self.data]
        if self.data in dest:
            return dest
        if known.get("flags"):
            def name(word):
                return word.split("=")[0]
            at = next((i for i, e in enumerate(dest) if e.startswith("-") and name(e) == name(self.data)), None)
            if at is not None and self.data.startswith("-"):
                return dest[:at] + [self.data] + dest[at + 1:]
        return dest + [self.data]


class Data(Merge):
    """Values that are data: nulls are values."""

    def value(self, dest, patch, known, whole=False):
        return None if patch is None else super().value(dest, patch, known, whole)


def fits(target, item):
    labels = item.get("metadata", {}).get("labels") or {}
    selector = target.get("labelSelector")
    key, _, value = (selector or "").partition("=")
    return all([
        target.get("kind", item["kind"]) in (item["kind"], ".*") or item["kind"] in target.get("kind", "").split("|"),
        target.get("name", item["metadata"]["name"]) == item["metadata"]["name"],
        selector is None or labels.get(key) == value,
    ])


def run_here(items, spec):
    """The items after a program."""
    items = copy.deepcopy(items)
    of_dest, deleted = {identity(item) for item in items}, set()
    for source in spec["source"]:
        creates = source.get("create", True)
        targets = source.get("targets", [source["target"]] if "target" in source else None)
        if targets is None:
            for patch in yaml.load_all(source["yaml"], Loader=oracle.LOADER):
                if identity(patch) in deleted and patch.get("$patch") != "delete":
                    raise Wrong
                items = by_identity(items, patch, Merge(spec["mode"], creates), source)
                deleted |= of_dest - {identity(item) for item in items}
            continue
        meant = [i for i in items if any(fits(t, i) for t in targets) and not any(fits(t, i) for t in source.get("exclude", []))]
        if "edits" not in source:
            patch = yaml.load(source["yaml"], Loader=oracle.LOADER)
            if not meant and not source.get("optional") and patch.get("$patch") != "delete":
                raise Wrong
            for item in meant:
                replace(items, item, Merge(spec["mode"], creates).value(item, patch, TYPES[item["kind"]]), keep=True)
            deleted |= of_dest - {identity(item) for item in items}
            continue
        if not meant and not source.get("optional"):
            raise Wrong
        for edit in source["edits"]:
            for number, item in enumerate(meant):
                new = Edit(edit, creates).value(item, edit["steps"], TYPES[item["kind"]])
                if new is not ABSENT:
                    replace(items, item, new)
                    meant[number] = new
    return items


def identity(item):
    return item["apiVersion"], item["kind"], item["metadata"]["name"]


def by_identity(items, patch, merge, source):
    item = next((i for i in items if identity(i) == identity(patch)), None)
    if item is not None:
        if not merge.strategic and "$" in json.dumps(patch) and {k: v for k, v in patch.items() if k != "$patch"} == item:
            raise Unsure
        replace(items, item, merge.value(item, patch, TYPES[item["kind"]]), keep=True)
    elif patch.get("$patch") == "delete":
        pass
    elif merge.strategic:
        if not source.get("optional"):
            raise Wrong
    elif merge.creates:
        items.append({k: v for k, v in patch.items() if k != "$patch"})
    return items


def replace(items, item, new, keep=False):
    at = next(i for i, e in enumerate(items) if e is item)
    if new is ABSENT:
        del items[at]
        return
    if keep:
        new = {"apiVersion": item["apiVersion"], "kind": item["kind"], **{k: v for k, v in new.items() if k not in ("apiVersion", "kind")}}
        new["metadata"] = {**(new.get("metadata") or {}), "name": item["metadata"]["name"]}
    items[at] = new


# Random items and programs.
NAMES = ("a", "b", "c")


class Random:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def some(self, names, least=0):
        return self.r.sample(names, self.r.randint(least, len(names)))

    def maybe(self, chance=0.5):
        return self.r.random() < chance

    def scalar(self):
        return self.r.choice(["x", "y", 1, 2, True, "1", "long text"])

    def fields(self, names=("f", "g")):
        return {name: self.scalar() for name in self.some(names)}

    def metadata(self, name):
        out = {"name": name}
        if self.maybe(0.6):
            out["labels"] = {k: self.r.choice(NAMES) for k in self.some(("app", "tier"), 1)}
        if self.maybe(0.3):
            out["finalizers"] = self.some(list(NAMES), 1)
        return out

    def container(self, name):
        out = {"name": name, "image": self.r.choice(["i:1", "i:2"]), **({"args": self.flags()} if self.maybe(0.4) else {})}
        if self.maybe(0.4):
            out["env"] = [{"name": n, "value": self.r.choice("xyz")} for n in self.some(NAMES, 1)]
        if self.maybe(0.4):
            out["ports"] = [{"containerPort": p, **({"protocol": self.r.choice(["TCP", "UDP"])} if self.maybe(0.3) else {}), "name": "p%d" % p} for p in self.some((80, 81), 1)]
        if self.maybe(0.3):
            out["volumeMounts"] = [{"mountPath": "/" + n, "name": self.r.choice(NAMES)} for n in self.some(NAMES, 1)]
        return out

    def flags(self):
        return ["--%s=%d" % (n, self.r.randint(1, 3)) for n in self.some(NAMES, 1)]

    def pod(self):
        out = {"containers": [self.container(n) for n in self.some(NAMES, 1)]}
        if self.maybe(0.4):
            out["tolerations"] = [{"key": n, "operator": "Exists"} for n in self.some(NAMES, 1)]
        if self.maybe(0.3):
            out["volumes"] = [{"name": n, "emptyDir": self.fields(("sizeLimit",))} for n in self.some(NAMES, 1)]
        if self.maybe(0.2):
            out["imagePullSecrets"] = [{"name": n} for n in self.some(NAMES, 1)]
        if self.maybe(0.3):
            out["nodeSelector"] = {n: "x" for n in self.some(NAMES, 1)}
        return out

    def body(self, kind):
        if kind == "Deployment":
            return {"spec": {**({"replicas": self.r.randint(1, 3)} if self.maybe(0.7) else {}), "template": {"spec": self.pod()}}}
        if kind == "Service":
            return {"spec": {"ports": [{"port": p, "targetPort": self.r.randint(1, 3), **({"protocol": "UDP"} if self.maybe(0.2) else {})} for p in self.some((80, 81, 82), 1)], **({"type": "ClusterIP"} if self.maybe() else {})}}
        if kind == "ClusterRole":
            return {"rules": [{"apiGroups": [""], "resources": self.some(NAMES, 1), "verbs": self.some(("get", "list"), 1)} for _ in range(self.r.randint(1, 2))]}
        if kind == "ConfigMap":
            return {"data": {n: str(self.scalar()) for n in self.some(("k", "l.txt", "m"), 1)}}
        out = {"spec": {"size": self.scalar(), "inner": self.fields()}}
        if self.maybe():
            out["spec"]["parts"] = [{"name" if self.maybe(0.9) else "id": n, **self.fields()} for n in self.some(NAMES, 1)]
        if self.maybe(0.3):
            out["spec"]["hosts"] = self.some(list(NAMES), 1)
        return out

    def item(self, kind, name):
        return {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": self.metadata(name), **self.body(kind)}

    def items(self):
        all_of = [(kind, name) for kind in TYPES for name in ("one", "two")]
        return [self.item(*one) for one in self.r.sample(all_of, self.r.randint(1, 5))]

    def patched(self, value, strategic, known, at_root=False):
        """A patch that says some of what a value says, and some other things."""
        if isinstance(value, dict):
            out = {k: self.patched(v, strategic, known.get(k, {})) for k, v in value.items() if self.maybe(0.6)}
            for name in [n for n in out if self.maybe(0.08)]:
                out[name] = None
            if self.maybe(0.15):
                out[self.r.choice(["f", "new"])] = self.scalar()
            if not at_root and self.maybe(0.05):
                out["$patch"] = self.r.choice(["replace", "delete", "merge"])
            if strategic and "finalizers" in value and self.maybe(0.3):
                out["$deleteFromPrimitiveList/finalizers"] = self.some(list(NAMES), 1)
            return out
        if isinstance(value, list):
            keys = known.get("keys") or (("name",) if known.get("unknown") and not strategic and all(isinstance(e, dict) and "name" in e for e in value) else None)
            if keys:
                out = []
                for element in value:
                    if self.maybe(0.7):
                        one = {**self.patched(element, strategic, known.get("of", {}), at_root=True), **{k: element[k] for k in keys if k in element}}
                        if self.maybe(0.1):
                            one = {**{k: element[k] for k in keys if k in element}, "$patch": "delete"}
                        out.append(one)
                if self.maybe(0.1):
                    out.append({"$patch": self.r.choice(["replace", "merge"])})
                return out
            return self.r.sample(value, self.r.randint(0, len(value)))
        return self.scalar() if self.maybe(0.3) else value

    def patch(self, items, strategic, is_targeted):
        of = self.r.choice(items)
        kind, name = of["kind"], of["metadata"]["name"]
        if self.maybe(0.1):
            name = self.r.choice(["one", "two", "three"])
        model = of if self.maybe() else self.item(kind, name)
        out = self.patched({k: v for k, v in model.items() if k not in ("apiVersion", "kind")}, strategic, TYPES[kind], at_root=True)
        if out.get("metadata") is None or out.get("metadata", {}).get("$patch"):
            out["metadata"] = {}
        out["metadata"].pop("name", None)
        if is_targeted:
            if not out["metadata"]:
                del out["metadata"]
            return out or {"metadata": {"labels": {"new": "x"}}}
        out = {"apiVersion": VERSIONS[kind], "kind": kind, **out}
        out["metadata"] = {"name": name, **out["metadata"]}
        if self.maybe(0.05):
            out = {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": {"name": name}, "$patch": "delete"}
        return out

    def target(self, items):
        of = self.r.choice(items)
        out = {}
        if self.maybe(0.7):
            out["kind"] = of["kind"] if self.maybe(0.8) else self.r.choice(["Deployment|Service", ".*"])
        if self.maybe(0.3):
            out["name"] = of["metadata"]["name"]
        labels = of["metadata"].get("labels")
        if labels and self.maybe(0.4):
            key = self.r.choice(sorted(labels))
            out["labelSelector"] = "%s=%s" % (key, labels[key])
        return out or {"kind": of["kind"]}

    def edit(self, items):
        item = self.r.choice(items)
        steps, at, known = [], item, TYPES[item["kind"]]
        at = {k: v for k, v in item.items() if k not in ("apiVersion", "kind")}
        while isinstance(at, (dict, list)) and at and (not steps or self.maybe(0.85)):
            if isinstance(at, dict):
                name = self.r.choice(sorted(at))
                if name == "name" and steps == ["metadata"]:
                    name = "labels"
                if self.maybe(0.1) and steps:
                    name = self.r.choice(["new", "f"])
                step, child, known = name, at.get(name, ABSENT), known.get(name, {})
            else:
                index = self.r.randrange(len(at))
                key = next((k for k in ("name", "containerPort", "port", "mountPath", "key") if isinstance(at[index], dict) and k in at[index]), None)
                step = "[*]" if self.maybe(0.3) else (key, str(at[index][key])) if key and self.maybe(0.8) else index
                if isinstance(step, tuple) and self.maybe(0.15):
                    step = (key, "99" if "ort" in key else "z")
                    child = ABSENT
                else:
                    child = at[index]
                known = known.get("of", {})
            steps.append(step)
            at = child
        does = self.r.choice(["set", "set", "append", "delete"])
        if steps == ["metadata"]:
            steps += ["labels"]
        if len(steps) == 2 and steps[0] == "metadata" and steps[1] == "name":
            steps[1] = "labels"
        if steps[:2] == ["metadata", "labels"] and len(steps) == 2:
            steps.append(self.r.choice(["app", "tier", "new"]))
        edit = {"steps": steps}
        if does == "append":
            edit["append"] = path(steps)
            if isinstance(at, list) and at:
                edit["value"] = copy.deepcopy(self.r.choice(at)) if self.maybe(0.7) else None
                if isinstance(edit["value"], dict) and self.maybe():
                    edit["value"].update(self.fields())
                if isinstance(edit["value"], dict) and self.maybe(0.3):
                    first = next(iter(edit["value"]))
                    edit["value"][first] = 99 if isinstance(edit["value"][first], int) else "z"
                if isinstance(at[0], str):
                    edit["value"] = "--d=1" if at[0].startswith("--") and self.maybe() else self.r.choice(at) if self.maybe() else "z"
            if edit.get("value") is None:
                does, edit = "delete", {"steps": steps}
        if does == "set":
            edit["set"], edit["value"] = path(steps), self.scalar() if not isinstance(at, (dict, list)) or self.maybe(0.2) else copy.deepcopy(at)
        if does == "delete":
            edit["delete"] = path(steps)
        return edit

    def program(self, items):
        mode = self.r.choice(["TwoWay", "Strategic"])
        sources = []
        for _ in range(self.r.randint(1, 4)):
            source = {}
            kind = self.r.choice(["identity", "target", "edits"])
            if kind != "identity":
                if self.maybe(0.8):
                    source["target"] = self.target(items)
                else:
                    source["targets"] = [self.target(items) for _ in range(2)]
                if self.maybe(0.2):
                    source["exclude"] = [self.target(items)]
                if self.maybe(0.8):
                    source["optional"] = True
            if kind == "edits":
                source["edits"] = [self.edit(items) for _ in range(self.r.randint(1, 3))]
            else:
                source["yaml"] = yaml.safe_dump(self.patch(items, mode == "Strategic", kind == "target"), sort_keys=False, default_flow_style=self.r.choice([None, False]))
            if self.maybe(0.2):
                source["create"] = False
            sources.append(source)
        return {"mode": mode, "source": sources}


def path(steps):
    out = ""
    for step in steps:
        if isinstance(step, tuple):
            out += "[%s=%s]" % step
        elif isinstance(step, int):
            out += "[%d]" % step
        elif step == "[*]":
            out += step
        elif "." in step or "/" in step:
            out += json.dumps([step])
        else:
            out += ("." if out else "") + step
    return out


def run_function(function, items, spec):
    """The items that the function gives; None if it fails."""
    spec = copy.deepcopy(spec)
    for source in spec["source"]:
        for edit in source.get("edits", []):
            del edit["steps"]
    function_config = {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "spec": spec}
    text = yaml.dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items, "functionConfig": function_config}, Dumper=Plain, sort_keys=False)
    done = subprocess.run([function], input=text, capture_output=True, text=True, timeout=60)
    out = yaml.load(done.stdout, Loader=oracle.LOADER)
    return None if done.returncode else out.get("items") or [], done.stderr, text


class Plain(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
    """Writes no anchors."""

    def ignore_aliases(self, _):
        return True


def check(function, seed):
    """What differs in the runs of one program; "" if nothing does, None if it decides nothing."""
    rand = Random(seed)
    items = rand.items()
    spec = rand.program(items)
    for run in ("first", "second"):
        try:
            want = run_here(items, spec)
        except Unsure:
            return None
        except Wrong:
            want = None
        got, told, text = run_function(function, items, spec)
        if not same(got, want):
            return "%s run of %d\n%s\nwant: %s\ngot:  %s\n%s" % (run, seed, text, json.dumps(want), json.dumps(got), told)
        if want is None:
            return ""
        items = want
    return ""


def same(a, b):
    """Whether values are equal, with their types: in Python, 1 is True."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("function")
    args.add_argument("--programs", type=int, default=1000)
    args.add_argument("--seed", type=int, default=0)
    args.add_argument("--show", type=int, default=3)
    args = args.parse_args()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda seed: check(args.function, seed), range(args.seed, args.seed + args.programs)))
    wrong = [one for one in found if one]
    for one in wrong[:args.show]:
        print(one)
    print("%d programs of sources: %d wrong, %d not decided here" % (len(found), len(wrong), found.count(None)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
