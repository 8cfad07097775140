/** The extension itself, with a small stand-in for the editor. */

import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

/** @type {Map<string, (...args: any[]) => any>} */
const commands = new Map();
/** @type {any} */
let lenses;
/** @type {string[]} */
const told = [];
const document = {
  version: 1,
  text: "",
  uri: { path: "/repo/deploy/web.yaml", fsPath: "/repo/deploy/web.yaml" },
  getText: () => document.text,
  positionAt: (/** @type {number} */ at) => {
    const lines = document.text.slice(0, at).split("\n");
    return { line: lines.length - 1, character: lines[lines.length - 1].length };
  },
};
class Range {
  /** @param {any[]} ends */
  constructor(...ends) {
    [this.start, this.end] = ends.length === 2 ? ends : [{ line: ends[0], character: ends[1] }, { line: ends[2], character: ends[3] }];
  }
}
const offset = (/** @type {{line: number, character: number}} */ { line, character }) =>
  document.text.split("\n").slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
/** What git's index has of the file. @type {string | undefined} */
let staged;
const repository = {
  show: async (/** @type {string} */ of, /** @type {string} */ path) => {
    if (of !== ":1" || path !== document.uri.fsPath || staged === undefined) {
      throw new Error("git has no such version");
    }
    return staged;
  },
};
const vscode = {
  Range,
  extensions: { getExtension: () => ({ activate: async () => ({ getAPI: () => ({ getRepository: () => repository }) }) }) },
  CodeLens: class {
    constructor(/** @type {Range} */ range, /** @type {any} */ command) {
      Object.assign(this, { range, command });
    }
  },
  WorkspaceEdit: class {
    replace(/** @type {any} */ _, /** @type {Range} */ range, /** @type {string} */ text) {
      this.edit = { range, text };
    }
  },
  Uri: { joinPath: (/** @type {any} */ uri, /** @type {string} */ part) => ({ path: new URL(part, `file://${uri.path}/`).pathname.replace(/(.)\/$/, "$1") }) },
  commands: { registerCommand: (/** @type {string} */ name, /** @type {any} */ run) => commands.set(name, run) },
  languages: { registerCodeLensProvider: (/** @type {any} */ _, /** @type {any} */ provider) => (lenses = provider) },
  window: {
    activeTextEditor: { document, selection: { active: { line: 0 } } },
    showInformationMessage: (/** @type {string} */ text) => told.push(text),
    showWarningMessage: (/** @type {string} */ text) => told.push(text),
  },
  workspace: {
    getWorkspaceFolder: () => ({ uri: { path: "/repo" } }),
    fs: {
      readFile: async (/** @type {{path: string}} */ { path }) => {
        if (path !== "/repo/.krm-merge.yaml") {
          throw new Error("there is no such file");
        }
        return new TextEncoder().encode(
          "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {target: {path: deploy/}, path: spec.replicas, take: Updated}\n",
        );
      },
    },
    applyEdit: async (/** @type {any} */ { edit: { range, text } }) => {
      document.text = document.text.slice(0, offset(range.start)) + text + document.text.slice(offset(range.end));
      document.version += 1;
    },
  },
};

/** @type {any} */
const loader = Module;
const load = loader._load;
loader._load = (/** @type {string} */ name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
createRequire(import.meta.url)("../src/extension.js").activate({ subscriptions: [] });

const TEXT =
  "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n<<<<<<< HEAD\n  replicas: 2\n  paused: true\n||||||| v1\n  replicas: 1\n  paused: true\n=======\n" +
  "  replicas: 3\n  paused: false\n>>>>>>> v2\n";

test("a conflict has lenses, and a lens takes a side", async () => {
  document.text = TEXT;
  const found = await lenses.provideCodeLenses(document);
  assert.deepEqual(found.map((/** @type {any} */ { command }) => command.title), ["Merge by field", "Take ours", "Take theirs", "Take both"]);
  assert.equal(found[0].range.start.line, 5);
  const { command, arguments: args } = found[2].command;
  await commands.get(command)?.(...args);
  assert.equal(document.text, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n  paused: false\n");
  assert.deepEqual(await lenses.provideCodeLenses(document), []);
});

test("the file is merged by field, with the rules of the nearest .krm-merge.yaml", async () => {
  document.text = TEXT;
  await commands.get("krm-merge.mergeByField")?.();
  assert.equal(document.text, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n  paused: false\n");
  assert.deepEqual(told.splice(0), ["krm-merge: no conflict is left"]);
  document.text = "a: 1\n";
  await commands.get("krm-merge.mergeByField")?.();
  assert.deepEqual(told.splice(0), ["krm-merge: the file must have conflict markers, but it has none"]);
  await commands.get("krm-merge.takeOurs")?.();
  assert.deepEqual(told.splice(0), ["krm-merge: the cursor must be in a conflict"]);
});

test("with git's own style of markers, the original is in git's index", async () => {
  const bare = TEXT.replace(/\|{7}[^=]*(?=^={7}$)/m, "");
  const titles = async () => (await lenses.provideCodeLenses(document)).map((/** @type {any} */ { command }) => command.title);
  document.text = bare;
  assert.deepEqual(await titles(), ["Take ours", "Take theirs", "Take both"]);
  staged = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  paused: true\n";
  assert.deepEqual(await titles(), ["Merge by field", "Take ours", "Take theirs", "Take both"]);
  await commands.get("krm-merge.mergeByField")?.();
  assert.equal(document.text, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n  paused: false\n");
  assert.deepEqual(told.splice(0), ["krm-merge: no conflict is left"]);
});
