/** What the tests share: the built page, a server for it, and Chromium. */

import { chromium } from "playwright-core";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildPage } from "../build.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** The folder of the page: built now from the module in `WASM`, or as `npm run build` left it. */
async function folder() {
  if (process.env.WASM !== undefined) {
    const out = mkdtempSync(join(tmpdir(), "playground-"));
    await buildPage(process.env.WASM, out);
    return out;
  }
  const built = join(here, "../../target/playground");
  if (!existsSync(join(built, "index.html"))) {
    throw new Error("build the page first, or give the folder of the module in WASM");
  }
  return built;
}

/** Starts the server and Chromium. */
export async function start() {
  const dir = await folder();
  /** @type {string[]} */
  const served = [];
  const server = createServer((request, response) => {
    served.push(request.url ?? "");
    const name = request.url === "/" ? "index.html" : (request.url ?? "").slice(1);
    const isThere = ["index.html", "licenses.txt"].includes(name);
    response.writeHead(isThere ? 200 : 404, { "content-type": name.endsWith(".html") ? "text/html" : "text/plain" });
    response.end(isThere ? readFileSync(join(dir, name)) : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  return {
    served,
    http: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`,
    file: pathToFileURL(join(dir, "index.html")).href,

    /**
     * Opens the page, and records what must not happen.
     * @param {string} url
     * @param {import("playwright-core").BrowserContextOptions} [options]
     */
    async open(url, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
      if (url.startsWith("http")) {
        await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      }
      const page = await context.newPage();
      /** @type {string[]} */
      const wrong = [];
      page.on("request", (request) => {
        const asked = request.url();
        if (asked.split("#")[0] !== url.split("#")[0] && !asked.startsWith("blob:") && !asked.startsWith("data:")) {
          wrong.push(`request ${asked}`);
        }
      });
      page.on("dialog", (dialog) => {
        wrong.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("pageerror", (error) => wrong.push(`error ${error.stack}`));
      page.on("console", (message) => {
        if (message.type() === "error") {
          wrong.push(`console ${message.text()}`);
        }
      });
      await page.goto(url);
      return { page, context, wrong };
    },

    async stop() {
      await browser.close();
      server.close();
    },
  };
}

/**
 * Waits until the page has merged what it shows now.
 * @param {import("playwright-core").Page} page
 * @param {RegExp} [summary] what the summary then says
 */
export async function merged(page, summary = /conflict/) {
  await page.waitForFunction(
    (source) => new RegExp(source).test(document.getElementById("summary")?.textContent ?? ""),
    summary.source,
    { timeout: 15_000 },
  );
}

/**
 * The text of an editor.
 * @param {import("playwright-core").Page} page
 * @param {string} label
 */
export async function textOf(page, label) {
  // Only lines in view are in the page, so the test looks at short texts.
  return page.getByRole("textbox", { name: label, exact: true }).evaluate((content) =>
    [...content.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));
}

/**
 * Puts a text into an editor, as pasting does.
 * @param {import("playwright-core").Page} page
 * @param {string} label
 * @param {string} text
 */
export async function paste(page, label, text) {
  const editor = page.getByRole("textbox", { name: label, exact: true });
  await editor.click();
  await page.keyboard.press("Control+a");
  await editor.evaluate((content, pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}
