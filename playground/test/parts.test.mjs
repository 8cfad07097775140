/** The parts of the page that need no browser. */

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { toCommand } from "../src/command.js";
import { readExamples } from "../src/examples.mjs";
import { fromFragment, toFragment } from "../src/link.js";
import { line, lines } from "../src/shown.js";
import { emptyState, fromJson, toJson } from "../src/state.js";
import { alike, hunks } from "../src/unified.js";

/** @param {Partial<import("../src/state.js").State>} some */
const stateOf = (some) => ({ ...emptyState(), ...some });

test("what misleads is escaped, as the programs do it", () => {
  // The cases of crates/krm-yaml/src/shown.rs.
  for (const [text, want] of [
    ["web", "web"],
    ["é 日本 עברית 🦀", "é 日本 עברית 🦀"],
    ["a\nb\r\tc", "a\\nb\\r\\tc"],
    ["\0\u0007\u001b[31m\u007f", "\\u0000\\u0007\\u001b[31m\\u007f"],
    ["\u0080\u009b31m", "\\u0080\\u009b31m"],
    ["\u061c\u200e\u202e\u2066", "\\u061c\\u200e\\u202e\\u2066"],
    ["\u00ad\u200b\ufeff\u3164", "\\u00ad\\u200b\\ufeff\\u3164"],
    ["\u{e0041}", "\\udb40\\udc41"],
  ]) {
    assert.equal(line(text), want);
  }
  assert.equal(lines("a\tb\nc\u202ed\n"), "a\tb\nc\\u202ed\n");
});

test("a link gives back each text to the byte", async () => {
  const state = stateOf({ mode: "TwoWay", config: "kind: Merge # ü\n" });
  state.sides.dest = new Map([["", "a: 1\r\nb: \u202e\0\n"]]);
  state.sides.source = new Map([["__proto__", "x"], ["constructor/a.yaml", "\ufeffy: 🦀\n"]]);
  const fragment = await toFragment(state);
  assert.match(fragment ?? "", /^1\.[\w-]+$/);
  assert.deepEqual(await fromFragment(fragment ?? ""), state);
});

test("a link of a megabyte of YAML fits, and what does not compress is refused", async () => {
  const state = emptyState();
  state.sides.dest.set("", "a: 1\n".repeat(1 << 20));
  assert.ok(((await toFragment(state)) ?? "").length < 40_000);
  let noise = "";
  for (let n = 0; noise.length < 4 << 20; n += 1) {
    noise += Math.sin(n).toString(36);
  }
  state.sides.dest.set("", noise);
  assert.equal(await toFragment(state), null);
});

test("a broken or hostile link is refused", async () => {
  const deflated = async (/** @type {string} */ json) => {
    const stream = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return `1.${Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url")}`;
  };
  assert.ok(await fromFragment(await deflated(toJson(emptyState()))));
  for (const fragment of [
    "", "1.", "1.%", "2.abc", "1.AAAA", "<script>alert(1)</script>",
    await deflated("null"), await deflated("{}"), await deflated("[1]"), await deflated("not json"),
    await deflated('{"mode":"Evil","sides":[],"config":""}'),
    await deflated('{"mode":"TwoWay","sides":[["__proto__",[["a","b"]]]],"config":""}'),
    await deflated('{"mode":"TwoWay","sides":[["dest",[["a",1]]]],"config":""}'),
    await deflated('{"mode":"TwoWay","sides":{},"config":""}'),
    // It would grow to 40 MB.
    await deflated(`{"mode":"TwoWay","sides":[],"config":"${"a".repeat(40 << 20)}"}`),
  ]) {
    await assert.rejects(fromFragment(fragment), fragment.slice(0, 60));
  }
});

test("the command has the sides, and the functionConfig with its decisions", () => {
  const state = stateOf({ mode: "ThreeWay" });
  state.sides.original = new Map([["", "a"]]);
  state.sides.updated = new Map([["gate.yaml", "a"]]);
  state.sides.dest = new Map([["a.yaml", "a"], ["b/c.yaml", "a"]]);
  assert.equal(toCommand(state), "kubectl krm-merge three-way --original original.yaml --updated updated/gate.yaml --dest dest --on-conflict mark -o diff\n");
  state.config = "kind: Merge\r\nspec: {}\r\n";
  assert.equal(
    toCommand(state),
    "cat > krm-merge-config.yaml <<'EOF'\nkind: Merge\nspec: {}\nEOF\n" +
      "kubectl krm-merge three-way --original original.yaml --updated updated/gate.yaml --dest dest --on-conflict mark --config krm-merge-config.yaml -o diff\n",
  );
  assert.match(toCommand({ ...state, config: "", mode: "Strategic" }) ?? "", /^kubectl krm-merge strategic --patch patch.yaml --dest dest -o diff/);
  assert.match(toCommand({ ...state, config: "", mode: "TwoWay" }) ?? "", /^kubectl krm-merge two-way --source source.yaml --dest dest -o diff/);
});

test("no name and no text of the page becomes a command of its own", () => {
  const state = stateOf({ config: "a\nEOF\ncurl evil\n" });
  state.sides.dest = new Map([["$(curl evil)'`x`\n\u001b[201~;.yaml", "a"]]);
  const command = toCommand(state) ?? "";
  assert.match(command, /^cat > krm-merge-config.yaml <<'EOF_'\na\nEOF\ncurl evil\nEOF_\nkubectl /);
  assert.match(command, /--dest 'dest\/\$\(curl evil\)'\\''`x`'\?''\?'\[201~;\.yaml' /);
  assert.doesNotMatch(command, /\u001b/);
  assert.equal(toCommand(stateOf({ config: "a: \u001b[201~\ncurl evil\n" })), null);
});

test("a diff gives the places of its changes in the text after it", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@ k: v\n a\n-b\n-c\n+B\n d\n+e\n@@ -9 +9,0 @@\n-- z\n\\ No newline at end of file\n";
  assert.deepEqual(hunks(diff), [
    { at: 2, gone: ["b", "c"], fresh: ["B"] },
    { at: 4, gone: [], fresh: ["e"] },
    { at: 10, gone: ["- z"], fresh: [] },
  ]);
  assert.deepEqual(hunks(""), []);
  assert.deepEqual(alike("  image: a:1.4", "  image: a:1.5"), { start: 13, end: 0 });
  assert.equal(alike("  name: web", "  - x"), null);
});

test("each example is a state of its mode", () => {
  const found = readExamples(join(dirname(fileURLToPath(import.meta.url)), "../examples"));
  assert.ok(found.length >= 7);
  for (const { name, title, note, state } of found) {
    const { mode, sides } = fromJson(state);
    assert.ok(/^[a-z-]+$/.test(name) && title && note, name);
    const roles = mode === "ThreeWay" ? ["original", "updated", "dest"] : ["source", "dest"];
    assert.deepEqual(Object.entries(sides).filter(([, files]) => files.size > 0).map(([role]) => role).sort(), roles.sort(), name);
  }
});
