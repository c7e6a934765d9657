/** Captures, returns and voids: their messages and repeats, and what an answer proves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import {
  answer,
  approved,
  asks,
  clockAt,
  deadlines,
  events,
  meet,
  start,
} from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { later } from "../values/time.ts";
import type { Acquirer, FollowUpAnswer, FollowUpMessage, Found } from "./acquirer.ts";
import { makeFollowUpEffect } from "./follow-up.ts";
import { iso87Codes } from "./iso8583-host/dialect.ts";

const card = { number: new CardNumber("4000001000000018"), expiryYear: "31", expiryMonth: "12" };
const answerTimeoutMs = 100;
const unused = () => Promise.reject(new Error("not asked for"));

/** Makes a host that gives this answer and records the messages that it receives. */
function makeHost(
  says: FollowUpAnswer,
  { isReady = true, isTooLate = false }: Partial<Record<"isReady" | "isTooLate", boolean>> = {},
  inquired?: { readonly found: Found; readonly afterMs: number },
) {
  const sent: FollowUpMessage[] = [];
  const take = async (request: FollowUpMessage) => {
    sent.push(request);
    return says;
  };
  const acquirer: Acquirer = {
    isReady: () => isReady,
    hasPlaceFor: () => true,
    authorize: unused,
    inquire: undefined,
    inquireAfter: inquired && (async () => inquired.found),
    reverse: unused,
    capture: take,
    refund: take,
  };
  const dependencies = {
    findAcquirer: () => acquirer,
    findCard: async () => card,
    clock: clockAt(later(start, inquired?.afterMs ?? 0)),
    answerTimeoutMs: isTooLate ? deadlines.leaseMs : answerTimeoutMs,
    linkWaitMs: 0,
    nextReady: unused,
  };
  const capture = makeFollowUpEffect(dependencies, "capture");
  return { sent, capture, refund: makeFollowUpEffect(dependencies, "refund") };
}

const asked: Order = meet(approved("preauth"), asks("capture", 500n));
const inDoubt: Order = meet(asked, events.outcome_unknown);
const fresh = { startedBefore: false, cardData: undefined };
const takenOver = { startedBefore: true, cardData: undefined };

function refusedWith(responseCode: string): FollowUpAnswer {
  return {
    kind: "refused",
    answer: { ...answer, responseCode },
    refusal: iso87Codes.refusalOf(responseCode),
  };
}

test("a capture is sent once as it is, and as a repeat whenever it may have left", async () => {
  const host = makeHost({ kind: "approved", answer });

  await host.capture(asked, fresh);
  await host.capture(asked, takenOver);
  await host.capture(inDoubt, fresh);

  assert.deepEqual(
    host.sent.map(({ repeated }) => repeated),
    [false, true, true],
  );
  assert.equal(new Set(host.sent.map(({ traceNumber }) => traceNumber)).size, 1);
});

// biome-ignore format: a table
const answers: readonly (readonly [what: string, order: Order, says: FollowUpAnswer, event: string])[] = [
  ["approved",                    asked,   { kind: "approved", answer },             "captured"],
  ["refused",                     asked,   refusedWith("05"),                        "refused"],
  ["refused for its form",        asked,   refusedWith("30"),                        "refused"],
  ["said to be known",            asked,   refusedWith("94"),                        "outcome_unknown"],
  ["answered too late inside",    asked,   refusedWith("68"),                        "outcome_unknown"],
  ["met by a host in trouble",    asked,   refusedWith("96"),                        "outcome_unknown"],
  ["met by an issuer that is unreachable", asked, refusedWith("91"),                        "outcome_unknown"],
  ["refused as invalid",          asked,   refusedWith("12"),                        "refused"],
  ["a repeat refused for its form", inDoubt, refusedWith("30"),                      "repeat_refused"],
  ["a repeat refused as invalid", inDoubt, refusedWith("12"),                        "repeat_refused"],
  ["a repeat of an unknown original", inDoubt, refusedWith("25"),                    "repeat_refused"],
  ["a repeat over the amount left", inDoubt, refusedWith("13"),                      "repeat_refused"],
  ["a repeat refused with a code that no table has", inDoubt, refusedWith("ZZ"),     "repeat_refused"],
  ["a repeat refused by the issuer", inDoubt, refusedWith("05"),                     "repeat_refused"],
  ["a repeat refused for lack of funds", inDoubt, refusedWith("51"),                 "repeat_refused"],
  ["a repeat said to be known",   inDoubt, refusedWith("94"),                        "repeat_unanswered"],
  ["a repeat said to be going on", inDoubt, refusedWith("09"),                       "repeat_unanswered"],
  ["a repeat by a host in trouble", inDoubt, refusedWith("96"),                      "repeat_unanswered"],
  ["not answered",                asked,   { kind: "unknown", cause: "timeout" },    "outcome_unknown"],
  ["a repeat not answered",       inDoubt, { kind: "unknown", cause: "link_lost" },  "repeat_unanswered"],
  ["not sent",                    asked,   { kind: "not_sent" },                     "gate_unavailable"],
  ["a repeat not sent",           inDoubt, { kind: "not_sent" },                     "repeat_unanswered"],
];

for (const [what, order, says, event] of answers) {
  test(`a capture is ${what}: ${event}`, async () => {
    assert.equal((await makeHost(says).capture(order, fresh)).kind, event);
  });
}

