#!/usr/bin/env python3
"""anchors.py PLUGIN [--part K/N] [--at-most N] [--random N] [--show]: files with anchors, edited by both sides, merged by the git driver.

Each file is a model: values with an anchor, and users of these. An edit changes the model: a value, the name or the place of an anchor, a use,
a user. Each pair of one edit of ours and one of theirs is merged, or N random ones of up to three edits of each side. The models merge attribute by attribute, so the script knows what each use must mean before the driver runs. A merge is right if
* the driver ends with 0 or 1, and with 1 it leaves markers, whose halves are lines of their own side, and which give YAML if one side wins;
* where git is clean with a text that is YAML, the driver is clean too, with the same values and the same anchors and aliases;
* elsewhere, a clean result has the values of the merged model, and the models do not conflict.
Exit 1 if more than N merges are wrong (0 where it is not given)."""
import argparse
import collections
import concurrent.futures
import copy
import itertools
import os
import random
import re
import subprocess
import tempfile

import yaml

VALUES = {
    "map": ({"image": "shop:1", "restart": "always", "level": "info"}, {"driver": "json", "size": "10m"}),
    "list": (["prepare", "build", "check"], ["pack", "push"]),
    "scalar": ("shop:1", "json"),
}
# What the anchors are, and how they are used.
FORMS = [("map", "merge"), ("map", "merges"), ("map", "field"), ("list", "field"), ("scalar", "field")]
PLACES = ["compose", "ci", "resource"]


def new_model(kind, use):
    app, log = VALUES[kind]
    anchors = {"app": {"key": "app", "anchor": "app", "below": None, "value": app}, "log": {"key": "log", "anchor": "log", "below": None, "value": log}}
    users = {name: user(name, (use, "app", "log") if use == "merges" else (use, "app")) for name in ("web", "cron", "mail")}
    users["db"] = user("db", None)
    return {"anchors": anchors, "users": users}


def user(name, use):
    """A user: its use is None, a way of using anchors and these, or ("own", VALUE) where the value is written out."""
    return {"name": name, "use": use, "own": {}, "command": "run " + name}


# Edits of a model. Each gives False where it says nothing of this kind of value.
def change(to):
    def edit(model, kind, _):
        value = model["anchors"]["app"]["value"]
        if kind == "scalar":
            model["anchors"]["app"]["value"] = "shop:%s" % to
        else:
            value["image" if kind == "map" else 1] = "shop:%s" % to
    return edit


def add_item(model, kind, _):
    value = model["anchors"]["app"]["value"]
    if kind == "scalar":
        return False
    value.update(init="fast") if kind == "map" else value.append("report")


def drop_item(model, kind, _):
    value = model["anchors"]["app"]["value"]
    if kind == "scalar":
        return False
    value.pop("restart" if kind == "map" else 2)


def rename(*attributes):
    def edit(model, *_):
        for attribute in attributes:
            model["anchors"]["app"][attribute] = "base"
    return edit


def move_anchor(model, *_):
    model["anchors"]["app"] = model["anchors"].pop("app")


def nest_anchor(model, *_):
    model["anchors"]["app"]["below"] = "all"


def write_out(model, kind, use):
    """The anchor goes, and its users have its value."""
    value = model["anchors"].pop("app")["value"]
    for one in model["users"].values():
        if one["use"] and "app" in one["use"]:
            written_out(one, value, use)


def written_out(one, value, use):
    if use == "field":
        one["use"] = ("own", value)
    else:
        one["own"].update(value)
        one["use"] = ("merge", "log") if use == "merges" else None


def drop_anchor(model, *_):
    model["anchors"].pop("app")
    for one in model["users"].values():
        if one["use"] and "app" in one["use"]:
            one["use"] = None


def new_anchor(model, kind, use):
    model["anchors"]["new"] = {"key": "new", "anchor": "new", "below": None, "value": copy.deepcopy(VALUES[kind][1])}
    model["users"]["extra"] = user("extra", ("merge" if use == "merges" else use, "new"))


def override(to):
    def edit(model, _, use):
        if use == "field":
            model["users"]["web"]["use"] = ("own", to)
        else:
            model["users"]["web"]["own"]["image"] = to
    return edit


def write_out_one(model, _, use):
    written_out(model["users"]["web"], copy.deepcopy(model["anchors"]["app"]["value"]), use)


def use_other(model, _, use):
    model["users"]["web"]["use"] = ("merge" if use == "merges" else use, "log")


def turn_uses(model, _, use):
    if use != "merges":
        return False
    model["users"]["web"]["use"] = ("merges", "log", "app")


def drop_use(model, *_):
    model["users"]["web"]["use"] = None


def drop_user(name):
    def edit(model, *_):
        model["users"].pop(name)
    return edit


