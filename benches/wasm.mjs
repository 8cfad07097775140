// Measures for wasm.sh: node wasm.mjs TARGET FOLDER N...

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";
const [target, dir, ...sizes] = process.argv.slice(2);
const bytes = readFileSync(`${target}/wasm/krm_merge_bg.wasm`);
console.log(`the module: ${(bytes.length / 1e6).toFixed(2)} MB, ${(gzipSync(bytes, { level: 9 }).length / 1e6).toFixed(2)} MB compressed`);
const { default: init, run } = await import(`${target}/wasm/index.js`);
const best = (work) => {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
};
const start = performance.now();
await init();
console.log(`loaded in ${(performance.now() - start).toFixed(0)} ms`);
for (const mode of ["two-way", "three-way", "strategic"]) {
  for (const n of sizes) {
    const input = readFileSync(`${dir}/${mode}-${n}.yaml`, "utf8");
    const program = best(() => spawnSync(`${target}/release/krm-merge-function`, { input, maxBuffer: 1 << 30 }));
    const module = best(() => run(input));
    console.log(`${mode} ${n}: ${(input.length / 1e6).toFixed(2)} MB, program ${program.toFixed(1)} ms, module ${module.toFixed(1)} ms`);
  }
}
