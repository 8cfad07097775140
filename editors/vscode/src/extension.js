"use strict";
// The extension: a lens above each conflict in YAML, and commands. Its logic is in the modules beside it, which know no editor.

const vscode = require("vscode");

const LANGUAGES = [{ language: "yaml" }, { language: "helm" }];

/** What merges, loaded when it is first needed. */
let loading;
function merger() {
  loading ??= (async () => {
    const [engine, { changesOf }, fields] = await Promise.all([import("../lib/index.js"), import("../lib/changes.js"), import("./fields.mjs")]);
    await engine.default();
    return { engine, changesOf, ...fields };
  })();
  return loading;
}

/** The conflicts between markers. Most files have none, and need no module. */
async function conflictsOf(text) {
  return text.includes("<<<<<<<") ? (await merger()).engine.markers(text).conflicts : [];
}

/** The rules for a file: the nearest `.krm-merge.yaml` above it in its workspace. The path of the file is from there. */
async function rulesFor(uri) {
  const root = vscode.workspace.getWorkspaceFolder(uri)?.uri;
  const name = uri.path.split("/").at(-1);
  if (root === undefined) {
    return { rules: "", path: name };
  }
  for (let folder = vscode.Uri.joinPath(uri, ".."); folder.path.startsWith(root.path); folder = vscode.Uri.joinPath(folder, "..")) {
    const path = uri.path.slice(folder.path.length).replace(/^\//, "");
    try {
      const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, ".krm-merge.yaml"));
      return { rules: new TextDecoder().decode(bytes), path };
    } catch {
      // There is none in this folder.
    }
    if (folder.path === root.path) {
      return { rules: "", path };
    }
  }
  return { rules: "", path: name };
}

/** The file that both sides of an unmerged file come from, as git's index has it; undefined where the editor's git knows none. */
async function originalOf(uri) {
  const extension = vscode.extensions.getExtension("vscode.git");
  if (extension === undefined) {
    return undefined;
  }
  try {
    const repository = (await extension.activate()).getAPI(1).getRepository(uri);
    return await repository?.show(":1", uri.fsPath);
  } catch {
    // It is not in conflict there, or git is turned off.
    return undefined;
  }
}

async function replace(document, range, text) {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, text);
  await vscode.workspace.applyEdit(edit);
}

async function mergeByField() {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) {
    return;
  }
  const { mergeByField, Refused, engine, changesOf } = await merger();
  const text = document.getText();
  const version = document.version;
  try {
    const original = await originalOf(document.uri);
    const merged = mergeByField(text, { engine, changesOf, original, ...(await rulesFor(document.uri)) });
    if (document.version === version) {
      await replace(document, new vscode.Range(document.positionAt(0), document.positionAt(text.length)), merged.text);
      const left = merged.left === 0 ? "no conflict is left" : `${merged.left} ${merged.left === 1 ? "conflict is" : "conflicts are"} left`;
      void vscode.window.showInformationMessage(`krm-merge: ${[left, ...merged.told].join("; ")}`);
    }
  } catch (error) {
    if (!(error instanceof Refused)) {
      throw error;
    }
    void vscode.window.showWarningMessage(`krm-merge: ${error.message}`);
  }
}

/** Takes sides of a conflict: that of a lens, or that at the cursor. */
async function take(sides, start) {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return;
  }
  const { taken } = await import("./markers.mjs");
  const text = editor.document.getText();
  const line = start ?? editor.selection.active.line;
  const conflict = (await conflictsOf(text)).find((one) => one.start <= line && line < one.end);
  if (conflict === undefined) {
    void vscode.window.showInformationMessage("krm-merge: the cursor must be in a conflict");
    return;
  }
  await replace(editor.document, new vscode.Range(conflict.start, 0, conflict.end, 0), taken(text, conflict, sides));
}

const TAKES = [
  ["krm-merge.takeOurs", "Take ours", ["ours"]],
  ["krm-merge.takeTheirs", "Take theirs", ["theirs"]],
  ["krm-merge.takeBoth", "Take both", ["ours", "theirs"]],
];

const lenses = {
  async provideCodeLenses(document) {
    const text = document.getText();
    const conflicts = await conflictsOf(text);
    const isInIndex = conflicts.some(({ original }) => original === null) && (await originalOf(document.uri)) !== undefined;
    return conflicts.flatMap(({ start, original }) => {
      const range = new vscode.Range(start, 0, start, 0);
      const lens = (title, command, args) => new vscode.CodeLens(range, { title, command, arguments: args });
      const merge = original === null && !isInIndex ? [] : [lens("Merge by field", "krm-merge.mergeByField", [])];
      return [...merge, ...TAKES.map(([command, title]) => lens(title, command, [start]))];
    });
  },
};

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.languages.registerCodeLensProvider(LANGUAGES, lenses),
    vscode.commands.registerCommand("krm-merge.mergeByField", mergeByField),
    ...TAKES.map(([command, , sides]) => vscode.commands.registerCommand(command, (start) => take(sides, start))),
  );
};
