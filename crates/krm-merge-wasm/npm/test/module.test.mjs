// What the package says of itself, in Node: node --test crates/krm-merge-wasm/npm/test
// WASM names the folder of the package; without it, it is target/wasm.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const folder = pathToFileURL(`${process.env.WASM ?? fileURLToPath(new URL("../../../../target/wasm", import.meta.url))}/`);
const { default: init, decide, diff, explain, merge, review, run, version } = await import(new URL("index.js", folder));
await init();

const map = (size, color) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: "${size}" # big\n  color: ${color}\n`;
const sides = { original: map(1, "red"), updated: map(2, "blue"), dest: map(1, "green") };

test("a merge says what changes and what is in conflict", () => {
  const { passed, files, changes, conflicts } = merge(sides);
  assert.equal(passed, true);
  assert.deepEqual(files, { "": map(2, "green") });
  assert.deepEqual(changes, [{ kind: "changed", path: "" }]);
  assert.equal(conflicts.length, 1);
  const { what, outcome, open, path, file, line, original, updated, dest } = conflicts[0];
  assert.match(what, /both sides changed `data.color`: dest has "green"/);
  assert.deepEqual([outcome, open, path, file, line], ["unresolved", true, "data.color", "dest", 7]);
  assert.deepEqual([original, updated, dest], ["red\n", "blue\n", "green\n"]);
});

test("a functionConfig says who wins, in both of its forms", () => {
  for (const functionConfig of [
    "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {onConflict: TakeUpdated}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {mode: three-way, onConflict: TakeUpdated}\n",
  ]) {
    const { files, conflicts } = merge({ ...sides, functionConfig });
    assert.deepEqual([files[""], conflicts.map(({ taken }) => taken)], [map(2, "blue"), ["updated"]]);
  }
});

test("a decision is a rule, and can be taken back", () => {
  const [conflict] = merge(sides).conflicts;
  const decided = (take) => {
    const functionConfig = decide("# ours\nkind: Merge\napiVersion: krm-merge.dev/v1alpha1\nspec:\n  mode: ThreeWay\n", conflict, take);
    const { files, conflicts } = merge({ ...sides, functionConfig });
    return [functionConfig.startsWith("# ours\n"), files[""], conflicts[0].open, conflicts[0].taken];
  };
  assert.deepEqual(decided("Dest"), [true, map(2, "green"), false, "dest"]);
  assert.deepEqual(decided("Updated"), [true, map(2, "blue"), false, "updated"]);
  const [own, other] = [decide("", conflict, "Dest"), decide(decide("", conflict, "Updated"), conflict, "Dest")];
  assert.equal(other, own);
  assert.equal(decide(own, conflict).includes("rules"), false);
  assert.throws(() => decide("", conflict, "Mine"), /`take` must be `Dest`, `Updated` or `Newest`, not "Mine"/);
});

test("a deletion is decided alone", () => {
  const two = (size) => `${map(size, "red")}---\n${map(1, "red").replace("name: a", "name: b")}`;
  const input = { original: two(1), updated: map(1, "red").replace("name: a", "name: b"), dest: two(3) };
  const [conflict, ...more] = merge(input).conflicts;
  assert.deepEqual([more.length, conflict.path, conflict.open], [0, "", true]);
  const functionConfig = decide("", conflict, "Updated");
  assert.equal(merge({ ...input, functionConfig }).files[""], input.updated);
});

test("elements that only their place names are decided one by one", () => {
  const list = (...ports) => `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n  ports:\n${ports.map((p) => `  - [${p}]\n`).join("")}`;
  const input = { original: list(1, 2), updated: list(11, 12), dest: list(21, 22) };
  let functionConfig = "";
  for (const [at, conflict] of merge(input).conflicts.entries()) {
    functionConfig = decide(functionConfig, conflict, at % 2 ? "Updated" : "Dest");
  }
  assert.deepEqual(merge({ ...input, functionConfig }).conflicts.map(({ open }) => open), merge(input).conflicts.map(() => false));
});

test("what a user wrote is never thrown", () => {
  const of = (input) => {
    const { passed, files, results } = merge(input);
    const { severity, file, line, column } = results[0];
    return [passed, Object.keys(files).length, severity, file, line, column];
  };
  assert.deepEqual(of({ ...sides, updated: "a: [" }), [false, 1, "error", "updated", 1, 4]);
  assert.deepEqual(of({ ...sides, functionConfig: "a: [" }), [false, 1, "error", "functionConfig", 1, 4]);
  assert.deepEqual(of({ ...sides, mode: "FourWay" }), [false, 1, "error", undefined, undefined, undefined]);
  const deep = `apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: ${"[".repeat(100000)}`;
  assert.equal(of({ ...sides, dest: deep })[0], false);
  const alias = `a: &a [x, x]\n${"bcdefghijk".replace(/./g, (c, i) => `${c}: &${c} [*${"abcdefghij"[i]}, *${"abcdefghij"[i]}]\n`)}`;
  assert.doesNotThrow(() => merge({ ...sides, dest: alias }));
});

