/** The result: the changed files, each with its changes marked or as a diff, to download and to copy. */

import { byId, el } from "./dom.js";
import { Viewer } from "./editor.js";
import { line as shownLine } from "./shown.js";

/** @typedef {import("krm-merge-wasm").Change} Change */
/** @typedef {{path: string, text: string, hunks: import("./changes.js").Hunk[]}} Shown */

export class Result {
  /**
   * @param {object} on
   * @param {(path: string) => Promise<Shown | undefined>} on.open
   * @param {(path: string) => Promise<string>} on.diff
   * @param {() => Promise<string>} on.patch the changes of all files
   * @param {(told: string) => void} on.tell
   */
  constructor(on) {
    this.on = on;
    this.viewer = new Viewer(byId("result-text"));
    this.choice = byId("result-file", HTMLSelectElement);
    this.about = byId("result-about");
    this.asDiff = byId("as-diff", HTMLInputElement);
    this.tools = /** @type {HTMLButtonElement[]} */ (["copy-result", "download-result"].map((id) => byId(id, HTMLButtonElement)));
    this.patch = byId("download-patch", HTMLButtonElement);
    this.json = "";
    this.patch.addEventListener("click", async () => save("krm-merge.patch", await on.patch()));
    this.choice.addEventListener("change", async () => this.display(await on.open(this.choice.value), true));
    this.asDiff.addEventListener("change", () => this.display(this.file, true));
    this.tools[0].addEventListener("click", () => this.copy());
    this.tools[1].addEventListener("click", () => this.download());
  }

  /** The file that is shown; a merge keeps to it while it changes. */
  get path() {
    return this.file?.path;
  }

  /**
   * @param {Change[]} changes
   * @param {Shown | undefined} file
   */
  show(changes, file) {
    const json = JSON.stringify(changes);
    if (json !== this.json) {
      this.json = json;
      const options = changes.map(({ kind, path, from }) => {
        const name = from === undefined || from === path ? shownLine(path) : `${shownLine(from)} → ${shownLine(path)}`;
        return el("option", { value: path }, `${name} (${kind})`);
      });
      this.choice.replaceChildren(...options);
    }
    this.patch.hidden = changes.length < 2;
    this.choice.hidden = changes.length < 2 && (changes[0]?.path ?? "") === "";
    this.kind = (/** @type {string} */ path) => changes.find((change) => change.path === path)?.kind;
    const isOther = file?.path !== this.file?.path;
    this.display(file, isOther);
  }

  /**
   * @param {Shown | undefined} file
   * @param {boolean} isOther whether another text is shown than before, so that the view begins at its first change
   */
  async display(file, isOther) {
    this.file = file;
    this.diff = file !== undefined && this.asDiff.checked ? await this.on.diff(file.path) : undefined;
    if (this.file !== file) {
      return;
    }
    this.tools.forEach((button) => (button.disabled = file === undefined));
    if (file === undefined) {
      this.viewer.show("", []);
      this.about.textContent = "";
      return;
    }
    this.choice.value = file.path;
    const found = file.hunks;
    const [come, go] = [found.reduce((sum, { fresh }) => sum + fresh.length, 0), found.reduce((sum, { gone }) => sum + gone.length, 0)];
    const kind = this.kind?.(file.path);
    const isRemoved = kind === "removed";
    this.about.textContent = isRemoved
      ? "The merge removes this file."
      : kind === undefined
        ? "No change: dest stays as it is."
        : `Against dest: +${come} −${go} lines.`;
    this.tools[1].disabled = isRemoved;
    if (this.diff !== undefined) {
      this.viewer.showDiff(this.diff);
    } else {
      this.viewer.show(file.text, found);
    }
    if (isOther) {
      this.viewer.scrollTo(this.diff !== undefined ? 1 : found[0]?.at ?? 1);
    }
  }

  async copy() {
    if (this.file !== undefined) {
      const copied = await copy(this.diff ?? this.file.text);
      this.on.tell(copied ? "The result is in the clipboard." : "The browser does not allow the clipboard. Select the text and copy it.");
    }
  }

  download() {
    if (this.file !== undefined) {
      const { path, text } = this.file;
      const name = path.split("/").at(-1) || "merged.yaml";
      save(this.diff === undefined ? name : `${name}.diff`, this.diff ?? text);
    }
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} whether the text is in the clipboard
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = el("textarea", { "aria-hidden": "true", class: "skip" });
    field.value = text;
    const focus = document.activeElement;
    (document.querySelector("dialog[open]") ?? document.body).append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (focus instanceof HTMLElement) {
      focus.focus();
    }
    return copied;
  }
}