def rename_user(model, *_):
    model["users"]["web"]["name"] = "front"


def move_user(model, *_):
    model["users"]["web"] = model["users"].pop("web")


def edit_user(model, *_):
    model["users"]["web"]["command"] = "run web --fast"


def add_user(name, first=False):
    def edit(model, _, use):
        one = {name: user(name, ("merge" if use == "merges" else use, "app"))}
        model["users"] = {**one, **model["users"]} if first else {**model["users"], **one}
    return edit


def add_use(model, _, use):
    model["users"]["db"]["use"] = ("merge" if use == "merges" else use, "app")


EDITS = {
    "anchor: change": change(2), "anchor: change otherwise": change(3), "anchor: add item": add_item, "anchor: drop item": drop_item,
    "anchor: rename": rename("anchor"), "anchor: rename key": rename("key"), "anchor: rename both": rename("anchor", "key"),
    "anchor: move": move_anchor, "anchor: nest": nest_anchor, "anchor: write out": write_out, "anchor: drop": drop_anchor, "anchor: new": new_anchor,
    "use: override": override("mine"), "use: override otherwise": override("other"), "use: write out": write_out_one, "use: other": use_other,
    "use: turn": turn_uses, "use: drop": drop_use, "use: add": add_use, "user: drop": drop_user("web"), "user: drop other": drop_user("cron"),
    "user: rename": rename_user, "user: move": move_user, "user: edit": edit_user, "user: add": add_user("more"), "user: add first": add_user("more", True),
    "user: add other": add_user("less"),
}


def lines_of(value, indent):
    pad = " " * indent
    if isinstance(value, dict):
        return ["%s%s: %s" % (pad, key, item) for key, item in value.items()]
    return ["%s- %s" % (pad, item) for item in value]


def field(key, value, indent, anchor=None):
    head = "%s%s:%s" % (" " * indent, key, " &" + anchor if anchor else "")
    return ["%s %s" % (head, value)] if isinstance(value, str) else [head] + lines_of(value, indent + 2)


def text_of(model, place):
    names = {anchor: one["anchor"] for anchor, one in model["anchors"].items()}
    indent = {"compose": 0, "ci": 0, "resource": 2}[place]
    prefix = {"compose": "x-", "ci": ".", "resource": ""}[place]
    out = {"compose": ["name: shop"], "ci": ["stages: [build, test]"],
           "resource": ["apiVersion: example.com/v1", "kind: Stack", "metadata:", "  name: shop", "spec:"]}[place][:]
    nested = [one for one in model["anchors"].values() if one["below"]]
    if nested:
        out.append("%s%s%s:" % (" " * indent, prefix, nested[0]["below"]))
        for one in nested:
            out += field(one["key"], one["value"], indent + 2, one["anchor"])
    for one in model["anchors"].values():
        if not one["below"]:
            out += field(prefix + one["key"], one["value"], indent, one["anchor"])
    below = {"compose": 2, "ci": 0, "resource": 2}[place]
    out += {"compose": ["services:"], "ci": [], "resource": ["  jobs:"]}[place]
    for one in model["users"].values():
        inner = below + 2
        out.append("%s- name: %s" % (" " * below, one["name"]) if place == "resource" else "%s%s:" % (" " * below, one["name"]))
        match one["use"]:
            case ("own", value):
                out += field("conf", value, inner)
            case ("field", anchor):
                out.append("%sconf: *%s" % (" " * inner, names[anchor]))
            case ("merge", anchor):
                out.append("%s<<: *%s" % (" " * inner, names[anchor]))
            case ("merges", *anchors):
                out.append("%s<<: [%s]" % (" " * inner, ", ".join("*" + names[anchor] for anchor in anchors)))
        out += lines_of(one["own"], inner)
        out += lines_of({"command": one["command"], "user": "root", "port": "8080"}, inner)
    out += {"compose": ["volumes:", "  data: {}"], "ci": ["include: []"], "resource": ["  replicas: 1"]}[place]
    return "\n".join(out) + "\n"


class Clash(Exception):
    """Both sides changed one attribute, differently."""


class Unsure(Exception):
    """One side deleted what the other one renamed, wrote out or made smaller, which a merge may take either way."""


ABSENT = object()


