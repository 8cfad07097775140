// What a program for browsers imports: it loads the module, checks what the caller gives, and turns a fault of the module into an
// error or a result. index.js is the same for Node.

import * as module from "./krm_merge.js";

let isLoaded = false;

export default async function init(source) {
  module.initSync({ module: await compiled(await (source ?? new URL("krm_merge_bg.wasm", import.meta.url))) });
  isLoaded = true;
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
  if (!isLoaded) throw new Error("the module must be loaded before it is used: call `init` once, and wait for it");
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

/** Says which argument of the caller has another type. The module checks the fields of objects, as `krm-merge merge` does. */
function must(is, name, be, value) {
  if (is) return;
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
  throw new TypeError(`\`${name}\` must be ${be}, not ${found}`);
}

function mustBeText(value, name) {
  must(typeof value === "string", name, "a string", value);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

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
  mustBeText(resourceList, "resourceList");
  return guarded(
    () => module.run(resourceList),
    (message) => ({ stdout: resourceList, stderr: [`error: ${message}`], passed: false }),
  );
}

export function decide(functionConfig, conflict, take) {
  mustBeText(functionConfig, "functionConfig");
  const decisions = [conflict].flat().map((one) => {
    must(isObject(one), "conflict", "a conflict of a merge, or a list of conflicts", one);
    if (!isObject(one.case)) throw new Error("the conflict must have a `case`: no rule can decide this one alone");
    const winner = typeof take === "function" ? take(one) : take;
    if (winner != null) mustBeText(winner, "take");
    return { case: one.case, take: winner };
  });
  return guarded(() => module.decide(functionConfig, decisions), thrown);
}

export function diff(before, after, path) {
  mustBeText(before, "before");
  mustBeText(after, "after");
  mustBeText(path, "path");
  return guarded(() => module.diff(before, after, path), thrown);
}

export function explain(type, files) {
  mustBeText(type, "type");
  return guarded(() => module.explain(type, files), thrown);
}

export function markers(text) {
  mustBeText(text, "text");
  return guarded(() => module.markers(text), thrown);
}

export function review(values) {
  must(isObject(values), "values", "an object", values);
  for (const side of ["original", "updated", "dest"]) mustBeText(values[side], side);
  return guarded(() => module.review(values.original, values.updated, values.dest), thrown);
}

export function version() {
  return guarded(() => module.version(), thrown);
}
