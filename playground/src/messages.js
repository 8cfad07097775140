/** The messages of a merge that are no conflicts: errors, warnings and notes, with their places. */

import { byId, el, words } from "./dom.js";
import { counted, line as shownLine } from "./shown.js";

/** @typedef {import("krm-merge-wasm").Result} Result */

const WORDS = { error: "Error", warning: "Warning", info: "Note" };

export class Messages {
  /**
   * @param {object} on
   * @param {(result: Result) => void} on.go
   * @param {(result: Result) => boolean} on.has whether there is an editor for the place
   * @param {(from: number) => Promise<Result[]>} on.more
   */
  constructor(on) {
    this.on = on;
    this.list = byId("notes");
    this.region = byId("messages");
    this.rest = byId("more-messages", HTMLButtonElement);
    this.total = 0;
    this.json = "";
    this.rest.addEventListener("click", async () => {
      this.list.append(...(await on.more(this.list.childElementCount)).map((result) => this.item(result)));
      this.count();
    });
  }

  /**
   * @param {Result[]} first
   * @param {number} total
   */
  show(first, total) {
    const json = JSON.stringify(first);
    if (json !== this.json) {
      this.json = json;
      this.list.replaceChildren(...first.map((result) => this.item(result)));
    }
    this.total = total;
    this.count();
  }

  count() {
    const left = this.total - this.list.childElementCount;
    this.rest.hidden = left <= 0;
    this.rest.textContent = `Show ${Math.min(left, 100)} more (${counted(left, "message")} left)`;
    this.region.hidden = this.total === 0;
  }

  /** @param {Result} result */
  item(result) {
    const { severity, message, resource, file, line, column } = result;
    const where = shownLine(file ?? "");
    const named = resource === undefined ? "" : `${resource.kind} ${resource.namespace ? `${resource.namespace}/` : ""}${resource.name}`;
    const place = line === undefined ? where : `${where} ${line}:${column ?? 1}`.trim();
    const shown =
      place === ""
        ? undefined
        : this.on.has(result)
          ? el("button", { type: "button", class: "place", click: () => this.on.go(result), "aria-label": `Go to ${place}` }, place)
          : el("span", { class: "line" }, place);
    return el("li", { class: severity }, el("strong", {}, `${WORDS[severity] ?? "Note"}:`), " ", named === "" ? undefined : el("code", {}, `${shownLine(named)}:`), " ", ...words(shownLine(message)), " ", shown);
  }
}
