/**
 * The documentation in other situations than on a desktop: its 3-D Secure examples in a browser,
 * and its pages by touch, without scripts and on paper.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertFitsWidth } from "../support/browser/accessibility.ts";
import { bankIn, openWindow, press, takePicture, test } from "../support/browser/browser.ts";
import { startDocsSite } from "../support/browser/docs-site.ts";
import { atEnd } from "../support/clean-up.ts";
import { findFreePort, isMissing, makeExampleFolder } from "../support/operator/examples.ts";
import { startShell } from "../support/programs.ts";
import { until } from "../support/until.ts";

const site = await startDocsSite();

test("a newcomer's first challenge is passed in the browser", async (t) => {
  const reply = new URLSearchParams(await site.pasteFirst("3d-secure"));
  const { page } = await openWindow(t, "desk");
  await page.route("https://shop.example/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "<title>Shop</title>" }),
  );

  const back = page.waitForRequest(/shop\.example\/return/);
  await page.goto(reply.get("redirect-to") ?? "");
  await press(bankIn(page, "desk"), { code: "1234" });
  const returned = new URLSearchParams((await back).postData() ?? "");

  assert.equal(returned.get("status"), "approved");
});

test("the shop of the 3-D Secure page passes a challenge", {
  skip: isMissing("python"),
}, async (t) => {
  const markdown = await site.readMarkdown("3d-secure");
  const folder = await makeExampleFolder();
  const [, program = ""] = /^```python\n(import base64.*?)^```/ms.exec(markdown) ?? [];
  const [, script = ""] = /^```js\n(.*?)^```/ms.exec(markdown) ?? [];
  await writeFile(join(folder, "method.js"), script);
  await writeFile(join(folder, "shop.py"), program);
  await writeFile(join(folder, "shop.sh"), "exec python3 shop.py");
  const PORT = await findFreePort();
  const shop = startShell("shop.sh", folder, { ...(await site.readVariables()), PORT });
  atEnd(t, () => shop.kill());
  const address = `http://localhost:${PORT}/`;
  await until("the shop answers", async () => {
    assert.ok(shop.isRunning, shop.output);
    return fetch(address).catch(() => undefined);
  });
  const { page } = await openWindow(t, "phone");

  await page.goto(address);
  await page.getByRole("button", { name: "Pay" }).click();
  await press(bankIn(page, "phone"), { code: "1234" });

  await page.getByText("Your payment is approved.").waitFor();
});

test("the search works by touch, and its results fit a phone", async (t) => {
  const { page } = await openWindow(t, "phone");
  await page.goto(`${site.baseUrl}/docs/quick-start`);

  await page.getByRole("combobox").tap();
  await page.getByRole("combobox").fill("webhook-signature");
  await page.locator("#found li a").first().waitFor();
  await assertFitsWidth(page);
  await takePicture(page, "docs-search-phone");
  await page.locator("#found li a").first().tap();

  await page.waitForURL(/\/docs\/callbacks#/);
});

test("without scripts the examples of every language are shown", async (t) => {
  const { page } = await openWindow(t, "phone", { javaScriptEnabled: false });
  await page.goto(`${site.baseUrl}/docs/merchant-api/sale`);

  for (const language of ["sh", "ts", "php", "python"]) {
    assert.equal(await page.locator(`.code[data-language=${language}]`).isVisible(), true);
  }
  assert.equal(await page.locator("#search").isVisible(), false);
});

test("on paper the examples of every language are printed, and no controls", async (t) => {
  const { page } = await openWindow(t, "desk", { colorScheme: "dark" });
  await page.goto(`${site.baseUrl}/docs/3d-secure`);

  await page.emulateMedia({ media: "print" });

  for (const language of ["sh", "ts", "php", "python"]) {
    const code = page.locator(`.tabs .code[data-language=${language}]`).first();
    assert.equal(await code.isVisible(), true, language);
  }
  for (const part of ["header", ".navigation", "aside", ".copy", ".tablist", "footer"]) {
    assert.equal(await page.locator(part).first().isVisible(), false, part);
  }
  const ground = "getComputedStyle(document.body).backgroundColor";
  assert.equal(await page.evaluate(ground), "rgb(255, 255, 255)");
  await takePicture(page, "docs-3d-secure-print");
});
