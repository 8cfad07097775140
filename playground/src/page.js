/** The page: it joins the editors, the merge and what is shown of it. */

import examples from "krm-merge-examples";
import workerScript from "krm-merge-worker";
import { Cards } from "./cards.js";
import { toCommand } from "./command.js";
import { byId, el, words } from "./dom.js";
import { Editor } from "./editor.js";
import { fromFragment, toFragment } from "./link.js";
import { Merger } from "./merger.js";
import { Messages } from "./messages.js";
import { about, modeOf, MODES, placeOf, ROLES } from "./modes.js";
import { panes } from "./pane.js";
import { copy, Result } from "./result.js";
import { counted, line as shownLine } from "./shown.js";
import { emptyState, fromJson } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./modes.js").Role} Role */

/** How long typing rests before a merge, in milliseconds. */
const REST = 120;

/** From which delay on a merge says that it runs, in milliseconds. */
const SLOW = 300;

/** @type {Merger | undefined} */
let merger;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {State | undefined} what "Undo" brings back */
let before;
let deciding = Promise.resolve();

const mode = byId("mode", HTMLSelectElement);
const chosen = byId("example", HTMLSelectElement);
const undo = byId("undo", HTMLButtonElement);
const fold = byId("config-fold", HTMLDetailsElement);

const sides = panes(
  (role, files, told) => {
    const state = current();
    state.sides[role] = files;
    bring(state, told);
  },
  () => later(REST),
  openEverywhere,
);
const config = new Editor(byId("config"), {
  label: "functionConfig",
  hint: "Rules, merge keys and choices, as YAML. What you decide below is written here.",
  change: () => later(REST),
});
const result = new Result({
  open(path) {
    openEverywhere(path);
    return ask("file", path);
  },
  diff: (path) => ask("diff", path),
  patch: () => ask("patch", undefined),
  tell,
});
const cards = new Cards({
  decide: (conflict, take) => decide(conflict, take),
  edit: (conflict) => editorOf({ severity: "info", message: "", ...conflict })?.go(conflict.line ?? 1, conflict.column),
  more: (from) => ask("more", { list: "conflicts", from }),
  keys: () => byId("keys", HTMLDialogElement).showModal(),
});
const messages = new Messages({
  go: (found) => go(found),
  has: (found) => editorOf(found) !== null,
  more: (from) => ask("more", { list: "messages", from }),
});

/** @returns {State} */
function current() {
  const read = /** @type {Role[]} */ (ROLES).map((role) => [role, sides[role].files]);
  return { mode: modeOf(mode.value).name, sides: Object.fromEntries(read), config: config.text };
}

/**
 * Shows another state.
 * @param {State} state
 */
function show(state) {
  mode.value = state.mode;
  for (const role of ROLES) {
    sides[role].files = state.sides[role];
  }
  config.text = state.config;
  if (state.config.trim() !== "") {
    fold.open = true;
  }
  arrange();
  later(0);
}

/**
 * Shows another state in place of what someone may have written, which "Undo" brings back.
 * @param {State} state
 * @param {string} told
 */
function bring(state, told) {
  before = current();
  show(state);
  tell(told);
  undo.hidden = false;
}

/**
 * Shows the file of this path on each side that has it.
 * @param {string} path
 */
function openEverywhere(path) {
  ROLES.forEach((role) => sides[role].open(path));
}

/** Shows the sides of the mode. */
function arrange() {
  const { roles, name } = modeOf(mode.value);
  for (const role of ROLES) {
    const pane = sides[role];
    pane.element.hidden = !roles.includes(role);
    pane.about.textContent = about(modeOf(name), role);
  }
  sides.source.name.textContent = name === "Strategic" ? "patch" : "source";
  fold.hidden = name === "Review";
  byId("sides").style.setProperty("--count", String(roles.length));
}

/** @param {string} told */
function tell(told) {
  byId("told").replaceChildren(...words(told));
  undo.hidden = true;
}

/**
 * Merges, once nothing has changed for a time.
 * @param {number} rest
 */
function later(rest) {
  clearTimeout(timer);
  timer = setTimeout(() => void merge(), rest);
}

/**
 * @param {"file" | "diff" | "patch" | "more" | "decide"} name
 * @param {unknown} asked
 */
async function ask(name, asked) {
  await merger?.ready;
  return merger?.ask(name, asked);
}

