/** The modes of a merge, and the sides that each has. The review of values is one of them: it has the sides of a three-way merge. */

/** @typedef {"original" | "updated" | "dest" | "source"} Role */
/** @typedef {"ThreeWay" | "TwoWay" | "Strategic" | "Review"} ModeName */

/**
 * @typedef {object} Mode
 * @property {ModeName} name
 * @property {string} label what people choose
 * @property {string} command the subcommand of the plugin
 * @property {Role[]} roles the sides, in the order of their editors
 */

/** @type {Mode[]} */
export const MODES = [
  { name: "ThreeWay", label: "Three-way: upgrade what you edited", command: "three-way", roles: ["original", "updated", "dest"] },
  { name: "TwoWay", label: "Two-way: put an overlay on it", command: "two-way", roles: ["source", "dest"] },
  { name: "Strategic", label: "Strategic: patch it as kubectl does", command: "strategic", roles: ["source", "dest"] },
  { name: "Review", label: "Review: your values over a new chart", command: "review", roles: ["original", "updated", "dest"] },
];

/** @type {Role[]} */
export const ROLES = ["original", "updated", "source", "dest"];

/**
 * @param {string} name
 * @returns {Mode}
 */
export function modeOf(name) {
  return MODES.find((mode) => mode.name === name) ?? MODES[0];
}

/**
 * What a side is, in a few words.
 * @param {Mode} mode
 * @param {Role} role
 */
export function about(mode, role) {
  if (mode.name === "Review") {
    return { original: "values.yaml of the old chart", updated: "values.yaml of the new chart", dest: "your values", source: "" }[role];
  }
  if (role === "source") {
    return mode.name === "TwoWay" ? "what is put into dest" : "what changes, for the resource of its kind and name";
  }
  return { original: "the release that dest was copied from", updated: "the release that you want", dest: "your files, with your edits" }[role];
}

/**
 * The side and the path that a result or a conflict names: `dest`, `updated/web.yaml`, `functionConfig`.
 * @param {string | undefined} file
 * @returns {{role: Role | "functionConfig", path: string} | null}
 */
export function placeOf(file) {
  const [first, ...rest] = (file ?? "").split("/");
  const role = first === "functionConfig" && rest.length === 0 ? first : ROLES.find((one) => one === first);
  return role === undefined ? null : { role, path: rest.join("/") };
}
