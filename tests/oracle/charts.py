#!/usr/bin/env python3
"""charts.py PLUGIN FOLDER REPOSITORY:PATH...: upgrades packages of real charts twice, from git, a repository of charts and a registry.

FOLDER has clones of git repositories, and PATH is the folder of a chart in one of them: `argo-helm:charts/argo-cd`. Three releases of its
history are packed by the real `helm package`. A dependency that is not in the history is left out, for there is no network. Each release is
got from a static repository, from Debian's `docker-registry`, and from a git repository with the same files. A team edits values and
templates, or what helm renders, and upgrades twice. No edit may be lost, a file that nobody edited equals that of the release, a second run
does nothing, and all three kinds of upstream give the same. Exit 1 if anything is wrong."""
import argparse
import functools
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

RECORD = ".krm-merge.yaml"


class Failure(Exception):
    pass


def run(args, cwd, codes=(0,), env=None):
    done = subprocess.run(args, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    if done.returncode not in codes:
        raise Failure("%s: exit %d: %s" % (" ".join(args[:6]), done.returncode, err.strip()[-600:]))
    return out + err


def git(cwd, *args):
    own = ["-c", "user.name=me", "-c", "user.email=me@example.com", "-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"]
    return run(["git", *own, *args], cwd)


def commit(cwd, message):
    if not os.path.isdir(os.path.join(cwd, ".git")):
        git(cwd, "init", "--quiet")
    git(cwd, "add", "--all", "--force")
    git(cwd, "commit", "--quiet", "--allow-empty", "--message", message)


def files(folder):
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                found[os.path.relpath(os.path.join(root, name), folder)] = file.read()
    return found


def version(text):
    found = re.search(r"^version: *[\"']?([^\"'\s#]+)", text, re.M)
    return found and found[1]


def releases(repository, path):
    """Three commits with other versions of the chart, from the oldest to the newest: the newest one, and those some releases before."""
    chart = os.path.normpath(os.path.join(path, "Chart.yaml"))
    log = run(["git", "log", "-n", "120", "--format=%H", "--", chart], repository).split()
    found = []
    for revision in log:
        try:
            now = version(run(["git", "show", "%s:%s" % (revision, chart)], repository))
        except Failure:
            continue
        if not found or found[-1][1] != now:
            found.append((revision, now))
    if len(found) < 3:
        raise Failure("it has only %d releases" % len(found))
    step = min(4, (len(found) - 1) // 2)
    return [found[2 * step][0], found[step][0], found[0][0]]


def extract(repository, path, revision, folder):
    """The chart of a revision, without the dependencies that it does not hold."""
    os.makedirs(folder)
    tree = revision if path == "." else "%s:%s" % (revision, path)
    archive = subprocess.run(["git", "archive", "--format=tar", tree], cwd=repository, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-xf", "-"], cwd=folder, input=archive, check=True)
    left_out = set()
    for name in ("Chart.yaml", "requirements.yaml"):
        file = os.path.join(folder, name)
        if not os.path.exists(file):
            continue
        with open(file, encoding="utf-8") as text:
            lines = text.read().split("\n")
        kept, inside = [], False
        charts = set(os.listdir(os.path.join(folder, "charts"))) if os.path.isdir(os.path.join(folder, "charts")) else set()
        block = []
        for line in lines + ["end:"]:
            if re.match(r"dependencies:\s*$", line):
                inside, block = True, [line]
            elif inside and (line.startswith((" ", "-")) or not line.strip() or line.startswith("#")):
                block.append(line)
            else:
                if inside:
                    items = re.split(r"(?m)^(?= *- )", "\n".join(block[1:]))
                    names = [re.search(r"\bname: *[\"']?([\w.-]+)", item) for item in items]
                    own = [item for item, name in zip(items, names) if name and any(chart.startswith(name[1]) for chart in charts)]
                    left_out |= {name[1] for item, name in zip(items, names) if name and item not in own}
                    kept.extend(["dependencies:"] + "".join(own).rstrip("\n").split("\n") if own else [])
                    inside = False
                kept.append(line)
        with open(file, "w", encoding="utf-8") as text:
            text.write("\n".join(kept[:-1]))
    for name in ("Chart.lock", "requirements.lock"):
        if left_out and os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    return left_out


class Upstreams:
    """The same three releases in a static repository, in a registry and in a git repository."""

    def __init__(self, folder, name, packed, registry):
        self.name = name
        static, clone = os.path.join(folder, "static"), os.path.join(folder, "work")
        os.makedirs(static)
        os.makedirs(clone)
        self.versions = []
        for number, archive in packed:
            shutil.copy(archive, static)
            run(["helm", "push", archive, "oci://%s/charts" % registry, "--plain-http"], folder)
            for entry in os.listdir(clone):
                if entry != ".git":
                    target = os.path.join(clone, entry)
                    shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
            with tarfile.open(archive) as tar:
                for member in tar.getmembers():
                    member.name = member.name.split("/", 1)[1]
                    tar.extract(member, os.path.join(clone, "chart"), filter="data")
            commit(clone, number)
            git(clone, "tag", number)
            self.versions.append(number)
        run(["helm", "repo", "index", "."], static)
        handler = functools.partial(Quiet, directory=static)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.static = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.image, self.clone = "oci://%s/charts/%s" % (registry, name), clone

    def address(self, kind, number):
        at = self.versions[number]
        return {
            "git": "file://%s//chart@%s" % (self.clone, at),
            "http": "%s//%s@%s" % (self.static, self.name, at),
            "oci": "%s:%s" % (self.image, at),
        }[kind]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def same_lines(states, path):
    """The lines of a file that each state has exactly once, as the first state has them, with their neighbors."""
    texts = [state[path].decode("utf-8", "replace").split("\n") for state in states]
    near = [{"\n".join(text[max(0, at - 2) : at + 3]): at for at in range(len(text))} for text in texts]
    for at, line in enumerate(texts[0]):
        if all("\n".join(texts[0][max(0, at - 2) : at + 3]) in lines for lines in near) and all(t.count(line) == 1 for t in texts):
            yield at, line


def edit_chart(folder, states):
    """Edits three values and three templates, in lines that no release changes. Returns what must be there for ever, by file."""
    want = {}
    both = [path for path in states[0] if all(path in state for state in states)]

    def write(path, old, new):
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            text = file.read()
        text = ("\n" + text).replace("\n" + old + "\n", "\n" + new + "\n", 1)[1:]
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
        want.setdefault(path, []).append(new)

    if "values.yaml" in both:
        lines = [line for _, line in same_lines(states, "values.yaml") if re.fullmatch(r" *[\w.-]+: (true|false|\d+)", line)]
        for line in lines[:: max(1, len(lines) // 3)][:3]:
            key, value = line.rsplit(" ", 1)
            other = {"true": "false", "false": "true"}.get(value, value + "7")
            write("values.yaml", line, "%s %s # ours" % (key, other))
    templates = sorted(path for path in both if path.startswith("templates/") and path.endswith((".yaml", ".tpl")))
    for path in templates[:: max(1, len(templates) // 3)][:3]:
        lines = [line for _, line in same_lines(states, path) if re.match(r" *[\w-]+:", line)]
        if lines:
            write(path, lines[len(lines) // 2], lines[len(lines) // 2] + " {{- /* ours */}}")
    with open(os.path.join(folder, "templates", "ours.yaml"), "w", encoding="utf-8") as file:
        file.write("# ours\n")
    want["templates/ours.yaml"] = ["# ours"]
    return want


def edit_rendered(folder, both):
    """Adds a label, and a comment, to resources of the package."""
    want = {}
    paths = sorted(path for path in both if path != RECORD and path != "own.yaml" and "secret" not in path)
    for path in paths[:: max(1, len(paths) // 3)][:3]:
        file = os.path.join(folder, path)
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        new = re.sub(r"(?m)^metadata:$", "metadata: # ours", text, count=1)
        new = re.sub(r"(?m)^  labels:\n", "  labels:\n    ours: \"yes\"\n", new, count=1)
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(new)
        want[path] = [line for line in ("metadata: # ours", "    ours: \"yes\"") if line in new.split("\n")]
    return want


class Chart:
    def __init__(self, plugin, folder, upstreams):
        self.plugin, self.folder, self.upstreams = plugin, folder, upstreams
        self.env = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"))
        self.wrong, self.conflicts = [], 0

    def krm(self, *args, codes=(0,)):
        return run([self.plugin, *args], self.folder, codes, self.env)

    def read(self, name):
        return files(os.path.join(self.folder, name))

    def say(self, kind, what):
        self.wrong.append("%s: %s" % (kind, what))

    def got(self, kind, number, name, render):
        if render:
            with open(os.path.join(self.folder, "own.yaml"), "w", encoding="utf-8") as file:
                file.write("# our values\n{}\n")
        self.krm("get", self.upstreams.address(kind, number), name, *render)
        return self.read(name)

    def upgraded(self, kind, render):
        """Two upgrades of an edited package. Returns its files."""
        what = kind + (" rendered" if render else "")
        states = [self.got(kind, number, "%s-%d" % (what.replace(" ", "-"), number), render) for number in range(3)]
        again = self.got(kind, 2, what.replace(" ", "-") + "-again", render) if render else states[2]
        anew = {path for path in again if again[path] != states[2].get(path)} - {RECORD}
        name = what.replace(" ", "-")
        self.got(kind, 0, name, render)
        package = os.path.join(self.folder, name)
        both = [path for path in states[0] if all(path in state for state in states)]
        want = edit_rendered(package, [p for p in both if p not in anew]) if render else edit_chart(package, states)
        commit(package, "ours")
        own = self.read(name)
        flags = ["--helm"] if render else []
        for number in (1, 2):
            told = self.krm("upgrade", name, "--to", self.upstreams.versions[number], *flags, codes=(0, 1))
            self.conflicts += "conflict" in told and "0 conflicts" not in told
            now = self.read(name)
            for path, lines in want.items():
                text = now.get(path, b"").decode("utf-8", "replace").split("\n")
                for line in lines:
                    for one in line.split("\n"):
                        if one not in text:
                            self.say(what, "release %d: the edit %r of %s is lost" % (number, one, path))
            free = {*want, RECORD, "own.yaml", *anew}
            unlike = {p for p in {*now, *states[number]} - free if now.get(p) != states[number].get(p)}
            if render:
                # A resource keeps its file, also if the release moves it to another namespace.
                kept = [sorted(s[p] for p in unlike if p in s) for s in (now, states[number])]
                unlike = set() if kept[0] == kept[1] else unlike
            for path in sorted(unlike):
                self.say(what, "release %d: %s is not that of the release" % (number, path))
            if any(b"\n<<<<<<< " in b"\n" + text for text in now.values()):
                self.say(what, "release %d: there are conflict markers" % number)
            commit(package, "release %d" % number)
            told = self.krm("upgrade", name, "--to", self.upstreams.versions[number], *flags)
            if "already" not in told or self.read(name) != now:
                self.say(what, "release %d: the second run does something" % number)
        changed = self.krm("diff", name, "-o", "name", *flags, codes=(0, 1))
        told = {path for path in own if path in changed}
        if not render and not told:
            self.say(what, "`diff` shows no edit")
        now = self.read(name)
        return {path: text for path, text in now.items() if path != RECORD and path not in anew}


def judged(plugin, folder, repository, path, registry):
    left_out, packed = set(), []
    for number, revision in enumerate(releases(repository, path)):
        source = os.path.join(folder, "source-%d" % number)
        left_out |= extract(repository, path, revision, source)
        at = "1.%d.0" % number
        out = run(["helm", "package", source, "--version", at, "--destination", os.path.join(folder, at)], folder)
        packed.append((at, re.search(r"(/\S+\.tgz)", out)[1]))
    name = os.path.basename(packed[0][1]).rsplit("-", 1)[0]
    chart = Chart(plugin, folder, Upstreams(folder, name, packed, registry))
    notes = ["without %s" % ", ".join(sorted(left_out))] if left_out else []
    render = ["--render", "ours", "--namespace", "shop", "--values", "own.yaml"]
    for what, flags in (("files", []), ("rendered", render)):
        results = {}
        for kind in ("git", "http", "oci"):
            try:
                results[kind] = chart.upgraded(kind, flags)
            except Failure as failure:
                if flags and "helm: " in str(failure):
                    notes.append("helm does not render it: " + str(failure).split("helm: ", 1)[1][:200])
                    break
                chart.say(kind + " " + what, failure)
        for kind, result in results.items():
            if result != results["git"]:
                odd = [p for p in set(result) | set(results["git"]) if result.get(p) != results["git"].get(p)]
                chart.say(kind, "%s: other files than from git: %s" % (what, ", ".join(sorted(odd)[:5])))
        notes.append("%s: %d files" % (what, len(results.get("git", {}))))
    chart.upstreams.server.shutdown()
    return chart, notes


def registry(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = os.path.join(folder, "registry.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("version: 0.1\nstorage: {filesystem: {rootdirectory: %s/registry}}\nhttp: {addr: \"127.0.0.1:%d\"}\n" % (folder, port))
    server = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, "127.0.0.1:%d" % port
        time.sleep(0.1)
    server.kill()
    raise SystemExit("docker-registry must listen")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("folder")
    args.add_argument("charts", nargs="+", metavar="REPOSITORY:PATH")
    args = args.parse_args()
    plugin, bad = os.path.abspath(args.plugin), 0
    with tempfile.TemporaryDirectory() as made:
        for home in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
            os.environ[home] = os.path.join(made, home)
        os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
        server, at = registry(made)
        try:
            for number, chart in enumerate(args.charts):
                repository, path = chart.split(":", 1)
                folder = os.path.join(made, str(number))
                os.makedirs(folder)
                try:
                    done, notes = judged(plugin, folder, os.path.join(os.path.abspath(args.folder), repository), path, at)
                except Failure as failure:
                    print("%s: cannot be judged: %s" % (chart, failure), flush=True)
                    bad += 1
                    continue
                bad += bool(done.wrong)
                print("%s: %s, %d in conflict, %d wrong" % (chart, "; ".join(notes), done.conflicts, len(done.wrong)), flush=True)
                for line in done.wrong[:12]:
                    print("    " + line, flush=True)
                shutil.rmtree(folder)
        finally:
            server.kill()
            server.wait()
    print("%d charts, %d of them wrong" % (len(args.charts), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