// biome-ignore format: a table
const inquiries: readonly (readonly [found: Found, afterMs: number, event: string])[] = [
  [{ kind: "approved", answer },                 0,                   "captured"],
  [{ kind: "not_found" },                        answerTimeoutMs - 1, "repeat_refused"],
  [{ kind: "not_found" },                        answerTimeoutMs,     "refused"],
  [{ kind: "other_answer", code: "05" },         answerTimeoutMs,     "repeat_refused"],
  [{ kind: "unknown", cause: "timeout" },        answerTimeoutMs,     "repeat_refused"],
  [{ kind: "not_sent" },                         answerTimeoutMs,     "repeat_refused"],
];

for (const [found, afterMs, event] of inquiries) {
  test(`a repeat refused as invalid, ${found.kind} after ${afterMs} ms: ${event}`, async () => {
    const host = makeHost(refusedWith("12"), {}, { found, afterMs });

    assert.equal((await host.capture(inDoubt, fresh)).kind, event);
  });
}

test("a repeat that went unanswered may still be on its way when the next is refused", async () => {
  const unanswered = meet(inDoubt, events.repeat_unanswered, later(start, answerTimeoutMs));
  const found: Found = { kind: "not_found" };
  const askAfter = (afterMs: number) =>
    makeHost(refusedWith("12"), {}, { found, afterMs }).capture(unanswered, fresh);

  assert.equal((await askAfter(2 * answerTimeoutMs - 1)).kind, "repeat_refused");
  assert.equal((await askAfter(2 * answerTimeoutMs)).kind, "refused");
});

test("what the node before may have sent unrecorded may still be on its way", async () => {
  const claimed = { kind: "claimed", node: "node-2" } as const;
  const takenAt = later(start, answerTimeoutMs);
  const found: Found = { kind: "not_found" };
  const askAfter = async (order: Order, afterMs: number) =>
    (await makeHost(refusedWith("12"), {}, { found, afterMs }).capture(order, takenOver)).kind;
  const resting = meet(inDoubt, events.repeat_refused);

  for (const event of [claimed, events.expired]) {
    for (const order of [asked, inDoubt]) {
      const taken = meet(order, event, takenAt);
      assert.equal(await askAfter(taken, 2 * answerTimeoutMs - 1), "repeat_refused");
      assert.equal(await askAfter(taken, 2 * answerTimeoutMs), "refused");
    }
  }
  assert.equal(await askAfter(meet(resting, claimed, takenAt), answerTimeoutMs), "refused");
});

test("what another node may have claimed by now is not sent", async () => {
  const host = makeHost({ kind: "approved", answer }, { isTooLate: true });

  const event = await host.capture(asked, fresh);

  assert.equal(event.kind, "outcome_unknown");
  assert.deepEqual(host.sent, []);
});

test("without a link a new one fails, and one that may have left waits", async () => {
  const host = makeHost({ kind: "approved", answer }, { isReady: false });

  assert.equal((await host.capture(asked, fresh)).kind, "gate_unavailable");
  assert.equal((await host.capture(asked, takenOver)).kind, "outcome_unknown");
  assert.deepEqual(host.sent, []);
});

test("a return tells which capture took the money, and for how much", async () => {
  const host = makeHost({ kind: "approved", answer });
  const captured = meet(asked, events.captured);

  await host.capture(asked, fresh);
  await host.refund(meet(captured, asks("return", 200n)), fresh);
  await host.refund(meet(approved("preauth"), asks("return")), fresh);

  const [sent, returned, cancelled] = host.sent;
  const { traceNumber, transmittedAt, amount } = returned?.original.capture ?? {};
  assert.deepEqual(
    [traceNumber, transmittedAt, amount?.minor],
    [sent?.traceNumber, sent?.transmittedAt, 500n],
  );
  assert.deepEqual([sent?.original.capture, cancelled?.original.capture], [undefined, undefined]);
});

test("a return says what remains when it is done", async () => {
  const host = makeHost({ kind: "approved", answer });
  const once = meet(meet(approved(), asks("return", 42n)), events.returned);

  await host.refund(meet(once, asks("return", 500n)), fresh);
  await host.refund(meet(approved("preauth"), asks("return")), fresh);

  assert.deepEqual(
    host.sent.map(({ amount, remaining }) => [amount.minor, remaining.minor]),
    [
      [500n, 500n],
      [1042n, 0n],
    ],
  );
});

test("a void that is proved not to be done ends in an error, one that is refused is declined", async () => {
  const voiding = meet(approved(), asks("void"));
  const doubted = meet(voiding, events.outcome_unknown);
  const inquired = { found: { kind: "not_found" }, afterMs: answerTimeoutMs } as const;
  const acquirer = makeHost(refusedWith("12"), {}, inquired);

  const refused = meet(voiding, await acquirer.refund(voiding, fresh));
  const disproved = meet(doubted, await acquirer.refund(doubted, fresh));

  assert.equal(refused.transaction.stage, "declined");
  assert.equal(disproved.transaction.stage, "error");
  assert.equal(disproved.transaction.reason?.code, "not_voided");
  // The node that died may have sent the message, so the order is in doubt first.
  assert.equal((await acquirer.refund(voiding, takenOver)).kind, "repeat_refused");
});
