/** The portal in a browser's window: signing in, and the checks that every screen must pass. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Test } from "../clean-up.ts";
import { endOfFile } from "../end-of-file.ts";
import { password } from "../operator/portal.ts";
import { isLongRun } from "../series.ts";
import { assertFitsWidth, assertNoViolations, violationsIn } from "./accessibility.ts";
import { openWindow, type Size, takePicture, type Window } from "./browser.ts";
import { faultsBy22 } from "./wcag22.ts";

const phone = { width: 390, height: 844 };
/** Whether all themes and sizes are checked: in the long run, and when pictures are taken. */
const seesAll = isLongRun || process.env["TOLLGATE_PICTURES"] !== undefined;

export async function fillIn(page: Page, login: string, given = password): Promise<void> {
  await page.getByLabel("Login").fill(login);
  await page.getByLabel("Password", { exact: true }).fill(given);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens a browser window for one test, signed in and at a screen of the portal. */
export async function signIn(t: Test, size: Size, address: string, login: string): Promise<Window> {
  const window = await openWindow(t, size);
  await window.page.goto(address);
  await fillIn(window.page, login);
  await window.page.locator("main h1").waitFor();
  return window;
}

/**
 * Makes one desktop window for all tests of a file. It goes from screen to screen as Back and
 * Forward do, without loading the page again.
 */
export function makeDesk(portal: string, login: string) {
  let opened: Promise<Window> | undefined;
  return async (screen: string): Promise<Window> => {
    if (opened === undefined) {
      opened = signIn(endOfFile, "desk", portal + screen, login);
      return opened;
    }
    const window = await opened;
    const place = JSON.stringify(portal + screen);
    await window.page.evaluate(`history.pushState(null, "", ${place})`);
    await window.page.evaluate('dispatchEvent(new Event("popstate"))');
    await window.page.locator("main h1").waitFor();
    return window;
  };
}

/**
 * Password managers need the user's name beside a password, and only a full Chromium reports a
 * missing one.
 */
const namelessPasswords = "form:has(input[type=password]):not(:has(input[autocomplete=username]))";

/** Checks the screen in its present size. */
export async function look(page: Page, name: string): Promise<void> {
  await assertFits(page, name);
  assert.equal(
    await page.locator(namelessPasswords).count(),
    0,
    `${name}: a password without name`,
  );
  if (!seesAll) return assert.deepEqual(await violationsIn(page), [], name);
  await takePicture(page, `${name}-light`);
  await assertNoViolations(page, name);
  await takePicture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

/**
 * Checks the screen at the width of a desktop and of a phone, where nothing may need sideways
 * scrolling.
 */
export async function lookAtBoth(page: Page, name: string): Promise<void> {
  const desk = page.viewportSize() ?? phone;
  await look(page, `${name}-desk`);
  await page.setViewportSize(phone);
  if (seesAll) await look(page, `${name}-phone`);
  else await assertFits(page, `${name}-phone`);
  await page.setViewportSize(desk);
}

/** Asserts that nothing scrolls sideways, and the rules of WCAG 2.2 for keyboard and touch. */
async function assertFits(page: Page, name: string): Promise<void> {
  await assertFitsWidth(page);
  assert.deepEqual(await faultsBy22(page), [], name);
}

/**
 * Checks another view of a screen: every run checks that it fits, and only a full run checks the
 * rest.
 */
export async function glance(page: Page, name: string): Promise<void> {
  if (seesAll) return lookAtBoth(page, name);
  const desk = page.viewportSize() ?? phone;
  await page.setViewportSize(phone);
  await assertFits(page, name);
  await page.setViewportSize(desk);
}
