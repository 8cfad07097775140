/**
 * Builds the page: `node build.mjs FOLDER-OF-THE-MODULE [OUT]`. The folder is the npm package of crates/krm-merge-wasm. OUT gets index.html, which
 * is complete, and licenses.txt.
 */

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { readExamples } from "./src/examples.mjs";

const here = dirname(fileURLToPath(import.meta.url));
/** The report (`-o html`) has the same look. */
const LOOK = join(here, "../crates/krm-show/src/html/page.css");

/** @param {string} name */
const source = (name) => join(here, "src", name);
/** @param {string | Buffer} content */
const digest = (content) => createHash("sha256").update(content).digest("base64");

/**
 * @param {string} entry
 * @param {Record<string, string>} virtual modules that are made here: their text by their names
 * @param {Record<string, string>} [alias]
 */
async function bundle(entry, virtual, alias = {}) {
  const made = await build({
    entryPoints: [source(entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: ["chrome114", "firefox115", "safari16.4"],
    charset: "utf8",
    alias,
    // The module gets its bytes, so it never asks for an address of its own.
    define: { "import.meta.url": "\"\"" },
    plugins: [
      {
        name: "virtual",
        setup(builder) {
          builder.onResolve({ filter: /^krm-merge-/ }, ({ path }) => (path in virtual ? { path, namespace: "virtual" } : undefined));
          builder.onLoad({ filter: /.*/, namespace: "virtual" }, ({ path }) => ({ contents: virtual[path] }));
        },
      },
    ],
  });
  return { script: made.outputFiles[0].text, inputs: Object.keys(made.metafile.inputs) };
}

/** @param {string[]} inputs */
function licenses(inputs) {
  const packages = [...new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter((name) => name !== undefined))];
  const texts = packages.sort().map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`);
  return `The page holds these packages:\n\n${texts.join(`\n${"-".repeat(72)}\n\n`)}`;
}

/**
 * @param {string} wasm the folder of the module
 * @param {string} out
 */
export async function buildPage(wasm, out) {
  const worker = await bundle("worker.js", {}, { "krm-merge-wasm": resolve(wasm, "browser.js") });
  const page = await bundle("page.js", {
    "krm-merge-worker": `export default ${JSON.stringify(worker.script)};`,
    "krm-merge-examples": `export default ${JSON.stringify(readExamples(join(here, "examples")))};`,
  });
  const { script } = page;
  if (/<!--|<\/?script/i.test(script)) {
    throw new Error("the script must not hold what ends or opens a script");
  }
  const style = readFileSync(LOOK, "utf8") + readFileSync(source("page.css"), "utf8");
  const nonce = digest(style).slice(0, 24).replace(/[+/]/g, "-");
  const policy = [
    "default-src 'none'",
    "connect-src 'none'",
    `script-src 'sha256-${digest(script)}' 'wasm-unsafe-eval'`,
    // CodeMirror makes its styles at run time, with the nonce.
    `style-src 'nonce-${nonce}'`,
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const module = deflateRawSync(readFileSync(join(wasm, "krm_merge_bg.wasm")), { level: 9 }).toString("base64");
  const parts = { policy, nonce, style, script, module };
  const html = readFileSync(source("index.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[/** @type {keyof typeof parts} */ (name)]);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "index.html"), html);
  writeFileSync(join(out, "licenses.txt"), licenses([...worker.inputs, ...page.inputs]));
  return html.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wasm = process.argv[2] ?? process.env.WASM;
  const out = resolve(process.argv[3] ?? process.env.OUT ?? join(here, "../target/playground"));
  if (wasm === undefined) {
    console.error("error: the folder of the module must be given: `node build.mjs FOLDER` or `WASM=FOLDER`");
    process.exit(2);
  }
  const size = await buildPage(wasm, out);
  console.log(`${join(out, "index.html")}: ${Math.round(size / 1024)} KiB`);
}
