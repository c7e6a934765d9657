/** A client order id is charged once: a request is new, a repeat, a duplicate or a new attempt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import type { OrderRequest } from "../orders/requests.ts";
import { advance, conditions, draft, inStage, start } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId, asSerialNumber } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { RequestDigest } from "../vault/request-digests.ts";
import { makeAcceptOrders, makeAdmission } from "./accept.ts";
import type { ExistingOrder } from "./find.ts";

const digestOf = (byte: number): RequestDigest => ({
  keyId: 1,
  digest: Buffer.alloc(32, byte),
  cvv: undefined,
});
const digests = { asked: digestOf(1), other: digestOf(2) };
const declined: ExistingOrder = {
  order: { ...inStage("declined"), attempt: 1 },
  digest: digests.other,
};

test("a new attempt is the one after the latest, however often that was told", async () => {
  const { accept, priorAttempts } = makeTried([declined, declined, declined]);

  const accepted = await accept(asked);

  assert.ok(!(accepted instanceof Failure));
  assert.deepEqual(priorAttempts, [1, 2]);
});

test("screening does not count a payment that fails, and a payment that it cannot judge does not begin", async () => {
  const tried = makeTried([declined], [declined]);
  await tried.accept(asked);
  assert.deepEqual(tried.judged, ["judged", "undone", "judged", "undone", "judged"]);

  const { accept, priorAttempts } = makeTried();
  const away = { ...asked, clientOrderId: "while the database is unreachable" };
  await assert.rejects(async () => accept(away), /unreachable/);
  assert.deepEqual(priorAttempts, []);
});

test("a payment with a registered card has the hash id of the present key", async () => {
  const { accept } = makeTried();
  const facts = { ...draft.card, hashId: "by the key before" };

  const accepted = await accept({ ...asked, card: { kind: "registered", facts } });

  assert.ok(!(accepted instanceof Failure));
  assert.equal(accepted.order.card.hashId, "1");
});

test("a request that loses the next attempt to another looks again and finds a duplicate", async () => {
  const winner: ExistingOrder = {
    order: { ...inStage("authorizing"), attempt: 2 },
    digest: digests.other,
  };
  const { accept, priorAttempts } = makeTried([declined], [declined, winner]);

  const accepted = await accept(asked);

  assert.ok(accepted instanceof Failure);
  assert.equal(accepted.code, "duplicate_order");
  assert.deepEqual(priorAttempts, [1, 2]);
});

test("an order whose late approval is not yet taken back may still be paid", async () => {
  const owed = { effect: "reverse", claimableAt: start } as const;
  const owing: ExistingOrder = { order: { ...declined.order, owed }, digest: digests.other };
  const { accept } = makeTried([owing]);

  const accepted = await accept(asked);

  assert.ok(accepted instanceof Failure);
  assert.equal(accepted.code, "duplicate_order");
});

test("the same request is told of its own order, whatever became of it", async () => {
  const own: ExistingOrder = {
    order: { ...inStage("declined"), attempt: 1 },
    digest: digests.asked,
  };
  const { accept } = makeTried([own]);

  const accepted = await accept(asked);

  assert.ok(!(accepted instanceof Failure));
  assert.equal(accepted.order, own.order);
  assert.equal(accepted.repeated, true);
});

const asked: OrderRequest = {
  kind: "sale",
  merchantId: draft.merchantId,
  endpointId: draft.endpointId,
  clientOrderId: draft.clientOrderId,
  serialNumber: asSerialNumber("0195933a-7c48-7000-8000-000000000001"),
  purchase: draft.purchase,
  card: { kind: "new", facts: draft.card },
  cardData: {
    number: new CardNumber("4000001000000018"),
    expiryYear: "31",
    expiryMonth: "12",
    cvv: undefined,
  },
  requestFingerprint: {
    text: new Secret("the request"),
    cvv: undefined,
  },
};

/** The store refuses the attempt number until the known orders have been read. */
test("orders that wait for their first commit count, and the next is refused at once", async () => {
  const commit = Promise.withResolvers<string>();
  const admit = makeAdmission({ count: 1 }, 3);

  const waiting = [admit(() => commit.promise), admit(() => commit.promise)];
  const refused = await admit(() => commit.promise);
  commit.resolve("committed");

  assert.ok(refused instanceof Failure);
  assert.equal(refused.code, "storage_unavailable");
  assert.deepEqual(await Promise.all(waiting), ["committed", "committed"]);
  assert.equal(await admit(async () => "next"), "next");
  await assert.rejects(
    admit(() => Promise.reject(new Error("lost"))),
    /lost/,
  );
  assert.equal(await admit(async () => "after a failure"), "after a failure");
});

function makeTried(...looks: readonly (readonly ExistingOrder[])[]) {
  const priorAttempts: number[] = [];
  const started: Order[] = [];
  const judged: string[] = [];
  let looked = 0;
  const { accept } = makeAcceptOrders({
    advance,
    begin: async ({ step }) => {
      priorAttempts.push(step.order.attempt);
      return priorAttempts.length <= looks.length ? "taken" : "done";
    },
    conditionsOf: () => conditions,
    findExisting: async () => {
      looked += 1;
      return looks[looked - 1] ?? [];
    },
    vault: {
      seal: (merchantId, cardId) => ({
        merchantId,
        cardId,
        keyId: 1,
        sealed: Buffer.alloc(0),
        fingerprint: Buffer.alloc(0),
      }),
      fingerprint: () => ({ fingerprint: Buffer.alloc(32), hashId: "1" }),
      cardDigest: () => "",
      cardNames: () => [],
    },
    digests: {
      make: async () => digests.asked,
      isSame: async (_, earlier) => earlier === digests.asked,
    },
    nextNumbers: async () => ({ id: asOrderId("10000001"), sequence: 590_000_000_000 }),
    findIssuer: () => undefined,
    judgePayment: async ({ clientOrderId }) => {
      if (clientOrderId !== draft.clientOrderId) throw new Error("the database is unreachable");
      judged.push("judged");
      return { findings: [], undo: async () => void judged.push("undone") };
    },
    countPayout: async () => async () => undefined,
    findEnrolment: () => undefined,
    storePendingCard: async () => () => undefined,
    runner: {
      start: (order) => void started.push(order),
      has: () => false,
      runs: () => false,
      count: 0,
      idle: async () => undefined,
    },
    clock: { now: () => start },
    admit: makeAdmission({ count: 0 }, 10),
  });
  return { accept, judged, priorAttempts };
}
