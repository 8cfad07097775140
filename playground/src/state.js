/** All that the page merges: the mode, the files of each side, and the functionConfig. A link holds it, and a merge begins with it. */

import { MODES, ROLES } from "./modes.js";

/** @typedef {import("./modes.js").Role} Role */
/** @typedef {Map<string, string>} Files by their paths; a text that is no file has the path "" */

/**
 * @typedef {object} State
 * @property {import("./modes.js").ModeName} mode
 * @property {Record<Role, Files>} sides
 * @property {string} config the functionConfig
 */

/** @returns {State} */
export function emptyState() {
  return { mode: "ThreeWay", sides: { original: new Map(), updated: new Map(), source: new Map(), dest: new Map() }, config: "" };
}

/**
 * @param {State} state
 * @returns {string}
 */
export function toJson(state) {
  const sides = ROLES.filter((role) => state.sides[role].size > 0).map((role) => [role, [...state.sides[role]]]);
  return JSON.stringify({ mode: state.mode, sides, config: state.config });
}

/**
 * Reads what `toJson` wrote. Anything else throws, because a link may come from anyone.
 * @param {string} json
 * @returns {State}
 */
export function fromJson(json) {
  const read = JSON.parse(json);
  const state = emptyState();
  must(MODES.some((mode) => mode.name === read?.mode));
  must(typeof read.config === "string" && Array.isArray(read.sides));
  state.mode = read.mode;
  state.config = read.config;
  for (const [role, files] of read.sides) {
    must(ROLES.includes(role) && Array.isArray(files));
    for (const [path, text] of files) {
      must(typeof path === "string" && typeof text === "string");
      state.sides[/** @type {Role} */ (role)].set(path, text);
    }
  }
  return state;
}

/** @param {boolean} holds */
function must(holds) {
  if (!holds) {
    throw new TypeError("not a state of this page");
  }
}
