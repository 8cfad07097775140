/** The conflicts as cards: what each side has, and buttons and keys that decide. */

import { byId, el, words } from "./dom.js";
import { placeOf } from "./modes.js";
import { counted, line as shownLine } from "./shown.js";
import { valueOf } from "./value.js";

/** @typedef {import("krm-merge-wasm").Conflict} Conflict */
/** @typedef {import("krm-merge-wasm").Take} Take */

/**
 * What decides a conflict: a key, a button, and the side that then wins.
 * @type {{key: string, take: Take, label: string, winner: string}[]}
 */
const TAKES = [
  { key: "o", take: "Dest", label: "Keep dest (ours)", winner: "dest" },
  { key: "t", take: "Updated", label: "Take updated (theirs)", winner: "updated" },
];

export class Cards {
  /**
   * @param {object} on
   * @param {(conflict: Conflict, take?: Take) => void} on.decide
   * @param {(conflict: Conflict) => void} on.edit
   * @param {(from: number) => Promise<Conflict[]>} on.more
   * @param {() => void} on.keys shows the keys
   */
  constructor(on) {
    this.on = on;
    this.list = byId("cards");
    this.rest = byId("more-conflicts", HTMLButtonElement);
    this.region = byId("conflicts");
    /** @type {Map<string, {json: string, card: HTMLElement, conflict: Conflict}>} */
    this.known = new Map();
    this.total = 0;
    this.shown = 0;
    this.rest.addEventListener("click", () => this.showMore());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * @param {Conflict[]} first
   * @param {number} total
   */
  show(first, total) {
    const focus = this.focused();
    const before = this.known;
    this.known = new Map();
    this.total = total;
    this.shown = 0;
    this.list.replaceChildren(...this.cardsOf(first, before));
    this.count();
    this.refocus(focus);
  }

  async showMore() {
    const more = await this.on.more(this.shown);
    const cards = this.cardsOf(more, new Map());
    this.list.append(...cards);
    this.count();
    cards[0]?.focus();
  }

  count() {
    const left = this.total - this.shown;
    this.rest.hidden = left <= 0;
    this.rest.textContent = `Show ${Math.min(left, 100)} more (${counted(left, "conflict")} left)`;
    this.region.hidden = this.total === 0;
    // One card is in the order of Tab. The keys lead to the others.
    const current = this.list.querySelector("article[tabindex='0']") ?? this.list.firstElementChild;
    current?.setAttribute("tabindex", "0");
  }

  /**
   * @param {Conflict[]} conflicts
   * @param {Map<string, {json: string, card: HTMLElement, conflict: Conflict}>} before cards that may be used again
   */
  cardsOf(conflicts, before) {
    return conflicts.map((conflict) => {
      let key = JSON.stringify([conflict.file, conflict.resource, conflict.path]);
      while (this.known.has(key)) {
        key += "+";
      }
      const json = JSON.stringify(conflict);
      const old = before.get(key);
      const card = old?.json === json ? old.card : this.card(conflict, `c${this.shown}`);
      card.dataset.key = key;
      card.tabIndex = old?.card.tabIndex ?? -1;
      this.known.set(key, { json, card, conflict: old?.json === json ? old.conflict : conflict });
      this.shown += 1;
      return card;
    });
  }

  /**
   * @param {Conflict} conflict
   * @param {string} id
   * @returns {HTMLElement}
   */
  card(conflict, id) {
    const { line, path, open, taken, outcome, secret } = conflict;
    const place = placeOf(conflict.file);
    const where = [place?.path ? el("code", {}, shownLine(place.path)) : undefined, line ? el("span", { class: "line" }, `line ${line} of dest`) : undefined];
    // A resource that dest deleted stays deleted, whatever a rule takes.
    const isGone = path === "" && conflict.file === undefined;
    const takes = conflict.case === undefined ? [] : TAKES.filter(({ take }) => !isGone || take === "Dest");
    const buttons = takes.map(({ take, label, key, winner: side }) =>
      el(
        "button",
        {
          type: "button", "data-act": key, "aria-keyshortcuts": key, "aria-pressed": String(!open && taken === side),
          click: () => this.on.decide(conflict, take),
        },
        label,
      ),
    );
    const act = (/** @type {string} */ key, /** @type {string} */ label, /** @type {() => void} */ click) =>
      el("button", { type: "button", "data-act": key, "aria-keyshortcuts": key, click }, label);
    return el(
      "article",
      { class: open ? "open" : "decided", "aria-labelledby": `${id}-what ${id}-state`, tabindex: "-1" },
      el(
        "h3",
        { id: `${id}-what` },
        el("code", {}, shownLine(nameOf(conflict))),
        path ? el("code", { class: "path" }, shownLine(path)) : "",
      ),
      el(
        "p",
        { class: "about" },
        ...where,
        el("span", { id: `${id}-state`, class: `tag ${open ? "conflict" : "won"}` }, open ? "open" : "decided"),
      ),
      whatOf(conflict),
      secret
        ? el("p", {}, "The values are of a Secret, so they are not shown here.")
        : el("dl", { class: "sides" }, ...["original", "dest", "updated"].map((side) => sideOf(conflict, side))),
      open
        ? undefined
        : el("p", { class: "outcome" }, el("strong", {}, "Outcome:"), " ", ...words(shownLine(outcome))),
      isGone ? el("p", { class: "outcome" }, "To bring it back, copy it from updated into dest.") : undefined,
      buttons.length > 0 || !open
        ? undefined
        : el("p", { class: "outcome" }, "No rule can decide this alone. Edit dest so that it has what you want."),
      el(
        "div",
        { class: "acts" },
        ...buttons,
        open ? undefined : act("u", "Undecide", () => this.on.decide(conflict)),
        line ? act("e", "Edit", () => this.on.edit(conflict)) : undefined,
      ),
    );
  }

  /** The keys of the cards: in their region, and where nothing else has the focus. */
  key(/** @type {KeyboardEvent} */ event) {
    const target = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) {
      return;
    }
    if (target !== document.body && !this.region.contains(target)) {
      return;
    }
    if (event.key === "?") {
      event.preventDefault();
      this.on.keys();
      return;
    }
    const cards = /** @type {HTMLElement[]} */ ([...this.list.children]);
    const at = cards.findIndex((card) => card.contains(target));
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined && (at >= 0 || event.key === "j") && !this.region.hidden) {
      event.preventDefault();
      this.focus(cards[Math.min(Math.max(at + step, 0), cards.length - 1)]);
    } else if (at >= 0 && /^[a-z]$/.test(event.key)) {
      const button = cards[at].querySelector(`button[data-act="${event.key}"]`);
      if (button instanceof HTMLButtonElement) {
        event.preventDefault();
        this.focus(cards[at]);
        button.click();
      }
    }
  }

  /** @param {HTMLElement | undefined} card */
  focus(card) {
    if (card !== undefined) {
      this.list.querySelectorAll("article[tabindex='0']").forEach((other) => other.setAttribute("tabindex", "-1"));
      card.tabIndex = 0;
      card.focus();
    }
  }

  focused() {
    const target = document.activeElement;
    const card = target instanceof HTMLElement ? target.closest("#cards > article") : null;
    return card instanceof HTMLElement ? { key: card.dataset.key, act: /** @type {HTMLElement} */ (target).dataset.act } : null;
  }

  /** @param {{key?: string, act?: string} | null} focus */
  refocus(focus) {
    const card = focus?.key === undefined ? undefined : this.known.get(focus.key)?.card;
    if (card !== undefined && !card.contains(document.activeElement)) {
      const button = focus?.act === undefined ? null : card.querySelector(`button[data-act="${focus.act}"]`);
      if (button instanceof HTMLElement) {
        button.focus();
      } else {
        this.focus(card);
      }
    }
  }
}

