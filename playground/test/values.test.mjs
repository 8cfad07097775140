/**
 * Values of charts are the same to the byte wherever they merge: as three files, in folders, by the driver of git, in the module and on the page.
 * PROGRAM names the plugin; without it, it is the one that `cargo build` makes. CHARTS names a folder with charts of your own: in it a folder for
 * each, with original.yaml, updated.yaml and dest.yaml.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { toFragment } from "../src/link.js";
import { emptyState } from "../src/state.js";
import { merged, start } from "./browser.mjs";

const target = join(dirname(fileURLToPath(import.meta.url)), "../../target");
const program = resolve(process.env.PROGRAM ?? join(target, "debug/kubectl-krm_merge"));
const { default: init, merge } = await import(pathToFileURL(join(process.env.WASM ?? join(target, "wasm"), "index.js")).href);

/** @typedef {{original: string, updated: string, dest: string}} Sides */

/** @type {Awaited<ReturnType<typeof start>>} */
let host;
/** @type {string} */
let dir;
before(async () => {
  await init();
  host = await start();
  dir = mkdtempSync(join(tmpdir(), "values-"));
});
after(async () => {
  await host?.stop();
  rmSync(dir, { recursive: true });
});

/**
 * The releases of a chart that has what values have: comments that are documentation, fields that are commented out, lists of maps and of texts, empty
 * maps, and texts with templates.
 * @param {object} of
 * @param {string} of.tag
 * @param {number} of.replicas
 * @param {string} of.cpu
 * @param {string[]} of.args
 * @param {string} [of.more]
 */
const release = ({ tag, replicas, cpu, args, more = "" }) => `# Default values.

## @param replicaCount How many
replicaCount: ${replicas}

image:
  repository: registry.example.com/gate   # no tag here
  tag: "${tag}"
  # pullPolicy: IfNotPresent

resources: &small
  requests: {cpu: ${cpu}, memory: 64Mi}
  # limits:
  #   memory: 128Mi
sidecar:
  enabled: false
  resources: *small

extraArgs:
${args.map((arg) => `  - ${arg}\n`).join("")}
nodeSelector: {}
tolerations: []
hosts:
  - host: gate.example.com
    paths:
      - /
annotations:
  example.com/checksum: '{{ include "gate.checksum" . }}'
config: |
  level: info
  port: 80
  name: gate
  cpu: ${cpu}
${more}`;

const v1 = { tag: "1.4.0", replicas: 1, cpu: "100m", args: ["--log=info", "--port=80"] };
const v2 = { tag: "1.5.0", replicas: 1, cpu: "200m", args: ["--log=info", "--port=80", "--metrics"], more: "\n# New in 1.5\nmetrics:\n  enabled: false\n" };
const v3 = { ...v2, tag: "2.0.0", replicas: 2, args: ["--log=warn", "--port=80", "--metrics"] };
/** @param {string} text */
const edited = (text) =>
  text
    .replace("# pullPolicy: IfNotPresent", "pullPolicy: Always # ours")
    .replace("nodeSelector: {}", "nodeSelector:\n  disk: ssd")
    .replace("- --port=80\n", "- --port=80\n  - --trace # ours\n")
    .replace("host: gate.example.com", "host: gate.ours.example.com")
    .replace("level: info", "level: debug");
/** @param {string} text */
const inConflict = (text) => edited(text).replace(/replicaCount: \d/, "replicaCount: 5").replace("cpu: 100m", "cpu: 150m").replace(/tag: ".*"/, 'tag: "1.4.0-fix"');

/** @returns {Record<string, Sides>} */
function charts() {
  const folder = process.env.CHARTS;
  if (folder !== undefined) {
    const read = (/** @type {string} */ name) => {
      const [original, updated, dest] = ["original", "updated", "dest"].map((side) => readFileSync(join(folder, name, `${side}.yaml`), "utf8"));
      return { original, updated, dest };
    };
    return Object.fromEntries(readdirSync(folder).sort().map((name) => [name, read(name)]));
  }
  const [one, two, three] = [v1, v2, v3].map(release);
  const crlf = (/** @type {string} */ text) => text.replaceAll("\n", "\r\n");
  return {
    "a release": { original: one, updated: two, dest: edited(one) },
    "another release": { original: two, updated: three, dest: edited(two) },
    "two releases at once": { original: one, updated: three, dest: edited(one) },
    "a release in conflict": { original: one, updated: three, dest: inConflict(one) },
    "line breaks of Windows": { original: one, updated: three, dest: crlf(inConflict(one)) },
    "nothing new": { original: one, updated: one, dest: edited(one) },
    "no edits": { original: one, updated: three, dest: one },
  };
}

/** Who wins conflicts, as a rule and as a policy. */
const WINNERS = [
  { take: "Dest", onConflict: "KeepDest" },
  { take: "Updated", onConflict: "TakeUpdated" },
];
/** @typedef {typeof WINNERS[number]} Winner */

/** @param {string[]} lines of the `spec` */
const config = (...lines) => ["apiVersion: krm-merge.dev/v1alpha1", "kind: Merge", "metadata: {name: m}", "spec:", ...lines.map((line) => `  ${line}`), ""].join("\n");
/** @param {Winner} winner */
const byRule = ({ take }) => config("mode: ThreeWay", `rules: [{take: ${take}}]`);
/** @param {Winner} winner */
const byPolicy = ({ onConflict }) => config("mode: ThreeWay", `onConflict: ${onConflict}`);

