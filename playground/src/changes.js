/**
 * The changes between two texts, by line. Lines that are once in both texts are anchors, and between them the rest is compared: so the time
 * grows with the text, however much has changed. (This is "patience diff" by Bram Cohen.)
 */

/**
 * @typedef {object} Hunk
 * @property {number} from the line of the text before, from 1, at which the removed lines begin
 * @property {number} at the line of the text after, from 1, at which the new lines begin
 * @property {string[]} gone
 * @property {string[]} fresh
 */

/** The most pairs of lines that are compared where there is no anchor. */
const MOST_PAIRS = 1 << 20;

/** How many lines around a change a diff shows. */
const CONTEXT = 3;

/**
 * @param {string} before
 * @param {string} after
 * @returns {Hunk[]}
 */
export function changesOf(before, after) {
  if (before === after) {
    return [];
  }
  const [a, b] = [linesOf(before), linesOf(after)];
  const numbers = new Map();
  const numbered = (/** @type {string} */ text, /** @type {string[]} */ lines) =>
    Int32Array.from(lines, (whole, n) => {
      // A last line without a line break is another one than that with it.
      const line = n === lines.length - 1 && !text.endsWith("\n") ? `${whole}\n` : whole;
      const known = numbers.get(line);
      if (known !== undefined) {
        return known;
      }
      numbers.set(line, numbers.size);
      return numbers.size - 1;
    });
  const partners = pair(numbered(before, a), numbered(after, b));
  /** @type {Hunk[]} */
  const found = [];
  for (let [x, y] = [0, 0]; x < a.length || y < b.length; ) {
    const [from, at] = [x, y];
    while (x < a.length && partners[x] < 0) {
      x += 1;
    }
    const end = x < a.length ? partners[x] : b.length;
    if (x > from || end > at) {
      found.push({ from: from + 1, at: at + 1, gone: a.slice(from, x), fresh: b.slice(at, end) });
    }
    [x, y] = [x + 1, end + 1];
  }
  return found;
}

/** @param {string} text */
function linesOf(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

/**
 * For each line of `a` its line in `b`, or -1.
 * @param {Int32Array} a
 * @param {Int32Array} b
 */
function pair(a, b) {
  const partners = new Int32Array(a.length).fill(-1);
  const left = [[0, a.length, 0, b.length]];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    let [a0, a1, b0, b1] = part;
    while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) {
      partners[a0] = b0;
      [a0, b0] = [a0 + 1, b0 + 1];
    }
    while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) {
      [a1, b1] = [a1 - 1, b1 - 1];
      partners[a1] = b1;
    }
    if (a0 === a1 || b0 === b1) {
      continue;
    }
    const anchors = anchorsOf(a, b, [a0, a1, b0, b1]);
    if (anchors.length === 0) {
      if ((a1 - a0) * (b1 - b0) <= MOST_PAIRS) {
        compare(a, b, [a0, a1, b0, b1], partners);
      }
      continue;
    }
    for (const [x, y] of anchors) {
      partners[x] = y;
      left.push([a0, x, b0, y]);
      [a0, b0] = [x + 1, y + 1];
    }
    left.push([a0, a1, b0, b1]);
  }
  return partners;
}

/**
 * The lines that are once in both parts: the longest row of them that both have in one order.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @param {number[]} part
 */
function anchorsOf(a, b, [a0, a1, b0, b1]) {
  /** @type {Map<number, {x: number, y: number}>} -1 if there is none, -2 if there are several */
  const places = new Map();
  for (let x = a0; x < a1; x += 1) {
    const known = places.get(a[x]);
    places.set(a[x], { x: known === undefined ? x : -2, y: -1 });
  }
  for (let y = b0; y < b1; y += 1) {
    const known = places.get(b[y]);
    if (known !== undefined) {
      known.y = known.y === -1 ? y : -2;
    }
  }
  const once = [...places.values()].filter(({ x, y }) => x >= 0 && y >= 0);
  // The longest rising row, by the ends of the rows of each length.
  /** @type {number[]} */
  const ends = [];
  const earlier = new Int32Array(once.length).fill(-1);
  once.forEach(({ y }, n) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = once[ends[middle]].y < y ? [middle + 1, high] : [low, middle];
    }
    earlier[n] = low > 0 ? ends[low - 1] : -1;
    ends[low] = n;
  });
  const row = [];
  for (let n = ends.at(-1) ?? -1; n >= 0; n = earlier[n]) {
    row.push([once[n].x, once[n].y]);
  }
  return row.reverse();
}

