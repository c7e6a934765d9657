/** The portal's account, passkeys, team, audit and command palette in a real browser. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import { openWindow, type Size, takePicture, test } from "../support/browser/browser.ts";
import { fillIn, look } from "../support/browser/portal-window.ts";
import type { Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal, codeAt, password } from "../support/operator/portal.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
// Passkeys are for names: a numeric address has none.
const address = `http://localhost:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "petra", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const phone = { width: 390, height: 844 };

test("a user turns the codes of an app on with a QR code, and signs in with one", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.goto(`${address}account`);
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByRole("img", { name: "QR code" }).waitFor();
  await page.waitForFunction("document.querySelector('.qr').naturalWidth > 0");
  await takePicture(page, "portal-account-app");
  const secret = (await dialog.locator("code").textContent()) ?? "";
  await dialog.getByLabel("Code").fill(codeAt(secret, world.clock.now()));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("They are shown only now").waitFor();
  await page.getByRole("button", { name: "I have kept them" }).click();

  await page.getByText("10 of 10 left").waitFor();
  await lookAtBoth(page, "portal-account");
  await page.getByRole("button", { name: "Turn off" }).click();
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Turn off" }).click();
  await page.getByText("Off", { exact: true }).waitFor();
  assert.deepEqual(troubles, []);
});

test("a passkey is added, asked for at sign-in, and removed", async (t) => {
  const { page, context, troubles } = await signIn(t, "desk", "petra");
  const device = await context.newCDPSession(page);
  await device.send("WebAuthn.enable");
  await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.goto(`${address}account`);

  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Test laptop");
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("Test laptop").waitFor();
  await page.getByText("never used").waitFor();

  await signOut(page, "petra");
  await fillIn(page, "petra");
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  await assertNoViolations(page, "second factor with a passkey");
  await takePicture(page, "portal-sign-in-passkey");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("last used").waitFor();

  await page.getByRole("button", { name: "Remove Test laptop" }).click();
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No passkey yet.").waitFor();
  await signOut(page, "petra");
  await fillIn(page, "petra");
  await page.getByRole("heading", { name: "Account" }).waitFor();
  assert.deepEqual(troubles, []);
});

test("an administrator adds a user, gives another role, ends a session and disables", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.getByRole("link", { name: "Team" }).click();
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Login").fill("carl");
  await dialog.getByLabel("Role").selectOption("merchant-viewer");
  await dialog.getByLabel("Merchant").selectOption("demo");
  await dialog.getByRole("button", { name: "Add user" }).click();
  const made = (await dialog.locator("pre").textContent()) ?? "";
  assert.match(made, /^[a-z0-9-]{23}$/);
  await takePicture(page, "portal-team-added");
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("row", { name: /carl.*Merchant viewer.*demo.*Temporary/ }).waitFor();
  await lookAtBoth(page, "portal-team");

  const carl = await open(t, "desk");
  await fillIn(carl.page, "carl", made);
  await carl.page.getByRole("heading", { name: "Choose a new password" }).waitFor();
  await page.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("button", { name: "End the session of carl" }).click();
  await page
    .getByRole("button", { name: "End the session of carl" })
    .waitFor({ state: "detached" });
  await carl.page.reload();
  await carl.page.getByRole("heading", { name: "Sign in" }).waitFor();

  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "Actions for carl" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await dialog.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("row", { name: /carl.*Disabled/ }).waitFor();
  assert.deepEqual(troubles, []);
});

test("the audit is searched, opened and proved; a change of an entry is found", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.getByRole("link", { name: "Audit" }).click();
  await page.locator(".entries > li").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("user disable");
  await page.waitForURL(/search=user\+disable/);
  const entry = page.locator(".entries > li").first();
  await entry.getByText("user carl").click();
  await entry.getByText('"enabled": false').waitFor();
  await page.getByRole("button", { name: "Verify chain" }).click();
  await page.getByText(/The audit is whole: \d+ entries/).waitFor();
  await lookAtBoth(page, "portal-audit");

  const { query } = world.installation.database;
  await query("update audit set actor = 'mallory' where action = 'user disable'");
  await page.getByRole("button", { name: "Verify chain" }).click();
  await page
    .getByRole("alert")
    .getByText(/was changed/)
    .waitFor();
  await takePicture(page, "portal-audit-broken");
  await query("update audit set actor = 'ann' where action = 'user disable'");
  assert.deepEqual(troubles, []);
});

test("Ctrl and K go to a screen or an order by keys alone, and ? shows the keys", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await assertNoViolations(page, "palette");
  await takePicture(page, "portal-palette");
  await page.keyboard.type("aud");
  await page.keyboard.press("Enter");
  await page.waitForURL(/portal\/audit/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("12345678");
  await page.keyboard.press("Enter");
  await page.waitForURL(/portal\/orders\/12345678/);
  await page.getByRole("heading", { name: "This could not be loaded" }).waitFor();

  await page.goto(`${address}audit`);
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await takePicture(page, "portal-keys");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(
    troubles.filter((trouble) => !/404/.test(trouble)),
    [],
  );
});

test("on a phone every screen is reached, and a merchant's administrator sees no audit", async (t) => {
  const { page, troubles } = await signIn(t, "phone", "bob");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("option", { name: "Team" }).waitFor();
  assert.equal(await page.getByRole("option", { name: "Audit" }).count(), 0);
  await page.getByRole("option", { name: "Account" }).click();

  await page.getByRole("heading", { name: "Account" }).waitFor();
  await assertFitsWidth(page);
  assert.deepEqual(troubles, []);
});

async function open(t: Test, size: Size) {
  const window = await openWindow(t, size);
  await window.page.goto(address);
  return window;
}

async function signIn(t: Test, size: Size, login: string) {
  const window = await open(t, size);
  await fillIn(window.page, login);
  await window.page.getByRole("heading", { name: "Orders", exact: true }).waitFor();
  return window;
}

async function signOut(page: Page, login: string): Promise<void> {
  await page.getByRole("button", { name: login }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

/** At a desk and as wide as a phone, light and dark. */
async function lookAtBoth(page: Page, name: string): Promise<void> {
  const desk = page.viewportSize() ?? phone;
  for (const [size, viewport] of [["desk", desk] as const, ["phone", phone] as const]) {
    await page.setViewportSize(viewport);
    await look(page, `${name}-${size}`);
  }
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: "light" });
}
