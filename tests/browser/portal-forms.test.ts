/**
 * Every form of the configuration is filled in and sent in a real browser, in one installation from
 * a new gate to its last rule; then `gw` shows the typed values.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { Page } from "playwright-core";
import { openWindow, test } from "../support/browser/browser.ts";
import { fillIn, look } from "../support/browser/portal-window.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal, password } from "../support/operator/portal.ts";
import { readGw } from "../support/programs.ts";
import { until } from "../support/until.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_KEY_GRACE_S: "0" });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
const { page, troubles } = await openWindow(endOfFile, "desk");
await page.goto(`${address}gates`);
await fillIn(page, "ann");
await page.locator("main h1").waitFor();
const dialog = page.getByRole("dialog");

type Fields = Readonly<Record<string, string>>;
type Rows = readonly Readonly<Record<string, unknown>>[];
const gw = async (...words: readonly string[]) => (await readGw(world, ...words)) as Rows;

// biome-ignore format: a table
const gate: Fields = {
  Name: "north", Kind: "iso87_binary", Host: "127.0.0.1:1", TLS: "off", "Terminal (field 41)": "10000042", "Merchant code (field 42)": "ACME1",
  "Name and place (field 43)": "ACME Oslo", "Category (field 18)": "5732", "Acquirer's country (field 19)": "578", "Acquirer id (field 32)": "412345", "Text on the statement": "ACME",
};

test("a gate is created, changed, given its keys, and these are dropped", async () => {
  await give("New gate", gate);
  await page.getByRole("link", { name: "north", exact: true }).click();
  await page.getByRole("heading", { name: "north", level: 1 }).waitFor();
  await give("Change", { "Time zone": "Europe/Oslo", Fee: "1%" });
  await page.getByText("Europe/Oslo").waitFor();
  const key = "0123456789ABCDEFFEDCBA9876543210";
  await give("Add a key", { Algorithm: "retail_80", Key: key });
  await page.getByText("retail_80, 8 bytes").waitFor();
  await give("Set zone key", { "Ask for a key every, hours": "24", Key: key });
  await page.getByRole("button", { name: "Ask for the next key" }).waitFor();

  const shown = JSON.stringify(await gw("gate", "show", "north"));
  for (const typed of ["Europe/Oslo", "127.0.0.1", "ACME Oslo", "10000042", "412345"]) {
    assert.ok(shown.includes(typed), `${typed} in ${shown}`);
  }
  const [macKey] = await gw("gate", "mac-key", "list", "north");
  assert.equal(macKey?.["algorithm"], "retail_80");
  assert.ok(!(await page.content()).includes(key));
  await look(page, "portal-gate-keys-desk");

  await give("Drop zone key", {});
  await give("Remove", { "Also the last key": "on" }, page.locator(".mac-keys"));
  await page.getByText("No keys").waitFor();
  assert.deepEqual(await gw("gate", "mac-key", "list", "north"), []);
});

test("a merchant, its endpoints and their group are created", async () => {
  await page.goto(`${address}merchants`);
  await give("New merchant", { Login: "acme", "Without endpoints": "on" }, page, "secret");
  await page.getByRole("link", { name: "acme", exact: true }).click();
  for (const currency of ["EUR", "USD"]) {
    const limits = { "Largest amount": "500", "Shop colour": "#0b6e4f" };
    const terms = { Name: `acme ${currency}`, Currency: currency, Gate: "north:1:1", ...limits };
    await give("New endpoint", terms);
    await page.getByRole("link", { name: `acme ${currency}` }).waitFor();
  }
  const endpoints = await gw("endpoint", "list", "acme");
  const ids = endpoints.map((each) => String(each["endpoint"] ?? each["id"]));
  await give("New group", { Name: "all", Endpoints: ids.join("\n") });
  await page.getByRole("cell", { name: "acme EUR (EUR), acme USD (USD)" }).waitFor();
  await give("Change", { "Accepts requests": "off" }, page.getByRole("row", { name: /^all/ }));

  const [group] = await gw("group", "list", "acme");
  assert.match(JSON.stringify(group), new RegExp(`${ids[0]}.*${ids[1]}`));
  assert.match(JSON.stringify(group), /"off"|false/);
  await look(page, "portal-merchant-made-desk");

  await page.getByRole("link", { name: "acme EUR" }).click();
  await page.getByRole("heading", { name: "acme EUR", level: 1 }).waitFor();
  const gates = page.locator(".section").filter({ has: page.getByText("Rank") });
  await give("Change", { "Gates, as name:rank:weight": "north:1:3\nsandbox:1:1" }, gates);
  await page.getByRole("row", { name: "sandbox 1 1" }).waitFor();
  await give("Callback secret", { "Make a new one": "on" }, page, "secret");
});

test("keys and certificates of a merchant are set, and a wallet's key is certified", async () => {
  await page.goto(`${address}merchants/acme?tab=keys`);
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
  await give("Set a given key", { Key: "a-key-that-the-merchant-has" });
  await page.getByRole("button", { name: "Drop the old key" }).waitFor();
  await give("Add a key", { Name: "shop 2030", "Or its content": pem });
  await page.getByRole("cell", { name: "2048 bit" }).waitFor();
  assert.equal((await gw("merchant", "key", "list", "acme"))[0]?.["name"], "shop 2030");

  await page.getByRole("link", { name: "Wallets" }).click();
  const walleta = { "Merchant identifier at wallet A": "merchant.shop" };
  await give("Change", { ...walleta, "Merchant's country, for wallet A": "NO" });
  await page.getByText("merchant.shop").waitFor();
  const request = await give("New key", { For: "walleta" }, page, "secret");
  const query = "merchantIdentifier=merchant.shop&days=760";
  const answer = await fetch(`${world.bank.url}/wallets/walleta/certificate?${query}`, {
    ...{ method: "POST", body: request },
  });
  await give("Add certificate", { "Or its content": await answer.text() });
  await page.getByText("Present").waitFor();

  const keys = await gw("wallet", "key", "list");
  const own = keys.filter(({ merchant }) => merchant === "acme");
  assert.deepEqual([own.length, own[0]?.["certificate"]], [1, "yes"]);
  await look(page, "portal-wallet-certified-desk");
});

test("a list is imported from a file, and rules are added, changed and switched off", async () => {
  await page.goto(`${address}screening?tab=lists`);
  const file = "list,kind,value\nblock,email,worse@shop.example\nallow,ip,192.0.2.0/24\n";
  await page.getByRole("button", { name: "Import" }).click();
  await dialog
    .getByLabel("File", { exact: true })
    .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
  await dialog.getByText("worse@shop.example").waitFor();
  await send("Import");
  await page.getByText("192.0.2.0/24").waitFor();
  assert.equal((await gw("list", "show")).length, 2);

  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByLabel("Kind of rule").selectOption("velocity");
  await give("New rule", { "Counted by": "email", Within: "1h", Count: "9", Merchant: "acme" });
  await page.getByRole("cell", { name: /count 9/ }).waitFor();
  await give("Change", { "Parameters, as name=value": "count=8", Action: "mark" });
  await page.getByRole("cell", { name: /count 8/ }).waitFor();
  await give("Switch off", {});
  await page.getByRole("button", { name: "Switch on" }).waitFor();

  const [rule] = await gw("filter", "list");
  assert.match(JSON.stringify(rule), /count.?8|"8"/);
  assert.match(JSON.stringify(rule), /mark/);
  await give("Remove", {});
  await page.getByRole("heading", { name: "No rules yet" }).waitFor();
});

test("vault keys are rotated without waiting, and a domain's file is served", async () => {
  await page.goto(`${address}vault-keys`);
  await page.getByRole("row", { name: /^Card numbers/ }).waitFor();
  await give("Rotate keys", {});
  await until("the old keys are destroyed", async () =>
    (await gw("key", "list")).find(({ destroyedAt }) => destroyedAt !== null),
  );
  await page.reload();
  await page.getByRole("cell", { name: "Destroyed" }).first().waitFor();

  await give("Serve a file", { Name: "wallet-association", "Or its content": "wallet file" });
  await page.getByText("/.well-known/wallet-association").waitFor();
  const { port } = world.gateway;
  const served = await fetch(`http://127.0.0.1:${port}/.well-known/wallet-association`);
  assert.equal(await served.text(), "wallet file");
  await look(page, "portal-vault-keys-desk");
  await page.setViewportSize({ width: 390, height: 844 });
  await look(page, "portal-vault-keys-phone");
  await page.setViewportSize({ width: 1280, height: 900 });
  await give("Remove", {});
  assert.deepEqual(await gw("wallet", "domain-file", "list"), []);
});

test("nothing has gone wrong in the browser meanwhile", () => {
  assert.deepEqual(troubles, []);
});

test("in German, every help text is German, and an emptied field removes a setting", async (t) => {
  const { page: german } = await openWindow(t, "desk", { locale: "de-AT" });
  await german.goto(`${address}merchants/acme?tab=wallets`);
  await german.getByLabel("Benutzername").fill("ann");
  await german.getByLabel("Passwort", { exact: true }).fill(password);
  await german.getByRole("button", { name: "Anmelden" }).click();

  await german.getByRole("button", { name: "Ändern" }).click();
  const window = german.getByRole("dialog");
  await window.getByText("Kennung des Händlers bei Wallet A; leer entfernt").waitFor();
  await look(german, "portal-wallets-german-desk");
  await window.getByLabel("Händlerkennung bei Wallet A").fill("");
  await window.getByLabel("Land des Händlers, für Wallet A").fill("");
  await window.getByRole("button", { name: "Vorschau" }).click();
  await window.getByLabel("Grund").fill("der Händler zieht um");
  await window.getByRole("button", { name: "Ändern" }).click();
  await german.getByText("Nichts ist gesetzt").waitFor();

  await german.goto(`${address}gates`);
  await german.getByRole("button", { name: "Neues Gate" }).click();
  await window.getByText("weitere Einstellungen").waitFor();
  await window.getByText("wo der Host lauscht").waitFor();
  await look(german, "portal-gate-form-german-desk");
  assert.doesNotMatch((await window.textContent()) ?? "", / the | or | of |default/);
});

/** Opens a form, fills it in and sends it; answers the secret that it shows once. */
async function give(
  button: string,
  fields: Fields,
  within: Pick<Page, "getByRole"> = page,
  shows?: "secret",
): Promise<string> {
  await within.getByRole("button", { name: button }).first().click();
  await dialog.getByRole("button", { name: "Preview" }).waitFor();
  const more = dialog.locator("details:not([open]) summary");
  if (await more.isVisible()) await more.press("Enter");
  for (const [label, value] of Object.entries(fields)) await fill(label, value);
  return send(button, shows);
}

async function fill(label: string, value: string): Promise<void> {
  const field = dialog
    .getByLabel(label, { exact: true })
    .or(dialog.getByLabel(`${label} *`))
    .first();
  const kind = await field.evaluate(
    (element) => element.getAttribute("type") ?? element.tagName.toLowerCase(),
  );
  if (kind === "checkbox") await field.press("Space");
  else if (kind === "select") await field.selectOption(value);
  else await field.fill(value);
}

/** By the keyboard alone: after the preview the cursor is in the reason. */
async function send(button: string, shows?: "secret"): Promise<string> {
  await dialog.getByRole("button", { name: "Preview" }).press("Enter");
  await dialog.getByLabel("Reason").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("the acquirer asked for it");
  await page.keyboard.press("Enter");
  if (shows === undefined) {
    await dialog.waitFor({ state: "detached" });
    return "";
  }
  const text = (await page.locator(".secret").first().textContent()) ?? "";
  assert.notEqual(text, "", button);
  await page.getByRole("button", { name: "I have kept it" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  return text;
}
