/**
 * Every page that a cardholder can meet, looked at by axe: nothing that WCAG 2, levels A and AA, is
 * known to forbid, on a desk and on a telephone, by day and by night.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startBrowser } from "../support/browser.ts";
import { cardholderPages } from "../support/cardholder-pages.ts";
import { openWindow } from "../support/cardholder-window.ts";
import { prepareCheckout } from "../support/checkout.ts";
import { receiptLinkOf } from "../support/receipts.ts";
import { startWorld } from "../support/world.ts";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe says, in so far as we want to know it. */
type Violation = { readonly id: string; readonly help: string; readonly nodes: readonly Found[] };
type Found = { readonly html: string; readonly failureSummary?: string };

describe("the cardholder's pages", () => {
  const prepared = prepareCheckout();

  test("axe finds what is wrong with a page", async (t) => {
    const { page } = await prepared().open(t, "desk");
    await page.setContent('<html lang="en"><title>A</title><p style="color:#aaa">Pale</p><input>');

    const violations = (await violationsIn(page)).join("\n");

    assert.match(violations, /color-contrast: .*label: /s);
  });

  for (const [name, options, show] of cardholderPages) {
    for (const size of ["desk", "phone"] as const) {
      test(`${name} is accessible, ${size}`, async (t) => {
        const { page } = await prepared().open(t, size, options);
        const title = await show(page, prepared(), size);
        await page.getByRole("heading", { name: title, exact: true }).waitFor();

        const looked = await prepared().open(t, size);
        // A frame that nothing was put into is nobody's page.
        for (const frame of page.frames().filter((each) => /^http/.test(each.url()))) {
          await looked.page.setContent(withoutScripts(await frame.content()));
          for (const colorScheme of ["light", "dark"] as const) {
            await looked.page.emulateMedia({ colorScheme });
            const violations = await violationsIn(looked.page);
            assert.deepEqual(violations, [], `${colorScheme} ${frame.url()}`);
          }
        }
      });
    }
  }
});

test("the operator's colour and another language change nothing of that", async (t) => {
  // As light as it may be: it is read on both grounds all the same.
  const world = await startWorld(t, { GW_PAGE_NAME: "Harbour", GW_PAGE_ACCENT: "#6f6f6f" });
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { context, page } = await openWindow(await startBrowser(), "phone", { locale: "de-AT" });
  t.after(() => context.close());

  const nothing = `${world.gateway.url}/gw/view-receipt/1/1`;
  for (const address of [await receiptLinkOf(world, order), nothing]) {
    await page.goto(address);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violationsIn(page), [], colorScheme);
    }
  }
});

/** As it stands: most pages would go on by themselves, and axe needs scripts of its own. */
function withoutScripts(content: string): string {
  return content.replace(/<(script|noscript)\b.*?<\/\1>/gs, "");
}

async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const rules = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], iframes: false };
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(document, ${JSON.stringify(rules)})`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}
