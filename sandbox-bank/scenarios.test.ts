/** Every row of the catalogue that concerns the host, over a real socket. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DecodeFault, type IsoMessage, writeSubelements } from "@tollgate/protocols/iso8583";
import { amountOutcomes, scenarios } from "./scenarios.ts";
import { booked, startTestBank } from "./testing/bank-for-tests.ts";
import { echo, follow, TestGateway, testDialects } from "./testing/gateway.ts";

const bank = await startTestBank({ after });
const acquirerRows = scenarios.filter(({ group }) => group === "Acquirer behaviour");

type Journey = (gateway: TestGateway, card: string) => Promise<void>;

// biome-ignore format: a table
const journeys: Readonly<Record<string, Journey>> = {
  "decline-do-not-honour":  declines("05"),
  "decline-funds":          declines("51"),
  "decline-expired":        declines("54"),
  "decline-lost":           declines("41"),
  "decline-stolen":         declines("43"),
  "decline-not-permitted":  declines("57"),
  "decline-limit":          declines("61"),
  "decline-fraud":          declines("59"),
  "decline-invalid-number": declines("14"),
  "issuer-unavailable":     declines("91"),
  "sca-required":           wantsAuthentication,
  "sca-or-exemption":       wantsAuthenticationOrExemption,
  "no-answer":              booksInSilence,
  "no-answer-not-booked":   staysSilent,
  "late-answer":            answersLate,
  "link-drop":              dropsTheLink,
  "garbled-answer":         answersGarbage,
  "duplicate-answer":       answersTwice,
  "partial-approval":       approvesHalf,
  "slow":                   answersSlowly,
  "amount-driven":          followsTheAmount,
  "reversal-refused":       refusesReturns,
  "reversal-no-answer":     ignoresTwoReversals,
  "capture-refused":        refusesCaptures,
  "expires-soon":           declinesRecurrent,
  "loyalty":                carriesLoyalty,
  "decline-explained":      explainsItself,
};

for (const dialect of testDialects) {
  for (const { name, card, what } of acquirerRows) {
    test(`${name}, ${dialect.name}: ${what}`, async (t) => {
      const gateway = await TestGateway.signOn(dialect.portOf(bank), dialect);
      t.after(() => gateway.close());
      const journey = journeys[name] ?? assert.fail(`${name} has no journey`);
      await journey(gateway, card);
    });
  }

  test(`every other card of the catalogue is approved and booked, ${dialect.name}`, async (t) => {
    const gateway = await TestGateway.signOn(dialect.portOf(bank), dialect);
    t.after(() => gateway.close());
    for (const { name, card, group } of scenarios) {
      if (group === "Acquirer behaviour") continue;
      const sale = gateway.charge({ card });
      assert.equal((await gateway.ask(sale)).fields[39], "00", name);
      assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"], name);
    }
  });
}

function declines(code: string): Journey {
  return async (gateway, card) => {
    const sale = gateway.charge({ card });
    const answer = await gateway.ask(sale);
    assert.equal(answer.fields[39], code);
    assert.equal(answer.fields[38], undefined);
    assert.deepEqual(booked(bank, sale.fields[37]), []);
  };
}

async function wantsAuthentication(gateway: TestGateway, card: string) {
  const cavv = toHex(bank.makeAuthenticationValue(card));
  const foreign = toHex(bank.makeAuthenticationValue("4000002000000024"));
  const invented = "000001".padEnd(40, "7");

  assert.equal((await gateway.ask(gateway.charge({ card }))).fields[39], "1A");
  for (const eci of ["06", "02", "07"]) {
    assert.equal((await gateway.ask(gateway.charge({ card, eci, cavv }))).fields[39], "1A", eci);
  }
  for (const value of [invented, foreign, undefined]) {
    const proof = value === undefined ? {} : { cavv: value };
    assert.equal(
      (await gateway.ask(gateway.charge({ card, eci: "05", ...proof }))).fields[39],
      "1A",
    );
  }
  assert.equal((await gateway.ask(gateway.charge({ card, eci: "05", cavv }))).fields[39], "00");
}

async function wantsAuthenticationOrExemption(gateway: TestGateway, card: string) {
  const codeOf = async (given: Parameters<TestGateway["charge"]>[0]) =>
    (await gateway.ask(gateway.charge({ card, ...given }))).fields[39];
  const cavv = toHex(bank.makeAuthenticationValue(card));

  assert.deepEqual([await codeOf({}), await codeOf({ eci: "05", cavv })], ["1A", "00"]);
  // An order by mail or telephone needs no proof.
  assert.equal(await codeOf({ more: { 25: "08" } }), "00");
  if (gateway.dialect.name !== "ascii") return;
  const exempt = (code: string) => ({ 48: writeSubelements("T", [["22", `0102${code}`]]) });
  assert.equal(await codeOf({ more: exempt("04") }), "00");
  assert.equal(await codeOf({ more: exempt("01") }), "1A");
}

function toHex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex").toUpperCase();
}

async function booksInSilence(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  await assertSilent(gateway, sale);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);

  assert.equal((await gateway.ask(follow("0420", sale))).fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function staysSilent(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  await assertSilent(gateway, sale);
  assert.equal((await gateway.ask(follow("0420", sale))).fields[39], "25");
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersLate(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  await assertSilent(gateway, sale);
  assert.deepEqual(booked(bank, sale.fields[37]), []);

  gateway.send(follow("0420", sale));
  const [approval, reversal] = [await gateway.answer(), await gateway.answer()];
  assert.deepEqual([approval.mti, approval.fields[39]], ["0210", "00"]);
  assert.deepEqual([reversal.mti, reversal.fields[39]], ["0430", "00"]);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function dropsTheLink(gateway: TestGateway, card: string) {
  const before = gateway.charge();
  const sale = gateway.charge({ card });
  gateway.send(before, sale);
  assert.equal((await gateway.answer()).fields[37], before.fields[37]);
  await gateway.closed;
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersGarbage(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  gateway.send(sale);
  assert.ok((await gateway.next()) instanceof DecodeFault);
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersTwice(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  const first = await gateway.ask(sale);
  assert.deepEqual(await gateway.answer(), first);
  assert.equal(first.fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);
}

async function approvesHalf(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card, amount: 1_001 });
  const { fields } = await gateway.ask(sale);
  assert.deepEqual([fields[39], fields[4]], ["10", "000000000500"]);
  assert.match(fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 500"]);

  await gateway.ask(follow("0400", sale));
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 500", "reversal 500"]);
}

async function answersSlowly(gateway: TestGateway, card: string) {
  const startedAt = performance.now();
  assert.equal((await gateway.ask(gateway.charge({ card }))).fields[39], "00");
  assert.ok(performance.now() - startedAt > 1_900);
}

async function followsTheAmount(gateway: TestGateway, card: string) {
  for (const [digits, outcome] of amountOutcomes) {
    const sale = gateway.charge({ card, amount: 12_300 + Number(digits) });
    if (outcome.kind !== "decline") await assertSilent(gateway, sale);
    else assert.equal((await gateway.ask(sale)).fields[39], digits);
    assert.equal(booked(bank, sale.fields[37]).length, outcome.kind === "decline" ? 0 : 1);
  }
  assert.equal((await gateway.ask(gateway.charge({ card, amount: 12_300 }))).fields[39], "00");
}

async function refusesReturns(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  assert.equal((await gateway.ask(sale)).fields[39], "00");
  assert.equal((await gateway.ask(follow("0400", sale))).fields[39], "57");
  assert.equal((await gateway.ask(follow("0400", sale, { remaining: 400 }))).fields[39], "57");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);

  // A gateway that lost the answer to its sale sends an advice, which the host cannot refuse.
  assert.equal((await gateway.ask(follow("0420", sale))).fields[39], "00");
}

async function ignoresTwoReversals(gateway: TestGateway, card: string) {
  const sale = gateway.charge({ card });
  assert.equal((await gateway.ask(sale)).fields[39], "00");
  await assertSilent(gateway, follow("0420", sale));
  await assertSilent(gateway, follow("0421", sale));
  assert.equal((await gateway.ask(follow("0421", sale))).fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function refusesCaptures(gateway: TestGateway, card: string) {
  const authorisation = gateway.charge({ card, mti: "0100" });
  assert.equal((await gateway.ask(authorisation)).fields[39], "00");
  assert.equal((await gateway.ask(follow("0220", authorisation))).fields[39], "05");
  assert.deepEqual(booked(bank, authorisation.fields[37]), ["authorisation 1000"]);
}

async function declinesRecurrent(gateway: TestGateway, card: string) {
  assert.equal((await gateway.ask(gateway.charge({ card }))).fields[39], "00");
  assert.equal((await gateway.ask(gateway.charge({ card, more: { 22: "100" } }))).fields[39], "54");
}

async function carriesLoyalty(gateway: TestGateway, card: string) {
  const { fields } = await gateway.ask(gateway.charge({ card }));
  assert.equal(fields[39], "00");
  assert.equal(fields[63], gateway.dialect.loyalty);
}

async function explainsItself(gateway: TestGateway, card: string) {
  const { fields } = await gateway.ask(gateway.charge({ card }));
  assert.equal(fields[39], "51");
  assert.match(fields[63] ?? "", gateway.dialect.explanation);
}

async function assertSilent(gateway: TestGateway, request: IsoMessage) {
  gateway.send(request, echo);
  assert.equal((await gateway.answer()).mti, "0810");
}
