/**
 * The model of the database answers as PostgreSQL does: both get the same random calls of the
 * gateway's own stores, from fixed seeds, and every answer is compared. Therefore the simulator may
 * use a model.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Callback } from "../../gateway/callbacks/callback.ts";
import type { Step } from "../../gateway/orders/advance.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Order } from "../../gateway/orders/order.ts";
import { noCard, openPage } from "../../gateway/orders/payment-page.ts";
import { advance, asks, draft, events, step as stepOf } from "../../gateway/orders/testing.ts";
import { sequencesPerUrl } from "../../gateway/orders/transactions.ts";
import { makeCallbackStore } from "../../gateway/storage/callbacks/callbacks.ts";
import { makeFindSealedCard, makePendingCardStore } from "../../gateway/storage/cards/cards.ts";
import { makeKeyStore, makeRotationStore } from "../../gateway/storage/cards/vault-keys.ts";
import { makeBegin, makeCommit, makeEnter } from "../../gateway/storage/orders/commit.ts";
import {
  findByNumber,
  makeFindDue,
  makeFindOrders,
  makeFindOwned,
} from "../../gateway/storage/orders/find-orders.ts";
import type { Database, Query } from "../../gateway/storage/server/database.ts";
import { makeFixedName } from "../../gateway/storage/server/presence.ts";
import {
  type DatabaseForTests,
  startDatabase,
} from "../../gateway/storage/testing/database-for-tests.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { asCardId, asOrderId, asSerialNumber } from "../../gateway/values/ids.ts";
import { asInstant, type Instant, later } from "../../gateway/values/time.ts";
import type { NewKey } from "../../gateway/vault/keys.ts";
import { makeDatabaseModel } from "./database-model.ts";
import { nameOf, statements } from "./database-statements.ts";
import { makeRandom, type Random } from "./random.ts";

let real: DatabaseForTests;
before(async () => {
  real = await startDatabase();
});
after(() => real.stop());

const callsPerSeed = 300;
const nodes = ["node-1", "node-2"];

for (const seed of [1, 2, 3]) {
  test(`the model answers as PostgreSQL does: calls of seed ${seed}`, async () => {
    const model = makeDatabaseModel(statements);
    const modelQuery: Query = async <Result>(
      text: string,
      values: readonly unknown[] = [],
      name?: string,
    ) => model.execute(nameOf(text, name), values, 0) as readonly Result[];
    await real.database.query(
      `truncate orders, order_history, due, cards, card_keys, callbacks, callback_attempts,
         held_keys, held_secrets, vault.keys`,
    );
    const modelDatabase = {
      query: modelQuery,
      transaction: <Result>(work: (query: Query) => Promise<Result>) => work(modelQuery),
    } as Database;
    const stores = [
      { ...makeStores(modelQuery, seed), ...makeKeyStores(modelDatabase) },
      { ...makeStores(real.database.hot, seed), ...makeKeyStores(real.database) },
    ];
    const random = makeRandom(seed);
    const world = makeWorld(random, seed);

    for (let count = 0; count < callsPerSeed; count += 1) {
      const call = world.nextCall();
      const [mine, theirs] = await Promise.all(stores.map((store) => answerOf(call, store)));
      assert.deepEqual(mine, theirs, `call ${count}: ${call.name}`);
      call.onAnswer?.(mine);
    }
    assert.ok(world.countOpen() > 0, "some orders are open");
  });
}

type Stores = ReturnType<typeof makeStores> & ReturnType<typeof makeKeyStores>;

function makeKeyStores(database: Database) {
  const { cells, ...rotation } = makeRotationStore(database, [database]);
  return { keys: makeKeyStore(database.query), rotation, ofCell: pick(cells, 0) };
}

function makeStores(query: Query, seed: number) {
  const options = { callbackLeaseMs: 1000 };
  const orders = makeFindOrders(query);
  return {
    ...orders,
    begin: nodes.map((name) => makeBegin(query, makeFixedName(`${name}-${seed}`), options)),
    commit: nodes.map((name) => makeCommit(query, makeFixedName(`${name}-${seed}`), options)),
    enter: nodes.map((name) => makeEnter(query, makeFixedName(`${name}-${seed}`), options)),
    pending: makePendingCardStore(query),
    findDue: makeFindDue(query),
    findOwned: makeFindOwned(query),
    byNumber: (number: number) => findByNumber(query, number),
    findCard: makeFindSealedCard(query),
    callbacks: makeCallbackStore(
      { query, node: makeFixedName("node-1"), findOrder: orders.byId },
      { batchMax: 1 },
    ),
  };
}

type Call = {
  readonly name: string;
  readonly ask: (stores: Stores) => Promise<unknown>;
  readonly onAnswer?: (answer: unknown) => void;
};

const happenings: readonly EventKind[] = [
  ...(["authorized", "refused", "outcome_unknown", "reversal_unanswered", "reversed"] as const),
  ...(["original_not_found", "claimed", "expired", "noted", "approved_late"] as const),
  ...(["refused_in_doubt", "captured", "returned", "operator_alerted"] as const),
];

function makeWorld(random: Random, seed: number) {
  /** Every version of every order that a node has read; some are stale. */
  const seen: Order[] = [];
  const written: Step[] = [];
  const claimed: Callback[] = [];
  const begunAt = asInstant(1_794_708_246_000 + seed * 864_000_000);
  let now = begunAt;
  let count = 0;
  let made = 0;
  const calls = [beginOne, moveOne, moveOne, moveOne, moveAgain, findDue, find, findExisting];
  const others = [findOwned, findNumber, findCard, isCurrent, claimCallbacks, endCallback, waits];
  const more = [enterCard, enterCard, putPending, findPending, removePending, addKey];
  const ofKeys = [replaceKeys, destroyKey, listCards, listCards, listPending];

  return {
    nextCall(): Call {
      now = later(now, random.below(20_000));
      return seen.length < 3
        ? beginOne()
        : random.pick([...calls, ...others, ...more, ...ofKeys])();
    },
    countOpen: () => seen.filter(({ owed }) => owed !== undefined).length,
  };

  function beginOne(): Call {
    const isKnown = seen.length > 0 && random.chance(0.2);
    if (!isKnown) count += 1;
    const id = asOrderId(String(seed * 10_000_000 + count));
    const client = random.chance(0.2) ? "invoice" : `invoice-${count}`;
    const serial = `01800000-0000-7000-800${seed}-${String(count).padStart(12, "0")}`;
    const purchase = {
      ...draft.purchase,
      urls: {
        ...draft.purchase.urls,
        serverCallback: "https://shop.example/first",
        notify: "https://shop.example/told",
      },
    };
    const drafted: Order = {
      ...draft,
      id,
      sequence: 1_000_000 + count,
      clientOrderId: `${seed} ${client} "x\\y`,
      attempt: 1 + random.below(2),
      acceptedAt: now,
      purchase,
      card: { ...draft.card, cardId: asCardId(id) },
      transaction: { ...draft.transaction, serialNumber: asSerialNumber(serial) },
    };
    const onPage = { ...openPage(drafted, { lifeMs: 60_000_000, triesMax: 3 }), card: noCard };
    const hasPage = random.chance(0.3);
    const begun = hasPage ? { ...drafted, ...onPage } : drafted;
    const step = withEndpointUrl(stepOf(begun, events.received, now));
    const { merchantId } = drafted;
    const sealed = {
      keyId: 1 + random.below(2),
      sealed: Buffer.from(id),
      fingerprint: Buffer.alloc(32, 1),
    };
    const digest = { digest: Buffer.alloc(32, count), keyId: 3, cvv: Buffer.alloc(20, 5) };
    const sealCard = () => ({ merchantId, cardId: drafted.card.cardId, ...sealed });
    const node = random.below(2);
    return {
      name: `begin ${id}`,
      ask: (stores) =>
        pick(stores.begin, node)({ step, digest, sealCard: hasPage ? undefined : sealCard }),
      onAnswer: (answer) => void (answer === "done" && remember(step)),
    };
  }

  function moveOne(): Call {
    const afterFailover = random.chance(0.1) ? { changedAt: later(now, 1) } : {};
    const order = { ...random.pick(seen.slice(-20)), ...afterFailover };
    const asked = [asks("return", 5n), asks("capture")];
    const event = random.chance(0.2) ? random.pick(asked) : events[random.pick(happenings)];
    const serialNumber = asSerialNumber(
      `01900000-0000-7000-800${seed}-${String(seen.length).padStart(12, "0")}`,
    );
    const own = "serialNumber" in event ? { ...event, serialNumber } : event;
    const met = advance(order, own, now);
    if (met instanceof Failure) return find();
    const step = withEndpointUrl(met);
    const node = random.below(2);
    return {
      name: `move ${order.id} from ${order.version} by ${event.kind}`,
      ask: (stores) => pick(stores.commit, node)(step),
      onAnswer: (answer) => void (answer === "done" && remember(step)),
    };
  }

  /** Repeats a step whose answer was lost, by the same node or another. */
  function moveAgain(): Call {
    if (written.length === 0) return find();
    const step = random.pick(written.slice(-10));
    const node = random.below(2);
    return {
      name: `move ${step.order.id} again`,
      ask: (stores) => pick(stores.commit, node)(step, true),
    };
  }

  /** Enters a card on the payment page, even from an old version. */
  function enterCard(): Call {
    const waiting = seen.filter(({ transaction }) => transaction.stage === "awaiting_card");
    const order = waiting.at(-1 - random.below(4));
    if (order === undefined) return find();
    count += 1;
    const cardId = asCardId(String(seed * 10_000_000 + 5_000_000 + count));
    const event = { ...events.card_entered, card: { ...draft.card, cardId } };
    const step = advance(order, event, now);
    if (step instanceof Failure) return find();
    const keyId = 1 + random.below(2);
    const sealed = { sealed: Buffer.from(cardId), fingerprint: Buffer.alloc(32, 2), keyId };
    const sealCard = () => ({ merchantId: order.merchantId, cardId, ...sealed });
    const node = random.below(2);
    return {
      name: `enter a card for ${order.id}`,
      ask: (stores) => pick(stores.enter, node)({ step, sealCard }),
      onAnswer: (answer) => void (answer === "done" && remember(step)),
    };
  }

  function putPending(): Call {
    const bytes = Buffer.alloc(20, random.below(256));
    const row = { context: contextOf(), sealed: bytes, sealedKey: bytes, keyId: 1 };
    const expiresAt = later(now, random.below(60_000));
    return { name: "put pending", ask: ({ pending }) => pending.put(row, expiresAt) };
  }

  function findPending(): Call {
    const context = contextOf();
    return { name: "find pending", ask: ({ pending }) => pending.find(context, now) };
  }

  function removePending(): Call {
    const context = contextOf();
    if (random.chance(0.5)) {
      return { name: "remove pending", ask: ({ pending }) => pending.remove(context) };
    }
    return { name: "expire pending", ask: ({ pending }) => pending.removeExpired(now) };
  }

  function addKey(): Call {
    const key = nextKey("cards");
    return { name: "add a key", ask: ({ keys }) => keys.add(key) };
  }

  function replaceKeys(): Call {
    const next = ["cards", "held"].map(nextKey);
    return { name: "replace the keys", ask: ({ rotation }) => rotation.replace(next) };
  }

  function nextKey(purpose: string): NewKey {
    made += 1;
    return { id: made, purpose, sealed: aKey };
  }

  function destroyKey(): Call {
    const keyId = 1 + random.below(12);
    return {
      name: `destroy key ${keyId}`,
      ask: async ({ rotation, keys }) => {
        const answer = await rotation.destroy(keyId);
        return [answer, (await keys.list()).toSorted((one, other) => one.id - other.id)];
      },
    };
  }

  /** Encrypts some cards again, even under a destroyed key. */
  function listCards(): Call {
    const [from, to] = [1 + random.below(3), 1 + random.below(12)];
    const sealed = Buffer.alloc(20, random.below(256));
    return {
      name: `seal cards of key ${from} with ${to}`,
      ask: async ({ ofCell }) => {
        const count = await ofCell.countCards([from, to]);
        const page = await ofCell.listCards(from, undefined, 3);
        const rest = await ofCell.listCards(from, page.at(-1), 3);
        const anew = page.map((card) => ({ ...card, keyId: to, sealed }));
        return [count, page, rest, await ofCell.resealCards(from, anew)];
      },
    };
  }

  function listPending(): Call {
    const [from, to] = [1 + random.below(3), 1 + random.below(3)];
    return {
      name: `seal pending cards of key ${from} with ${to}`,
      ask: async ({ ofCell }) => {
        const found = await ofCell.listPending(from);
        const anew = found.map((row) => ({ ...row, keyId: to }));
        await ofCell.resealPending(from, anew);
        return found.toSorted((left, right) => (left.context < right.context ? -1 : 1));
      },
    };
  }

  function contextOf(): string {
    const { merchantId, id } = random.pick(seen.slice(0, 5));
    return `${merchantId}/${id}`;
  }

  function remember(step: Step): void {
    seen.push(step.order);
    if (step.from > 0) written.push(step);
  }

  function findDue(): Call {
    const at = later(now, random.below(100_000) - 30_000);
    return {
      name: `find due at ${at}`,
      ask: async ({ findDue: ask }) => sorted(await ask(at, 1_000)),
    };
  }

  function find(): Call {
    const { merchantId, id } = random.pick(seen);
    return { name: `find ${id}`, ask: ({ byId }) => byId({ merchantId, orderId: id }) };
  }

  function findExisting(): Call {
    const { merchantId, clientOrderId } = random.pick(seen);
    return {
      name: `find ${clientOrderId}`,
      ask: ({ findExisting: ask }) => ask(merchantId, clientOrderId),
    };
  }

  function findOwned(): Call {
    const node = `${random.pick(nodes)}-${seed}`;
    return { name: `find of ${node}`, ask: async (stores) => sorted(await stores.findOwned(node)) };
  }

  function findNumber(): Call {
    const number = Number(random.pick(seen).id) + random.below(2);
    return { name: `find number ${number}`, ask: ({ byNumber }) => byNumber(number) };
  }

  function findCard(): Call {
    const { merchantId, card } = random.pick(seen);
    return { name: "find card", ask: (stores) => stores.findCard(merchantId, card.cardId) };
  }

  function isCurrent(): Call {
    const order = random.pick(seen);
    return { name: "is current", ask: (stores) => stores.isCurrent(order) };
  }

  function claimCallbacks(): Call {
    const at: Instant = later(now, random.below(10_000));
    const until = later(at, 60_000 + random.below(1000));
    const except = { receivers: [], merchants: [] };
    const claim = { now: at, until, countMax: 1_000, except };
    return {
      name: "claim callbacks",
      ask: async ({ callbacks }) => {
        const due = (await callbacks.claimDue(claim)).map((each) => ({ ...each }));
        return due.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
      },
      onAnswer: (answer) => void claimed.push(...(answer as Callback[])),
    };
  }

  function endCallback(): Call {
    const callback = claimed[random.below(claimed.length)];
    if (callback === undefined) return claimCallbacks();
    const attempt = {
      at: now,
      method: "GET" as const,
      url: callback.url,
      body: "",
      status: 200,
      failure: undefined,
      durationMs: 3,
      answer: "",
      retryAfterMs: undefined,
    };
    const gap = { dueAt: later(now, 5_000.5 + random.below(1000)), isCounted: true };
    const decision = random.chance(0.5) ? ({ ended: "delivered" } as const) : gap;
    return {
      name: `record ${keyOf(callback)}`,
      ask: ({ callbacks }) => callbacks.record({ callback, attempt, decision }),
    };
  }

  function waits(): Call {
    const callback = claimed[random.below(claimed.length)];
    if (callback === undefined) return claimCallbacks();
    if (random.chance(0.3)) {
      return { name: "release", ask: ({ callbacks }) => callbacks.release([callback], now) };
    }
    return { name: "waits", ask: ({ callbacks }) => callbacks.waitsForEarlier(callback) };
  }
}

/** The endpoint has a URL too. */
function withEndpointUrl(step: Step): Step {
  const others = (step.callbacks ?? []).map((own) => ({
    ...own,
    url: "https://books.example/told",
    sequence: own.sequence + sequencesPerUrl,
  }));
  return { ...step, callbacks: [...(step.callbacks ?? []), ...others] };
}

/** Both refuse a write under a destroyed key. */
const answerOf = ({ ask }: Call, store: Stores) => ask(store).catch((error) => error.message);

const aKey = Buffer.alloc(60, 9);

function pick<Item>(items: readonly Item[], index: number): Item {
  return items[index] as Item;
}

function sorted(orders: readonly Order[]): readonly Order[] {
  return orders.toSorted((left, right) => Number(left.id) - Number(right.id));
}

function keyOf({ orderId, sequence }: Callback): string {
  return `${orderId}/${sequence}`;
}
