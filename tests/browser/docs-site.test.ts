/**
 * The documentation for a newcomer who has only its address: every link has a target, the search
 * finds, examples can be copied and pasted, and everyone can read it. The pictures are for people
 * to look at.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { before, describe, test as testAnywhere } from "node:test";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import { openWindow, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { type DocsSite, linksOf, startDocsSite } from "../support/browser/docs-site.ts";

describe("the documentation", () => {
  let site: DocsSite;
  before(async () => {
    site = await startDocsSite();
  });

  testAnywhere("a newcomer's first command is approved", async (t) => {
    const printed = await site.pasteFirst("quick-start");

    assert.match(printed, /&status=approved&order-stage=sale_approved&/);
    // A person waits about a minute; the limit is for a machine that is busy with other tests.
    const seconds = site.elapsedSeconds();
    t.diagnostic(`approved ${seconds.toFixed(1)} s after the start`);
    assert.ok(seconds < 600, `${seconds} s`);
  });

  testAnywhere("every link and every anchor leads somewhere, also in Markdown", async () => {
    const pages = await site.readAll();

    assert.ok(pages.size > 50, `${pages.size} pages`);
    const dead: string[] = [];
    const files = new Set<string>();
    const isServed = async (path: string) => (await fetch(site.baseUrl + path)).status === 200;
    for (const [from, html] of pages) {
      for (const [path = "", anchor] of linksOf(html)) {
        if (/^https?:/.test(path)) continue;
        const target = path === "" ? from : path;
        const found = pages.get(target);
        const isFile = /\.(md|txt|json)$/.test(target);
        const isThere = isFile ? files.has(target) || (await isServed(target)) : found;
        const isAnchored = anchor === undefined || found?.includes(` id="${anchor}"`);
        if (isThere && isFile) files.add(target);
        if (!isThere || !isAnchored) dead.push(`${from}: ${target}#${anchor}`);
      }
    }
    assert.deepEqual(dead, []);
    const list = await (await fetch(`${site.baseUrl}/docs/llms.txt`)).text();
    const listed = [...list.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, path = ""]) => path);
    assert.ok(listed.length > 45, `${listed.length} pages listed`);
    for (const path of listed) assert.ok(files.has(path) || (await isServed(path)), path);
  });

  test("the search finds words, and works by keyboard", async (t) => {
    const { page, troubles } = await openWindow(t, "desk");
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(site.baseUrl)) foreign.push(request.url());
    });
    await page.goto(`${site.baseUrl}/docs/`);

    await page.keyboard.press("/");
    await page.keyboard.type("recurrent_initiator");
    await page.locator("#found li a").first().waitFor();
    await takePicture(page, "docs-search-desk");
    await page.getByRole("combobox").fill("capture parameters");
    await page.locator('#found a[href="/docs/merchant-api/capture#parameters"]').waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/merchant-api\/capture#parameters$/);

    await page.getByRole("combobox").fill("zzzz");
    await page.getByText("Nothing found").waitFor();
    assert.deepEqual(
      foreign.filter((url) => !url.startsWith("data:")),
      [],
    );
    assert.deepEqual(troubles, []);
  });

  test("a chosen language is remembered, and code is copied as it is shown", async (t) => {
    const { page, context } = await openWindow(t, "desk");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${site.baseUrl}/docs/merchant-api/sale`);

    await page.getByRole("tab", { name: "Python" }).click();
    await page.locator(".code[data-language=python] .copy").click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    await page.goto(`${site.baseUrl}/docs/quick-start`);

    assert.match(copied, /^import hashlib[\s\S]*"v2\/sale\/"/);
    assert.equal(await page.locator(".code[data-language=python]").first().isVisible(), true);
    assert.equal(await page.locator(".tabs .code[data-language=sh]").first().isVisible(), false);
  });

  test("the calculator computes the checksum that the page shows, and sends nothing", async (t) => {
    const { page } = await openWindow(t, "desk");
    await page.goto(`${site.baseUrl}/docs/merchant-api/sale`);
    const shown = await page.locator("#authentication ~ .code code").first().textContent();
    const output = page.locator(".calculator output");
    await page.waitForFunction("document.querySelector('.calculator output').textContent !== ''");
    assert.equal(await output.textContent(), shown);
    const requests: string[] = [];
    page.on("request", (request) => void requests.push(request.url()));

    await page.getByLabel("control key").fill("MY-OWN-KEY");

    await page.waitForFunction(
      `document.querySelector('.calculator output').textContent !== ${JSON.stringify(shown)}`,
    );
    assert.match((await output.textContent()) ?? "", /^[0-9a-f]{40}$/);
    assert.deepEqual(requests, []);
    assert.equal(await page.evaluate("JSON.stringify({ ...localStorage })"), "{}");
  });

  test("the explorer neither sends nor stores a key of the reader", async (t) => {
    const { page, context } = await openWindow(t, "desk");
    const sent: string[] = [];
    context.on("request", (request) => {
      sent.push(JSON.stringify([request.url(), request.headers(), request.postData()]));
    });
    const key = "1F0C2A3B-OWN-KEY-OF-THE-READER";
    await page.goto(`${site.baseUrl}/docs/explorer`);

    await page.getByLabel("control key").fill(key);
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator("#api-explorer > pre").filter({ hasText: "INVALID_CONTROL_CODE" }).waitFor();

    assert.ok(sent.some((request) => request.includes("control=")));
    const digest = hash("sha1", key);
    const leaks = sent.filter((request) =>
      [key, digest, btoa(key)].some((it) => request.includes(it)),
    );
    assert.deepEqual(leaks, []);
    const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";
    assert.equal(await page.evaluate(kept), '[{},{},""]');
    await page.reload();
    await page.getByLabel("control key").waitFor();
    assert.equal(await page.getByLabel("control key").inputValue(), site.demo.merchant.controlKey);
  });

  test("the explorer pays, asks for the status and refunds, without sending the key", async (t) => {
    const { page, troubles } = await openWindow(t, "desk");
    const bodies: string[] = [];
    page.on("request", (request) => void bodies.push(request.postData() ?? ""));
    await page.goto(`${site.baseUrl}/docs/explorer`);
    const reply = page.locator("#api-explorer > pre");
    const send = async (operation: string, expected: RegExp) => {
      await page.getByLabel("operation").selectOption(operation);
      await page.getByRole("button", { name: "Send" }).click();
      await reply.filter({ hasText: expected }).waitFor();
    };

    await page.getByLabel("operation").waitFor();
    await send("v2/sync/sale", /"order-stage": "sale_approved"/);
    await takePicture(page, "docs-explorer-desk");
    await send("v2/status", /"transaction-type": "sale"/);
    await send("v2/sync/return", /"order-stage": "reversal_approved"/);

    assert.ok(bodies.some((body) => body.includes("control=")));
    const { controlKey } = site.demo.merchant;
    assert.deepEqual(
      bodies.filter((body) => body.includes(controlKey)),
      [],
    );
    assert.deepEqual(troubles, []);
  });

  // axe takes long for tables, so each kind of page is checked once.
  const judged = {
    desk: ["", "merchant-api/capture", "explorer"],
    phone: ["quick-start", "going-live"],
  };
  for (const size of ["desk", "phone"] as const) {
    testInLongRun(`axe finds no fault in it, ${size}`, async (t) => {
      const { page, troubles } = await openWindow(t, size);
      for (const path of judged[size]) {
        await page.goto(`${site.baseUrl}/docs/${path}`);
        await page.locator("h1").waitFor();
        await assertFitsWidth(page);
        await assertNoViolations(page, path);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const name = path.replace("/", "-") || "welcome";
          await takePicture(page, `docs-${name}-${size}-${colorScheme}`);
        }
      }
      assert.deepEqual(troubles, []);
    });
  }

  testInLongRun("every page fits a phone, and no button covers code", async (t) => {
    const { page, troubles } = await openWindow(t, "phone");
    const paths = [...(await site.readAll()).keys()];
    for (const path of paths) {
      await page.goto(site.baseUrl + path, { waitUntil: "domcontentloaded" });
      await assertFitsWidth(page);
      assert.deepEqual(await page.evaluate(coveredCode), [], path);
    }
    assert.deepEqual(troubles, []);
  });
});

/** Returns the visible code whose first line is below its button. */
const coveredCode = `[...document.querySelectorAll(".code")].flatMap((code) => {
  const text = document.createRange();
  text.selectNodeContents(code.querySelector("code"));
  const [line] = text.getClientRects();
  const button = code.querySelector(".copy").getBoundingClientRect();
  const isCovered = line && button.height > 0 && line.top < button.bottom;
  return isCovered ? [code.textContent.slice(0, 40)] : [];
})`;
