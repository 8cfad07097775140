// What a program imports: it loads the module, and turns a fault of the module into an error or a result.

import * as module from "./krm_merge.js";

export default async function init(source) {
  module.initSync({ module: await compiled(await (source ?? beside())) });
}

/** The file beside this one. The `fetch` of Node reads no files. */
async function beside() {
  const address = new URL("krm_merge_bg.wasm", import.meta.url);
  if (address.protocol !== "file:" || !globalThis.process?.versions?.node) return address;
  const { readFile } = await import("node:fs/promises");
  return readFile(address);
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) return WebAssembly.compile(source);
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new Error(`the module must be at ${response.url}, but the answer is ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Runs `work`. A fault leaves the memory of the module as it was at that moment, so the next call gets a new one. */
function guarded(work, failed) {
  try {
    return work();
  } catch (error) {
    // A stack that is too small is a RangeError.
    if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
    module.__wbg_reset_state();
    return failed(`this is a fault of krm-merge, please report it: ${error.message}`);
  }
}

function thrown(message) {
  throw new Error(message);
}

export function merge(input) {
  return guarded(
    () => module.merge(input),
    (message) => ({
      passed: false,
      files: typeof input.dest === "string" ? { "": input.dest } : { ...input.dest },
      changes: [],
      results: [{ severity: "error", message }],
      conflicts: [],
    }),
  );
}

export function run(resourceList) {
  return guarded(
    () => module.run(resourceList),
    (message) => ({ stdout: resourceList, stderr: [`error: ${message}`], passed: false }),
  );
}

export function decide(functionConfig, conflict, take) {
  return guarded(() => module.decide(functionConfig, conflict, take), thrown);
}

export function diff(before, after, path) {
  return guarded(() => module.diff(before, after, path), thrown);
}

export function explain(type, files) {
  return guarded(() => module.explain(type, files), thrown);
}

export function markers(text) {
  return guarded(() => module.markers(text), thrown);
}

export function version() {
  return module.version();
}
