/** Elements of the page. Text goes in as text only: nothing here reads HTML. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | boolean | EventListener | undefined>} [attributes] a function listens to the event of that name
 * @param {...(Node | string | undefined)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (typeof value === "string") {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/**
 * A message as nodes: what stands between back-quotes is code.
 * @param {string} text
 */
export function words(text) {
  const parts = text.split("`");
  // Without a pair, a back-quote is one.
  return parts.length % 2 === 0 ? [text] : parts.map((part, n) => (n % 2 === 0 ? part : el("code", {}, part)));
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (found === null || (type !== undefined && !(found instanceof type))) {
    throw new Error(`the page has no ${id}`);
  }
  return /** @type {T} */ (found);
}
