/** The rules with which merchants start in production, and what they do to card testers. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();
const production = {
  ...world,
  settings: {
    ...{ GW_ENV: "production", GW_BASE_URL: "https://pay.example" },
    GW_MASTER_KEY_FILE: join(world.dataDir, "keys/master.key"),
  },
};

// biome-ignore format: a table
const cardTestingRules = [
  { kind: "velocity", action: "block",     parameters: { per: "card", count: "10",  window: "1h" } },
  { kind: "velocity", action: "force_3ds", parameters: { per: "bin",  count: "100", window: "10m" } },
  { kind: "velocity", action: "force_3ds", parameters: { per: "ip",   count: "30",  window: "1h" } },
  { kind: "declines", action: "block",     parameters: { per: "bin",  count: "20",  window: "1h", share: "80" } },
  { kind: "declines", action: "block",     parameters: { per: "ip",   count: "10",  window: "1h", share: "80" } },
] as const;

type Listed = { readonly rule: string; readonly counts: string; readonly parameters: object };

const rulesOf = async (login: string) =>
  ((await readGw(world, "filter", "list")) as readonly Listed[]).filter(({ counts }) =>
    counts.includes(login),
  );

test("a merchant that is created in production starts with rules, which an operator may relax", async () => {
  await readGw(production, "merchant", "create", "shielded", "--no-endpoints");
  await readGw(production, "merchant", "create", "bare", "--no-endpoints", "--no-screening");
  await readGw(world, "merchant", "create", "staged", "--no-endpoints");

  const own = await rulesOf("shielded");
  assert.deepEqual(
    own.map(({ parameters }) => parameters),
    cardTestingRules.map(({ parameters }) => parameters),
  );
  assert.deepEqual([await rulesOf("bare"), await rulesOf("staged")], [[], []]);
  const [first] = own;
  const changed = await runGw(production, "filter", "change", first?.rule ?? "", "count=50");
  assert.equal(changed.code, 0, changed.complaint);
});

test("a merchant of a file has them too, unless the file says which rules there are", async () => {
  const file = join(world.dataDir, "merchants.yaml");
  const apply = async (text: string) => {
    await writeFile(file, text);
    await readGw(production, "apply", "-f", file);
  };

  await apply("merchants: { filed: {} }\n");
  await apply("merchants: { filed: {}, ruled: {} }\nscreening: { rules: [] }\n");

  assert.equal((await rulesOf("filed")).length, cardTestingRules.length);
  assert.equal((await rulesOf("ruled")).length, 0);
});

let cards = 0;
let payers = 0;

/** Of one BIN. */
function newCard(): string {
  const digits = `411111${String(++cards).padStart(9, "0")}`;
  const sum = [...digits].reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Answers the code of the last of them. */
async function pay(count: number, fieldsOf: () => SaleFields): Promise<string> {
  let last = "";
  for (let at = 0; at < count; at += 1) {
    payers += 1;
    const own = {
      email: `p${payers}@example.com`,
      ipaddress: `198.51.${payers >> 8}.${payers & 255}`,
    };
    const order = await merchant.sale({ ...own, ...fieldsOf() });
    await world.settle();
    const status = await merchant.status(order);
    last = status["error-code"] ?? status.status ?? "";
  }
  return last;
}

const otherBin = { credit_card_number: "4000001000000018" };
const declined = () => ({ credit_card_number: newCard(), cvv2: "116" });

test("a tester is stopped by card, by BIN and by address, and other customers pay", async () => {
  await world.screenBy(...cardTestingRules);
  const card = newCard();

  assert.equal(await pay(10, () => ({ credit_card_number: card })), "approved");
  assert.equal(await pay(1, () => ({ credit_card_number: card })), "1010", "the eleventh");

  world.clock.advance(3_600_000);
  await world.linksUp();
  assert.notEqual(await pay(20, declined), "1012");
  const before = received(world, "0200");
  assert.equal(await pay(1, declined), "1012", "most of the BIN's payments were declined");
  assert.equal(await pay(1, () => otherBin), "approved", "a card of another BIN");
  assert.equal(received(world, "0200") - before, 1);

  world.clock.advance(3_600_000);
  await world.linksUp();
  const oneAddress = () => ({ ...declined(), ipaddress: "203.0.113.7" });
  assert.notEqual(await pay(10, oneAddress), "1012");
  assert.equal(await pay(1, oneAddress), "1012");
  assert.equal(await pay(1, () => otherBin), "approved", "a customer from elsewhere");
});
