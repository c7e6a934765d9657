/**
 * Stores that work on all cells: a call that names a merchant goes to the merchant's cell, and a
 * search for due or expired rows goes to all cells.
 */
import type { CallbackStore } from "../../callbacks/callback.ts";
import type { Begin } from "../../engine/accept.ts";
import type { MerchantReferences } from "../../engine/cards.ts";
import type { HostedFieldsStore } from "../../engine/hosted-fields.ts";
import type { Enter } from "../../engine/payment-page.ts";
import type { ProfileStore } from "../../engine/profiles.ts";
import { type Commit, LostOrder } from "../../orders/apply.ts";
import type { Order } from "../../orders/order.ts";
import type { DeliveryFilter } from "../../portal-api/reads.ts";
import type { TallyStore } from "../../screening/judge.ts";
import type { TryStore } from "../../screening/page-tries.ts";
import type { PayoutDays } from "../../screening/payout-bounds.ts";
import {
  asMerchantId,
  type MerchantId,
  type OrderId,
  type SerialNumber,
} from "../../values/ids.ts";
import type { Clock, Instant } from "../../values/time.ts";
import type { FindSealedCard, PendingCardStore } from "../../vault/vault.ts";
import { findCallbacks } from "../callbacks/callback-journal.ts";
import { makeCallbackStore } from "../callbacks/callbacks.ts";
import type { ConfirmKeys } from "../cards/card-keys.ts";
import { makeFindSealedCard, makePendingCardStore, makeReferenceStore } from "../cards/cards.ts";
import { makeHostedFieldsStore } from "../cards/hosted-fields.ts";
import { makeProfileStore } from "../cards/profiles.ts";
import { makeClaimToken, releaseToken } from "../cards/wallets.ts";
import { makeBegin, makeCommit, makeEnter } from "../orders/commit.ts";
import {
  countInDoubt,
  findAtPosition,
  findByNumber,
  findBySerial,
  makeFindDue,
  makeFindOfReceipt,
  makeFindOrders,
  makeFindOwned,
} from "../orders/find-orders.ts";
import type { OrderPosition } from "../orders/order-ids.ts";
import { makePayoutDays } from "../orders/payout-days.ts";
import { makeStoreRequest, makeTakeNonce, type NonceOptions } from "../orders/requests.ts";
import { makeTallyStore } from "../screening/tallies.ts";
import type { GatherOptions } from "../server/gather.ts";
import type { NodeName } from "../server/presence.ts";
import type { Cells } from "./cells.ts";

export function routeFindSealedCard(cells: Cells, options: GatherOptions = {}): FindSealedCard {
  const stores = cells.stores(({ vault }) => makeFindSealedCard(vault.hot, options));
  return (merchant, card) => stores.call(merchant, (find) => find(merchant, card));
}

export function routePendingCards(
  cells: Cells,
  options: GatherOptions & ConfirmKeys,
): PendingCardStore {
  const stores = cells.stores(({ vault }) => makePendingCardStore(vault.query, options));
  const merchantOf = (context: string) => asMerchantId(context.split("/")[0] ?? "");
  return {
    put: (row, expiresAt) =>
      stores.call(merchantOf(row.context), (store) => store.put(row, expiresAt)),
    find: (context, now) => stores.call(merchantOf(context), (store) => store.find(context, now)),
    remove: (context) => stores.call(merchantOf(context), (store) => store.remove(context)),
    removeExpired: async (now) => sum(await stores.each((store) => store.removeExpired(now))),
  };
}

export function routeHostedFields(cells: Cells): HostedFieldsStore {
  const stores = cells.stores(({ node }) => makeHostedFieldsStore(node.query));
  return {
    add: (key, expiresAt) => stores.call(key.merchantId, (store) => store.add(key, expiresAt)),
    has: (key, now) => stores.call(key.merchantId, (store) => store.has(key, now)),
    exchange: (key, token, expiresAt) =>
      stores.call(key.merchantId, (store) => store.exchange(key, token, expiresAt)),
    remove: (key) => stores.call(key.merchantId, (store) => store.remove(key)),
    take: (key, request, now) =>
      stores.call(key.merchantId, (store) => store.take(key, request, now)),
    release: (key, request) => stores.call(key.merchantId, (store) => store.release(key, request)),
    removeExpired: async (now) => void (await stores.each((store) => store.removeExpired(now))),
  };
}

type OrderOptions = ConfirmKeys & {
  readonly node: NodeName;
  readonly onBatch: (queue: "read" | "begin" | "move") => NonNullable<GatherOptions["onBatch"]>;
  readonly onStuck: NonNullable<GatherOptions["onStuck"]>;
  readonly retryMs: number;
  readonly callbackLeaseMs: number;
  readonly isBusy: () => boolean;
  /**
   * Wraps the search for due orders. After an outage of the cell's database, it leaves out orders
   * that other nodes may have in flight.
   */
  readonly watchDue: (findDue: ReturnType<typeof makeFindDue>) => ReturnType<typeof makeFindDue>;
};

