/**
 * Text for people: characters that could mislead them are written as escapes, as the programs do it (crates/krm-yaml/src/shown.rs).
 */

const CLASS =
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e" +
  "\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const MISLEADS = new RegExp(`[${CLASS}]`, "gu");

/** The characters that mislead inside of a line of an editor, where a tab is a tab. */
export const SPECIAL = new RegExp(`(?!\\t)[${CLASS}]`, "gu");

/**
 * The escape of a character, in units of sixteen bits.
 * @param {string} char
 */
export function escape(char) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[char];
  const unit = (/** @type {string} */ one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return short ?? char.split("").map(unit).join("");
}

/**
 * A text as one line.
 * @param {string} text
 */
export function line(text) {
  return text.replace(MISLEADS, escape);
}

/**
 * A text of several lines: line breaks and tabs stay.
 * @param {string} text
 */
export function lines(text) {
  return text.split("\n").map((one) => one.split("\t").map(line).join("\t")).join("\n");
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
