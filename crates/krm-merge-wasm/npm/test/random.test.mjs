// Random packages merge as the program merges folders, to the byte: node --test crates/krm-merge-wasm/npm/test
// KRM_MERGE names the program; without it, it is target/debug/krm-merge.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = pathToFileURL(`${process.env.WASM ?? join(root, "target/wasm")}/`);
const program = process.env.KRM_MERGE ?? join(root, "target/debug/krm-merge");
const { default: init, merge } = await import(new URL("index.js", folder));
await init();

/** A generator of numbers that gives the same ones each time: mulberry32. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const KINDS = {
  "a.yaml": (value) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  one: "${value(0)}" # one\n  two: "${value(1)}"\n`,
  "web/web.yaml": (value) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: ${value(0)}\n  template:\n    spec:\n      containers:\n      - name: c${value(1)}\n        image: x:${value(2)}\n      - name: own\n        image: y:${value(3)}\n`,
  "two.yaml": (value) => [0, 1].map((at) => `apiVersion: v1\nkind: Service\nmetadata: {name: s${at}}\nspec: {type: t${value(at)}}\n`).join("---\n"),
  "values.yaml": (value) => `# values\na: ${value(0)}\nb:\n  c: ${value(1)}\n  d: [x, ${value(2)}]\n`,
  README: (value) => `one ${value(0)}\ntwo\nthree\nfour ${value(1)}\n`,
  "templates/t.yaml": (value) => `{{- if .Values.a }}\na: ${value(0)}\n{{- end }}\nb: ${value(1)}\n`,
  "list.json": (value) => `{"a": ${value(0)}, "b": [${value(1)}]}\n`,
};

/** A side: each field has its first value, or one that the side gave it. */
function side(random, changes) {
  const files = {};
  for (const [path, text] of Object.entries(KINDS)) {
    if (random(100) < changes) {
      if (random(4) === 0) continue;
      const moved = random(8) === 0 && path.endsWith(".yaml") ? `moved/${path}` : path;
      files[moved] = text(() => (random(2) ? 1 : 2 + random(3)));
    } else {
      files[path] = text(() => 1);
    }
  }
  return files;
}

function write(where, files) {
  mkdirSync(where, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(where, path)), { recursive: true });
    writeFileSync(join(where, path), text);
  }
}

function read(where) {
  const names = readdirSync(where, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return Object.fromEntries(paths.map((path) => [relative(where, path).replaceAll("\\", "/"), readFileSync(path, "utf8")]));
}

const CASES = Number(process.env.KRM_MERGE_CASES ?? 300);
const skip = existsSync(program) ? false : `${program} is not built`;

test(`${CASES} random packages merge as the program merges folders`, { skip }, () => {
  const below = mkdtempSync(join(tmpdir(), "krm-merge-random-"));
  let conflicts = 0;
  for (let seed = 0; seed < CASES; seed++) {
    const random = numbers(seed);
    const input = { original: side(random, 0), updated: side(random, 50), dest: side(random, 50) };
    const own = merge({ ...input, functionConfig: "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {onConflict: KeepDest}\n" });
    const where = join(below, String(seed));
    for (const [name, files] of Object.entries(input)) write(join(where, name), files);
    const args = ["three-way", "--original", "original", "--updated", "updated", "--dest", "dest", "--in-place", "--on-conflict", "keep-dest"];
    const ran = spawnSync(program, args, { cwd: where, encoding: "utf8" });
    const told = JSON.stringify({ seed, input, stderr: ran.stderr, results: own.results }, null, 1);
    assert.equal(own.passed, ran.status === 0, told);
    assert.deepEqual(own.files, read(join(where, "dest")), told);
    conflicts += own.conflicts.length;
    // The command has the same shapes.
    if (seed % 10 === 0) {
      const json = execFileSync(program, ["merge"], { input: JSON.stringify(input), encoding: "utf8" });
      assert.deepEqual(JSON.parse(json), merge(input), told);
    }
  }
  rmSync(below, { recursive: true });
  assert.ok(conflicts > CASES, `${conflicts} conflicts`);
});

test("no merge leaves memory behind", async () => {
  const { initSync } = await import(new URL("krm_merge.js", folder));
  const { memory } = initSync();
  const map = KINDS["a.yaml"];
  const input = { original: map(() => 1), updated: map((at) => at), dest: { "b.yaml": map((at) => 1 + at), README: "own" } };
  const after = (count) => {
    for (let at = 0; at < count; at++) merge(input);
    return memory.buffer.byteLength;
  };
  const first = after(100);
  assert.equal(after(Number(process.env.KRM_MERGE_MERGES ?? 10_000)), first);
});
