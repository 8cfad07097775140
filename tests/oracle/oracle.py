"""What a clean merge may say: the rule by which results of a three-way merge are judged, without the program.

`faults(original, updated, dest, result, told)` compares four texts by value. For each path, the result has the value of a side that changed it,
or `told` names the path. `told` is the list of paths that results of the merge name, in any of its words. Nothing stands twice in the result
that stood once on each side.

A list whose elements all have one of KEYS, once each on every side, is compared by it. In every other list, and in the lines of a text, each
element counts as often as it stands there: what one side adds or removes is added or removed in the result.
"""
import collections
import re

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KEYS = ("name", "mountPath", "containerPort", "port", "key", "host", "path", "alert", "id", "topologyKey")
# Fields of which the types of Kubernetes and of common custom resources allow one.
ALTERNATIVES = [
    {"value", "valueFrom"}, {"configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef"},
    {"exec", "httpGet", "grpc", "tcpSocket", "sleep"},
    {"emptyDir", "configMap", "secret", "persistentVolumeClaim", "hostPath", "projected", "nfs", "csi", "ephemeral", "downwardAPI"},
    {"minAvailable", "maxUnavailable"}, {"chart", "chartRef"}, {"source", "sources"},
    {"acme", "ca", "selfSigned", "vault"}, {"patch", "path", "patchesStrategicMerge"},
]
ABSENT = object()
# A reference to an image: its repository, and its tag with its digest.
IMAGE = re.compile(r"([\w.-]+(?::\d+)?(?:/[\w.-]+)*)(?::([\w.-]+(?:@sha256:[0-9a-f]+)?))")


class Loader(LOADER):
    """Reads dates as texts, and says if a key stands twice in a map."""


def mapping(loader, node):
    found = {}
    for key, value in node.value:
        key = loader.construct_object(key, deep=True)
        key = key if isinstance(key, str) else repr(key)
        if key in found and key != "<<":
            loader.twice.append(key)
        found[key] = loader.construct_object(value, deep=True)
    return found


Loader.add_constructor("tag:yaml.org,2002:map", mapping)
Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)
Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)
Loader.add_constructor("tag:yaml.org,2002:merge", lambda loader, node: node.value)
Loader.add_multi_constructor("!", lambda loader, suffix, node: [suffix, getattr(node, "value", None) and str(node.value)])


def read(text):
    """The documents of a text, and the keys that stand twice in one of its maps."""
    loader = Loader(text)
    loader.twice = []
    documents = []
    while loader.check_data():
        documents.append(loader.get_data())
    return [d for d in documents if d is not None], loader.twice


