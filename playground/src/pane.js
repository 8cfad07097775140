/** An input side of the page: its files, and the editor of one of them. */

import { byId, el } from "./dom.js";
import { Editor } from "./editor.js";
import { dropped, picked } from "./files.js";
import { counted, line as shownLine } from "./shown.js";

/** @typedef {import("./state.js").Files} Files */
/** @typedef {{path: string, line: number, kind: "error" | "warning" | "conflict"}} Place */

export class Pane {
  /**
   * @param {import("./modes.js").Role} role
   * @param {object} on
   * @param {() => void} on.change someone edits a text
   * @param {(files: Files, told: string) => void} on.replace someone brings other files
   * @param {(path: string) => void} on.open someone chooses a file
   */
  constructor(role, on) {
    this.role = role;
    this.on = on;
    /** @type {Files} */
    this.others = new Map();
    this.path = "";
    this.about = el("p", { class: "about" });
    this.choice = el("select", { "aria-label": `File of ${role}`, change: () => on.open(this.choice.value) });
    const file = el("input", { type: "file", multiple: true, hidden: true, "aria-label": `Files for ${role}` });
    const folder = el("input", { type: "file", webkitdirectory: true, hidden: true, "aria-label": `Folder for ${role}` });
    for (const input of [file, folder]) {
      input.addEventListener("change", async () => {
        const taken = picked(input.files ?? []);
        await this.take(taken);
        input.value = "";
      });
    }
    const tools = el(
      "div",
      { class: "tools" },
      el("button", { type: "button", click: () => file.click(), "aria-label": `Open files as ${role}` }, "Open files"),
      el("button", { type: "button", click: () => folder.click(), "aria-label": `Open a folder as ${role}` }, "Folder"),
      file,
      folder,
    );
    this.name = el("h3", { id: `side-${role}` }, role);
    const place = el("div", { class: "editor" });
    this.element = el("section", { class: "pane", "aria-labelledby": `side-${role}` }, el("header", {}, this.name, tools), this.about, this.choice, place);
    this.editor = new Editor(place, { label: role, hint: "Paste YAML here, or drop a file or a folder.", change: on.change });
    this.listen();
  }

  /** Takes files that are dropped on it. */
  listen() {
    const { element } = this;
    let depth = 0;
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    element.addEventListener("dragenter", (event) => {
      if (hasFiles(event)) {
        depth += 1;
        element.classList.add("target");
      }
    });
    element.addEventListener("dragleave", () => {
      depth = Math.max(depth - 1, 0);
      element.classList.toggle("target", depth > 0);
    });
    // The editor would else insert the text of the file.
    element.addEventListener("drop", (event) => {
      depth = 0;
      element.classList.remove("target");
      if (hasFiles(event) && event.dataTransfer !== null) {
        event.preventDefault();
        event.stopPropagation();
        void this.take(dropped(event.dataTransfer));
      }
    }, { capture: true });
  }

  /** @param {Promise<import("./files.js").Taken>} taking */
  async take(taking) {
    const { files, skipped } = await taking;
    const left = skipped > 0 ? `; ${counted(skipped, "file")} left out, because they are not text or too large` : "";
    const told = `${counted(files.size, "file")} as ${this.role}${left}.`;
    this.on.replace(files.size > 0 ? files : this.files, told);
  }

  /** @returns {Files} */
  get files() {
    const { text } = this.editor;
    if (this.others.size <= 1 && this.path === "") {
      return text === "" ? new Map() : new Map([["", text]]);
    }
    return new Map([...this.others].map(([path, old]) => [path, path === this.path ? text : old]));
  }

  set files(files) {
    this.others = new Map(files);
    const paths = [...files.keys()];
    this.path = paths.includes(this.path) ? this.path : paths[0] ?? "";
    this.editor.text = files.get(this.path) ?? "";
    this.choice.replaceChildren(...paths.map((path) => el("option", { value: path }, shownLine(path))));
    this.choice.value = this.path;
    this.choice.hidden = paths.length === 0 || (paths.length === 1 && paths[0] === "");
  }

  /**
   * Shows another file.
   * @param {string} path
   */
  open(path) {
    if (path !== this.path && this.others.has(path)) {
      this.others = this.files;
      this.path = path;
      this.editor.text = this.others.get(path) ?? "";
      this.choice.value = path;
      this.mark(this.places ?? []);
    }
  }

  /**
   * Marks places of this side.
   * @param {Place[]} places
   */
  mark(places) {
    this.places = places;
    this.editor.mark(places.filter(({ path }) => path === this.path || this.others.size <= 1));
  }

  /**
   * @param {string} path
   * @param {number} line
   * @param {number} [column]
   */
  go(path, line, column) {
    this.open(path);
    this.editor.go(line, column);
  }
}

/**
 * The panes of the page, one for each side. Those that the mode lacks are hidden.
 * @param {(role: import("./modes.js").Role, files: Files, told: string) => void} replace
 * @param {() => void} change
 * @param {(path: string) => void} open
 * @returns {Record<import("./modes.js").Role, Pane>}
 */
export function panes(replace, change, open) {
  const make = (/** @type {import("./modes.js").Role} */ role) => {
    const pane = new Pane(role, { change, open, replace: (files, told) => replace(role, files, told) });
    byId("sides").append(pane.element);
    return pane;
  };
  return { original: make("original"), updated: make("updated"), source: make("source"), dest: make("dest") };
}
