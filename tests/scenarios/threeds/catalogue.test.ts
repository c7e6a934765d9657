/**
 * Every card of the catalogue that concerns 3-D Secure, with every policy of an endpoint: the
 * result of an order, and the proof that the acquirer's host received.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusReply } from "@tollgate/client";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import {
  beginOnly,
  beginWith,
  cards,
  joinPatientWorld,
  type Pending,
  passDirectoryTimeout,
  proofAtHost,
  standingOf,
  statusOf,
  transactionIdOf,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

/** Stage, error code, verified-3d-status and eci; then the ECI and the value at the host. */
type End = readonly [
  stage: string | undefined,
  code: string | undefined,
  verified: string | undefined,
  eci: string | undefined,
  proof: string,
];

type Row = { readonly possible: End; readonly always: End };

const nothingSent = "nothing";
const without = "no proof";
const untouched: End = ["sale_approved", undefined, undefined, undefined, without];

// biome-ignore format: a table
const expectations: Readonly<Record<string, Row>> = {
  "frictionless":           proven("05"),
  "challenge":              proven("05"),
  "challenge-failed":       refused("2000"),
  "challenge-cancelled":    refused("2000"),
  "challenge-abandoned":    both(["sale_declined", "2011", undefined, undefined, nothingSent]),
  "attempt":                proven("06"),
  "not-authenticated":      refused("2000"),
  "rejected":               refused("2001"),
  "unavailable":            left("07"),
  "directory-error":        left("07"),
  "directory-timeout":      left("07"),
  "result-late":            proven("05"),
  "result-differs":         refused("2000"),

  "frictionless-no-method": proven("05"),
  "challenge-no-method":    proven("05"),
  "frictionless-210":       proven("05"),
  "challenge-210":          proven("05"),
  "frictionless-231":       proven("05"),
  "challenge-231":          proven("05"),

  "v1-authenticated":       proven("05"),
  "v1-failed":              refused("2000"),
  "v1-attempt":             proven("06"),
  "v1-unavailable":         left("07"),
  "v1-bad-signature":       refused("2014"),
  "v1-not-enrolled":        left("07"),

  "not-enrolled":           left("07"),

  "mastercard":             proven("02"),
  "mastercard-2-series":    proven("02"),
  "mastercard-challenge":   proven("02"),
  "mastercard-v1":          proven("02"),
  "american-express":       proven("05"),
  "discover":               proven("05"),
  "jcb":                    proven("05"),
  "unionpay":               proven("05"),
  "diners-club":            proven("05"),
  "maestro":                proven("02"),
  "mir":                    proven("02"),
};

test("where 3-D Secure is off, every card of the catalogue is simply approved", async (t) => {
  const world = await joinPatientWorld(t);
  const catalogue = await readCatalogue(world);

  const ends = await endAll(world, catalogue, "plain");

  assert.deepEqual(ends, Object.fromEntries([...catalogue].map(([name]) => [name, untouched])));
  assert.equal(world.bank.threeDsMessages().filter(({ type }) => type === "AReq").length, 0);
});

for (const [through, policy] of [
  ["secure", "possible"],
  ["secureAlways", "always"],
] as const) {
  test(`with the policy "${policy}" every card of the catalogue ends as it says`, async (t) => {
    const world = await joinPatientWorld(t);
    const catalogue = await readCatalogue(world);

    const ends = await endAll(world, catalogue, through);

    const wanted = Object.entries(expectations).map(([name, row]) => [name, row[policy]]);
    assert.deepEqual(ends, Object.fromEntries(wanted));
  });
}

for (const [through, policy] of [
  ["secure", "possible"],
  ["secureAlways", "always"],
] as const) {
  test(`${through}: a directory server that is down counts as a card without a range`, async (t) => {
    const world = await joinPatientWorld(t);
    await world.bank.setSwitches({ directoryDown: true });

    const ends: End[] = [];
    for (const card of [cards.frictionless, cards.challengeNoMethod, cards.v1Authenticated]) {
      ends.push(await endInSilence(world, card, through));
    }

    const wanted = left("07")[policy];
    assert.deepEqual(ends, [wanted, wanted, wanted]);
  });
}

