"""Random packages for a three-way merge: resources that move, rename, repeat, come and go, among files that hold other things."""
import random

# Few paths and names, so that the sides meet at them.
PATHS = ("a.yaml", "b.yaml", "sub/a.yaml", "c.yaml", "README.md", "templates/t.yaml")
YAML = tuple(path for path in PATHS if path.endswith(".yaml"))
SIDES = ("original", "updated", "dest")
KINDS = (("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("v1", "Service"), ("example.com/v1", "Site"))


class Resource:
    """A resource: its kind, its name, and its fields with their values."""

    def __init__(self, draw, name):
        self.kind, self.name, self.namespace = draw.choice(KINDS), name, draw.choice((None, None, None, "n"))
        self.fields = {field: draw.randrange(3) for field in draw.sample("abcdefgh", draw.randrange(2, 6))}
        self.repeated, self.named, self.note = None, True, draw.choice(("", "", " # why"))

    def copy(self):
        other = object.__new__(Resource)
        other.__dict__.update(self.__dict__, fields=dict(self.fields))
        return other

    def text(self):
        api, kind = self.kind
        below = ["  %s: v%s%s" % (field, value, self.note if at == 0 else "") for at, (field, value) in enumerate(self.fields.items())]
        if self.repeated in self.fields:
            below.append("  %s: again" % self.repeated)
        name = "name" if self.named else "generateName"
        namespace = ["  namespace: %s" % self.namespace] if self.namespace else []
        return "\n".join(["apiVersion: %s" % api, "kind: %s" % kind, "metadata:", "  %s: %s" % (name, self.name), *namespace,
                          "data:" if kind == "ConfigMap" else "spec:", *below]) + "\n"


class Plain:
    """A file without resources."""

    FORMS = ("text", "values", "template", "comment", "document", "list")

    def __init__(self, draw, form=None):
        self.form, self.values = form or draw.choice(self.FORMS), [draw.randrange(3) for _ in range(4)]

    def copy(self):
        other = object.__new__(Plain)
        other.form, other.values = self.form, list(self.values)
        return other

    def text(self):
        a, b, c, d = self.values
        return {
            "text": "one %s\ntwo\nthree %s\nfour\nfive %s\n" % (a, b, c),
            "values": "# values\na: %s\nb:\n  c: %s\n  d: [x, %s]\n" % (a, b, c),
            "template": "{{- if .Values.a }}\na: %s\n{{- end }}\nb: %s\nc: %s\n" % (a, b, c),
            "comment": "# nothing here %s\n" % a,
            "document": "kind: Other\nspec: {a: %s, b: %s}\n" % (a, b),
            "list": "- a%s\n- b\n- c%s\n" % (a, b),
        }[self.form]


class Package:
    """Files by their paths: a list of resources, or a Plain."""

    def __init__(self, draw):
        self.files, self.ends = {}, {}
        count = draw.randrange(1, 5)
        for number in range(count):
            path = draw.choice(YAML)
            if not isinstance(self.files.get(path), Plain):
                self.files.setdefault(path, []).append(Resource(draw, "r%d" % number))
        for _ in range(draw.randrange(4)):
            self.files.setdefault(draw.choice(PATHS), Plain(draw))

    def copy(self):
        other = object.__new__(Package)
        other.files = {path: one.copy() if isinstance(one, Plain) else [r.copy() for r in one] for path, one in self.files.items()}
        other.ends = dict(self.ends)
        return other

    def texts(self):
        texts = {}
        for path, one in self.files.items():
            text = one.text() if isinstance(one, Plain) else "---\n".join(r.text() for r in one)
            if isinstance(one, list) and not one:
                continue
            texts[path] = text.replace("\n", self.ends.get(path, "\n"))
        return texts

    def resources(self):
        return [(path, at) for path, one in self.files.items() if isinstance(one, list) for at in range(len(one))]

    def some(self, draw):
        """The file and the number of a resource, or None."""
        all_of_them = self.resources()
        return draw.choice(all_of_them) if all_of_them else None

    def put(self, draw, path, resource):
        there = self.files.get(path)
        if isinstance(there, Plain):
            if draw.randrange(3):
                return
            there = None
        self.files.setdefault(path, [])
        if there is None:
            self.files[path] = []
        self.files[path].insert(draw.randrange(len(self.files[path]) + 1), resource)

    def edit(self, draw):
        what = draw.choice(("value", "value", "value", "move", "move", "file", "rename", "delete", "delete file", "add", "repeat", "key", "plain", "plain",
                              "plain", "form", "ends", "unname", "new plain"))
        found = self.some(draw)
        path, at = found or (None, None)
        if what in ("plain", "form", "new plain"):
            plain = [path for path, one in self.files.items() if isinstance(one, Plain)]
            if what == "plain" and plain:
                self.files[draw.choice(plain)].values[draw.randrange(4)] = draw.randrange(5)
            elif what == "form" and self.files:
                path = draw.choice(sorted(self.files))
                self.files[path] = Plain(draw)
            elif what == "new plain":
                self.files.setdefault(draw.choice(PATHS), Plain(draw))
        elif what == "ends" and self.files:
            path = draw.choice(sorted(self.files))
            self.ends[path] = draw.choice(("\n", "\r\n"))
        elif what == "add":
            self.put(draw, draw.choice(YAML), Resource(draw, "r%d" % draw.randrange(5)))
        elif what == "delete file" and self.files:
            del self.files[draw.choice(sorted(self.files))]
        elif what == "file" and self.files:
            old, new = draw.choice(sorted(self.files)), draw.choice(PATHS)
            if new not in self.files:
                self.files[new] = self.files.pop(old)
        elif found is None:
            return
        elif what == "value":
            fields = self.files[path][at].fields
            fields[draw.choice("abcdefgh")] = draw.randrange(5)
        elif what == "move":
            resource = self.files[path].pop(at)
            if not self.files[path]:
                del self.files[path]
            self.put(draw, draw.choice(YAML), resource)
        elif what == "rename":
            self.files[path][at].name += "x"
        elif what == "delete":
            del self.files[path][at]
            if not self.files[path]:
                del self.files[path]
        elif what == "repeat":
            self.put(draw, draw.choice((path, draw.choice(YAML))), self.files[path][at].copy())
        elif what == "key":
            self.files[path][at].repeated = draw.choice(sorted(self.files[path][at].fields))
        elif what == "unname" and not draw.randrange(4):
            self.files[path][at].named = False


def case(seed):
    """The texts of original, updated and dest."""
    draw = random.Random(seed)
    original = Package(draw)
    for _ in range(draw.randrange(3)):
        original.edit(draw)
    updated, dest = original.copy(), original.copy()
    for side in (updated, dest):
        for _ in range(draw.randrange(1, 6)):
            side.edit(draw)
    return {"id": "seed %d" % seed, "original": original.texts(), "updated": updated.texts(), "dest": dest.texts()}
