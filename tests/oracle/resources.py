"""Random resources on three sides, whose lists merge by keys, as sets, by guessed keys, or not at all."""
import random

import yaml

NAMES = ("a", "b", "c", "d", "e")


def scalar(draw):
    return draw.choice((1, 2, 3, True, False, "x", "y", "z z", "yes", "1", "two\nlines\n", "", "0x1f", "1e3", "a: b", "# no", "null"))


def some(draw, make, most=4):
    return [make(draw, name) for name in draw.sample(NAMES, draw.randrange(1, most))]


def scalars(draw):
    return draw.sample(("p", "q", "r", "s", "t", "1", "true"), draw.randrange(1, 5))


def labels(draw):
    return {name: "v%d" % draw.randrange(4) for name in draw.sample(NAMES, draw.randrange(1, 4))}


def container(draw, name):
    made = {"name": name, "image": "i:%d" % draw.randrange(3)}
    if draw.randrange(2):
        made["env"] = some(draw, lambda draw, name: {"name": name.upper(), "value": str(draw.randrange(4))})
    if draw.randrange(2):
        made["args"] = scalars(draw)
    if draw.randrange(3) == 0:
        made["ports"] = [{"containerPort": port} for port in draw.sample((80, 81, 82, 83), 2)]
    if draw.randrange(3) == 0:
        made["resources"] = {"limits": {"cpu": draw.choice((1, "500m")), "memory": "1Gi"}}
    return made


def deployment(draw):
    spec = {"containers": some(draw, container)}
    if draw.randrange(2):
        spec["volumes"] = some(draw, lambda draw, name: {"name": name, draw.choice(("emptyDir", "configMap")): {}})
    if draw.randrange(2):
        spec["tolerations"] = [{"key": name, "operator": "Exists"} for name in draw.sample(NAMES, 2)]
    return "apps/v1", "Deployment", {"spec": {"replicas": draw.randrange(4), "template": {"metadata": {"labels": labels(draw)}, "spec": spec}}}


def service(draw):
    ports = [{"port": port, "targetPort": draw.choice((port, "http")), "name": "p%d" % port} for port in draw.sample((80, 81, 82, 83), draw.randrange(1, 4))]
    return "v1", "Service", {"spec": {"type": draw.choice(("ClusterIP", "NodePort")), "selector": labels(draw), "ports": ports}}


def config_map(draw):
    return "v1", "ConfigMap", {"data": {name: str(scalar(draw)) for name in draw.sample(NAMES, draw.randrange(1, 5))}}


def custom(draw):
    named = some(draw, lambda draw, name: {"name": name, "size": draw.randrange(3), "tags": scalars(draw)})
    return "example.com/v1", "Site", {"spec": {"hosts": named, "words": scalars(draw), "plain": [[1, 2], {"x": 1}], "free": {name: scalar(draw) for name in draw.sample(NAMES, 2)}}}


def made(draw, number):
    api_version, kind, body = draw.choice((deployment, service, config_map, custom))(draw)
    metadata = {"name": "r%d" % number, "labels": labels(draw)}
    if draw.randrange(4) == 0:
        metadata["finalizers"] = ["e.com/" + one for one in draw.sample(NAMES, 2)]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def copied(value):
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return [copied(one) for one in value] if isinstance(value, list) else value


def places(value, path=()):
    """The maps and lists below a resource's own fields."""
    if isinstance(value, dict):
        if path:
            yield path, value
        for key, one in value.items():
            yield from places(one, (*path, key))
    elif isinstance(value, list):
        yield path, value
        for one in value:
            yield from places(one, (*path, "[]"))


# Fields that say which resource or element it is.
FIXED = ("name", "containerPort", "port")


def changed(draw, resource):
    """A copy with some changes."""
    resource = copied(resource)
    for _ in range(draw.randrange(4)):
        path, place = draw.choice(list(places(resource)))
        if isinstance(place, list):
            what = draw.randrange(4)
            if what == 0 and len(place) > 1:
                place.remove(draw.choice(place))
            elif what == 1 and len(place) > 1:
                draw.shuffle(place)
            elif place:
                added = copied(draw.choice(place))
                if isinstance(added, dict):
                    for key in set(FIXED) & set(added):
                        added[key] = draw.choice([name for name in NAMES + ("f", "g", "h")]) if isinstance(added[key], str) else draw.randrange(70, 90)
                    if any(all(added.get(key) == other.get(key) for key in FIXED) for other in place if isinstance(other, dict)):
                        continue
                else:
                    added = "n%d" % draw.randrange(5)
                    if added in place:
                        continue
                place.insert(draw.randrange(len(place) + 1), added)
            continue
        free = [key for key in place if key not in FIXED and not (path == ("metadata",) and key != "annotations")]
        what = draw.randrange(6)
        if what == 0 and free and path[-1] in ("labels", "data", "free", "selector"):
            del place[draw.choice(free)]
        elif what == 1 and path[-1] in ("labels", "data", "free", "selector"):
            place[draw.choice(NAMES)] = "n%d" % draw.randrange(4)
        elif free:
            key = draw.choice(free)
            if not isinstance(place[key], (dict, list)):
                place[key] = draw.choice((place[key], scalar(draw))) if path[-1] == "free" else ("%s" % scalar(draw) if isinstance(place[key], str) else draw.randrange(9))
    return resource


def case(numbers):
    """A file for each number, with a resource on three sides."""
    sides = {"original": {}, "updated": {}, "dest": {}}
    for number in numbers:
        draw = random.Random(number)
        original = made(draw, number)
        for side, resource in (("original", original), ("updated", changed(draw, original)), ("dest", changed(draw, original))):
            sides[side]["r%05d.yaml" % number] = yaml.safe_dump(resource, sort_keys=False)
    return {"id": "random %d" % numbers[0], "sides": sides}