/**
 * Makes the queues that gather the statements of all orders in flight. While the database is
 * unreachable, a commit for a merchant's request fails after some time, so that the merchant gets
 * an error. A commit of an effect handler is repeated without end, because an acquirer's answer
 * must not be lost.
 */
export function routeOrders(cells: Cells, { node, onBatch, ...options }: OrderOptions) {
  const brief = options;
  const endless = { ...options, retryMs: Number.POSITIVE_INFINITY };
  const reading = { onBatch: onBatch("read") };
  const stores = cells.stores(({ node: { hot, add, query } }) => ({
    ...makeFindOrders(hot, reading),
    findByIdWithRetry: makeFindOrders(hot, { ...reading, ...endless }).byId,
    begin: makeBegin(add, node, { onBatch: onBatch("begin"), ...brief }),
    commit: makeCommit(hot, node, { onBatch: onBatch("move"), ...brief }),
    enter: makeEnter(hot, node, { onBatch: onBatch("move"), ...brief }),
    commitWithRetry: makeCommit(hot, node, { onBatch: onBatch("move"), ...endless }),
    hot,
    bySerial: (merchant: MerchantId, serial: SerialNumber) => findBySerial(hot, merchant, serial),
    findDue: options.watchDue(makeFindDue(hot)),
    findOwned: makeFindOwned(hot),
    countInDoubt: () => countInDoubt(query),
  }));
  const begin: Begin = (beginning) =>
    stores.call(beginning.step.order.merchantId, (store, isAgain) =>
      store.begin(beginning, isAgain),
    );
  const commit: Commit = (step) =>
    stores.call(step.order.merchantId, (store, isAgain) => store.commit(step, isAgain));
  const enter: Enter = (entry) =>
    stores.call(entry.step.order.merchantId, (store, isAgain) => store.enter(entry, isAgain));
  const commitWithRetry: Commit = (step) =>
    stores.call(
      step.order.merchantId,
      (store, isAgain) => store.commitWithRetry(step, isAgain),
      endless.retryMs,
    );
  const byId = (key: OrderKey) => stores.call(key.merchantId, (store) => store.byId(key));
  const findByIdWithRetry = (key: OrderKey) =>
    stores.call(key.merchantId, (store) => store.findByIdWithRetry(key), endless.retryMs);
  return {
    byId,
    begin,
    commit,
    enter,
    load: loadWith(byId),
    isCurrent: (order: Order) => stores.call(order.merchantId, (store) => store.isCurrent(order)),
    payoutDays: routePayoutDays(cells),
    retrying: { load: loadWith(findByIdWithRetry), commit: commitWithRetry },
    findExisting: (merchant: MerchantId, clientOrderId: string) =>
      stores.call(merchant, (store) => store.findExisting(merchant, clientOrderId)),
    findBySerial: (merchant: MerchantId, serial: SerialNumber) =>
      stores.call(merchant, (store) => store.bySerial(merchant, serial)),
    /** Finds the order of a host's message, which names no merchant. */
    byNumber: (number: number) => stores.search(({ hot }) => findByNumber(hot, number)),
    atPosition: (place: OrderPosition) => stores.search(({ hot }) => findAtPosition(hot, place)),
    findDue: async (now: Instant, most: number) =>
      (await stores.each((store) => store.findDue(now, most))).flat(),
    findOwned: async (owner: string) =>
      (await stores.each((store) => store.findOwned(owner))).flat(),
    countInDoubt: async () => sum(await stores.each((store) => store.countInDoubt())),
    /** Each probe ends with the cell's next batch of reads and its next batch of new orders. */
    probes: () =>
      new Map(
        cells.names().map((name) => [
          name,
          () => {
            const { probe, begin: queue } = stores.of(name);
            return Promise.all([probe(), queue.probe()]);
          },
        ]),
      ),
  };
}

export function routeTallies(cells: Cells, options: GatherOptions): TallyStore & TryStore {
  const stores = cells.stores(({ node }) => makeTallyStore(node.hot, options));
  return {
    add: (payment) => stores.call(payment.merchantId, (store) => store.add(payment)),
    look: (merchant, rows) => stores.call(merchant, (store) => store.look(rows)),
    remove: (payment) => stores.call(payment.merchantId, (store) => store.remove(payment)),
    findResults: (merchant, orders) => stores.call(merchant, (store) => store.findResults(orders)),
  };
}