test("what the caller gets wrong is an error that names it", () => {
  const dest = { "a.yaml": map(1, "red") };
  for (const [work, message] of [
    [() => merge({ original: dest, upated: undefined, dest }), "`upated` must be a field of the input: dest, original, updated, source, functionConfig, mode, allowEmptyUpdated"],
    [() => merge({ source: "" }), "`dest` must be given; `{}` is a package without files"],
    [() => merge({ source: "", dest: null }), "`dest` must be given; `{}` is a package without files"],
    [() => merge({ dest: { "a.yaml": null }, source: "" }), '`dest["a.yaml"]` must be a string, not null'],
    [() => merge({ dest, updated: [] }), "`updated` must be a string, or an object with a string for each path, not a list"],
    [() => merge({ dest, mode: 3n }), "`mode` must be a string, not a number"],
    [() => merge(1), "`input` must be an object, not a number"],
    [() => merge(), "`input` must be an object, not null"],
    [() => run(1), "`resourceList` must be a string, not number"],
    [() => explain(3), "`type` must be a string, not number"],
    [() => explain("Pod", { a: 1 }), '`files["a"]` must be a string, not a number'],
    [() => decide("", { case: { target: {}, when: {} } }, 3), "`take` must be a string, not number"],
    [() => decide("", { case: { target: {}, when: {} } }, () => 3), "`take` must be a string, not number"],
    [() => decide("", null, "Dest"), "`conflict` must be a conflict of a merge, or a list of conflicts, not null"],
  ]) assert.throws(work, { name: "TypeError", message });
  // A misspelled field of a case would decide more than the user did.
  for (const [one, message] of [
    [{ target: {}, wehn: {} }, /`wehn` must be a field of the case: target, path, when/],
    [{ target: {}, when: { orignal: "1" } }, /`orignal` must be a field of the `when` of a case: original, updated, dest/],
    [{ when: {} }, /`target` must be given/],
  ]) assert.throws(() => decide("", { case: one }, "Dest"), { name: "TypeError", message });
  assert.throws(() => merge({ dest: () => "" }), TypeError);
  const { passed, files } = merge({ original: dest, updated: undefined, dest });
  assert.deepEqual([passed, files], [false, dest]);
});

test("a field that is null or undefined is not given", () => {
  const [conflict] = merge(sides).conflicts;
  for (const none of [null, undefined]) {
    assert.deepEqual(merge({ ...sides, source: none, functionConfig: none, mode: none }), merge(sides));
    assert.equal(decide("", conflict, none), decide("", conflict));
    const { case: one } = conflict;
    assert.equal(decide("", { case: { ...one, when: { ...one.when, dest: none } } }, "Dest"), decide("", conflict, "Dest"));
    assert.deepEqual(explain("Pod", none), explain("Pod"));
  }
});

test("many conflicts are decided at once", () => {
  const data = (value) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n${Array.from({ length: 4000 }, (_, at) => `  k${at}: ${value}${at}\n`).join("")}`;
  const many = { original: data("a"), updated: data("b"), dest: data("c") };
  const { conflicts } = merge(many);
  assert.equal(conflicts.length, 4000);
  const begin = performance.now();
  const functionConfig = decide("", conflicts, "Updated");
  assert.ok(performance.now() - begin < 10_000);
  // A new rule comes before those that are there, and the same one stays where it is.
  const again = performance.now();
  assert.equal(decide(functionConfig, conflicts, "Updated"), functionConfig);
  const odd = ({ path }) => Number(path.slice("data.k".length)) % 2 === 1;
  const mixed = decide(functionConfig, conflicts, (conflict) => (odd(conflict) ? "Dest" : null));
  assert.ok(performance.now() - again < 10_000);
  const left = merge({ ...many, functionConfig: mixed }).conflicts;
  assert.deepEqual(left.map(({ open, taken }) => [open, taken]), left.map((one) => (odd(one) ? [false, "dest"] : [true, undefined])));
  assert.equal(decide(decide("", conflicts[1], "Updated"), conflicts[0], "Updated"), decide("", conflicts.slice(0, 2), "Updated"));
  assert.equal(merge({ ...many, functionConfig }).files[""], many.updated);
  assert.equal(merge({ ...many, functionConfig: decide(functionConfig, conflicts.slice(1)) }).conflicts.filter(({ open }) => open).length, 3999);
});

test("a browser's bundle has nothing of Node", () => {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  assert.deepEqual(exports["."], { types: "./index.d.ts", node: "./index.js", default: "./browser.js" });
  assert.ok(!readFileSync(new URL("browser.js", folder), "utf8").includes("node:"));
});

test("after a fault, the next call is answered", async () => {
  // A stack that is used up is the fault that can be made from outside.
  const exhausted = (depth) => {
    try {
      return exhausted(depth + 1);
    } catch {
      return merge(sides);
    }
  };
  const { files } = exhausted(0);
  assert.ok(files[""].startsWith("apiVersion"));
  assert.equal(merge(sides).files[""], map(2, "green"));
});

test("a two-way merge, a patch and files", () => {
  const source = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: null, size: '5'}\n".replaceAll("'", '"');
  const want = map(5, "red").replace("  color: red\n", "");
  assert.equal(merge({ source, dest: { "a.yaml": map(1, "red") } }).files["a.yaml"], want);
  assert.equal(merge({ source, dest: map(1, "red"), mode: "Strategic" }).files[""], want);
  const moved = merge({ original: { "a.yaml": map(1, "red") }, updated: { "b.yaml": map(2, "red") }, dest: { "a.yaml": map(1, "green"), "README": "x" } });
  assert.deepEqual(moved.changes, [{ kind: "moved", path: "b.yaml", from: "a.yaml" }]);
  assert.deepEqual(moved.files, { "b.yaml": map(2, "green"), README: "x" });
});

test("what is no resource merges under its path", () => {
  const files = (a, b) => ({ "values.yaml": `a: ${a} # own\nb: ${b}\n`, "a.yaml": map(1, "red"), README: `${a} [\n` });
  const [original, updated, dest] = [files(1, 1), files(2, 1), files(1, 2)];
  const merged = merge({ original, updated, dest });
  assert.deepEqual(merged.files, files(2, 2));
  assert.deepEqual(merged.changes.map(({ path }) => path), ["README", "values.yaml"]);
  const { conflicts, files: left } = merge({ original, updated, dest: files(3, 1) });
  assert.deepEqual(left, files(3, 1));
  assert.deepEqual(conflicts.map(({ file, line, path, original, updated, dest }) => [file, line, path, original, updated, dest]).at(-1), ["dest/values.yaml", 1, "a", "1\n", "2\n", "3\n"]);
  const [one, two, own] = ["a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n"];
  assert.equal(merge({ original: one, updated: two, dest: own }).files[""], "a: 2\nb: 2\n");
  assert.equal(merge({ source: "a: 5\nb: null\n", dest: own }).files[""], "a: 5\n");
});

