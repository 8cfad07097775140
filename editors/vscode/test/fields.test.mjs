/** Merges by field, with the module in `lib` (`npm run build`). */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { changesOf } from "../lib/changes.js";
import init, * as engine from "../lib/index.js";
import { mergeByField, Refused } from "../src/fields.mjs";
import { whole as wholeOf } from "../src/markers.mjs";

before(() => init());

const whole = (/** @type {string} */ text, /** @type {import("../src/markers.mjs").Side} */ side) => wholeOf(text, engine.markers(text).conflicts, side);

/** @param {string} text @param {string} [rules] @param {string} [original] */
const merge = (text, rules = "", original) => mergeByField(text, { engine, changesOf, path: "deploy/web.yaml", rules, original });

/**
 * What git writes where one hunk holds several fields.
 * @param {string} ours @param {string} original @param {string} theirs
 */
const file = (ours, original, theirs) =>
  `# The shop.\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n` +
  `<<<<<<< HEAD\n${ours}||||||| v1\n${original}=======\n${theirs}>>>>>>> v2\n  paused: false # ours\n`;

test("fields that only one side changed merge, and comments stay", () => {
  const { text, left } = merge(file("  replicas: 2 # by hand\n  minReadySeconds: 5\n", "  replicas: 1\n  minReadySeconds: 5\n", "  replicas: 1\n  minReadySeconds: 9\n"));
  assert.equal(left, 0);
  assert.equal(text, "# The shop.\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2 # by hand\n  minReadySeconds: 9\n  paused: false # ours\n");
});

const CONFLICT = file("  replicas: 2 # by hand\n  minReadySeconds: 5\n", "  replicas: 1\n  minReadySeconds: 5\n", "  replicas: 3\n  minReadySeconds: 9\n");

test("what both sides changed stays between markers, and nothing else does", () => {
  const { text, left } = merge(CONFLICT);
  assert.equal(left, 1);
  assert.match(text, /<<<<<<< HEAD\n {2}replicas: 2 # by hand\n\|{7} original\n {2}replicas: 1\n=======\n {2}replicas: 3\n>>>>>>> v2\n {2}minReadySeconds: 9\n/);
  assert.doesNotMatch(whole(text, "ours"), /minReadySeconds: 5/);
});

test("without the original between the markers, git's index has it", () => {
  const original = whole(CONFLICT, "original");
  const bare = CONFLICT.replace(/\|{7}[^=]*(?=^={7}$)/m, "");
  assert.doesNotMatch(bare, /\|{7}/);
  for (const ends of [(/** @type {string} */ text) => text, (/** @type {string} */ text) => text.replaceAll("\n", "\r\n")]) {
    const { text, left } = merge(ends(bare), "", original);
    assert.equal(left, 1);
    assert.match(text, /<<<<<<< HEAD\r?\n {2}replicas: 2 # by hand\r?\n=======\r?\n {2}replicas: 3\r?\n>>>>>>> v2\r?\n {2}minReadySeconds: 9\r?\n/);
  }
  // What one side may have moved is known in the whole file.
  assert.equal(merge(file("  other: 1\n", "  replicas: 1\n", "  replicas: 1\n  minReadySeconds: 9\n"), "", original.replace("  minReadySeconds: 5\n", "")).left, 0);
});

test("rules decide", () => {
  const rule = (/** @type {string} */ take, path = "deploy/") =>
    `apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {target: {path: ${path}}, path: spec.replicas, take: ${take}}\n`;
  assert.match(merge(CONFLICT, rule("Updated")).text, /replicas: 3/);
  assert.equal(merge(CONFLICT, rule("Dest")).left, 0);
  assert.equal(merge(CONFLICT, rule("Dest", "other/")).left, 1);
});

test("what cannot be merged by field is refused, and says what to do", () => {
  const refused = (/** @type {string} */ text, /** @type {RegExp} */ why, rules = "") =>
    assert.throws(() => merge(text, rules), (error) => error instanceof Refused && why.test(error.message));
  refused("a: 1\n", /must have conflict markers/);
  refused("<<<<<<< a\na: 1\n=======\na: 2\n>>>>>>> b\n", /diff3/);
  refused(`${CONFLICT}<<<<<<< lost\n`, /line 18 on must have one end/);
  refused(file("  other: 1\n", "  replicas: 1\n", "  replicas: 1\n  minReadySeconds: 9\n"), /may have moved .* line 7 /);
  refused(file("  a: [\n", "  a: 1\n", "  a: 2\n"), /is not valid YAML/);
  refused(CONFLICT, /functionConfig 3:/, "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {bad: 1}\n");
});
