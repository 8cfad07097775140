/**
 * The state of the page as the fragment of a link: JSON, compressed, in base64url. Browsers send no fragment to a server.
 */

import { fromJson, toJson } from "./state.js";

/** What a link of this form begins with. */
const FORM = "1.";

/** The longest text that a link may hold. A small link could else grow without end. */
const MOST = 32 << 20;

/** The longest fragment that browsers take. */
const LONGEST = 1_500_000;

/**
 * The state as a fragment; null if it is too long for a link.
 * @param {import("./state.js").State} state
 * @returns {Promise<string | null>}
 */
export async function toFragment(state) {
  const json = new TextEncoder().encode(toJson(state));
  if (json.length > MOST) {
    return null;
  }
  const stream = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  const coded = FORM + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return coded.length > LONGEST ? null : coded;
}

/**
 * The state of a fragment. It throws if the fragment is none of this page.
 * @param {string} fragment
 * @returns {Promise<import("./state.js").State>}
 */
export async function fromFragment(fragment) {
  if (!fragment.startsWith(FORM)) {
    throw new TypeError("not a link of this page");
  }
  const text = atob(fragment.slice(FORM.length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let json = "";
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > MOST) {
      await reader.cancel();
      throw new RangeError("the link holds too much");
    }
    json += decoder.decode(read.value, { stream: true });
  }
  return fromJson(json + decoder.decode());
}
