/** The rules with which merchants start in production, and their effect on card testers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import { type SaleFields, withCheckDigit } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();
const production = {
  ...world,
  settings: {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_MASTER_KEY_FILE: join(world.dataDir, "keys/master.key"),
  },
};

type Listed = Readonly<Record<"rule" | "counts" | "kind" | "action", string>> & {
  readonly parameters: Readonly<Record<string, string>>;
};

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
    own.map(({ kind, action, parameters }) => `${action} ${kind} ${parameters["per"]}`),
    [
      ...["block velocity card", "3ds velocity bin", "3ds velocity ip"],
      ...["block declines bin", "block declines ip"],
    ],
  );
  await readGw(production, "merchant", "create", "tested", "--no-endpoints");
  assert.deepEqual([await rulesOf("bare"), await rulesOf("staged")], [[], []]);
  const [first] = own;
  const changed = await runGw(production, "filter", "change", first?.rule ?? "", "count=50");
  assert.equal(changed.code, 0, changed.complaint);
});

let cards = 0;
let payers = 0;

/** Returns a new card of the same BIN. */
function newCard(): string {
  return withCheckDigit(`411111${String(++cards).padStart(9, "0")}`);
}

/** Pays several times, and returns the code of the last payment. */
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
  const rules = (await rulesOf("tested")).map(({ kind, action, parameters }) => {
    return { kind, parameters, action: action === "3ds" ? "force_3ds" : action };
  });
  await world.screenBy(...rules);
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
