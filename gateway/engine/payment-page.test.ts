/**
 * Tries on the payment page until their commit: two tabs, wallets, and what is undone if a try does
 * not begin.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointWith } from "../merchant-api/testing.ts";
import { makeAdvance } from "../orders/advance.ts";
import type { Order } from "../orders/order.ts";
import { noCard, openPage } from "../orders/payment-page.ts";
import {
  advance,
  card,
  conditions,
  deadlines,
  draft,
  events,
  meet,
  start,
} from "../orders/testing.ts";
import { screen } from "../screening/screen.ts";
import { lookUp3ds } from "../threeds/authentication-outcome.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { asCardId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { makePaymentPages, type PageDependencies, type PageOrder } from "./payment-page.ts";

const opened = meet(
  { ...draft, card: noCard, ...openPage(draft, { lifeMs: 60_000, triesMax: 3 }) },
  events.received,
);
const number = new CardNumber("4111111111111111");
const data = { number, expiryMonth: "12", expiryYear: "31", cvv: new Secret("123") };
const customer = { ...draft.purchase.customer, email: "jane@example.com" };
const entered = { customer: {}, ipAddress: "203.0.113.9", browser: undefined };
const byCard = { ...entered, paid: { kind: "card", ...data, holderName: "JANE DOE" } } as const;
const byWallet = {
  ...entered,
  paid: { kind: "wallet", type: "walletb_encrypted", text: new Secret("{}") },
} as const;

/** The pages of one order in memory. A commit succeeds only on the order's current version. */
function makePages(first: Order, changes: Partial<PageDependencies> = {}) {
  let stored = first;
  let ids = 0;
  const started: Order[] = [];
  const undone: string[] = [];
  const sealed: string[] = [];
  const pages = makePaymentPages({
    advance,
    conditionsOf: () => conditions,
    async enter({ step, sealCard }) {
      if (step.from !== stored.version) return "stale";
      stored = step.order;
      sealCard?.();
      return "done";
    },
    load: async () => stored,
    findByNumber: async () => stored,
    getEndpoint: () => endpointWith([]),
    stepOf: () => undefined,
    judgePayment: () =>
      Promise.resolve({ findings: [], undo: async () => void undone.push("counted") }),
    storePendingCard: async () => () => undefined,
    openWallet: async () => assert.fail("there is no wallet"),
    newCardId: () => {
      ids += 1;
      return asCardId(String(ids));
    },
    digest: () => new Uint8Array(32),
    tokens: {
      tokenOf: (text) => `proof of ${text}`,
      isToken: (text, token) => token === `proof of ${text}`,
    },
    baseUrl: () => "https://pay.example",
    runner: {
      start: (order) => void started.push(order),
      has: () => false,
      runs: () => false,
      count: 0,
      idle: async () => undefined,
    },
    admit: (work) => work(),
    clock: { now: () => start },
    defaults: { lifeMs: 60_000, triesMax: 3 },
    linkLifeMs: 0,
    findIssuer: () => undefined,
    findEnrolment: () => undefined,
    vault: {
      seal: (merchantId, cardId) => {
        sealed.push(cardId);
        const bytes = { sealed: new Uint8Array(), fingerprint: new Uint8Array() };
        return { merchantId, cardId, keyId: 1, ...bytes };
      },
      fingerprint: () => ({ fingerprint: Buffer.alloc(32), hashId: "1" }),
      cardDigest: () => "",
      cardNames: () => [],
    },
    ...changes,
  });
  const open = async () =>
    (await pages.find(`${first.id}.proof of pay/${first.id}`)) ?? assert.fail("not found");
  return { pages, open, started, undone, sealed, stored: () => stored };
}

const whole = (page: PageOrder): PageOrder => ({ ...page, wanted: [] });

test("of two tabs that have seen the same page one begins a try; nothing of the other is kept", async () => {
  const { pages, open, started, undone, sealed } = makePages(opened);
  const [one, other] = [whole(await open()), whole(await open())];

  const first = await pages.pay(one, byCard);
  const second = await pages.pay(other, byCard);

  assert.ok(!(first instanceof Failure));
  assert.ok(second instanceof Failure && second.code === "not_allowed_now");
  assert.deepEqual([started.length, sealed.length, undone.length], [1, 1, 1]);
  assert.deepEqual((await open()).state, { kind: "in_progress" });
});

test("a second click does not begin another try when the first is refused at once", async () => {
  const filtering = makeAdvance(deadlines, {
    screen: () => ({ kind: "filtered_out", reason: { code: "velocity_exceeded", detail: "" } }),
    look_up_3ds: lookUp3ds,
  });
  const { pages, open, undone, stored } = makePages(opened, { advance: filtering });
  const [one, other] = [whole(await open()), whole(await open())];

  const first = await pages.pay(one, byCard);
  const second = await pages.pay(other, byCard);

  assert.ok(!(first instanceof Failure));
  assert.ok(second instanceof Failure && second.code === "not_allowed_now");
  assert.deepEqual([stored().page?.refused.length, undone.length], [1, 1]);
});

