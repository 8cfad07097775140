/** The hunks of a unified diff, as places in the text after it. */

/**
 * @typedef {object} Hunk
 * @property {number} at the line of the text after, from 1, before which the removed lines were
 * @property {string[]} gone
 * @property {string[]} fresh the lines from `at` on that are new
 */

/**
 * @param {string} diff
 * @returns {Hunk[]}
 */
export function hunks(diff) {
  /** @type {Hunk[]} */
  const found = [];
  let at = 0;
  let [before, after] = [0, 0];
  /** @type {Hunk | null} */
  let open = null;
  for (const line of diff.split("\n")) {
    if (before === 0 && after === 0) {
      const head = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      if (head !== null) {
        [before, after] = [Number(head[1] ?? 1), Number(head[3] ?? 1)];
        // Of a hunk without lines, the number is that of the line before it.
        at = Number(head[2]) + (after === 0 ? 1 : 0);
        open = null;
      }
      continue;
    }
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === "\\") {
      continue;
    }
    if (sign !== "-" && sign !== "+") {
      [at, before, after, open] = [at + 1, before - 1, after - 1, null];
      continue;
    }
    if (open === null || (sign === "-" && open.fresh.length > 0)) {
      open = { at, gone: [], fresh: [] };
      found.push(open);
    }
    if (sign === "-") {
      open.gone.push(text);
      before -= 1;
    } else {
      open.fresh.push(text);
      at += 1;
      after -= 1;
    }
  }
  return found;
}

/**
 * What differs in two versions of a line: how many characters are alike at its start and at its end.
 * @param {string} a
 * @param {string} b
 * @returns {{start: number, end: number} | null} null if too little is alike to point at the rest
 */
export function alike(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) {
    start += 1;
  }
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end += 1;
  }
  const same = a.slice(0, start).trim().length + a.slice(a.length - end).trim().length;
  return same * 3 < most ? null : { start, end };
}