/**
 * A folder with the sides as files and as folders, and the programs in it.
 * @param {Sides} sides
 * @param {string} decisions the functionConfig of the repository and of each merge
 */
function workshop(sides, decisions) {
  const work = mkdtempSync(join(dir, "chart-"));
  const file = (/** @type {string} */ path) => readFileSync(join(work, path), "utf8");
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  };
  const run = (/** @type {string} */ command, /** @type {string[]} */ ...args) => {
    const ran = spawnSync(command, args, { cwd: work, encoding: "utf8", env: { ...process.env, XDG_CACHE_HOME: dir, GIT_CONFIG_GLOBAL: "/dev/null" } });
    assert.ok(ran.status === 0 || ran.status === 1, `${command} ${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  };
  for (const [side, text] of Object.entries(sides)) {
    put(`${side}.yaml`, text);
    put(`${side}/charts/gate/values.yaml`, text);
  }
  put("ours.yaml", sides.dest);
  put(".krm-merge.yaml", decisions);
  run("git", "init", "--quiet");
  const flags = (/** @type {string} */ end) => ["original", "updated", "dest"].flatMap((side) => [`--${side}`, `${side}${end}`]);
  const threeWay = (/** @type {string} */ end, /** @type {string[]} */ ...more) => run(program, "three-way", ...flags(end), ...more);
  return {
    run,
    print: (/** @type {string[]} */ ...more) => threeWay(".yaml", ...more),
    files(/** @type {string[]} */ ...more) {
      threeWay(".yaml", "--in-place", ...more);
      return file("dest.yaml");
    },
    folders(/** @type {string[]} */ ...more) {
      threeWay("", "--in-place", ...more);
      return file("dest/charts/gate/values.yaml");
    },
    driver() {
      run(program, "git-driver", "original.yaml", "ours.yaml", "updated.yaml", "charts/gate/values.yaml");
      return file("ours.yaml");
    },
  };
}

/**
 * What the page makes.
 * @param {Sides} sides
 * @param {string} functionConfig
 */
async function onPage(sides, functionConfig) {
  const state = emptyState();
  for (const side of /** @type {const} */ (["original", "updated", "dest"])) {
    state.sides[side].set("", sides[side]);
  }
  state.config = functionConfig;
  const { page, context, wrong } = await host.open(`${host.http}#${await toFragment(state)}`);
  await merged(page, /onflict/);
  assert.equal(await page.locator("#notes .error").count(), 0);
  await page.getByRole("button", { name: "Copy the result" }).click();
  await page.getByText("The result is in the clipboard.").waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.deepEqual(wrong, []);
  await context.close();
  return text;
}

/**
 * What each way makes that knows a functionConfig.
 * @param {Sides} sides
 * @param {string} functionConfig
 */
async function ways(sides, functionConfig) {
  const work = workshop(sides, functionConfig);
  const named = ["--config", ".krm-merge.yaml"];
  const inFiles = Object.fromEntries(Object.entries(sides).map(([side, text]) => [side, { "values.yaml": text }]));
  return {
    printed: work.print(...named),
    folders: work.folders(...named),
    "three files": work.files(...named),
    module: merge({ ...sides, functionConfig }).files[""],
    "module, by path": merge({ ...inFiles, functionConfig }).files["values.yaml"],
    page: await onPage(sides, functionConfig),
  };
}

/**
 * A text with markers, without the words at them.
 * @param {string} text
 */
const unlabelled = (text) => text.replace(/^([<|>]{7}) .*$/gm, "$1");

for (const [name, sides] of Object.entries(charts())) {
  for (const winner of WINNERS) {
    test(`${name}, where ${winner.take} wins`, async () => {
      const rule = await ways(sides, byRule(winner));
      const driver = workshop(sides, byRule(winner)).driver();
      Object.entries({ ...rule, driver }).forEach(([way, text]) => assert.equal(text, rule["three files"], way));
      const policy = await ways(sides, byPolicy(winner));
      Object.entries(policy).forEach(([way, text]) => assert.equal(text, policy["three files"], `${way}, by policy`));
    });
  }
  for (const style of ["merge", "diff3", "zdiff3"]) {
    test(`${name}, where nobody wins, in the style ${style}`, () => {
      const work = workshop(sides, config());
      work.run("git", "config", "merge.conflictStyle", style);
      const mark = ["--on-conflict", "mark"];
      const [files, folders, driver] = [work.files(...mark), work.folders(...mark), work.driver()].map(unlabelled);
      assert.equal(folders, files);
      assert.equal(driver, files);
    });
  }
}

test("upstream's change is merged, and the edits stay", { skip: process.env.CHARTS !== undefined }, async () => {
  const { "two releases at once": sides, "a release in conflict": ours } = charts();
  for (const winner of WINNERS) {
    assert.equal((await ways(sides, byPolicy(winner)))["three files"], edited(release(v3)));
  }
  assert.equal((await ways(ours, byPolicy(WINNERS[1])))["three files"], edited(release(v3)));
  assert.match((await ways(ours, byPolicy(WINNERS[0])))["three files"], /^replicaCount: 5$[^]*tag: "1.4.0-fix"[^]*cpu: 150m[^]*--log=warn[^]*^# New in 1.5\nmetrics:/m);
});
