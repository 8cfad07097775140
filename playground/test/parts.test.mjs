/** The parts of the page that need no browser. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { alike, changesOf, unified } from "../src/changes.js";
import { toCommand } from "../src/command.js";
import { readExamples } from "../src/examples.mjs";
import { fromFragment, toFragment } from "../src/link.js";
import { line, lines } from "../src/shown.js";
import { emptyState, fromJson, toJson } from "../src/state.js";

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
  assert.equal(toCommand({ ...state, mode: "Review" }), "kubectl krm-merge review .\n");
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

test("changes have their places in both texts", () => {
  assert.deepEqual(changesOf("a\nb\nc\nd\n", "a\nB\nd\ne\n"), [
    { from: 2, at: 2, gone: ["b", "c"], fresh: ["B"] },
    { from: 5, at: 4, gone: [], fresh: ["e"] },
  ]);
  assert.deepEqual(changesOf("", "a\n"), [{ from: 1, at: 1, gone: [], fresh: ["a"] }]);
  assert.deepEqual(changesOf("a\n", ""), [{ from: 1, at: 1, gone: ["a"], fresh: [] }]);
  assert.deepEqual(changesOf("a\n", "a\n"), []);
  assert.deepEqual(alike("  image: a:1.4", "  image: a:1.5"), { start: 13, end: 0 });
  assert.equal(alike("  name: web", "  - x"), null);
});

test("a diff of any texts is one that patch applies", () => {
  const dir = mkdtempSync(join(tmpdir(), "playground-"));
  let seed = 7;
  const random = (/** @type {number} */ most) => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed % most;
  };
  const text = () => Array.from({ length: random(30) }, () => "abcdefgh"[random(8)].repeat(1 + random(2))).join("\n") + (random(3) === 0 ? "" : "\n");
  for (let n = 0; n < 300; n += 1) {
    const before = text();
    const after = random(2) === 0 ? text() : before.split("\n").filter(() => random(5) > 0).join("\n");
    if (before.trim() === "" || after.trim() === "") {
      continue;
    }
    const hunks = changesOf(before, after);
    // The changes alone make the one text of the other.
    const lines = before.split("\n");
    [...hunks].reverse().forEach(({ from, gone, fresh }) => lines.splice(from - 1, gone.length, ...fresh));
    assert.equal(lines.join("\n").replace(/\n$/, ""), after.replace(/\n$/, ""));
    if (hunks.length > 0) {
      writeFileSync(join(dir, "x"), before);
      writeFileSync(join(dir, "x.diff"), unified("x", before, after, hunks));
      const applied = spawnSync("git", ["apply", "x.diff"], { cwd: dir, encoding: "utf8" });
      assert.equal(applied.stderr, "", unified("x", before, after, hunks));
      assert.equal(readFileSync(join(dir, "x"), "utf8"), after);
    }
  }
});

test("the time of a diff grows with the texts", () => {
  const lines = Array.from({ length: 300_000 }, (_, n) => `${"  ".repeat(n % 5)}key-${n % 6 === 0 ? n : n % 6}: value`);
  const begin = performance.now();
  const hunks = changesOf(lines.join("\n"), lines.map((line, n) => (n % 6 === 3 ? `${line} # new` : line)).join("\n"));
  assert.equal(hunks.length, 50_000);
  assert.ok(performance.now() - begin < 5000);
});

test("each example is a state of its mode", () => {
  const found = readExamples(join(dirname(fileURLToPath(import.meta.url)), "../examples"));
  assert.ok(found.length >= 7);
  for (const { name, title, note, state } of found) {
    const { mode, sides } = fromJson(state);
    assert.ok(/^[a-z-]+$/.test(name) && title && note, name);
    const roles = ["ThreeWay", "Review"].includes(mode) ? ["original", "updated", "dest"] : ["source", "dest"];
    assert.deepEqual(Object.entries(sides).filter(([, files]) => files.size > 0).map(([role]) => role).sort(), roles.sort(), name);
  }
});
