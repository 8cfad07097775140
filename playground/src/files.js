/** Files that someone drops on the page or opens: text files by their paths. */

/** What is no part of a package. */
const SKIPPED = new Set([".git", ".hg", ".svn", "node_modules"]);

/** The most bytes that a side takes. */
const MOST = 64 << 20;

/**
 * @typedef {object} Taken
 * @property {import("./state.js").Files} files
 * @property {number} skipped how many files are not text, or too large
 */

/**
 * The files of a drop. Folders are read with all that is in them.
 * @param {DataTransfer} transfer
 * @returns {Promise<Taken>}
 */
export function dropped(transfer) {
  // The list is empty after the event, so all entries are taken at once.
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return (async () => {
    /** @type {[string, File][]} */
    const found = [];
    for (const entry of entries) {
      if (entry instanceof File) {
        found.push([entry.name, entry]);
      } else if (entry !== null) {
        await walk(entry, entry.name, found);
      }
    }
    return read(found);
  })();
}

/**
 * The files of a file picker.
 * @param {Iterable<File>} list
 * @returns {Promise<Taken>}
 */
export function picked(list) {
  return read([...list].map((file) => [file.webkitRelativePath || file.name, file]));
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} path
 * @param {[string, File][]} found
 */
async function walk(entry, path, found) {
  if (SKIPPED.has(entry.name)) {
    return;
  }
  if (entry.isFile) {
    const file = await new Promise((done, fail) => /** @type {FileSystemFileEntry} */ (entry).file(done, fail));
    found.push([path, file]);
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    // A reader gives at most a hundred entries at once.
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) {
      return;
    }
    for (const inner of some) {
      await walk(inner, `${path}/${inner.name}`, found);
    }
  }
}

/**
 * @param {[string, File][]} found
 * @returns {Promise<Taken>}
 */
async function read(found) {
  const wanted = found.filter(([path]) => !path.split("/").some((part) => SKIPPED.has(part)));
  // The folders of two sides have different names. What is in them has the same.
  const tops = new Set(wanted.map(([path]) => (path.includes("/") ? path.split("/")[0] : "")));
  const top = tops.size === 1 ? [...tops][0] : "";
  wanted.sort(([a], [b]) => (a < b ? -1 : 1));
  const files = new Map();
  let left = MOST;
  for (const [path, file] of wanted) {
    left -= file.size;
    const text = left < 0 ? null : textOf(await file.arrayBuffer());
    if (text !== null) {
      files.set(top === "" ? path : path.slice(top.length + 1), text);
    }
  }
  return { files, skipped: wanted.length - files.size };
}

/**
 * @param {ArrayBuffer} bytes
 * @returns {string | null} null if it is not text
 */
function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