def merged(original, ours, theirs, depth):
    """Merges two values of a model. Maps merge by key, down to this depth."""
    if ours == theirs or original == theirs:
        return ours
    if original == ours:
        return theirs
    one, other = (theirs, ours) if theirs is ABSENT else (ours, theirs)
    if one is ABSENT and isinstance(other, dict) and {"name", "anchor"} & set(other):
        changed = {key for key in other if other[key] != original.get(key)}
        is_own = changed == {"use", "own"} or changed == {"use"} and (other["use"] is None or other["use"][0] == "own")
        is_smaller = changed == {"value"} and len(other["value"]) < len(original["value"])
        if changed <= {"name", "key", "anchor", "below"} or is_own or is_smaller:
            raise Unsure
    if depth and all(isinstance(side, dict) for side in (ours, theirs)) and isinstance(original, (dict, type(ABSENT))):
        base = original if isinstance(original, dict) else {}
        keys = list(dict.fromkeys([*ours, *theirs]))
        found = {key: merged(base.get(key, ABSENT), ours.get(key, ABSENT), theirs.get(key, ABSENT), depth - 1) for key in keys}
        return {key: value for key, value in found.items() if value is not ABSENT}
    raise Clash


def merged_models(original, ours, theirs):
    """The merged model; a use whose anchor is gone has the value of its own side. A use that one side wrote out has still its value, so it
    gives way to another change of the use."""
    means = [meaning(side)["users"] for side in (original, ours, theirs)]
    sides = [copy.deepcopy(side) for side in (ours, theirs)]
    for number, (side, other) in enumerate((sides, sides[::-1])):
        for name, one in side["users"].items():
            was, its = original["users"].get(name), other["users"].get(name)
            is_written_out = was and one["use"] != was["use"] and means[1 + number][name] == means[0][name]
            if is_written_out and its and its["use"] not in (was["use"], one["use"]):
                one["use"], one["own"] = was["use"], was["own"]
    model = merged(original, *sides, 4)
    for name, one in model["users"].items():
        if one["use"] and one["use"][0] != "own" and any(anchor not in model["anchors"] for anchor in one["use"][1:]):
            number = 1 if name in ours["users"] and ours["users"][name]["use"] == one["use"] else 2
            one["use"] = ("of side", means[number][name])
    return model


def meaning(model):
    """What each anchored value and each user of a model means."""
    users = {}
    for name, one in model["users"].items():
        use, fields = one["use"], {"command": one["command"], "user": "root", "port": 8080, **one["own"]}
        if use and use[0] == "of side":
            users[name] = {**use[1], **fields, "name": one["name"]}
            continue
        if use and use[0] == "own":
            fields["conf"] = use[1]
        elif use and use[0] == "field":
            fields["conf"] = model["anchors"][use[1]]["value"]
        elif use:
            for anchor in use[1:]:
                fields = {**model["anchors"][anchor]["value"], **fields}
        users[name] = {**fields, "name": one["name"]}
    return {"anchors": {(one["below"], one["key"]): one["value"] for one in model["anchors"].values()}, "users": users}


def values_of(text, place):
    """The anchored values and the users of a text, as `meaning` has them."""
    root = yaml.safe_load(text)
    if place == "resource":
        root = root["spec"]
    prefix = {"compose": "x-", "ci": ".", "resource": ""}[place]
    others = {"compose": ["name", "services", "volumes"], "ci": ["stages", "include"], "resource": ["jobs", "replicas"]}[place]
    anchors, users = {}, {}
    for key, value in root.items():
        if key in others:
            continue
        if key == prefix + "all":
            anchors.update({("all", inner): item for inner, item in value.items()})
        elif place == "ci" and not key.startswith("."):
            users[key] = {**value, "name": key}
        else:
            anchors[None, key.removeprefix(prefix)] = value
    if place == "compose":
        users = {key: {**value, "name": key} for key, value in (root.get("services") or {}).items()}
    if place == "resource":
        users = {one["name"]: one for one in root.get("jobs") or []}
    return {"anchors": anchors, "users": users}


def by_name(means):
    return {"anchors": means["anchors"], "users": {one["name"]: one for one in means["users"].values()}}


def marked(text):
    """The lines of a text with markers, each with the half of a conflict that it is in: None, "ours", "base" or "theirs"."""
    into = None
    for line in text.splitlines():
        if line.startswith("<<<<<<< "):
            into = "ours"
        elif line.startswith("|||||||") and into:
            into = "base"
        elif line == "=======" and into:
            into = "theirs"
        elif line.startswith(">>>>>>> "):
            into = None
        else:
            yield line, into


def bare(line):
    """A line without its indentation and its anchor, and without the name in its alias: the other side may have renamed or moved the anchor."""
    return re.sub(r"\*\w+", "*", re.sub(r"\s*&\w+", "", line.strip()))


def has_twins(text):
    """Whether a text has a user twice."""
    users = re.findall(r"command: run (\w+)", text)
    return len(users) > len(set(users))


def links(text):
    return sorted(re.findall(r"[&*]\w+", text))