/** @param {Conflict} conflict */
function nameOf({ resource, file }) {
  if (resource === undefined) {
    return placeOf(file)?.path || "The file";
  }
  const { kind, namespace, name } = resource;
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}

/**
 * What the sides did, unless the card says it without words: the field is its title, and the values are below.
 * @param {Conflict} conflict
 */
function whatOf({ what, path, secret }) {
  const told = secret ? what : what.replace(/: (?:dest|updated|original) ha[sd] .*$/su, "");
  return told === `both sides changed \`${path}\`` ? undefined : el("p", { class: "what" }, ...words(shownLine(told)));
}

/**
 * @param {Conflict} conflict
 * @param {string} side
 */
function sideOf(conflict, side) {
  const value = conflict[/** @type {"original" | "dest" | "updated"} */ (side)];
  const { open, taken } = conflict;
  const won = taken === side;
  const shown = valueOf(value, side === "original" ? undefined : conflict.original);
  const word = won ? (side === "dest" ? "kept" : "taken") : open && taken === undefined && side === "dest" ? "stays for now" : undefined;
  const state = word === undefined ? undefined : el("span", { class: won ? "tag won" : "tag" }, word);
  return el("div", { class: won ? "side won" : "side" }, el("dt", {}, side, state), el("dd", {}, shown));
}
