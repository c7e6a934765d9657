/** Checks the payment page's settings as an operator writes them in a command or a file. */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { getCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { printSettings, readEntry } from "../settings.ts";
import { readEndpointSettings } from "./endpoint-settings.ts";
import { pageTable } from "./page-settings.ts";

const usd = getCurrency("USD");
const folder = mkdtempSync(join(tmpdir(), "tollgate-logo-"));
const logo = join(folder, "logo.svg");
writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>');
writeFileSync(join(folder, "large.svg"), `<svg>${" ".repeat(16 * 1024)}</svg>`);
writeFileSync(join(folder, "page.html"), "<html><script></script></html>");

// biome-ignore format: a table
const good = {
  shopName: "Müller & Söhne", shopLogo: logo, shopColour: "#1A5FB4", pageLifetime: "600",
  pageTries: "5", pageFields: "email, country", embedOrigins: "https://shop.example,http://localhost:3000",
};

test("all settings of the page are read, and a printed configuration file contains the same values", () => {
  const settings = readEndpointSettings(good, usd);
  assert.ok(!(settings instanceof Problem), JSON.stringify(settings));
  const printed = printSettings(pageTable, settings);
  const entry = readEntry(pageTable, printed, "The endpoint");
  assert.ok(!(entry instanceof Problem));
  const again = readEndpointSettings(entry, usd);

  assert.deepEqual([settings.pageLifeS, settings.pageTries], [600, 5]);
  assert.equal(settings.shopColour, "#1a5fb4");
  assert.match(settings.shopLogo ?? "", /^data:image\/svg\+xml;base64,/);
  assert.deepEqual(settings.embedOrigins, ["https://shop.example", "http://localhost:3000"]);
  assert.deepEqual(again, settings);
});

test("`none` removes a setting", () => {
  const known = { threeDSecure: "off", shopName: "Shop", pageTries: 5 } as const;

  const settings = readEndpointSettings({ pageTries: "none" }, usd, known);

  assert.deepEqual(settings, { threeDSecure: "off", shopName: "Shop" });
});

test("a payment page needs the shop's name, and a change of anything else does not ask for it", () => {
  const { shopName: _, ...nameless } = good;
  const old = { threeDSecure: "off", pageTries: 5 } as const;

  for (const [option, text] of Object.entries(nameless)) {
    const refused = readEndpointSettings({ [option]: text }, usd);
    assert.match(refused instanceof Problem ? refused.sentence : option, /shop-name/);
    assert.ok(
      !(readEndpointSettings({ [option]: text, shopName: "Shop" }, usd) instanceof Problem),
    );
  }
  const named = { ...old, shopName: "Shop" };
  assert.ok(readEndpointSettings({ shopName: "none" }, usd, named) instanceof Problem);
  assert.deepEqual(readEndpointSettings({ max: "5" }, usd, old), { ...old, amountMax: "500" });
});

// biome-ignore format: a table
const bad: readonly (readonly [option: keyof typeof good, text: string])[] = [
  ["shopName",      ""],
  ["shopName",      "a\nb"],
  ["shopName",      "x".repeat(61)],
  ["shopLogo",      join(folder, "large.svg")],
  ["shopLogo",      join(folder, "page.html")],
  ["shopLogo",      join(folder, "missing.svg")],
  ["shopLogo",      "data:text/html;base64,PGh0bWw+"],
  ["shopLogo",      "https://shop.example/logo.svg"],
  ["shopColour",    "red"],
  ["shopColour",    "#fff; background: url(//evil.example)"],
  ["pageLifetime",  "0"],
  ["pageLifetime",  "604801"],
  ["pageTries",     "21"],
  ["pageTries",     "-1"],
  ["pageFields",    "email,ssn"],
  ["embedOrigins",  "*"],
  ["embedOrigins",  "https://*.shop.example"],
  ["embedOrigins",  "https://shop.example/"],
  ["embedOrigins",  "https://shop.example; script-src *"],
  ["embedOrigins",  "javascript:alert(1)"],
  ["embedOrigins",  "'self'"],
];

for (const [option, text] of bad) {
  test(`${option} is refused: ${text.slice(0, 40).replace(folder, "")}`, () => {
    const refused = readEndpointSettings({ shopName: "Shop", [option]: text }, usd);
    assert.ok(refused instanceof Problem);
  });
}

test("in production no site in plain HTTP may embed the page, except on the operator's machine", () => {
  const known = { threeDSecure: "off", shopName: "Shop" } as const;
  const read = (embedOrigins: string, environment: "staging" | "production") =>
    readEndpointSettings({ embedOrigins }, usd, known, { environment }) instanceof Problem;

  assert.equal(read("http://shop.example", "staging"), false);
  assert.equal(read("https://shop.example,http://shop.example", "production"), true);
  assert.equal(read("http://localhost.shop.example", "production"), true);
  for (const own of ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080"]) {
    assert.equal(read(`https://shop.example,${own}`, "production"), false, own);
  }
});
