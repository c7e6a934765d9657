/** A merchant who knows a card's BIN and last four digits searches for the whole number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import { type SaleFields, saleFields, withCheckDigit } from "../../support/merchant.ts";
import { openPage, postPage } from "../../support/payer.ts";
import { startWorld } from "../../support/world.ts";

const max = 6;
const world = await startWorld(endOfFile, { GW_CARD_GUESSES_MAX: String(max) });
const merchant = world.merchant();
const day = 86_400_000;

/** The numbers with the same BIN and last four digits, without the card itself. */
function* candidatesFor(card: string): Generator<string, never> {
  for (let middle = 0; ; middle += 1) {
    const guess = `${card.slice(0, 6)}${String(middle).padStart(6, "0")}${card.slice(-4)}`;
    if (guess !== card && withCheckDigit(guess.slice(0, -1)) === guess) yield guess;
  }
}

type Sent = { readonly "merchant-order-id": string; readonly "gw-order-id"?: string };

async function statusOf(order: Sent) {
  await world.settle();
  return merchant.status(order);
}

const codeOf = async (order: Sent) => {
  const status = await statusOf(order);
  return status["error-code"] ?? status.status ?? "";
};

const pay = async (fields: SaleFields) => codeOf(await merchant.sale(fields));

/** Returns everything that the merchant sees, without what differs between any two orders. */
async function toldOf(fields: SaleFields): Promise<Readonly<Record<string, unknown>>> {
  const told = await statusOf(await merchant.sale(fields));
  const own = ["merchant-order-id", "gw-order-id", "serial-number", "transaction-date"];
  return Object.fromEntries(Object.entries(told).filter(([name]) => !own.includes(name)));
}

test("a sale that reaches no acquirer reveals nothing about its card number, before or after the block", async () => {
  const victim = "4111111111111111";
  await world.changeEndpoint("plain", { amountMax: "1000" });
  const [little, much] = [{ amount: "5.00" }, { amount: "20.00" }];
  const paid = await statusOf(await merchant.sale({ ...little, credit_card_number: victim }));
  assert.match(paid["card-hash-id"] ?? "", /^\d+$/);
  const charges = received(world, "0200");
  const guesses = candidatesFor(victim);

  const told: unknown[] = [];
  for (let count = 0; count < 2 * max; count += 1) {
    told.push(await toldOf({ ...much, credit_card_number: guesses.next().value }));
    if (count % 4 === 0) told.push(await toldOf({ ...much, credit_card_number: victim }));
  }

  for (const each of told) assert.deepEqual(each, told[0]);
  assert.equal(Object.hasOwn(Object(told[0]), "card-hash-id"), false);
  assert.equal(received(world, "0200"), charges);
  const codes = [await pay({ ...little, credit_card_number: victim })];
  codes.push(await pay({ ...little, credit_card_number: guesses.next().value }));
  assert.deepEqual(codes, ["1011", "1011"], "the card itself is blocked as any guess is");
  await world.changeEndpoint("plain", { amountMax: "1000000" });
});

test("guesses at all operations and nodes are counted together, and reported to the operator", async () => {
  const victim = "4000001000000018";
  const sale = await merchant.sale({ credit_card_number: victim });
  await world.settle();
  const registered = await merchant.register(sale);
  const guesses = candidatesFor(victim);
  const next = () => ({ credit_card_number: guesses.next().value });
  const other = await world.otherNode("other");
  const form = await merchant.endpoint("plain").saleForm(formFields());

  // The first cards at each node are not counted: the node has not seen a second one.
  await pay(next());
  assert.notEqual(await codeOf(await merchant.preauth(next())), "1011");
  assert.notEqual(await codeOf(await merchant.verify(next())), "1011");
  await world.merchantAt(other).sale(next());
  await world.merchantAt(other).sale(next());
  const page = await openPage(form["redirect-url"] ?? "", {});
  await postPage(page, { "cc-number": guesses.next().value, "cc-csc": "123" }, {});
  await world.settle();
  await other.settle();
  for (let count = 0; count < 3; count += 1) await pay(next());

  const blocked = [await merchant.sale(next()), await merchant.preauth(next())];
  blocked.push(await merchant.verify(next()), await world.merchantAt(other).sale(next()));
  for (const order of blocked) assert.equal(await codeOf(order), "1011");
  const rebilled = await merchant.rebill({ cardrefid: registered["card-ref-id"] ?? "" });
  assert.equal(await codeOf(rebilled), "approved", "a registered card cannot be guessed");
  assert.equal(await pay({ credit_card_number: "4111111111111129" }), "approved");
  assert.ok(world.logged.some((line) => line.includes("screening.guesses_blocked")));
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
  assert.match(metrics, /findings_total\{kind="guesses",scope="merchant",did="block"\} [1-9]/);

  const elsewhere = await world.stranger();
  const theirs = await elsewhere.sale(next());
  await world.settle();
  const told = await elsewhere.status(theirs);
  assert.notEqual(told["error-code"], "1011", "each merchant has a count of its own");
});

/** Sends the same request with another card. Returns the order, or the code of the refusal. */
const repeatOf = (fields: SaleFields) => (guess: string) =>
  merchant.sale({ ...fields, credit_card_number: guess }).then(
    (order) => order["gw-order-id"],
    (error: { readonly code?: unknown }) => error.code,
  );

test("a repeat counts as a guess while card numbers are being searched", async () => {
  const victim = "4000001000000034";
  const fields = saleFields({ credit_card_number: victim });
  const first = await merchant.sale(fields);
  const guesses = candidatesFor(victim);
  const again = repeatOf(fields);
  assert.equal(await again(victim), first["gw-order-id"]);

  const answers = new Set<unknown>();
  for (let count = 0; count <= max; count += 1) answers.add(await again(guesses.next().value));
  answers.add(await again(victim));

  assert.equal(answers.size, 1, [...answers].join(", "));
});

test("a repeat that would be refused today also counts as a guess", async () => {
  const victim = "4000001000000059";
  const [expire_year = "", expire_month = ""] = new Date(world.clock.now())
    .toISOString()
    .split("-");
  const fields = saleFields({ credit_card_number: victim, expire_month, expire_year });
  const first = await merchant.sale(fields);
  const guesses = candidatesFor(victim);
  const again = repeatOf(fields);

  world.clock.advance(45 * day);
  await world.linksUp();
  assert.equal(await again(victim), first["gw-order-id"], "the card has expired");
  const answers = new Set<unknown>();
  for (let count = 0; count <= max; count += 1) answers.add(await again(guesses.next().value));
  answers.add(await again(victim));

  assert.equal(answers.size, 1, [...answers].join(", "));
});

test("the same card counts once, and the block ends a day after the guesses", async () => {
  const victim = "4000001000000042";
  const guesses = candidatesFor(victim);
  const [one, two] = [guesses.next().value, guesses.next().value];
  for (let count = 0; count < 3 * max; count += 1) {
    assert.notEqual(await pay({ credit_card_number: count % 2 === 0 ? one : two }), "1011");
  }
  for (let count = 0; count < max; count += 1) {
    await pay({ credit_card_number: guesses.next().value });
  }
  assert.equal(await pay({ credit_card_number: one }), "1011");

  await world.pass(day + 1);

  assert.notEqual(await pay({ credit_card_number: one }), "1011");
});

function formFields() {
  const { credit_card_number: _, cvv2: __, ipaddress: ___, ...fields } = saleFields();
  const { card_printed_name: _n, expire_month: _m, expire_year: _y, ...form } = fields;
  return form;
}