test("a disabled endpoint or merchant takes no card, also from a page that was shown before", async () => {
  const on = endpointWith([]);
  const { pages, open, started } = makePages(opened);
  const before = whole(await open());

  for (const endpoint of [
    { ...on, enabled: false },
    { ...on, merchant: { ...on.merchant, enabled: false } },
  ]) {
    const { open: look } = makePages(opened, { getEndpoint: () => endpoint });
    assert.deepEqual((await look()).state, { kind: "disabled" });
    const paid = await pages.pay({ ...before, endpoint }, byCard);
    assert.ok(paid instanceof Failure && paid.code === "not_allowed_now");
  }
  assert.equal(started.length, 0);
});

test("news of the order that leaves it on its page does not cost the try", async () => {
  const { pages, open, started } = makePages(meet(opened, events.noted));
  const page = whole({
    ...(await open()),
    order: { ...opened, page: opened.page ?? assert.fail() },
  });

  assert.ok(!((await pages.pay(page, byCard)) instanceof Failure));
  assert.equal(started.length, 1);
});

test("what the merchant has sent of the customer stays, and the page adds the rest", async () => {
  const known = { ...opened, purchase: { ...opened.purchase, customer } };
  const { pages, open, stored } = makePages(known);
  const submitted = { ...byCard, customer: { email: "other@example.com", city: "Springfield" } };

  await pages.pay(whole(await open()), submitted);

  assert.equal(stored().purchase.customer.email, "jane@example.com");
  assert.equal(stored().purchase.customer.city, "Springfield");
  assert.equal(stored().purchase.ipAddress, "203.0.113.9");
});

test("a state is kept for a country that has states, and is otherwise any text and not kept", async () => {
  const none = { ...opened.purchase.customer, country: undefined, state: undefined };
  const asked = { ...opened, purchase: { ...opened.purchase, customer: none } };
  const kept = async (customer: object) => {
    const { pages, open, stored } = makePages(asked);
    await pages.pay(whole(await open()), { ...byCard, customer });
    return stored().purchase.customer.state;
  };

  assert.equal(await kept({ country: "US", state: "NY" }), "NY");
  assert.equal(await kept({ country: "DE", state: "Brandenburg" }), undefined);
});

test("what was entered at a refused try is asked for again, and can be corrected", async () => {
  const sent = {
    ...opened.purchase.customer,
    email: undefined,
    country: undefined,
    state: undefined,
  };
  const first = makePages({ ...opened, purchase: { ...opened.purchase, customer: sent } });
  const asked = await first.open();
  const entered = { email: "jane@exmaple.com", country: "US", state: "NY" };
  await first.pages.pay(whole(asked), { ...byCard, customer: entered });
  const refused = meet(first.stored(), events.refused);
  const second = makePages(refused);
  const again = await second.open();
  const corrected = { email: "jane@example.com", country: "DE" };
  await second.pages.pay(whole(again), { ...byCard, customer: corrected });

  assert.deepEqual(again.wanted, asked.wanted);
  const { email, country, state } = second.stored().purchase.customer;
  assert.deepEqual([email, country, state], ["jane@example.com", "DE", undefined]);
});

test("a wallet's proof goes with its try, and refused payment data leads back to the page", async () => {
  const { cardId: _, hashId: __, ...facts } = card;
  const wallet = { type: "walletb_encrypted", isDevice: true } as const;
  const paid = {
    facts,
    cardData: { ...data, cvv: undefined },
    authentication: { eci: "07" },
  };
  const good = makePages(opened, { openWallet: async () => ({ wallet, paid }) });
  await good.pages.pay(whole(await good.open()), byWallet);

  const refusal = { code: "wallet_expired", detail: "" } as const;
  const refusing = makePages(opened, {
    openWallet: async () => ({ wallet: { type: wallet.type, refusal }, paid: undefined }),
    advance: makeAdvance(deadlines, { screen, look_up_3ds: lookUp3ds }),
  });
  await refusing.pages.pay(whole(await refusing.open()), byWallet);

  assert.deepEqual(good.stored().transaction.authentication, { eci: "07" });
  assert.deepEqual(good.stored().purchase.wallet, wallet);
  assert.equal(refusing.sealed.length, 0);
  assert.deepEqual((await refusing.open()).state, { kind: "awaiting_card", refused: refusal });
});

test("a page is found by its own token alone", async () => {
  const { pages, open } = makePages(opened);
  const { id } = opened;
  const texts = [
    "",
    ".",
    String(id),
    `${id}.`,
    `${id}.proof of pay/1`,
    `${id}.proof of pay/${id}.`,
  ];

  assert.equal(pages.urlOf(opened), `https://pay.example/pay/${id}.proof of pay/${id}`);
  assert.equal((await open()).triesLeft, 3);
  for (const text of texts) assert.equal(await pages.find(text), undefined, text);
});
