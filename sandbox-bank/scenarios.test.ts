/** Every row of the catalogue that the host acts on, through a real socket. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DecodeFault, type IsoMessage } from "@tollgate/protocols/iso8583";
import { amountOutcomes, scenarios } from "./scenarios.ts";
import { booked, startTestBank } from "./testing/bank-for-tests.ts";
import { echo, follow, GatewayLine } from "./testing/gateway-line.ts";
import { speeches } from "./testing/speech.ts";

const bank = await startTestBank({ after });
const acquirerRows = scenarios.filter(({ group }) => group === "Acquirer behaviour");

type Journey = (line: GatewayLine, card: string) => Promise<void>;

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

for (const speech of speeches) {
  for (const { name, card, what } of acquirerRows) {
    test(`${name}, ${speech.name}: ${what}`, async (t) => {
      const line = await GatewayLine.signOn(speech.portOf(bank), speech);
      t.after(() => line.close());
      const journey = journeys[name] ?? assert.fail(`${name} has no journey`);
      await journey(line, card);
    });
  }

  test(`every other card of the catalogue is approved and booked, ${speech.name}`, async (t) => {
    const line = await GatewayLine.signOn(speech.portOf(bank), speech);
    t.after(() => line.close());
    for (const { name, card, group } of scenarios) {
      if (group === "Acquirer behaviour") continue;
      const sale = line.charge({ card });
      assert.equal((await line.ask(sale)).fields[39], "00", name);
      assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"], name);
    }
  });
}

function declines(code: string): Journey {
  return async (line, card) => {
    const sale = line.charge({ card });
    const answer = await line.ask(sale);
    assert.equal(answer.fields[39], code);
    assert.equal(answer.fields[38], undefined);
    assert.deepEqual(booked(bank, sale.fields[37]), []);
  };
}

async function wantsAuthentication(line: GatewayLine, card: string) {
  const cavv = toHex(bank.makeAuthenticationValue(card));
  const foreign = toHex(bank.makeAuthenticationValue("4000002000000024"));
  const invented = "000001".padEnd(40, "7");

  assert.equal((await line.ask(line.charge({ card }))).fields[39], "1A");
  for (const eci of ["06", "02", "07"]) {
    assert.equal((await line.ask(line.charge({ card, eci, cavv }))).fields[39], "1A", eci);
  }
  for (const value of [invented, foreign, undefined]) {
    const proof = value === undefined ? {} : { cavv: value };
    assert.equal((await line.ask(line.charge({ card, eci: "05", ...proof }))).fields[39], "1A");
  }
  assert.equal((await line.ask(line.charge({ card, eci: "05", cavv }))).fields[39], "00");
}

function toHex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex").toUpperCase();
}

async function booksInSilence(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  await assertSilent(line, sale);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);

  assert.equal((await line.ask(follow("0420", sale))).fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function staysSilent(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  await assertSilent(line, sale);
  assert.equal((await line.ask(follow("0420", sale))).fields[39], "25");
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersLate(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  await assertSilent(line, sale);
  assert.deepEqual(booked(bank, sale.fields[37]), []);

  line.send(follow("0420", sale));
  const [approval, reversal] = [await line.answer(), await line.answer()];
  assert.deepEqual([approval.mti, approval.fields[39]], ["0210", "00"]);
  assert.deepEqual([reversal.mti, reversal.fields[39]], ["0430", "00"]);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function dropsTheLink(line: GatewayLine, card: string) {
  const before = line.charge();
  const sale = line.charge({ card });
  line.send(before, sale);
  assert.equal((await line.answer()).fields[37], before.fields[37]);
  await line.closed;
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersGarbage(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  line.send(sale);
  assert.ok((await line.next()) instanceof DecodeFault);
  assert.deepEqual(booked(bank, sale.fields[37]), []);
}

async function answersTwice(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  const first = await line.ask(sale);
  assert.deepEqual(await line.answer(), first);
  assert.equal(first.fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);
}

async function approvesHalf(line: GatewayLine, card: string) {
  const sale = line.charge({ card, amount: 1_001 });
  const { fields } = await line.ask(sale);
  assert.deepEqual([fields[39], fields[4]], ["10", "000000000500"]);
  assert.match(fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 500"]);

  await line.ask(follow("0400", sale));
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 500", "reversal 500"]);
}

async function answersSlowly(line: GatewayLine, card: string) {
  const startedAt = performance.now();
  assert.equal((await line.ask(line.charge({ card }))).fields[39], "00");
  assert.ok(performance.now() - startedAt > 1_900);
}

async function followsTheAmount(line: GatewayLine, card: string) {
  for (const [digits, outcome] of amountOutcomes) {
    const sale = line.charge({ card, amount: 12_300 + Number(digits) });
    if (outcome.kind !== "decline") await assertSilent(line, sale);
    else assert.equal((await line.ask(sale)).fields[39], digits);
    assert.equal(booked(bank, sale.fields[37]).length, outcome.kind === "decline" ? 0 : 1);
  }
  assert.equal((await line.ask(line.charge({ card, amount: 12_300 }))).fields[39], "00");
}

async function refusesReturns(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  assert.equal((await line.ask(sale)).fields[39], "00");
  assert.equal((await line.ask(follow("0400", sale))).fields[39], "57");
  assert.equal((await line.ask(follow("0400", sale, { remaining: 400 }))).fields[39], "57");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);

  // A gateway that lost the answer to its sale advises a reversal, which nobody can refuse.
  assert.equal((await line.ask(follow("0420", sale))).fields[39], "00");
}

async function ignoresTwoReversals(line: GatewayLine, card: string) {
  const sale = line.charge({ card });
  assert.equal((await line.ask(sale)).fields[39], "00");
  await assertSilent(line, follow("0420", sale));
  await assertSilent(line, follow("0421", sale));
  assert.equal((await line.ask(follow("0421", sale))).fields[39], "00");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 1000"]);
}

async function refusesCaptures(line: GatewayLine, card: string) {
  const authorisation = line.charge({ card, mti: "0100" });
  assert.equal((await line.ask(authorisation)).fields[39], "00");
  assert.equal((await line.ask(follow("0220", authorisation))).fields[39], "05");
  assert.deepEqual(booked(bank, authorisation.fields[37]), ["authorisation 1000"]);
}

async function declinesRecurrent(line: GatewayLine, card: string) {
  assert.equal((await line.ask(line.charge({ card }))).fields[39], "00");
  assert.equal((await line.ask(line.charge({ card, more: { 22: "100" } }))).fields[39], "54");
}

async function carriesLoyalty(line: GatewayLine, card: string) {
  const { fields } = await line.ask(line.charge({ card }));
  assert.equal(fields[39], "00");
  assert.equal(fields[63], line.speech.loyalty);
}

async function explainsItself(line: GatewayLine, card: string) {
  const { fields } = await line.ask(line.charge({ card }));
  assert.equal(fields[39], "51");
  assert.match(fields[63] ?? "", line.speech.explanation);
}

async function assertSilent(line: GatewayLine, request: IsoMessage) {
  line.send(request, echo);
  assert.equal((await line.answer()).mti, "0810");
}
