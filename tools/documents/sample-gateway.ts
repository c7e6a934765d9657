/**
 * A gateway in memory, without database and bank, for the examples in the documents. Requests go
 * through the real checks and become real orders, so that the examples are correct. The clock
 * stands still, and every charge is approved at once.
 */
import { makeAcceptOrders, makeFollowUps } from "../../gateway/engine/accept.ts";
import { makeOrderSearch } from "../../gateway/engine/find.ts";
import type { OrderRunner } from "../../gateway/engine/run.ts";
import { makeIssuerTable } from "../../gateway/issuers/issuers.ts";
import type { CalledParts } from "../../gateway/merchant-api/operation.ts";
import { makeAdvance } from "../../gateway/orders/advance.ts";
import { makeFollow } from "../../gateway/orders/apply.ts";
import type { CardReference } from "../../gateway/orders/card-reference.ts";
import type { OrderEvent } from "../../gateway/orders/events.ts";
import type { Order } from "../../gateway/orders/order.ts";
import { answer as approval, deadlines } from "../../gateway/orders/testing.ts";
import { screen } from "../../gateway/screening/screen.ts";
import { sandboxRanges } from "../../gateway/staging/sandbox-ranges.ts";
import { lookUp3ds } from "../../gateway/threeds/authentication-outcome.ts";
import { CardNumber } from "../../gateway/values/card-number.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { asCardId, asOrderId, asReceiptId, type OrderId } from "../../gateway/values/ids.ts";
import { makePrintDate } from "../../gateway/values/time.ts";
import * as sample from "./sample-world.ts";

const advance = makeAdvance(deadlines, {
  screen,
  look_up_3ds: lookUp3ds,
});

const { onlyEndpoint } = sample;
const readyGates = new Set(onlyEndpoint.gates.map(({ id }) => id));
const conditionsOf = () => ({ endpoint: onlyEndpoint, readyGates, entropy: new Uint8Array(20) });

const issuers = makeIssuerTable(sandboxRanges);

const paidCard = {
  number: new CardNumber("4111111111111111"),
  expiryYear: "31",
  expiryMonth: "12",
  isCondemned: false,
};

export function makeSampleGateway(): CalledParts {
  const orders = new Map<OrderId, Order>();
  let count = 0;

  const runner: OrderRunner = {
    start(order) {
      if (order.owed !== undefined) keep(approve(order));
    },
    has: () => false,
    runs: () => false,
    count: 0,
    idle: async () => undefined,
  };
  const admit = <Result>(work: () => Promise<Result>) => work();
  const shared = { advance, conditionsOf, runner, clock: sample.clock, admit };
  const acceptance = makeAcceptOrders({
    ...shared,
    begin: async ({ step }) => {
      keep(step.order);
      return "done";
    },
    findExisting: async () => [],
    findIssuer: issuers.find,
    judgePayment: () => undefined,
    countPayout: async () => async () => undefined,
    findEnrolment: () => undefined,
    storePendingCard: async () => () => undefined,
    vault: {
      cardDigest: () => "",
      cardNames: () => [],
      seal: (merchantId, cardId) => ({
        merchantId,
        cardId,
        keyId: 1,
        sealed: Buffer.alloc(0),
        fingerprint: Buffer.alloc(0),
      }),
      fingerprint: () => ({ fingerprint: Buffer.alloc(32), hashId: "613942087530214466" }),
    },
    digests: {
      make: async () => ({ keyId: 1, digest: Buffer.alloc(32), cvv: undefined }),
      isSame: async () => false,
    },
    nextNumbers: async () => {
      count += 1;
      return { id: asOrderId(sample.makeOrderId(count)), sequence: sample.makeSequence(count) };
    },
  });
  const search = makeOrderSearch({
    findById: async ({ orderId }) => orders.get(orderId),
    findExisting: async () => [],
    findBySerial: async () => undefined,
  });
  const follow = makeFollow({
    ...shared,
    commit: async ({ order }) => {
      keep(order);
      return "done";
    },
    load: async ({ id }) => get(id),
  });
  return {
    orders: {
      ...acceptance,
      findRepeat: async () => undefined,
      ...search,
      ...makeFollowUps({ ...shared, ...search, follow, findCard: async () => paidCard }),
      // No example waits for a result.
      waitForResult: async (found) => found,
    },
    ...makeSampleCards(),
    threeds: makeSampleAuthentication(),
    paymentPages: samplePages,
    findAddressFault: () => undefined,
    wallets: {
      open: async ({ type }) => ({ wallet: { type }, paid: undefined }),
    },
    hostedFields: {
      issueTicket: async ({ id }) => `${id}.${sampleTicket}`,
      open: async () => new Failure("token_not_found"),
    },
    settingsOf: () => ({ threeDSecure: "off", tellsChargebacks: true }),
    printDate: makePrintDate("UTC"),
    fieldWord: "gw",
  };

  function keep(order: Order): void {
    orders.set(order.id, order);
  }

  function get(id: OrderId): Order {
    const order = orders.get(id);
    if (order === undefined) throw new Error(`There is no sample order ${id}.`);
    return order;
  }
}

