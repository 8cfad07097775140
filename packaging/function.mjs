// The function in Node, as the program is: node function.mjs FOLDER < LIST. FOLDER has the package.

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { default: init, run } = await import(new URL("index.js", pathToFileURL(`${process.argv[2]}/`)));
await init();
const { stdout, passed } = run(readFileSync(0, "utf8"));
for (let rest = Buffer.from(stdout); rest.length > 0; ) rest = rest.subarray(writeSync(1, rest));
process.exitCode = passed ? 0 : 1;