function routePayoutDays(cells: Cells): PayoutDays {
  const stores = cells.stores(({ node }) => makePayoutDays(node));
  return {
    add: (merchant, counts) => stores.call(merchant, (store) => store.add(merchant, counts)),
    remove: (merchant, counts) => stores.call(merchant, (store) => store.remove(merchant, counts)),
  };
}

type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };

function loadWith(byId: (key: OrderKey) => Promise<Order | undefined>) {
  return async ({ merchantId, id }: Order): Promise<Order> => {
    const order = await byId({ merchantId, orderId: id });
    if (order === undefined) throw new LostOrder(`order ${id} has vanished`);
    return order;
  };
}

export function routeFindOfReceipt(cells: Cells): ReturnType<typeof makeFindOfReceipt> {
  const stores = cells.stores(({ node }) => makeFindOfReceipt(node.query));
  return (merchant, order) => stores.call(merchant, (find) => find(merchant, order));
}

export function routeReferences(cells: Cells): MerchantReferences {
  const stores = cells.stores(({ node }) => makeReferenceStore(node.hot));
  return {
    find: (merchant, id) => stores.call(merchant, (store) => store.find(merchant, id)),
    findByCard: (merchant, card) =>
      stores.call(merchant, (store) => store.findByCard(merchant, card)),
    add: (references) => stores.call(references.merchantId, (store) => store.add(references)),
    remove: (reference, by, at) =>
      stores.call(reference.merchantId, (store) => store.remove(reference, by, at)),
  };
}

export function routeProfiles(cells: Cells, options: GatherOptions & ConfirmKeys): ProfileStore {
  const stores = cells.stores(({ node }) => makeProfileStore(node, options));
  return {
    add: (added) => stores.call(added.owner.merchantId, (store) => store.add(added)),
    findCreated: (merchant, clientOrderId) =>
      stores.call(merchant, (store) => store.findCreated(merchant, clientOrderId)),
    change: (changed) =>
      stores.call(changed.reference.merchantId, (store) => store.change(changed)),
  };
}

export function routeStoreRequest(
  cells: Cells,
  options: GatherOptions,
): ReturnType<typeof makeStoreRequest> {
  const stores = cells.stores(({ node }) => makeStoreRequest(node.hot, options));
  return (request) => stores.call(request.merchantId, (store) => store(request));
}

export function routeTakeNonce(
  cells: Cells,
  options: NonceOptions,
): ReturnType<typeof makeTakeNonce> {
  const stores = cells.stores(({ node }) => makeTakeNonce(node.hot, options));
  return (nonce) => stores.call(nonce.merchantId, (take) => take(nonce));
}

export function routeTokens(cells: Cells, clock: Clock, options: GatherOptions) {
  const stores = cells.stores(({ node }) => ({
    claim: makeClaimToken(node.hot, clock, options),
    release: (token: Parameters<typeof releaseToken>[1]) => releaseToken(node.query, token),
  }));
  const merchantOf = ({ merchantId }: { readonly merchantId: MerchantId }) => merchantId;
  return {
    claimToken: (token: Parameters<typeof releaseToken>[1]) =>
      stores.call(merchantOf(token), (store) => store.claim(token)),
    releaseToken: (token: Parameters<typeof releaseToken>[1]) =>
      stores.call(merchantOf(token), (store) => store.release(token)),
  };
}

export function routeCallbacks(cells: Cells, node: NodeName) {
  const orders = cells.stores(({ node: { hot } }) => makeFindOrders(hot));
  const findOrder = (key: OrderKey) => orders.call(key.merchantId, ({ byId }) => byId(key));
  const stores = cells.stores(({ node: { hot, query } }) => ({
    ...makeCallbackStore({ query: hot, node, findOrder }),
    find: (filter: DeliveryFilter, most: number) => findCallbacks(query, filter, most),
  }));
  return {
    find: (filter: DeliveryFilter & Pick<OrderKey, "merchantId">, most: number) =>
      stores.call(filter.merchantId, (store) => store.find(filter, most)),
    async claimDue(claim) {
      const share = Math.ceil(claim.countMax / cells.names().length);
      return (await stores.each((store) => store.claimDue({ ...claim, countMax: share }))).flat();
    },
    waitsForEarlier: (callback) =>
      stores.call(callback.merchantId, (store) => store.waitsForEarlier(callback)),
    record: (record) => stores.call(record.callback.merchantId, (store) => store.record(record)),
    async release(callbacks, now) {
      const byMerchant = Map.groupBy(callbacks, ({ merchantId }) => merchantId);
      const released = [...byMerchant].map(([merchant, own]) =>
        stores.call(merchant, (store) => store.release(own, now)),
      );
      await Promise.all(released);
    },
    findOrder,
    deleteEnded: async (before) => sum(await stores.each((store) => store.deleteEnded(before))),
  } satisfies CallbackStore & Record<"find", unknown>;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