const sampleTicket = "u1nB3mXo2qT5yCkVJ8rPzWfLh0sDgAeN";

/** The addresses of payment pages. No example opens one. */
const samplePages: CalledParts["paymentPages"] = {
  termsOf: () => ({ lifeMs: 1_800_000, triesMax: 3 }),
  urlOf: ({ id }) => `${sample.baseUrl}/pay/${id}.Qm5sVUR3b0ZtdGJsSk9vZ3Zx`,
};

/** Accepts every upload of a 3-D Secure step. The guide, not the examples, shows the steps. */
function makeSampleAuthentication(): CalledParts["threeds"] {
  const take = async (order: Order) => order;
  const uploads = { uploadMethod: take, uploadChallenge: take, uploadPares: take };
  const pathOf = ({ id }: Order) => `gw/form/redirect/${id}/token`;
  return { find: async () => undefined, pathOf, stepOf: () => undefined, ...uploads };
}

/**
 * Registers cards with references that are always the same and stand for the last registered card.
 */
function makeSampleCards(): Pick<CalledParts, "cards" | "profiles"> {
  const known = new Map<string, CardReference>();
  const find: CalledParts["cards"]["find"] = async (_entryPoint, id) =>
    known.get(id) ?? new Failure("card_reference_not_found");
  type Kept = Pick<CardReference, "merchantId" | "endpointId" | "orderId" | "card"> &
    Partial<CardReference>;
  const keep = (kept: Kept) => {
    const removed = { stoppedAt: undefined, removedAt: undefined, removedBy: undefined };
    const times = { createdAt: sample.clock.now(), version: 1, ...removed };
    const ids = sample.references;
    const facts = { networkId: undefined, ...times, ...kept };
    known.set(ids.card, { ...facts, id: ids.card, purpose: "card" });
    known.set(ids.recurring, { ...facts, id: ids.recurring, purpose: "recurring" });
    return { ids, hashId: "613942087530214466" };
  };
  const profiles: CalledParts["profiles"] = {
    findCreated: async () => undefined,
    async create({ merchantId, endpointId, profile }, { facts }) {
      const card = { ...facts, cardId: asCardId("1"), hashId: "" };
      return keep({ merchantId, endpointId, orderId: asOrderId("0"), card, profile });
    },
    adopt: async () => new Failure("card_reference_not_found"),
    change: async (reference) => ({ ...keep(reference), reference }),
  };
  const cards: CalledParts["cards"] = {
    async register({ id, merchantId, endpointId, card }) {
      return keep({ merchantId, endpointId, orderId: id, card }).ids;
    },
    findRegistered: async () => undefined,
    find,
    findProfile: find,
    remove: find,
    findCardData: async () => ({
      number: new CardNumber(sample.cardNumber),
      expiryYear: "30",
      expiryMonth: "12",
      cvv: undefined,
    }),
  };
  return { cards, profiles };
}

function approve(order: Order): Order {
  const step = advance(order, approvalOf(order), sample.clock.now());
  if (step instanceof Failure) throw new Error(step.cause);
  return step.order;
}

function approvalOf({ transaction }: Order): OrderEvent {
  const answer = { ...approval, processedAt: sample.clock.now() };
  switch (transaction.kind) {
    case "capture":
      return { kind: "captured", answer };
    case "refund":
    case "cancel":
    case "void":
      return { kind: "returned", answer };
    case "payout":
      return { kind: "paid_out", answer, receiptId: asReceiptId("8146609321774036") };
    default:
      return { kind: "authorized", answer, receiptId: asReceiptId("8146609321774035") };
  }
}
