// The package as users get it: node --test crates/krm-merge-wasm/npm/test
// BUNDLERS names a folder whose node_modules has esbuild, webpack, vite and typescript; what is not there is skipped.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const built = process.env.WASM ?? join(root, "target/wasm");
const bundlers = process.env.BUNDLERS ?? join(root, "target/bundlers");

/** A project that uses the package, with what is installed in BUNDLERS. */
function project(files) {
  const folder = mkdtempSync(join(tmpdir(), "krm-merge-project-"));
  const scope = join(folder, "node_modules/@krm-merge");
  mkdirSync(scope, { recursive: true });
  cpSync(built, join(scope, "wasm"), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", sideEffects: false }));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

/** Skips a test where the tool is not installed. */
const needs = (tool) => ({ skip: existsSync(join(bundlers, "node_modules", tool)) ? false : `${tool} is not in ${bundlers}/node_modules` });
const tool = async (name) => import(pathToFileURL(createRequire(join(bundlers, "x.js")).resolve(name)));

const PROGRAM = `import init, { merge } from "@krm-merge/wasm";
export async function run() {
  await init();
  return merge({ original: "a: 1", updated: "a: 2", dest: "a: 1 # own" }).files[""];
}
`;

/** Runs a bundle for browsers, to which \`fetch\` gives what is in its folder. */
async function ran(folder, entry) {
  const asked = [];
  const own = globalThis.fetch;
  globalThis.fetch = async (url) => {
    asked.push(String(url));
    const name = new URL(url).pathname.split("/").at(-1);
    const found = readdirSync(folder, { recursive: true }).find((path) => path.endsWith(name));
    assert.ok(found, `${url} must be in ${folder}`);
    return new Response(readFileSync(join(folder, found)), { headers: { "content-type": "application/wasm" } });
  };
  try {
    assert.ok(!/node:|from ?"fs/.test(readFileSync(entry, "utf8")), "a bundle for browsers must have nothing of Node");
    const { run } = await import(pathToFileURL(entry));
    assert.equal(await run(), "a: 2 # own");
    assert.equal(asked.length, 1);
  } finally {
    globalThis.fetch = own;
    rmSync(folder, { recursive: true });
  }
}

test("Node imports the package by its name", () => {
  const folder = project({ "main.js": `${PROGRAM}console.log(await run());` });
  assert.equal(execFileSync(process.execPath, ["main.js"], { cwd: folder, encoding: "utf8" }), "a: 2 # own\n");
  const own = createRequire(join(folder, "main.js"));
  for (const path of ["package.json", "krm_merge_bg.wasm"]) assert.ok(existsSync(own.resolve(`@krm-merge/wasm/${path}`)));
  assert.throws(() => own.resolve("@krm-merge/wasm/krm_merge.js"), /ERR_PACKAGE_PATH_NOT_EXPORTED|not defined by "exports"/);
  rmSync(folder, { recursive: true });
});

test("esbuild", needs("esbuild"), async () => {
  const { default: esbuild } = await tool("esbuild");
  const folder = project({ "main.js": PROGRAM });
  const out = join(folder, "out");
  await esbuild.build({ entryPoints: [join(folder, "main.js")], bundle: true, format: "esm", platform: "browser", outfile: join(out, "main.mjs"), logLevel: "error" });
  // esbuild leaves the address of the module as it is, so a user copies the module beside the bundle.
  cpSync(join(built, "krm_merge_bg.wasm"), join(out, "krm_merge_bg.wasm"));
  await ran(folder, join(out, "main.mjs"));
});

test("webpack", needs("webpack"), async () => {
  const { default: webpack } = await tool("webpack");
  const folder = project({ "main.js": PROGRAM });
  const config = {
    mode: "production", context: folder, entry: "./main.js", target: "web", experiments: { outputModule: true },
    output: { path: join(folder, "out"), filename: "main.mjs", library: { type: "module" }, publicPath: "auto" },
  };
  const stats = await new Promise((done, failed) => webpack(config, (error, stats) => (error ? failed(error) : done(stats))));
  assert.ok(!stats.hasErrors() && !stats.hasWarnings() || /size limit/.test(stats.toString()), stats.toString());
  await ran(folder, join(folder, "out/main.mjs"));
});

test("vite", needs("vite"), async () => {
  const { build } = await tool("vite");
  const folder = project({ "main.js": PROGRAM });
  await build({
    root: folder, logLevel: "error", base: "./",
    build: { outDir: "out", rollupOptions: { input: join(folder, "main.js"), preserveEntrySignatures: "strict", output: { entryFileNames: "main.mjs" } } },
  });
  await ran(folder, join(folder, "out/main.mjs"));
});

test("the types hold with the strictest settings, and without those of a browser or Node", needs("typescript"), () => {
  const folder = project({
    "main.ts": `import init, { decide, diff, explain, markers, merge, run, version } from "@krm-merge/wasm";
import type { Conflict, Files, MergeInput, MergeOutput, Take } from "@krm-merge/wasm";
const files: Files = { "a.yaml": "a: 1" };
const none: MergeInput = { dest: files, original: null, updated: undefined };
export async function main(bytes: ArrayBuffer, mode?: MergeInput["mode"]): Promise<string> {
  await init(bytes);
  await init(new Uint8Array(bytes));
  await init();
  const output: MergeOutput = merge({ ...none, source: "a: 2", mode });
  const open: readonly Conflict[] = output.conflicts.filter((conflict) => conflict.open);
  const take = (conflict: Conflict): Take | null => (conflict.path === "" ? "Dest" : null);
  const configs = [decide("", open, take), decide("", open, "Updated"), decide("", open), decide("", open, null)];
  const line: number | undefined = output.results[0]?.line;
  const kind: string = explain("Pod", null).lists[0]?.kind ?? "";
  const original: [number, number] | null | undefined = markers("").conflicts[0]?.original;
  return [...configs, output.files["a.yaml"] ?? "", diff("", "", ""), run("").stdout, version(), line, kind, original].join();
}
// @ts-expect-error a field of another name
merge({ dest: "", upated: "" });
// @ts-expect-error dest is missing
merge({ source: "" });
// @ts-expect-error no winner of that name
decide("", { case: { target: {}, when: {} } }, "Mine");
`,
  });
  const tsc = join(bundlers, "node_modules/typescript/bin/tsc");
  const strict = [
    "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noImplicitOverride", "--noPropertyAccessFromIndexSignature",
    "--noImplicitReturns", "--noFallthroughCasesInSwitch", "--noUnusedLocals", "--isolatedModules", "--verbatimModuleSyntax", "--skipLibCheck", "false",
  ];
  for (const [module, resolution] of [["nodenext", "nodenext"], ["esnext", "bundler"]]) {
    const args = [tsc, ...strict, "--noEmit", "--target", "es2022", "--lib", "es2022", "--types", "", "--module", module, "--moduleResolution", resolution, "main.ts"];
    const ran = (() => {
      try {
        return execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
      } catch (error) {
        return error.stdout;
      }
    })();
    assert.equal(ran, "", `${module}: ${ran}`);
  }
  rmSync(folder, { recursive: true });
});