def judged(plugin, kind, use, place, *edits):
    models = [copy.deepcopy(new_model(kind, use)) for _ in range(3)]
    for model, edits in zip(models[1:], edits):
        for edit in edits:
            try:
                if EDITS[edit](model, kind, use) is False:
                    return "skipped", [], None
            except KeyError:
                # An earlier edit took away what this one changes.
                return "skipped", [], None
    try:
        original, ours, theirs = (text_of(model, place) for model in models)
    except KeyError:
        # Or it took away the anchor of a use that comes later.
        return "skipped", [], None
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("base", original), ("ours", ours), ("theirs", theirs)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        git = subprocess.run(["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, text=True)
        done = subprocess.run([plugin, "git-driver", "base", "ours", "theirs", "file.yaml"], cwd=folder, capture_output=True, text=True, timeout=60)
        with open(os.path.join(folder, "ours")) as file:
            result = file.read()
    texts = (original, ours, theirs, git.stdout, result)
    found = []
    if done.returncode not in (0, 1):
        return "wrong", ["exit %d: %s" % (done.returncode, done.stderr.strip())], texts
    try:
        wanted = by_name(meaning(merged_models(*models)))
    except Clash:
        wanted = None
    except Unsure:
        wanted = ...
    try:
        gits = values_of(git.stdout, place) if git.returncode == 0 else None
    except yaml.YAMLError:
        gits = None
    if done.returncode == 1:
        lines = list(marked(result))
        if all(half is None for _, half in lines):
            found.append("exit 1 without markers: %s" % done.stderr.strip())
        for side, text in (("ours", ours), ("theirs", theirs)):
            own = {bare(line) for line in text.splitlines()}
            others = [line for line, half in lines if half == side and bare(line) not in own]
            found += ["%s' half has a line of another text: %s" % (side, line) for line in others]
            try:
                # What git left is git's.
                yaml.safe_load("\n".join(line for line, half in lines if half in (None, side)) if result != git.stdout else "")
            except yaml.YAMLError as error:
                found.append("the text is not readable if %s wins: %s" % (side, error))
        if gits and not has_twins(git.stdout):
            found.append("git is clean, and the driver is not: %s" % done.stderr.strip())
        return ("wrong" if found else "conflict"), found, texts
    try:
        values = values_of(result, place)
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        return "wrong", ["the result is not readable: %s" % error], texts
    if gits:
        if values != gits and by_name(values) != wanted:
            found.append("git is clean with other values")
        elif values == gits and set(links(result)) != set(links(git.stdout)):
            found.append("git is clean with other links: %s, here %s" % (links(git.stdout), links(result)))
    elif wanted is None:
        found.append("both sides changed one thing, and the driver is clean")
    elif wanted is not ... and by_name(values) != wanted:
        found.append("other values than the models merged: wanted %s, got %s" % (wanted, by_name(values)))
    return ("wrong" if found else "clean"), found, texts


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("--part", default="0/1")
    args.add_argument("--at-most", type=int, default=0)
    args.add_argument("--show", action="store_true", help="print the sides, git's text and the result of what is wrong")
    args.add_argument("--random", type=int, default=0)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--only", default="", help="only merges whose line has this text")
    args = args.parse_args()
    part, parts = map(int, args.part.split("/"))
    plugin = os.path.abspath(args.plugin)
    pairs = [((ours,), (theirs,)) for ours, theirs in itertools.product(EDITS, EDITS)]
    merges = [(*form, place, *pair) for form in FORMS for place in PLACES for pair in pairs]
    if args.random:
        chance = random.Random(args.seed)
        some = lambda: tuple(chance.sample(list(EDITS), chance.randint(1, 3)))
        merges = [(*chance.choice(FORMS), chance.choice(PLACES), some(), some()) for _ in range(args.random)]
    merges = [merge for merge in merges if args.only in line_of(merge)][part::parts]
    counts, kinds = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for merge, (verdict, found, texts) in zip(merges, pool.map(lambda merge: judged(plugin, *merge), merges)):
            counts[verdict] += 1
            if verdict != "wrong":
                continue
            print(line_of(merge))
            kinds.update({line.split(":")[0] for line in found})
            for line in found:
                print("    " + line)
            if args.show:
                for name, text in zip(("original", "ours", "theirs", "git", "result"), texts):
                    print("  --- %s\n%s" % (name, text))
    print("%d merges: %d clean, %d in conflict, %d wrong" % (sum(counts.values()) - counts["skipped"], counts["clean"], counts["conflict"], counts["wrong"]))
    for kind, count in kinds.most_common():
        print("%6d %s" % (count, kind))
    return counts["wrong"] > args.at_most


def line_of(merge):
    kind, use, place, ours, theirs = merge
    return "%s, %s of %s: ours %s | theirs %s" % (place, use, kind, ", ".join(ours), ", ".join(theirs))


if __name__ == "__main__":
    raise SystemExit(main())
