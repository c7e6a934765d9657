/**
 * The description of browsers and cardholders for issuers: every request that a merchant may send
 * leads to an AReq that the directory server accepts, in every version.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SaleFields } from "../../support/merchant.ts";
import { rowsOf } from "../../support/series.ts";
import { joinWorld } from "../../support/shared-world.ts";
import {
  beginWith,
  cards,
  joinPatientWorld,
  type Pending,
  standingOf,
  startPatientWorld,
  statusOf,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

/** Cards by version, all with a method. */
const versions = [
  ["2.1.0", "4000002200000014"],
  ["2.2.0", "4000002000000016"],
  ["2.3.1", "4000002300000013"],
] as const;

const untold = {
  notificationURL: undefined,
  browserLanguage: undefined,
  browserColorDepth: undefined,
  browserJavaEnabled: undefined,
  browserJavascriptEnabled: undefined,
  browserIP: undefined,
  browserUserAgent: undefined,
  browserAcceptHeader: undefined,
  browserTZ: undefined,
  browserScreenHeight: undefined,
  browserScreenWidth: undefined,
};

/** The fields of the method's upload. */
// biome-ignore format: a table
const browsers: Readonly<Record<string, SaleFields>> = {
  "that nothing is told of":     untold,
  "without scripts":             { browserJavascriptEnabled: "false" },
  "of 30 bits":                  { browserColorDepth: "30" },
  "of no colours":               { browserColorDepth: "0" },
  "with a long language tag":    { browserLanguage: "zh-Hant-TW,zh;q=0.9" },
  "with any language":           { browserLanguage: "*" },
  "far in the west":             { browserTZ: "+720" },
  "with an address of IPv6":     { browserIP: "2001:db8::1" },
  "on a strange screen":         { browserScreenHeight: "000000", browserScreenWidth: "999999" },
  "with letters in its name":    { browserUserAgent: "Mözilla ✓ 5.0" },
  "with a long name":            { browserUserAgent: "x".repeat(2048) },
  "in which the method failed":  { threeDSCompInd: "N" },
  "that kept the method secret": { threeDSCompInd: "U" },
};

/** The fields of the sale. */
// biome-ignore format: a table
const cardholders: Readonly<Record<string, SaleFields>> = {
  "with accents":             { card_printed_name: "ŁUKASZ MÜLLER-ÅNGSTRÖM", city: "Zürich" },
  "of other letters":         { card_printed_name: "ИВАН ИВАНОВ", address1: "ул. Ленина 1", city: "Москва", country: "RU", state: undefined },
  "with a long name":         { card_printed_name: "X".repeat(128) },
  "of one letter":            { card_printed_name: "X" },
  "with a local telephone":   { phone: "555 0100", cell_phone: "07700 900123" },
  "with a foreign telephone": { phone: "+352 621 123456" },
  "at a long address":        { address1: "a".repeat(50), city: "b".repeat(50), zip_code: "1234567890" },
  "in New South Wales":       { country: "AU", state: "NSW" },
  "in Kosovo":                { country: "XK", state: undefined },
  "behind IPv6":              { ipaddress: "2001:db8::1" },
  "who spends a lot":         { amount: "9999999.99" },
  "with a short expiry":      { expire_month: "1", expire_year: "31" },
};

const told = {
  customer_browser_info: "true",
  customer_browser_color_depth: "24",
  customer_browser_java_enabled: "false",
  customer_browser_javascript_enabled: "true",
  customer_browser_screen_height: "900",
  customer_browser_screen_width: "1600",
  customer_browser_time_zone: "-180",
  customer_browser_accept_header: "text/html",
  customer_browser_accept_language: "en-US,en;q=0.5",
  customer_browser_user_agent: "Moz",
};

