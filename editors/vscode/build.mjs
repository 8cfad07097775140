/** Puts what the extension is made of into `lib`, and the license beside it: `node build.mjs FOLDER`, the npm package of crates/krm-merge-wasm. */

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} wasm */
export function build(wasm) {
  const lib = join(here, "lib");
  rmSync(lib, { recursive: true, force: true });
  mkdirSync(lib);
  for (const name of ["browser.js", "index.js", "krm_merge.js", "krm_merge_bg.wasm"]) {
    cpSync(join(wasm, name), join(lib, name));
  }
  cpSync(join(here, "../../playground/src/changes.js"), join(lib, "changes.js"));
  mkdirSync(join(here, "schemas"), { recursive: true });
  cpSync(join(here, "../../schemas/krm-merge-yaml.json"), join(here, "schemas/krm-merge-yaml.json"));
  cpSync(join(here, "../../LICENSE"), join(here, "LICENSE"));
  writeFileSync(join(lib, "package.json"), '{ "type": "module" }\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wasm = process.argv[2] ?? process.env.WASM;
  if (wasm === undefined) {
    console.error("error: the folder of the module must be given: `node build.mjs FOLDER` or `WASM=FOLDER`");
    process.exit(2);
  }
  build(wasm);
}