async function merge() {
  if (merger === undefined) {
    return;
  }
  const state = current();
  const { roles } = modeOf(state.mode);
  const missing = roles.filter((role) => state.sides[role].size === 0);
  if (missing.length > 0) {
    merger.wanted = undefined;
    const names = missing.map((role) => sides[role].name.textContent);
    summary(`Waiting for ${new Intl.ListFormat("en-GB").format(names)}.`, "");
    display({ changes: [], counts: { conflicts: 0, open: 0, messages: 0 }, conflicts: [], messages: [] });
    return;
  }
  const slow = setTimeout(() => {
    byId("time").textContent = "merging…";
    if (byId("status").className === "") {
      byId("summary").textContent = "Merging…";
    }
  }, SLOW);
  try {
    const made = await merger.merge(() => {
      const of = roles.map((role) => [role, [...state.sides[role]]]);
      return { mode: state.mode, sides: Object.fromEntries(of), config: state.config, path: result.path };
    });
    if (made !== null) {
      const { counts, passed, changes, took } = made;
      const { conflicts, open } = counts;
      const files = changes.length === 0 ? "Nothing changes." : changes.length === 1 ? "" : `${counted(changes.length, "file")} change.`;
      const conflict = conflicts === 0 ? "No conflicts." : `${open.toLocaleString("en")} of ${counted(conflicts, "conflict")} ${open === 1 ? "is" : "are"} open.`;
      const failed = made.messages[0]?.severity === "error" ? "Nothing is merged: see the messages." : `Nothing is merged: a conflict is unresolved. ${conflict}`;
      if (state.mode === "Review" && passed) {
        const bad = made.messages.some((/** @type {import("krm-merge-wasm").Result} */ { severity }) => severity === "warning");
        summary(counts.messages === 0 ? "The new chart changes nothing below your values." : `${counted(counts.messages, "value")} to look at.`, bad ? "conflict" : "passed");
      } else {
        summary(passed ? `${conflict} ${files}`.trim() : failed, passed ? (open > 0 ? "conflict" : "passed") : "failed");
      }
      byId("time").textContent = `merged in ${took < 10 ? took.toFixed(1) : Math.round(took).toLocaleString("en")} ms`;
      display(made);
    }
  } catch (error) {
    summary(`The merge stopped: ${shownLine(String(/** @type {Error} */ (error).message))}. Please report it.`, "failed");
    byId("time").textContent = "";
  } finally {
    clearTimeout(slow);
  }
}

/** @param {any} made what the worker answers to a merge */
function display({ changes, counts, conflicts, messages: told, file }) {
  result.show(changes, file);
  cards.show(conflicts, counts.conflicts);
  messages.show(told, counts.messages);
  /** @type {(import("./pane.js").Place & {role: string})[]} */
  const places = [];
  const add = (/** @type {string | undefined} */ file, /** @type {number | undefined} */ line, /** @type {import("./pane.js").Place["kind"]} */ kind) => {
    const place = placeOf(file);
    if (place !== null && line !== undefined) {
      places.push({ ...place, line, kind });
    }
  };
  told.filter((/** @type {import("krm-merge-wasm").Result} */ { severity }) => severity !== "info")
    .forEach((/** @type {import("krm-merge-wasm").Result} */ { file, line, severity }) => add(file, line, severity === "error" ? "error" : "warning"));
  conflicts.filter((/** @type {import("krm-merge-wasm").Conflict} */ { open }) => open)
    .forEach((/** @type {import("krm-merge-wasm").Conflict} */ { file, line }) => add(file, line, "conflict"));
  ROLES.forEach((role) => sides[role].mark(places.filter((place) => place.role === role)));
  config.mark(places.filter((place) => place.role === "functionConfig"));
  byId("to-conflicts").textContent = counts.conflicts === 0 ? "Conflicts" : `Conflicts (${counts.open})`;
  byId("to-messages").textContent = counts.messages === 0 ? "Messages" : `Messages (${counts.messages})`;
  /** @type {HTMLButtonElement} */ (byId("to-conflicts")).disabled = counts.conflicts === 0;
  /** @type {HTMLButtonElement} */ (byId("to-messages")).disabled = counts.messages === 0;
}

/**
 * @param {string} text
 * @param {string} kind
 */
function summary(text, kind) {
  const line = byId("summary");
  // The same words again are no news.
  if (line.textContent !== text) {
    line.textContent = text;
  }
  byId("status").className = kind;
  if (kind === "") {
    byId("time").textContent = "";
  }
}

/**
 * Writes a decision into the functionConfig, after those that are under way.
 * @param {import("krm-merge-wasm").Conflict} conflict
 * @param {import("krm-merge-wasm").Take} [take]
 */
function decide(conflict, take) {
  deciding = deciding.then(async () => {
    try {
      const old = config.text;
      const decided = await ask("decide", { config: old, conflict, take });
      config.edit(decided);
      if (decided === old && take === undefined) {
        fold.open = true;
        tell("This conflict is decided by what the functionConfig says for more than this place. Change it there.");
      }
      later(0);
    } catch (error) {
      tell(`A rule cannot resolve this conflict: ${shownLine(String(/** @type {Error} */ (error).message))}`);
    }
  });
}

