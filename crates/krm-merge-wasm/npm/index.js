// What Node imports: browser.js, with a module from the file beside it, because the `fetch` of Node reads no files.

import { readFile } from "node:fs/promises";

import load from "./browser.js";

export * from "./browser.js";

export default async function init(source) {
  const beside = new URL("krm_merge_bg.wasm", import.meta.url);
  await load(source ?? (beside.protocol === "file:" ? readFile(beside) : beside));
}
