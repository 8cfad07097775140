/**
 * The examples of the menu, read when the page is built. An example is one file of `examples/`, in the form of tests/corpus: `key: value`, or
 * `key: |` and an indented text. `original`, `updated`, `source` and `dest` are the sides; `dest/a.yaml` is one file of several.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { emptyState, fromJson, toJson } from "./state.js";

/** @typedef {{name: string, title: string, note: string, state: string}} Example `state` is the JSON of a State */

/**
 * @param {string} folder
 * @returns {Example[]} in the order of the names of the files, which begin with a number
 */
export function readExamples(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml")).sort();
  return names.map((name) => ({ name: name.replace(/^\d+-|\.yaml$/g, ""), ...parse(readFileSync(join(folder, name), "utf8")) }));
}

/** @param {string} text */
function parse(text) {
  const state = emptyState();
  const found = new Map();
  for (const [, key, value, block] of text.matchAll(/^([\w./-]+): (?:\|\n((?:(?: {2}.*)?\n)+)|(.+)\n)/gm)) {
    found.set(key, block ?? value.replace(/^ {2}/gm, "").replace(/\n+$/, "\n"));
  }
  for (const [key, value] of found) {
    const [role, ...path] = key.split("/");
    if (Object.hasOwn(state.sides, role)) {
      state.sides[/** @type {import("./modes.js").Role} */ (role)].set(path.join("/"), value);
    }
  }
  state.mode = found.get("mode");
  state.config = found.get("config") ?? "";
  // It must be a state that a link could hold.
  fromJson(toJson(state));
  return { title: found.get("title"), note: found.get("note"), state: toJson(state) };
}
