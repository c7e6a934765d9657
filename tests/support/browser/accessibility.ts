/** Asserts that axe finds no violation of WCAG 2, levels A and AA, in a page. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { isLongRun } from "../series.ts";
import { until } from "../until.ts";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The part of axe's result that the tests use. */
type Violation = { readonly id: string; readonly help: string; readonly nodes: readonly Found[] };
type Found = { readonly html: string; readonly failureSummary?: string };

const allRules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
/** A rule that takes longer than all others together, so only the long run checks it. */
const contrast = "color-contrast";

export async function violationsIn(page: Page, runOnly = allRules): Promise<readonly string[]> {
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe);
  const options = {
    runOnly,
    iframes: false,
    preload: false,
    resultTypes: ["violations"],
    rules: { [contrast]: { enabled: isLongRun } },
  };
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}

/** Checks the light theme with all rules, and the dark theme for its colours only. */
export async function assertNoViolations(page: Page, name = ""): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await violationsIn(page), [], `${name} light`);
  await page.emulateMedia({ colorScheme: "dark" });
  if (isLongRun) assert.deepEqual(await violationsIn(page, [contrast]), [], `${name} dark`);
}

/**
 * Asserts that nothing must be scrolled sideways. After a resize, open menus move in the next
 * frames.
 */
export async function assertFitsWidth(page: Page): Promise<void> {
  const width = page.viewportSize()?.width ?? 0;
  await until(`the page fits a screen of ${width} px`, async () => {
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    return wide <= width || undefined;
  });
}