/**
 * The editor of a message's place; null if there is none.
 * @param {import("./messages.js").Result} found
 * @returns {{go: (line: number, column?: number) => void} | null}
 */
function editorOf({ file, line }) {
  const place = line === undefined ? null : placeOf(file);
  if (place === null) {
    return null;
  }
  if (place.role !== "functionConfig") {
    const pane = sides[place.role];
    return { go: (line, column) => pane.go(place.path, line, column) };
  }
  return {
    go(line, column) {
      fold.open = true;
      config.go(line, column);
    },
  };
}

/** @param {import("./messages.js").Result} found */
function go(found) {
  editorOf(found)?.go(found.line ?? 1, found.column);
}

/**
 * Reads the fragment of the address: a state, or the name of an example. Tells whether there was one.
 * @param {typeof bring} open what is done with the state
 */
async function readAddress(open) {
  const fragment = location.hash.slice(1);
  if (fragment === "") {
    return false;
  }
  const example = examples.find(({ name }) => fragment === `example=${name}`);
  try {
    const state = example ? fromJson(example.state) : await fromFragment(fragment);
    open(state, example?.note ?? "This merge came with the link.");
    chosen.value = example?.name ?? "";
  } catch {
    tell("The link is broken or not of this page, so it was not opened.");
    return false;
  }
  return true;
}

mode.append(...MODES.map(({ name, label }) => el("option", { value: name }, label)));
mode.addEventListener("change", () => {
  // The second input of one mode is the first of another.
  arrange();
  later(0);
});
chosen.append(...examples.map(({ name, title }) => el("option", { value: name }, title)));
chosen.addEventListener("change", () => {
  const example = examples.find(({ name }) => name === chosen.value);
  if (example !== undefined) {
    bring(fromJson(example.state), example.note);
  }
});
byId("clear").addEventListener("click", () => {
  bring({ ...emptyState(), mode: modeOf(mode.value).name }, "Paste your files, or drop them.");
  chosen.value = "";
  sides[modeOf(mode.value).roles[0]].editor.view.focus();
});
undo.addEventListener("click", () => {
  if (before !== undefined) {
    show(before);
    chosen.value = "";
    tell("Your texts are back.");
    byId("clear").focus();
  }
});
byId("copy-link").addEventListener("click", async () => {
  const fragment = await toFragment(current());
  if (fragment === null) {
    tell("This is too much for a link. Files over about 10 MB do not fit.");
    return;
  }
  const copied = await copy(`${location.href.split("#")[0]}#${fragment}`);
  const long = fragment.length > 30_000 ? ` It has ${fragment.length.toLocaleString("en")} characters, which some programs cut.` : "";
  tell(copied ? `The link is in the clipboard. It holds all texts in its fragment, which no server gets; who has the link can read them.${long}` : "The browser does not allow the clipboard.");
});
byId("copy-command").addEventListener("click", async () => {
  const command = toCommand(current());
  if (command === null) {
    tell("The functionConfig holds control characters, which a terminal would obey. Remove them first.");
    return;
  }
  byId("command").textContent = command;
  byId("command-told").textContent = "";
  byId("command-dialog", HTMLDialogElement).showModal();
  byId("command-told").textContent = (await copy(command)) ? "It is in the clipboard." : "The browser does not allow the clipboard. Select it and copy it.";
});
byId("show-keys").addEventListener("click", () => byId("keys", HTMLDialogElement).showModal());
for (const [button, target] of [["to-sides", "sides"], ["to-result", "result"], ["to-conflicts", "conflicts"], ["to-messages", "messages"]]) {
  byId(button).addEventListener("click", () => {
    byId(target).scrollIntoView();
    byId(target).focus({ preventScroll: true });
  });
}
// A file beside the editors would else replace the page.
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    if (/** @type {DragEvent} */ (event).dataTransfer?.types.includes("Files")) {
      event.preventDefault();
      if (name === "drop") {
        tell("Drop files on one of the editors.");
      }
    }
  });
}
addEventListener("hashchange", () => void readAddress(bring));
arrange();
void readAddress((state, told) => {
  show(state);
  tell(told);
}).then((found) => {
  if (!found) {
    show(fromJson(examples[0].state));
    chosen.value = examples[0].name;
    if (byId("told").textContent === "") {
      tell(examples[0].note);
    }
  }
});

// The module comes behind this script, so that the editors are there before it.
addEventListener("DOMContentLoaded", () => {
  try {
    merger = new Merger(workerScript, byId("module").textContent?.trim() ?? "");
    merger.ready?.then(
      (version) => {
        byId("version").textContent = version;
        later(0);
      },
      (error) => summary(`This browser cannot run the merge: ${shownLine(String(error.message))}`, "failed"),
    );
  } catch (error) {
    summary(`This browser cannot run the merge: ${shownLine(String(error))}`, "failed");
  }
});
