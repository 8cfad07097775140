/** Conflict markers. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { changesOf } from "../lib/changes.js";
import init, * as engine from "../lib/index.js";
import { marked, taken, whole as wholeOf } from "../src/markers.mjs";

before(() => init());

const conflictsOf = (/** @type {string} */ text) => engine.markers(text).conflicts;
const whole = (/** @type {string} */ text, /** @type {import("../src/markers.mjs").Side} */ side) => wholeOf(text, conflictsOf(text), side);

const DIFF3 = "a\n<<<<<<< HEAD\nours\n||||||| base\nold\n=======\ntheirs\n>>>>>>> v2\nb\n";

test("conflicts have their three sides", () => {
  const [conflict, ...more] = conflictsOf(DIFF3);
  assert.deepEqual(more, []);
  assert.deepEqual(conflict, { start: 1, end: 8, ours: [2, 3], original: [4, 5], theirs: [6, 7], ourName: "HEAD", theirName: "v2", mayHaveMoved: false });
  assert.equal(whole(DIFF3, "ours"), "a\nours\nb\n");
  assert.equal(whole(DIFF3, "original"), "a\nold\nb\n");
  assert.equal(whole(DIFF3, "theirs"), "a\ntheirs\nb\n");
  assert.equal(taken(DIFF3, conflict, ["ours", "theirs"]), "ours\ntheirs\n");
});

test("markers without the original, of Windows, at the end of the text, and longer ones", () => {
  const two = "<<<<<<< HEAD\r\nours\r\n=======\r\n>>>>>>> v2";
  assert.equal(conflictsOf(two)[0].original, null);
  assert.equal(whole(two, "ours"), "ours\r\n");
  assert.equal(whole(two, "theirs"), "");
  const long = "<<<<<<<<<< a\nx\n=======\ny\n==========\nz\n>>>>>>>>>> b\n";
  assert.equal(whole(long, "ours"), "x\n=======\ny\n");
});

test("markers that are not whole are text", () => {
  for (const text of ["", "=======\n", "<<<<<<< a\nx\n", "<<<<<<< a\n>>>>>>> b\n", "x <<<<<<< a\n=======\n>>>>>>> b\n", ">>>>>>> b\n", "<<<<<<<a\n=======\n>>>>>>> b\n"]) {
    assert.deepEqual(conflictsOf(text), [], text);
    assert.equal(whole(text, "theirs"), text);
  }
});

test("markers are read as `resolve` reads them", () => {
  const inner = "<<<<<<< x\n2\n=======\n3\n>>>>>>> y\n";
  const nested = `<<<<<<< a\n${inner}=======\n${inner}>>>>>>> b\n`;
  assert.equal(whole(nested, "ours"), inner);
  assert.equal(whole(nested, "theirs"), inner);
  const several = "<<<<<<< a\n1\n=======\nTitle\n=======\n2\n>>>>>>> b\n";
  assert.deepEqual(engine.markers(several), { conflicts: [], faults: [0] });
});

test("two texts become one whose sides are these texts", () => {
  const names = { ourName: "HEAD", theirName: "v2" };
  for (const [ours, theirs] of [["a\nb\nc\n", "a\nB\nc\nd\n"], ["", "a\n"], ["a\nb\n", ""], ["a\n", "a\n"], ["a\r\nb\r\n", "a\r\nc\r\n"]]) {
    const text = marked(ours, theirs, changesOf(ours, theirs), names);
    assert.equal(whole(text, "ours"), ours);
    assert.equal(whole(text, "theirs"), theirs);
    assert.equal(conflictsOf(text).length > 0, ours !== theirs);
  }
  for (const [ours, original, theirs, want] of [
    ["a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", ["x\n"]],
    ["a\nc\n", "a\nx\nc\n", "a\ny\nc\n", ["x\n"]],
    ["a\nb\nc\n", "a\nc\n", "a\ny\nc\n", [""]],
    ["new\na\nb\nc\nd\ne\n", "a\nx\nc\nd\ny\n", "new\na\n1\nc\nd\n2\n", ["x\n", "y\n"]],
  ]) {
    const base = { text: String(original), hunks: changesOf(String(ours), String(original)) };
    const text = marked(String(ours), String(theirs), changesOf(String(ours), String(theirs)), { ...names, base });
    assert.equal(whole(text, "ours"), ours);
    assert.equal(whole(text, "theirs"), theirs);
    assert.deepEqual(conflictsOf(text).map((one) => taken(text, one, ["original"])), want);
  }
});