/**
 * Pairs the lines of two small parts, as many as there can be.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @param {number[]} part
 * @param {Int32Array} partners
 */
function compare(a, b, [a0, a1, b0, b1], partners) {
  const width = b1 - b0 + 1;
  const most = new Uint32Array((a1 - a0 + 1) * width);
  for (let x = a1 - a0 - 1; x >= 0; x -= 1) {
    for (let y = b1 - b0 - 1; y >= 0; y -= 1) {
      most[x * width + y] = a[a0 + x] === b[b0 + y] ? most[(x + 1) * width + y + 1] + 1 : Math.max(most[(x + 1) * width + y], most[x * width + y + 1]);
    }
  }
  for (let [x, y] = [0, 0]; x < a1 - a0 && y < b1 - b0; ) {
    if (a[a0 + x] === b[b0 + y]) {
      partners[a0 + x] = b0 + y;
      [x, y] = [x + 1, y + 1];
    } else if (most[(x + 1) * width + y] >= most[x * width + y + 1]) {
      x += 1;
    } else {
      y += 1;
    }
  }
}

/**
 * The changes as a unified diff.
 * @param {string} path
 * @param {string} before
 * @param {string} after
 * @param {Hunk[]} hunks
 */
export function unified(path, before, after, hunks) {
  const [a, b] = [linesOf(before), linesOf(after)];
  const [nameA, nameB] = [before === "" ? "/dev/null" : `a/${path}`, after === "" ? "/dev/null" : `b/${path}`];
  const out = hunks.length === 0 ? [] : [`--- ${nameA}`, `+++ ${nameB}`];
  const add = (/** @type {string} */ sign, /** @type {string} */ line, /** @type {boolean} */ isBare) => {
    out.push(sign + line);
    if (isBare) {
      out.push("\\ No newline at end of file");
    }
  };
  const [bareA, bareB] = [!before.endsWith("\n"), !after.endsWith("\n")];
  for (let n = 0; n < hunks.length; ) {
    let end = n + 1;
    while (end < hunks.length && hunks[end].from - (hunks[end - 1].from + hunks[end - 1].gone.length) <= 2 * CONTEXT) {
      end += 1;
    }
    const group = hunks.slice(n, end);
    const last = group[group.length - 1];
    const lead = Math.min(CONTEXT, group[0].from - 1);
    let [x, y] = [group[0].from - 1 - lead, group[0].at - 1 - lead];
    const stop = Math.min(last.from - 1 + last.gone.length + CONTEXT, a.length);
    const sizeA = stop - x;
    const sizeB = last.at - 1 + last.fresh.length + (stop - (last.from - 1 + last.gone.length)) - y;
    out.push(`@@ -${range(x, sizeA)} +${range(y, sizeB)} @@`);
    for (const { from, gone, fresh } of group) {
      for (; x < from - 1; [x, y] = [x + 1, y + 1]) {
        add(" ", a[x], false);
      }
      for (const line of gone) {
        x += 1;
        add("-", line, bareA && x === a.length);
      }
      for (const line of fresh) {
        y += 1;
        add("+", line, bareB && y === b.length);
      }
    }
    for (; x < stop; x += 1) {
      add(" ", a[x], bareA && x === a.length - 1);
    }
    n = end;
  }
  return out.map((line) => `${line}\n`).join("");
}

/**
 * @param {number} start
 * @param {number} size
 */
function range(start, size) {
  return size === 1 ? `${start + 1}` : `${size === 0 ? start : start + 1},${size}`;
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
