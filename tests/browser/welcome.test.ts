/** The page at `/` for a newcomer, in a real browser, with everything started by one command. */
import assert from "node:assert/strict";
import { before, describe } from "node:test";
import { openContext, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type GatewayProcess, startProcess } from "../support/gateway-process.ts";

describe("the page at / in staging", () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = await startProcess(endOfFile);
  });

  test("shows a newcomer what is running and how to use it", async () => {
    const { page, troubles } = await visit(gateway.baseUrl);
    const { merchant, endpoints, group, bank } = gateway.demo;
    const text = (await page.textContent("main")) ?? "";

    const wanted = [gateway.baseUrl, bank.url, bank.host, "ready", merchant.login];
    for (const value of [...wanted, merchant.controlKey, group, ...Object.values(endpoints)]) {
      assert.ok(text.includes(value), `the page does not tell ${value}`);
    }
    assert.equal(await page.locator("#cards code.value").filter({ hasText: /^\d+$/ }).count(), 74);
    assert.deepEqual(troubles, []);
  });

  test("links to the sandbox and the orders of the portal", async () => {
    const { page } = await visit(gateway.baseUrl);

    for (const [name, path] of [
      ["The sandbox", "/portal/sandbox"],
      ["list of orders", "/portal/orders"],
    ] as const) {
      const link = page.getByRole("link", { name });
      assert.equal(await link.getAttribute("href"), path);
      assert.equal((await fetch(gateway.baseUrl + path)).status, 200, path);
    }
  });

  testInLongRun("fits a phone and a desktop, in the light and the dark theme", async () => {
    const grounds = new Set<unknown>();
    const { page } = await visit(gateway.baseUrl);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });

        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        assert.ok(wide <= width, `${wide} px on a screen of ${width} px`);
        grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
        await takePicture(page, `welcome-${width}-${colorScheme}`);
      }
    }
    assert.equal(grounds.size, 2);
  });
});

/** Opens a page and records every error of the browser from the first request on. */
async function visit(address: string) {
  const page = await (await openContext()).newPage();
  const troubles: string[] = [];
  page.on("console", (message) => troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url()}`));
  page.on("response", (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  await page.goto(address);
  return { page, troubles };
}
