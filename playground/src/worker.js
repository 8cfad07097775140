/**
 * The worker that merges, so that typing never waits for a merge. It keeps the last merge, and the page asks for the parts that it shows.
 */

import init, { decide, merge, review, version } from "krm-merge-wasm";
import { changesOf, unified } from "./changes.js";

/** How many conflicts and messages the page gets at once. */
const PAGE = 100;

/** @type {{conflicts: import("krm-merge-wasm").Conflict[], messages: import("krm-merge-wasm").Result[]}} */
const lists = { conflicts: [], messages: [] };

/** @type {Map<string, {path: string, before: string, after: string, from?: string}>} */
let texts = new Map();

/** What the page may ask for, by name. */
const answers = {
  /** @param {string} packed the module, compressed and in base64 */
  async load(packed) {
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    await init(await new Response(stream).arrayBuffer());
    return version();
  },

  /** @param {{mode: string, sides: Record<string, [string, string][]>, config: string, path?: string}} asked */
  merge({ mode, sides, config, path }) {
    const input = /** @type {import("krm-merge-wasm").MergeInput} */ ({ mode });
    // If each side is one file, it is the same file, whatever its name is.
    const isOne = Object.values(sides).every((files) => files.length === 1);
    for (const [role, files] of Object.entries(sides)) {
      const named = isOne ? [[sides.dest[0][0], files[0][1]]] : files;
      input[/** @type {"dest"} */ (role)] = isOne && named[0][0] === "" ? named[0][1] : Object.fromEntries(named);
    }
    if (config.trim() !== "") {
      input.functionConfig = config;
    }
    const begin = performance.now();
    const out = mode === "Review" ? reviewed(sides) : merge(input);
    const took = performance.now() - begin;
    const dest = new Map(sides.dest);
    texts = new Map();
    for (const { path, from } of out.changes) {
      texts.set(path, { path, from, before: dest.get(from ?? path) ?? "", after: textOf(out.files, path) });
    }
    if (texts.size === 0 && dest.size > 0) {
      const [[first, text]] = dest;
      texts.set(first, { path: first, before: text, after: textOf(out.files, first) });
    }
    lists.conflicts = out.conflicts;
    lists.messages = out.results;
    const open = out.conflicts.filter((conflict) => conflict.open).length;
    const shown = path !== undefined && texts.has(path) ? path : [...texts.keys()][0];
    return {
      passed: out.passed,
      took,
      changes: out.changes,
      counts: { conflicts: out.conflicts.length, open, messages: lists.messages.length },
      conflicts: out.conflicts.slice(0, PAGE),
      messages: lists.messages.slice(0, PAGE),
      file: shown === undefined ? undefined : answers.file(shown),
    };
  },

  /** @param {string} path */
  file(path) {
    const text = texts.get(path);
    return text === undefined ? undefined : { path, text: text.after, hunks: changesOf(text.before, text.after) };
  },

  /** @param {string} path */
  diff(path) {
    const text = texts.get(path);
    return text === undefined ? "" : unified(path || "dest.yaml", text.before, text.after, changesOf(text.before, text.after));
  },

  /** All changes as one patch, for `git apply`. */
  patch() {
    const one = (/** @type {string} */ path, /** @type {string} */ before, /** @type {string} */ after) =>
      unified(path || "dest.yaml", before, after, changesOf(before, after));
    const parts = [...texts.values()].map(({ path, from, before, after }) =>
      from === undefined || from === path ? one(path, before, after) : one(from, before, "") + one(path, "", after));
    return parts.join("");
  },

  /** @param {{list: "conflicts" | "messages", from: number}} asked */
  more({ list, from }) {
    return lists[list].slice(from, from + PAGE);
  },

  /** @param {{config: string, conflict: import("krm-merge-wasm").Conflict, take?: import("krm-merge-wasm").Take}} asked */
  decide({ config, conflict, take }) {
    return decide(config, conflict, take);
  },
};

/**
 * A review as a merge that changes nothing.
 * @param {Record<string, [string, string][]>} sides
 * @returns {import("krm-merge-wasm").MergeOutput}
 */
function reviewed({ original, updated, dest }) {
  const [[path, text]] = dest;
  const results = review({ original: original[0][1], updated: updated[0][1], dest: text });
  const placed = results.map((one) => (one.file === "dest" && path !== "" ? { ...one, file: `dest/${path}` } : one));
  return { passed: results[0]?.severity !== "error", files: { [path]: text }, changes: [], results: placed, conflicts: [] };
}

/**
 * @param {Record<string, string>} files
 * @param {string} path
 */
function textOf(files, path) {
  return Object.hasOwn(files, path) ? files[path] : "";
}

self.addEventListener("message", async ({ data: { id, name, asked } }) => {
  try {
    self.postMessage({ id, value: await answers[/** @type {keyof typeof answers} */ (name)](asked) });
  } catch (error) {
    self.postMessage({ id, error: String(error instanceof Error ? error.message : error) });
  }
});
