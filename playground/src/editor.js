/** The editors: CodeMirror with YAML, numbers of lines, and characters that mislead as escapes. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, drawSelection, EditorView, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, placeholder, WidgetType,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { alike } from "./changes.js";
import { escape, line as shownLine, SPECIAL } from "./shown.js";

/** @typedef {import("./changes.js").Hunk} Hunk */

/** The decorations of an editor; they move with the text, until the next merge sets them anew. */
/** @type {import("@codemirror/state").StateEffectType<import("@codemirror/view").DecorationSet>} */
const marks = StateEffect.define();
/** @type {StateField<import("@codemirror/view").DecorationSet>} */
const marked = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    const moved = value.map(transaction.changes);
    return transaction.effects.reduce((last, effect) => (effect.is(marks) ? effect.value : last), moved);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The nonce by which the policy of the page allows the styles of CodeMirror. */
function nonce() {
  const style = document.querySelector("style[nonce]");
  return style instanceof HTMLElement ? style.nonce ?? "" : "";
}

/**
 * @param {string} label its name for screen readers
 * @returns {import("@codemirror/state").Extension[]}
 */
function common(label) {
  return [
    EditorView.cspNonce.of(nonce()),
    lineNumbers(),
    highlightSpecialChars({ specialChars: SPECIAL, render: special }),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    syntaxHighlighting(classHighlighter),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    marked,
  ];
}

/** @param {number} code */
function special(code) {
  const made = document.createElement("span");
  made.className = "cm-escape";
  made.textContent = escape(String.fromCodePoint(code));
  return made;
}

/** An editor in which people write. */
export class Editor {
  /**
   * @param {HTMLElement} parent
   * @param {{label: string, hint: string, change: () => void}} options
   */
  constructor(parent, { label, hint, change }) {
    this.extensions = [
      ...common(label),
      history(),
      highlightActiveLineGutter(),
      indentOnInput(),
      indentUnit.of("  "),
      placeholder(hint),
      // Tab is not bound: it leads to the next part of the page.
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          change();
        }
      }),
    ];
    this.view = new EditorView({ parent, state: this.stateOf("") });
  }

  /** @param {string} text */
  stateOf(text) {
    return EditorState.create({ doc: text, extensions: this.extensions });
  }

  /** The text, to the byte as it came, unless someone edited it. */
  get text() {
    const { doc } = this.view.state;
    return doc === this.came?.doc ? this.came.text : doc.sliceString(0, doc.length, this.came?.isCrlf ? "\r\n" : "\n");
  }

  /**
   * Another text, as from a file: what was undone before belongs to the old one.
   * @param {string} text
   */
  set text(text) {
    this.view.setState(this.stateOf(text));
    // CodeMirror has one kind of line break. An edited text has that of the text that came.
    this.came = { text, doc: this.view.state.doc, isCrlf: /\r\n/.test(text) && !/[^\r]\n/.test(text) };
  }

  /**
   * A change of the text that the page makes, and that can be undone.
   * @param {string} text
   */
  edit(text) {
    const change = changeOf(this.view.state.doc.toString(), text.replaceAll("\r\n", "\n"));
    if (change !== null) {
      this.view.dispatch({ changes: change });
    }
  }

  /**
   * Marks lines, from 1, each with a class and words for it.
   * @param {{line: number, kind: "error" | "warning" | "conflict"}[]} places
   */
  mark(places) {
    const { doc } = this.view.state;
    const found = places.filter(({ line }) => line >= 1 && line <= doc.lines).sort((a, b) => a.line - b.line);
    /** @type {RangeSetBuilder<Decoration>} */
    const builder = new RangeSetBuilder();
    for (const { line, kind } of found) {
      const { from } = doc.line(line);
      builder.add(from, from, Decoration.line({ class: `cm-at-${kind}` }));
    }
    this.view.dispatch({ effects: marks.of(builder.finish()) });
  }

  /**
   * Moves the focus to a place, from 1.
   * @param {number} line
   * @param {number} [column]
   */
  go(line, column = 1) {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const place = Math.min(at.from + Math.max(column - 1, 0), at.to);
    this.view.dispatch({
      selection: EditorSelection.cursor(place),
      effects: EditorView.scrollIntoView(place, { y: "center" }),
    });
    this.view.dom.scrollIntoView({ block: "nearest" });
    this.view.focus();
  }
}