def identity(document):
    metadata = document.get("metadata") if isinstance(document, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    if not isinstance(document, dict) or not metadata.get("name"):
        return ""
    return "/".join(str(x) for x in (str(document.get("apiVersion")).split("/")[0], document.get("kind"), metadata.get("namespace"), metadata["name"]))


def common_key(lists):
    """The key that names all elements of these lists, if there is one."""
    lists = [one for one in lists if isinstance(one, list) and one]
    for key in KEYS:
        if lists and all(isinstance(e, dict) and isinstance(e.get(key), (str, int)) for one in lists for e in one):
            if all(len({str(e[key]) for e in one}) == len(one) for one in lists):
                return key
    return None


def leaves(value, path=""):
    """Each scalar below a value, with its path without the places of elements."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, path + "." + key)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, path + "[]")
    elif isinstance(value, str) and "\n" in value:
        for line in value.splitlines():
            yield (path, line.strip())
    else:
        yield (path, repr(value))


def counted(value):
    return collections.Counter(leaves(value) if value is not ABSENT else ())


def allowed(original, updated, dest, result):
    """Whether an element may stand so often in the result as it does, with the counts of the sides."""
    u, d, r = updated - original, dest - original, result - original
    if u == 0 or d == 0:
        return r == u + d
    if (u > 0) == (d > 0):
        return max(abs(u), abs(d)) <= abs(r) <= abs(u + d) and (r > 0) == (u > 0)
    return min(u, d) <= r <= max(u, d)


class Judge:
    def __init__(self, told):
        self.told, self.found = told, []

    def names(self, path):
        return any(is_prefix(told, path) for told in self.told)

    def fault(self, path, what):
        if not self.names(path):
            self.found.append("".join(s if s.startswith("[") else "." + s for s in path) + ": " + what)

    def compare(self, path, original, updated, dest, result):
        sides = [original, updated, dest]
        if isinstance(result, dict) and all(x is ABSENT or isinstance(x, dict) for x in sides):
            self.alternatives(path, [set(x) if x is not ABSENT else set() for x in sides + [result]])
            by = [dict(x) if x is not ABSENT else {} for x in sides + [result]]
            pair(*by)
            for key in dict.fromkeys(key for one in by for key in one):
                self.compare(path + [key], *(one.get(key, ABSENT) for one in by))
            return
        if all(x is ABSENT or isinstance(x, list) for x in sides + [result]):
            key = common_key(sides)
            has_key = not result or result is ABSENT or common_key([result]) == key
            if key and not has_key and result not in (updated, dest):
                self.fault(path, "an element stands twice, or has no %s" % key)
                return
            if key and has_key:
                by = [{str(e[key]): e for e in x} if x is not ABSENT else {} for x in sides + [result]]
                pair(*by)
                for name in dict.fromkeys(name for one in by for name in one):
                    self.compare(path + ["[%s=%s]" % (key, name)], *(one.get(name, ABSENT) for one in by))
                return
        if parts(original, updated, dest, result):
            return
        if any(result == x for x in (updated, dest)):
            other, mine = (dest, updated) if result == updated else (updated, dest)
            if other != original and other != mine and not contained(original, other, mine):
                self.fault(path, "one side is lost: %s" % short(other))
            return
        counts = [counted(x) for x in sides + [result]]
        for leaf in dict.fromkeys(leaf for one in counts for leaf in one):
            if not allowed(*(one[leaf] for one in counts)):
                self.fault(path, "%s %s stands %d times; original %d, updated %d, dest %d" % (leaf[0], short(leaf[1]), counts[3][leaf], counts[0][leaf], counts[1][leaf], counts[2][leaf]))

    def alternatives(self, path, keys):
        """Of several fields that exclude one another, the result has no two that no side has both."""
        for members in ALTERNATIVES:
            both = members & keys[3]
            if len(both) > 1 and not any(both <= side for side in keys[:3]):
                self.fault(path, "%s exclude one another" % " and ".join(sorted(both)))


def contained(original, other, mine):
    """Whether all that the other side changed is in mine, too. The elements of a list count as they are, if that shows it."""
    if all(x is ABSENT or isinstance(x, list) for x in (original, other, mine)):
        o, x, m = (collections.Counter(map(repr, side)) if side is not ABSENT else collections.Counter() for side in (original, other, mine))
        if all(m[e] >= x[e] if x[e] > o[e] else m[e] <= x[e] for e in o | x if x[e] != o[e]):
            return True
    o, x, m = counted(original), counted(other), counted(mine)
    return all((x[leaf] > o[leaf]) <= (m[leaf] >= x[leaf]) and (x[leaf] < o[leaf]) <= (m[leaf] <= x[leaf]) for leaf in o | x)


def parts(original, updated, dest, result):
    """Whether a reference to an image has a part of each side: the repository of one that changed it, and the version of the other."""
    if not all(isinstance(x, str) and IMAGE.fullmatch(x) for x in (original, updated, dest, result)):
        return False
    of = [IMAGE.fullmatch(x).groups() for x in (original, updated, dest)]
    got = IMAGE.fullmatch(result).groups()
    return all(got[i] in (of[1][i], of[2][i]) and (of[1][i] == of[0][i] or of[2][i] == of[0][i]) and (got[i] != of[0][i] or of[1][i] == of[2][i] == of[0][i]) for i in (0, 1))


def is_prefix(told, path):
    """Whether a told path is above, at or below a path. Elements are told by their places and not by their keys, so they count as equal."""
    told, path = (["[]" if s.startswith("[") else s for s in steps] for steps in (told, path))
    shorter = min(len(told), len(path))
    return told[:shorter] == path[:shorter] and (shorter > 0 or told == path)


def short(value):
    text = "nothing" if value is ABSENT else str(value)
    return text if len(text) < 80 else text[:77] + "..."


def by_identity(documents):
    found = collections.defaultdict(list)
    for document in documents:
        found[identity(document)].append(document)
    return found


def says(leaf):
    """Whether a leaf may tell one thing from another. Numbers and truth values are equal by chance."""
    text = leaf[1].strip("'\"")
    return any(c.isalpha() for c in text) and text.lower() not in ("true", "false", "none")


def rename(original, side, names, *others):
    """Puts what has one of these names on a side under its name in original, the most alike first, if at least half of both is the same. Another
    side may have changed what this side renamed, and this side may have changed it alike.

    One number or boolean says nothing of itself, so it has no other name."""
    alike, renamed = [], {}
    for name in names:
        for candidate in (candidate for candidate in original if candidate not in side):
            if not isinstance(side[name], (dict, list, str)):
                continue
            for form in (of[candidate] for of in (original, *others) if candidate in of):
                one, new = counted(form), counted(side[name])
                common = one & new
                if common.total() > 1 or any(map(says, common)):
                    alike.append((2 * common.total() / max(1, (one + new).total()), candidate, name))
    for share, candidate, name in sorted(alike, reverse=True):
        if share >= 0.5 and candidate not in side and name in side:
            side[candidate] = side.pop(name)
            renamed[name] = candidate
    return renamed


def pair(original, updated, dest, result):
    """Puts what has another name than in original under that name. In the result it has the name of a side, or a part of the name of each."""
    renamed = {}
    for side, other in ((updated, dest), (dest, updated)):
        renamed |= rename(original, side, [name for name in side if name not in original], other)
    for name, candidate in renamed.items():
        if name in result and name not in updated and name not in dest and candidate not in result:
            result[candidate] = result.pop(name)
    rename(original, result, [name for name in result if not any(name in side for side in (original, updated, dest))], updated, dest)


def faults(original, updated, dest, result, told):
    """What is wrong with a result. `told` has pairs of an identity and a path, both as this module writes them; the path is a list of steps."""
    (o, o2), (u, u2), (d, d2), (r, r2) = map(read, (original, updated, dest, result))
    found = ["the key %s stands twice" % key for key in set(r2) - set(o2) - set(u2) - set(d2)]
    by = [by_identity(x) for x in (o, u, d, r)]
    pair(*by)
    for name in dict.fromkeys(name for one in by for name in one):
        sides = [one.get(name, []) for one in by]
        judge = Judge([path for who, path in told if who in (name, "")])
        if all(len(x) <= 1 for x in sides):
            judge.compare([], *(x[0] if x else ABSENT for x in sides))
        else:
            if name and len(sides[3]) > max(1, *(len(x) for x in sides[:3])):
                judge.fault([], "the resource stands %d times" % len(sides[3]))
            judge.compare([], *(x if x else ABSENT for x in sides))
        found += [name + judged for judged in judge.found]
    return found