// All versions send the same fields, so the short run tests the newest one.
for (const [version, card] of rowsOf(versions, ([version]) => version === "2.3.1")) {
  test(`${version}: every browser can be described`, async (t) => {
    const world = await joinPatientWorld(t);

    const ends = await endAll(browsers, (browser) => pay(world, card, { browser }));

    assert.deepEqual(ends, allAuthenticated(browsers));
    assert.deepEqual(faultsIn(world), []);
  });

  test(`${version}: every cardholder can be described`, async (t) => {
    const world = await joinPatientWorld(t);

    const ends = await endAll(cardholders, (fields) => pay(world, card, { fields }));

    assert.deepEqual(ends, allAuthenticated(cardholders));
    assert.deepEqual(faultsIn(world), []);
  });
}

test("without a method the sale's own fields for the browser are used", async (t) => {
  const world = await joinPatientWorld(t);

  const pending = await beginWith(world, cards.frictionlessNoMethod, { fields: told });
  const asked = await world.bank.waitForThreeDsMessage({ type: "AReq" });

  assert.equal((await statusOf(pending)).status, "approved");
  assert.equal(asked["browserScreenWidth"], "1600");
  assert.equal(asked["browserTZ"], "-180");
  assert.equal(asked["browserLanguage"], "en-US");
  assert.equal(asked["browserJavascriptEnabled"], true);
  assert.equal(asked["browserIP"], "203.0.113.7");
});

test("the method's upload, which comes later, overrides the sale", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.frictionless, { fields: told });
  await uploadMethodOnly(pending, { browserColorDepth: "30" });
  await world.settle();

  const asked = await world.bank.waitForThreeDsMessage({ type: "AReq" });

  assert.equal(asked["browserScreenWidth"], "1920");
  assert.equal(asked["browserTZ"], "-60");
  assert.equal(asked["browserColorDepth"], "24");
});

// biome-ignore format: a table
const amounts = [
  ["JPY", "500",   "jpy",       "500",  "392", "0"],
  ["GBP", "10.15", "secureGbp", "1015", "826", "2"],
] as const;

for (const [currency, amount, through, minor, numeric, exponent] of amounts) {
  test(`an amount of ${currency} is sent in its own minor units`, async (t) => {
    const world = await startPatientWorld(t);
    await world.changeEndpoint(through, { threeDSecure: "when_possible" });

    const fields = { currency, amount };
    await beginWith(world, cards.frictionlessNoMethod, { through, fields });
    const asked = await world.bank.waitForThreeDsMessage({ type: "AReq" });

    assert.equal(asked["purchaseAmount"], minor);
    assert.equal(asked["purchaseCurrency"], numeric);
    assert.equal(asked["purchaseExponent"], exponent);
  });
}

type Told = { readonly browser?: SaleFields; readonly fields?: SaleFields };

async function pay(world: World, card: string, { browser, fields = {} }: Told): Promise<Pending> {
  const pending = await beginWith(world, card, { fields });
  await uploadMethodOnly(pending, browser);
  await world.settle();
  return pending;
}

async function endAll(
  table: Readonly<Record<string, SaleFields>>,
  run: (fields: SaleFields) => Promise<Pending>,
) {
  const ends: Record<string, unknown> = {};
  for (const [what, fields] of Object.entries(table)) {
    ends[what] = standingOf(await statusOf(await run(fields)));
  }
  return ends;
}

function allAuthenticated(table: object) {
  const end = ["sale_approved", undefined, "AUTHENTICATED", "05"];
  return Object.fromEntries(Object.keys(table).map((what) => [what, end]));
}

/** Returns the warnings of the operator's log. */
function faultsIn({ logged }: World): readonly string[] {
  return logged.filter((line) => line.includes("threeds.failed"));
}

test("no state that a cardholder types switches 3-D Secure off", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant("secure");
  for (const state of ["A-", "-", "é", "日本", "BY"]) {
    const sale = await merchant.sale({
      credit_card_number: "4000002100000023",
      country: "DE",
      state,
    });
    await world.settle();
    const status = await merchant.status(sale);
    assert.equal(status["tds-status"], "CReqForm", state);
  }
});

test("a card number that is too short for 1.0.2 counts as not enrolled", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant("secure");

  const sale = await merchant.sale({ credit_card_number: "400000300006" });
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.status, "approved");
  assert.equal(status["verified-3d-status"], "UNSUPPORTED");
});