test("a secret is not shown", () => {
  const secret = (value) => `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  key: ${value}\n`;
  const merged = merge({ original: secret("geheim1"), updated: secret("geheim2"), dest: secret("geheim3") });
  const [conflict] = merged.conflicts;
  assert.equal(conflict.secret, true);
  assert.equal(JSON.stringify([merged.conflicts, merged.results]).includes("geheim"), false);
  const functionConfig = decide("", conflict, "Updated");
  assert.equal(functionConfig.includes("geheim"), false);
  assert.equal(merge({ ...{ original: secret("geheim1"), updated: secret("geheim2"), dest: secret("geheim3") }, functionConfig }).files[""], secret("geheim2"));
});

test("explain says how lists merge", () => {
  const { apiVersion, kind, lists } = explain("deployment");
  assert.deepEqual([apiVersion, kind], ["apps/v1", "Deployment"]);
  const containers = lists.find(({ path }) => path === "spec.template.spec.containers");
  assert.deepEqual(containers, { path: "spec.template.spec.containers", kind: "Map", keys: ["name"], source: "Kubernetes" });
  assert.throws(() => explain("Nonsense"), /no type "Nonsense" is known\. .* in `files`$/);
});

test("values are reviewed over new defaults", () => {
  const told = review({ original: "a: 1\n", updated: "a: 2\n", dest: "# ours\na: 3\n" });
  assert.deepEqual(told, [{ severity: "warning", message: "hides: `a`: the default changed from 1 to 2, you set 3", file: "dest", line: 2, column: 1 }]);
  assert.equal(review({ original: "a: [", updated: "", dest: "" })[0].severity, "error");
  assert.throws(() => review({ original: "", updated: "" }), { name: "TypeError", message: "`dest` must be a string, not undefined" });
});

test("the version and a diff", () => {
  assert.match(version(), /^\d+\.\d+\.\d+/);
  assert.equal(diff("a\n", "b\n", "x"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
});

test("the function", () => {
  const list = `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  b:   1 # kept\nfunctionConfig: {apiVersion: krm-merge.dev/v1alpha1, kind: Merge, spec: {mode: TwoWay, source: [{resources: [{apiVersion: v1, kind: A, metadata: {name: a}, b: 2}]}]}}\n`;
  assert.deepEqual(run(list), { stdout: list.replace("b:   1", "b:   2"), stderr: [], passed: true });
  assert.equal(run("a").passed, false);
});

test("the module is small", () => {
  const bytes = gzipSync(readFileSync(new URL("krm_merge_bg.wasm", folder)), { level: 9 }).length;
  assert.ok(bytes < 1_110_000, `${bytes} bytes, compressed`);
});

test("README's example", () => {
  const text = readFileSync(new URL("README.md", folder), "utf8").split("```js\n")[1].split("```")[0];
  const program = text.replace("@krm-merge/wasm", new URL("index.js", folder).href);
  const want = [...text.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join("");
  const node = ["--input-type=module", "--eval", program];
  assert.equal(execFileSync(process.execPath, node, { encoding: "utf8" }), want);
});
