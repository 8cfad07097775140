/** The page's end of the worker: one merge at a time, and of those that wait only the last one. */

export class Merger {
  /**
   * @param {string} script the text of the worker
   * @param {string} packed the module for it
   */
  constructor(script, packed) {
    this.script = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.packed = packed;
    /** @type {Map<number, {done: (value: any) => void, fail: (error: Error) => void}>} */
    this.waiting = new Map();
    this.last = 0;
    this.start();
  }

  /** Starts the worker: at first, and again after the module failed. */
  start() {
    this.worker?.terminate();
    this.worker = new Worker(this.script);
    this.worker.addEventListener("message", ({ data: { id, value, error } }) => {
      const asked = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) {
        asked?.done(value);
      } else {
        asked?.fail(new Error(error));
      }
    });
    this.worker.addEventListener("error", (event) => {
      const all = [...this.waiting.values()];
      this.waiting.clear();
      all.forEach(({ fail }) => fail(new Error(event.message || "the worker stopped")));
    });
    /** @type {Promise<string>} */
    this.ready = this.ask("load", this.packed);
    this.ready.catch(() => {});
  }

  /**
   * @param {"load" | "merge" | "file" | "diff" | "patch" | "more" | "decide"} name
   * @param {unknown} asked
   * @returns {Promise<any>}
   */
  ask(name, asked) {
    this.last += 1;
    const id = this.last;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.worker?.postMessage({ id, name, asked });
    });
  }

  /**
   * Merges, unless a later call comes while an earlier one runs: then only the last one merges, and the others get null.
   * @param {() => unknown} input makes the question, when its turn comes
   * @returns {Promise<any>}
   */
  async merge(input) {
    const mine = {};
    this.wanted = mine;
    await (this.running ?? this.ready);
    if (this.wanted !== mine) {
      return null;
    }
    const merging = this.ready?.then(() => this.ask("merge", input()));
    this.running = merging?.then(() => {}, () => {});
    try {
      return await merging;
    } catch (error) {
      // A module that trapped must not be called again.
      this.running = undefined;
      this.start();
      throw error;
    }
  }
}
