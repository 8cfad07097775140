/** The value that a side of a conflict has: as it is, or what it changed in the original if both have several lines. */

import { changesOf } from "./changes.js";
import { el } from "./dom.js";
import { counted, lines as shownLines } from "./shown.js";

/** The longest value that is shown, in characters. */
const LONGEST = 4000;

/** The longest values that are compared, in characters. */
const LONGEST_COMPARED = 50_000;

/** How many lines around a change are shown, as in the report. */
const CONTEXT = 2;

/**
 * @param {string | undefined} value
 * @param {string | undefined} [original] what it is compared with
 * @returns {HTMLElement}
 */
export function valueOf(value, original) {
  if (value === undefined) {
    return el("p", { class: "none" }, "(none)");
  }
  const text = trimmed(value);
  const from = trimmed(original ?? "");
  const isCompared = [text, from].every((one) => one.includes("\n") && one.length <= LONGEST_COMPARED) && text !== from;
  return isCompared ? against(from, text) : el("pre", {}, shownLines(cut(text)));
}

/**
 * @param {string} original
 * @param {string} value
 */
function against(original, value) {
  const before = original.split("\n");
  const shown = el("pre", { class: "diff" });
  const add = (/** @type {"span" | "del" | "ins"} */ tag, /** @type {string} */ text) => shown.append(el(tag, {}, `${text}\n`));
  const same = (/** @type {number} */ from, /** @type {number} */ to) => before.slice(from, to).forEach((line) => add("span", `  ${shownLines(line)}`));
  const gap = (/** @type {number} */ count) => count > 0 && shown.append(el("span", { class: "gap" }, `… ${counted(count, "line")}\n`));
  let at = 0;
  for (const { from, gone, fresh } of changesOf(`${original}\n`, `${value}\n`)) {
    const start = Math.max(at === 0 ? 0 : Math.min(at + CONTEXT, from - 1), from - 1 - CONTEXT);
    if (at > 0) {
      same(at, Math.min(at + CONTEXT, from - 1));
      gap(start - Math.min(at + CONTEXT, from - 1));
    } else {
      gap(start);
    }
    same(start, from - 1);
    gone.forEach((line) => add("del", `- ${shownLines(line)}`));
    fresh.forEach((line) => add("ins", `+ ${shownLines(line)}`));
    at = from - 1 + gone.length;
  }
  const end = Math.min(at + CONTEXT, before.length);
  same(at, end);
  gap(before.length - end);
  return shown;
}

/** @param {string} text */
function trimmed(text) {
  return text.replace(/\n$/, "");
}

/** @param {string} text */
function cut(text) {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n… ${counted(text.length - LONGEST, "more character")}`;
}
