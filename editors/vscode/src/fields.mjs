/** A text with conflict markers, merged by field. What nobody decided stays between markers. */

import { marked, whole } from "./markers.mjs";

/**
 * @typedef {object} Merged
 * @property {string} text
 * @property {number} left how many conflicts are left
 * @property {string[]} told warnings
 */

/**
 * What a person must do before the text can be merged by field.
 */
export class Refused extends Error {}

/**
 * @param {string} text
 * @param {object} with_
 * @param {Pick<typeof import("@krm-merge/wasm"), "merge" | "decide" | "markers">} with_.engine
 * @param {typeof import("../../../playground/src/changes.js").changesOf} with_.changesOf
 * @param {string} with_.path the path of the file, which rules may name
 * @param {string} with_.rules the text of a `.krm-merge.yaml`, or nothing
 * @param {string} [with_.original] the whole file that both sides come from, as git's index has it
 * @returns {Merged}
 */
export function mergeByField(text, { engine, changesOf, path, rules, original }) {
  const { conflicts, faults } = engine.markers(text);
  if (faults.length > 0) {
    throw new Refused(`the markers from line ${faults[0] + 1} on must have one end, and one line between the sides: decide this conflict by hand`);
  }
  if (conflicts.length === 0) {
    throw new Refused("the file must have conflict markers, but it has none");
  }
  if (original === undefined && conflicts.some(({ original }) => original === null)) {
    throw new Refused("git's index or the markers must have the original: run `git config merge.conflictStyle diff3`, then `git checkout --merge FILE`");
  }
  const moved = conflicts.find(({ mayHaveMoved }) => mayHaveMoved);
  if (original === undefined && moved !== undefined) {
    throw new Refused(`one side may have moved what the other side adds to, so decide the conflict in line ${moved.start + 1} by hand`);
  }
  const [dest, updated] = [whole(text, conflicts, "ours"), whole(text, conflicts, "theirs")];
  // What git merged clean is in both sides.
  const base = original === undefined ? whole(text, conflicts, "original") : withEndsOf(text, original);
  const sides = { original: { [path]: base }, updated: { [path]: updated }, dest: { [path]: dest } };
  const merge = (/** @type {string} */ functionConfig) =>
    engine.merge({ ...sides, mode: "ThreeWay", allowEmptyUpdated: true, ...(functionConfig.trim() === "" ? {} : { functionConfig }) });
  const ours = merge(rules);
  const error = ours.results.find(({ severity }) => severity === "error");
  if (error !== undefined) {
    const place = error.file === undefined ? "" : ` (${error.file}${error.line === undefined ? "" : ` ${error.line}:${error.column ?? 1}`})`;
    throw new Refused(`${error.message}${place}`);
  }
  const open = ours.conflicts.filter((conflict) => conflict.open);
  const isLost = open.length === 0 && ours.changes.length === 0 && ours.conflicts.length === 0;
  if (isLost && sides.updated[path] !== sides.original[path] && sides.updated[path] !== sides.dest[path]) {
    throw new Refused("the file must have resources with a name, else nothing in it merges by field");
  }
  const told = ours.results.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  // With each open conflict decided for theirs, what differs is what is open.
  const decided = open.reduce((config, conflict) => {
    if (conflict.case === undefined) {
      // A version that is not YAML is merged as text, and a warning has the place.
      throw new Refused([`no rule can decide one conflict alone: ${conflict.what}`, ...told].join(". "));
    }
    return engine.decide(config, conflict, "Updated");
  }, rules);
  const theirs = open.length === 0 ? ours : merge(decided);
  if (theirs.conflicts.some((conflict) => conflict.open)) {
    throw new Refused("two conflicts in this file depend on each other, so decide them by hand");
  }
  const [before, after] = [ours.files[path] ?? "", theirs.files[path] ?? ""];
  const isShown = conflicts.some(({ original }) => original !== null);
  // The original gets what each side gave the other: so it differs at the open places alone.
  const onto = (/** @type {string} */ text, /** @type {string} */ from, /** @type {string} */ to) =>
    engine.merge({ original: { [path]: from }, updated: { [path]: to }, dest: { [path]: text }, mode: "ThreeWay", allowEmptyUpdated: true }).files[path] ?? text;
  const merged = isShown ? onto(onto(base, dest, before), updated, after) : "";
  const shown = isShown ? { text: merged, hunks: changesOf(before, merged) } : undefined;
  const joined = marked(before, after, changesOf(before, after), { ...conflicts[0], base: shown });
  return { text: joined, left: engine.markers(joined).conflicts.length, told };
}

/**
 * A text from git's index, with the line ends of the file on disk.
 * @param {string} file
 * @param {string} text
 */
function withEndsOf(file, text) {
  return file.includes("\r\n") && !text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}
