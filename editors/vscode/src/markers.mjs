/** Texts with conflict markers. The module reads the markers. */

/** @typedef {"ours" | "original" | "theirs"} Side */

/** @typedef {import("@krm-merge/wasm").MarkedConflict} Conflict */

/**
 * The lines of a text, each with its line break.
 * @param {string} text
 * @returns {string[]}
 */
function linesOf(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * What stands in the place of a conflict if these sides are taken, in their order.
 * @param {string} text
 * @param {Conflict} conflict
 * @param {Side[]} sides
 */
export function taken(text, conflict, sides) {
  const lines = linesOf(text);
  return sides.map((side) => lines.slice(...(conflict[side] ?? [0, 0])).join("")).join("");
}

/**
 * The whole text with one side taken in each conflict.
 * @param {string} text
 * @param {Conflict[]} conflicts
 * @param {Side} side
 */
export function whole(text, conflicts, side) {
  const lines = linesOf(text);
  let out = "";
  let last = 0;
  for (const conflict of conflicts) {
    out += lines.slice(last, conflict.start).join("") + lines.slice(...(conflict[side] ?? [0, 0])).join("");
    last = conflict.end;
  }
  return out + lines.slice(last).join("");
}

/**
 * Two texts as one, with markers where they differ.
 * @param {string} ours
 * @param {string} theirs
 * @param {import("../../../playground/src/changes.js").Hunk[]} hunks the changes from ours to theirs
 * @param {object} with_
 * @param {string} with_.ourName
 * @param {string} with_.theirName
 * @param {{text: string, hunks: import("../../../playground/src/changes.js").Hunk[]}} [with_.base] the original, if it stands between the
 *   markers, too, and the changes from ours to it
 */
export function marked(ours, theirs, hunks, { ourName, theirName, base }) {
  const [a, b] = [linesOf(ours), linesOf(theirs)];
  const original = base === undefined ? [] : linesOf(base.text);
  const end = /\r\n/.test(ours) ? "\r\n" : "\n";
  const ended = (/** @type {string[]} */ lines) => lines.map((line) => (line.endsWith("\n") ? line : line + end)).join("");
  let out = "";
  let last = 0;
  for (const { from, at, gone, fresh } of hunks) {
    out += a.slice(last, from - 1).join("");
    out += `<<<<<<< ${ourName}${end}${ended(a.slice(from - 1, from - 1 + gone.length))}`;
    if (base !== undefined) {
      const between = [from - 1, from - 1 + gone.length].map((line, side) => lineOf(base.hunks, line, side === 0 ? "start" : "end"));
      out += `||||||| original${end}${ended(original.slice(...between))}`;
    }
    out += `=======${end}${ended(b.slice(at - 1, at - 1 + fresh.length))}>>>>>>> ${theirName}${end}`;
    last = from - 1 + gone.length;
  }
  return out + a.slice(last).join("");
}

/**
 * Where the start or the end of a range of lines is in another text, from 0. In the middle of a change, the whole change is in the range.
 * @param {import("../../../playground/src/changes.js").Hunk[]} hunks the changes from the text to the other one
 * @param {number} line
 * @param {"start" | "end"} which
 */
function lineOf(hunks, line, which) {
  let moved = 0;
  for (const { from, at, gone, fresh } of hunks) {
    const [start, end] = [from - 1, from - 1 + gone.length];
    const isBefore = line < start || (which === "end" && line === start && end > start);
    if (isBefore) {
      break;
    }
    if (which === "start" && (line === start || line < end)) {
      return at - 1;
    }
    if (which === "end" && line <= end) {
      return at - 1 + fresh.length;
    }
    moved += fresh.length - gone.length;
  }
  return line + moved;
}
