/** The portal's account, passkeys, team, audit and command palette in a real browser. */
import assert from "node:assert/strict";
import jsQr from "jsqr";
import type { Locator } from "playwright-core";
import { assertFitsWidth } from "../support/browser/accessibility.ts";
import { openWindow, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import {
  fillIn,
  glance,
  look,
  lookAtBoth,
  makeDesk,
  signIn,
} from "../support/browser/portal-window.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal, codeAt, password } from "../support/operator/portal.ts";
import { until } from "../support/until.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
// Passkeys work at host names, and not at a numeric address.
const address = `http://localhost:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const atDesk = makeDesk(address, "ann");

test("a user turns the codes of an app on with the QR code on the screen, and off again", async () => {
  const { page, troubles } = await atDesk("account");
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Turn on" }).click();
  // The policy of the portal forbids the page to evaluate text, as Playwright's own waiting does.
  await until("the code is drawn", async () => {
    const width = await page.evaluate<number>("document.querySelector('.qr')?.naturalWidth ?? 0");
    return width > 0 || undefined;
  });
  await takePicture(page, "portal-account-app");
  const scanned = new URL(await scanQrCode(dialog.getByRole("img", { name: "QR code" })));
  assert.equal(scanned.protocol, "otpauth:");
  assert.match(decodeURIComponent(scanned.pathname), /:ann$/);
  const secret = scanned.searchParams.get("secret") ?? "";
  assert.equal(await dialog.locator("code").textContent(), secret);
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

test("a passkey is added, asked for at sign-in, and removed", async () => {
  const { page, context, troubles } = await atDesk("account");
  const device = await context.newCDPSession(page);
  await device.send("WebAuthn.enable");
  await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });

  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Test laptop");
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("Test laptop").waitFor();

  await page.getByRole("button", { name: "ann" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await fillIn(page, "ann");
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  await glance(page, "portal-sign-in-passkey");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("last used").waitFor();

  await page.getByRole("button", { name: "Remove Test laptop" }).click();
  await dialog.getByLabel("Your password").fill(password);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No passkey yet.").waitFor();
  assert.deepEqual(troubles, []);
});

test("an administrator adds a user, who needs a password of their own, and ends their session", async (t) => {
  const { page, troubles } = await atDesk("team");
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("carl");
  await dialog.getByLabel("Role").selectOption("merchant-viewer");
  await dialog.getByLabel("Merchant").fill("demo");
  await page.getByRole("option", { name: "demo" }).click();
  await dialog.getByRole("button", { name: "Preview" }).click();
  await give(dialog, "Add user");
  const made = (await dialog.locator("pre").textContent()) ?? "";
  assert.match(made, /^[a-z0-9-]{23}$/);
  await takePicture(page, "portal-team-added");
  await dialog.getByText("carl@demo").waitFor();
  await dialog.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("row", { name: /carl.*Merchant viewer.*demo.*Temporary/ }).waitFor();
  await lookAtBoth(page, "portal-team");

  const carl = await openWindow(t, "desk");
  await carl.page.goto(address);
  await fillIn(carl.page, "carl@demo", made);
  await carl.page.getByRole("heading", { name: "Choose a new password" }).waitFor();
  await glance(carl.page, "portal-new-password");
  assert.deepEqual(carl.troubles, []);
  await page.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("button", { name: "End the session of carl@demo" }).click();
  await page
    .getByRole("button", { name: "End the session of carl@demo" })
    .waitFor({ state: "detached" });
  await carl.page.reload();
  await carl.page.getByRole("heading", { name: "Sign in" }).waitFor();

  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "Actions for carl@demo" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await give(dialog, "Disable: carl@demo");
  await page.getByRole("row", { name: /carl.*Disabled/ }).waitFor();
  assert.deepEqual(troubles, []);
});

testInLongRun(
  "if the gateway does not answer, the dialog says so and the screen stays",
  async (t) => {
    // A window of its own, because the browser reports the failed request as a fault.
    const { page } = await signIn(t, "desk", `${address}team`, "ann");
    await page.getByRole("button", { name: "Actions for bob@demo" }).click();
    await page.getByRole("menuitem", { name: "Disable" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("left the shop");
    const asked: string[] = [];
    await page.route("**/portal/api/**", (route) => {
      asked.push(route.request().method());
      return route.abort();
    });
    await dialog.getByRole("button", { name: "Disable" }).click();
    await dialog.getByText("The gateway cannot be reached.").waitFor();

    assert.deepEqual(asked, ["POST"]);
  },
);

testInLongRun(
  "by keys alone the audit is gone to, searched and proved, and ? shows the keys",
  async () => {
    const { page, troubles } = await atDesk("home");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await look(page, "portal-palette");
    await page.keyboard.insertText("aud");
    await page.keyboard.press("Enter");
    await page.waitForURL(/portal\/audit/);
    await page.locator(".entries > li").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.insertText("user disable");
    await page.waitForURL(/search=user\+disable/);
    const entry = page.locator(".entries > li").first();
    await entry.getByText("user carl@demo").click();
    await entry.getByText('"enabled": false').waitFor();
    await page.getByRole("button", { name: "Verify chain" }).click();
    await page.getByText(/The audit is whole: \d+ entries/).waitFor();
    await lookAtBoth(page, "portal-audit");

    await page.locator("h1").click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await takePicture(page, "portal-shortcuts");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(troubles, []);
  },
);

test("on a phone every screen is reached, and a merchant's administrator sees no audit", async (t) => {
  const { page, troubles } = await signIn(t, "phone", address, "bob@demo");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("option", { name: "Team" }).waitFor();
  assert.equal(await page.getByRole("option", { name: "Audit" }).count(), 0);
  await page.getByRole("option", { name: "Account" }).click();

  await page.getByRole("heading", { name: "Account" }).waitFor();
  await assertFitsWidth(page);
  assert.deepEqual(troubles, []);
});

/** Fills in the reason after the preview of a form, and presses the button that performs it. */
async function give(dialog: Locator, button: string): Promise<void> {
  await dialog.getByLabel("Reason").fill("the shop asked for it");
  await dialog.getByRole("button", { name: button }).click();
}

/** Reads a QR code as an app does, from the pixels that the browser has painted. */
async function scanQrCode(picture: Locator): Promise<string> {
  const png = (await picture.screenshot()).toString("base64");
  const painted = await picture.page().evaluate<Painted>(`(async () => {
    const bytes = Uint8Array.from(atob("${png}"), (each) => each.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    return { width, height, pixels: [...canvas.getImageData(0, 0, width, height).data] };
  })()`);
  const pixels = Uint8ClampedArray.from(painted.pixels);
  const code = jsQr.default(pixels, painted.width, painted.height);
  assert.ok(code, "no QR code is on the screen");
  return code.data;
}

type Painted = {
  readonly width: number;
  readonly height: number;
  readonly pixels: readonly number[];
};