async function endInSilence(world: World, card: string, through: string): Promise<End> {
  const pending = await beginOnly(world, card, { through });
  const status = await statusOf(pending);
  if (status["tds-status"] === "MethodUrlFrame") await uploadMethodOnly(pending);
  await passDirectoryTimeout(world);
  await world.settle();
  return describeEnd(world, await statusOf(pending));
}

async function endAll(world: World, catalogue: ReadonlyMap<string, string>, through: string) {
  const ends: Record<string, End> = {};
  for (const [name, card] of catalogue) ends[name] = await endOf(world, card, through);
  return ends;
}

/** Takes every step, and waits for the end of steps that never come. */
async function endOf(world: World, card: string, through: string): Promise<End> {
  const cvv2 = card.startsWith("34") ? "1234" : "123";
  const pending = await beginWith(world, card, { through, fields: { cvv2 } });
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    MethodUrlFrame: () => takeMethod(pending, card),
    CReqForm: () => takeChallenge(pending, card),
    PaReqForm: () => takePares(pending),
  };
  for (;;) {
    const status = await statusOf(pending);
    const take = steps[status["tds-status"] ?? ""];
    if (take === undefined) return describeEnd(world, status);
    await take();
  }
}

async function takeMethod(pending: Pending, card: string): Promise<void> {
  const { world } = pending;
  const status = await statusOf(pending);
  await uploadMethodOnly(pending);
  if (card === cards.directoryTimeout) {
    const transactionId = status["tds-method-url-frame-3ds-server-trans-id"] ?? "";
    await world.bank.waitForThreeDsMessage({ type: "AReq", transactionId });
    assert.equal((await statusOf(pending))["tds-status"], undefined);
    await passDirectoryTimeout(world);
  }
  await world.settle();
}

async function takeChallenge(pending: Pending, card: string): Promise<void> {
  const { world, merchant, order } = pending;
  if (card === cards.challengeAbandoned) return world.pass(600_000);
  const status = await statusOf(pending);
  const { cres } = await passChallenge(status);
  await merchant.uploadCres(order, cres);
  await world.bank.waitForThreeDsMessage({ type: "RRes", transactionId: transactionIdOf(status) });
  await world.settle();
}

async function takePares({ world, merchant, order }: Pending): Promise<void> {
  const status = await merchant.status(order);
  await merchant.uploadPares(order, await answerPareq(status, "https://shop.example/term"));
  await world.settle();
}

async function describeEnd(world: World, status: StatusReply): Promise<End> {
  return [...standingOf(status), await describeProof(world, status)];
}

async function describeProof(world: World, status: StatusReply): Promise<string> {
  const proof = await proofAtHost(world, status);
  if (proof === undefined) return nothingSent;
  const { eci = "", value } = proof;
  if (value === undefined) return eci === "" ? without : eci;
  // 20 bytes, or the 21 of Mastercard's values in 2.x: 28 characters of base64 either way.
  assert.equal(value.length, 28);
  return `${eci} and a value`;
}

function proven(eci: string): Row {
  return both(["sale_approved", undefined, "AUTHENTICATED", eci, `${eci} and a value`]);
}

function refused(code: string): Row {
  return both(["sale_declined", code, "NOT_AUTHENTICATED", undefined, nothingSent]);
}

function left(eci: string): Row {
  return {
    possible: ["sale_approved", undefined, "UNSUPPORTED", eci, eci],
    always: ["sale_declined", "2002", "UNSUPPORTED", eci, nothingSent],
  };
}

function both(end: End): Row {
  return { possible: end, always: end };
}

/** Returns all cards except those that concern the acquirer's host. */
async function readCatalogue({ bank }: World): Promise<ReadonlyMap<string, string>> {
  const answer = await fetch(`${bank.url}/scenarios`);
  const all = (await answer.json()) as { group: string; name: string; card: string }[];
  const own = all.filter(
    ({ group }) => !/^(Acquirer behaviour|Payouts|Address and CVV results)$/.test(group),
  );
  return new Map(own.map(({ name, card }) => [name, card]));
}