/** The viewer of a result: the text with its changes marked, or the diff. */
export class Viewer {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.extensions = [
      ...common("Result"),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ "aria-readonly": "true" }),
      keymap.of([...defaultKeymap, ...searchKeymap]),
    ];
    this.view = new EditorView({ parent, state: EditorState.create({ doc: "", extensions: this.extensions }) });
  }

  /**
   * A text whose changes are marked. Where it is scrolled to stays.
   * @param {string} text
   * @param {Hunk[]} hunks
   */
  show(text, hunks) {
    const change = changeOf(this.view.state.doc.toString(), text.replaceAll(/\r\n?/g, "\n"));
    if (change !== null) {
      this.view.dispatch({ changes: change });
    }
    const { doc } = this.view.state;
    /** @type {RangeSetBuilder<Decoration>} */
    const builder = new RangeSetBuilder();
    for (const { at, gone, fresh } of hunks) {
      const place = at <= doc.lines ? doc.line(at).from : doc.length;
      if (gone.length > 0) {
        const side = at <= doc.lines ? -1 : 1;
        builder.add(place, place, Decoration.widget({ widget: new Gone(gone, fresh), block: true, side }));
      }
      for (let n = 0; n < fresh.length && at + n <= doc.lines; n += 1) {
        const { from, to } = doc.line(at + n);
        builder.add(from, from, NEW);
        const parts = gone.length === fresh.length ? alike(gone[n], fresh[n]) : null;
        if (parts !== null && from + parts.start < to - parts.end) {
          builder.add(from + parts.start, to - parts.end, DIFFERS);
        }
      }
    }
    this.view.dispatch({ effects: marks.of(builder.finish()) });
  }

  /**
   * Scrolls to a line, from 1. The page itself stays where it is.
   * @param {number} line
   */
  scrollTo(line) {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const { scrollDOM } = this.view;
    scrollDOM.scrollTop = Math.max(this.view.lineBlockAt(from).top - scrollDOM.clientHeight / 2, 0);
  }

  /**
   * A unified diff.
   * @param {string} diff
   */
  showDiff(diff) {
    this.show(diff, []);
    const { doc } = this.view.state;
    /** @type {RangeSetBuilder<Decoration>} */
    const builder = new RangeSetBuilder();
    let isHead = true;
    for (let n = 1; n <= doc.lines; n += 1) {
      const { from, text } = doc.line(n);
      isHead &&= !text.startsWith("@@");
      const kind = isHead || text.startsWith("@@") ? QUIET : text.startsWith("+") ? NEW_LINE : text.startsWith("-") ? GONE_LINE : null;
      if (kind !== null && text !== "") {
        builder.add(from, from, kind);
      }
    }
    this.view.dispatch({ effects: marks.of(builder.finish()) });
  }
}

const NEW = Decoration.line({ class: "cm-new" });
const DIFFERS = Decoration.mark({ class: "cm-differs" });
const NEW_LINE = Decoration.line({ class: "cm-new-line" });
const GONE_LINE = Decoration.line({ class: "cm-gone-line" });
const QUIET = Decoration.line({ class: "cm-quiet" });

/** The most removed lines that are shown at one place. */
const MOST_GONE = 200;

/** Lines that were removed, shown above the place where they were. */
class Gone extends WidgetType {
  /**
   * @param {string[]} lines
   * @param {string[]} fresh what came in their place
   */
  constructor(lines, fresh) {
    super();
    this.lines = lines;
    this.fresh = fresh;
  }

  /** @param {Gone} other */
  eq(other) {
    return other.lines.join("\n") === this.lines.join("\n") && other.fresh.join("\n") === this.fresh.join("\n");
  }

  get estimatedHeight() {
    return Math.min(this.lines.length, MOST_GONE) * 21;
  }

  toDOM() {
    const block = document.createElement("div");
    block.className = "cm-gone";
    this.lines.slice(0, MOST_GONE).forEach((whole, n) => {
      const line = whole.replace(/\r$/, "");
      const made = block.appendChild(document.createElement("del"));
      const parts = this.lines.length === this.fresh.length ? alike(line, this.fresh[n]) : null;
      if (parts === null || parts.start >= line.length - parts.end) {
        made.textContent = shownLine(line);
        return;
      }
      const differs = document.createElement("mark");
      differs.textContent = shownLine(line.slice(parts.start, line.length - parts.end));
      made.append(shownLine(line.slice(0, parts.start)), differs, shownLine(line.slice(line.length - parts.end)));
    });
    if (this.lines.length > MOST_GONE) {
      block.appendChild(document.createElement("del")).textContent = `… ${this.lines.length - MOST_GONE} more lines`;
    }
    return block;
  }
}

/**
 * The least change that makes one text of another.
 * @param {string} before
 * @param {string} after
 * @returns {{from: number, to: number, insert: string} | null}
 */
function changeOf(before, after) {
  if (before === after) {
    return null;
  }
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) {
    start += 1;
  }
  let end = 0;
  while (end < most - start && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) {
    end += 1;
  }
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
