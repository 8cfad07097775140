/** Conflict markers in a text, as git writes them. */

/** @typedef {"ours" | "original" | "theirs"} Side */

/**
 * A conflict. Numbers are lines from 0; the end of a part is the line after it.
 * @typedef {object} Conflict
 * @property {number} start the line of `<<<<<<<`
 * @property {number} end the line after `>>>>>>>`
 * @property {[number, number]} ours
 * @property {[number, number] | null} original null without the markers of diff3
 * @property {[number, number]} theirs
 * @property {string} ourName
 * @property {string} theirName
 */

/**
 * The lines of a text, each with its line break.
 * @param {string} text
 * @returns {string[]}
 */
function linesOf(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * The conflicts of a text. Markers that are not whole are text.
 * @param {string} text
 * @returns {Conflict[]}
 */
export function conflictsOf(text) {
  /** @type {Conflict[]} */
  const found = [];
  /** @type {{start: number, name: string, size: number, original?: number, middle?: number} | null} */
  let open = null;
  linesOf(text).forEach((line, n) => {
    const marker = /^(<{7,}|\|{7,}|={7,}|>{7,})(?: (.*?))?\r?\n?$/.exec(line);
    if (marker === null) {
      return;
    }
    const [, sign, name = ""] = marker;
    if (sign[0] === "<") {
      open = { start: n, name, size: sign.length };
    } else if (open === null || sign.length !== open.size) {
      return;
    } else if (sign[0] === "|" && open.middle === undefined) {
      open.original ??= n;
    } else if (sign[0] === "=" && name === "") {
      open.middle ??= n;
    } else if (sign[0] === ">" && open.middle !== undefined) {
      const { start, original, middle } = open;
      found.push({
        start,
        end: n + 1,
        ours: [start + 1, original ?? middle],
        original: original === undefined ? null : [original + 1, middle],
        theirs: [middle + 1, n],
        ourName: open.name,
        theirName: name,
      });
      open = null;
    }
  });
  return found;
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
 * @param {Side} side
 */
export function whole(text, side) {
  const lines = linesOf(text);
  let out = "";
  let last = 0;
  for (const conflict of conflictsOf(text)) {
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
 * @param {{ourName: string, theirName: string}} names
 */
export function marked(ours, theirs, hunks, { ourName, theirName }) {
  const [a, b] = [linesOf(ours), linesOf(theirs)];
  const end = /\r\n/.test(ours) ? "\r\n" : "\n";
  const ended = (/** @type {string[]} */ lines) => lines.map((line) => (line.endsWith("\n") ? line : line + end)).join("");
  let out = "";
  let last = 0;
  for (const { from, at, gone, fresh } of hunks) {
    out += a.slice(last, from - 1).join("");
    out += `<<<<<<< ${ourName}${end}${ended(a.slice(from - 1, from - 1 + gone.length))}`;
    out += `=======${end}${ended(b.slice(at - 1, at - 1 + fresh.length))}>>>>>>> ${theirName}${end}`;
    last = from - 1 + gone.length;
  }
  return out + a.slice(last).join("");
}
