/** The portal in a browser's window: signing in, and what every screen must stand. */
import type { Page } from "playwright-core";
import { password } from "../operator/portal.ts";
import { assertFitsWidth, assertNoViolations } from "./accessibility.ts";
import { takePicture } from "./browser.ts";

export async function fillIn(page: Page, login: string, given = password): Promise<void> {
  await page.getByLabel("Login").fill(login);
  await page.getByLabel("Password", { exact: true }).fill(given);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** The window stays dark afterwards. */
export async function look(page: Page, name: string): Promise<void> {
  await assertFitsWidth(page);
  await page.emulateMedia({ colorScheme: "light" });
  await takePicture(page, `${name}-light`);
  await assertNoViolations(page, name);
  await takePicture(page, `${name}-dark`);
}
