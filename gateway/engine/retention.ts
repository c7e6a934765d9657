/**
 * Destroys card numbers that are no longer needed (decision 0040): those of old orders, of removed
 * references and of erased persons. A card is condemned first: nothing new begins with it from then
 * on. The next run destroys it, unless an order with it is in flight, in doubt or owes a reversal.
 */
import type { Order } from "../orders/order.ts";
import { cardsOf } from "../orders/payment-page.ts";
import { isFinal } from "../orders/stages.ts";
import { initialOf } from "../orders/transactions.ts";
import type { MerchantId, OrderId } from "../values/ids.ts";
import { asInstant, type Clock, hours, type Instant, later } from "../values/time.ts";
import type { CardOfMerchant, RemovedReferences } from "./cards.ts";

export type CondemnedWhy = "retention" | "removed" | "erased";
export type CondemnedCard = CardOfMerchant & { readonly why: CondemnedWhy };

export type RetentionStore = RemovedReferences & {
  /** Where to go on; nothing when a node has looked since. */
  claimWalk(days: number, now: Instant, since: Instant): Promise<OrderId | undefined>;
  /** The walk has not reached a young order: the next run goes on. */
  releaseWalk(days: number): Promise<void>;
  /** Restarts every pass when the rules have changed, unless another node has done so since. */
  restartWalks(rules: string, now: Instant, since: Instant): Promise<void>;
  /**
   * Saves how far a pass has come, unless the pass was restarted because a merchant has moved here.
   */
  saveWalk(days: number, from: OrderId, after: OrderId): Promise<void>;
  /** Lists the orders in the order of their ids. */
  listOrders(after: OrderId, limit: number): Promise<readonly Order[]>;
  /** Returns the cards that a reference needs. */
  findReferenced(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  condemn(cards: readonly CondemnedCard[], at: Instant): Promise<void>;
  /** Lists the cards after the given one, in the order of merchant and id. */
  listCondemned(limit: number, after?: CardOfMerchant): Promise<readonly CondemnedCard[]>;
  /** Returns the cards whose number an open order may have to send again. */
  findNeeded(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  destroy(cards: readonly CardOfMerchant[]): Promise<void>;
};

type KeepDays = { readonly paid: number; readonly unpaid: number };

type Dependencies = {
  readonly store: RetentionStore;
  readonly clock: Pick<Clock, "now">;
  readonly removedKeepMs: number;
  readonly keepDaysOf: (merchant: MerchantId) => KeepDays;
  /** All numbers of days that any merchant has. */
  readonly listDays: () => readonly number[];
  /** Another text when a merchant's days are others: walks have passed orders that are due now. */
  readonly rules: () => string;
  /** Called before the cards are destroyed. */
  readonly audit: (counts: Partial<Record<CondemnedWhy, number>>) => Promise<void>;
};

type KeepSettings = { readonly cardKeepDays?: number; readonly unpaidCardKeepDays?: number };
type Keeping = { readonly id: MerchantId; readonly settings: KeepSettings };

/** A merchant's own days, or those of the installation. */
export function makeKeepRules(
  { cardKeepDays, unpaidCardKeepDays }: Required<KeepSettings>,
  merchants: () => readonly Keeping[],
): Pick<Dependencies, "keepDaysOf" | "listDays" | "rules"> {
  const daysOf = (settings: KeepSettings = {}): KeepDays => ({
    paid: settings.cardKeepDays ?? cardKeepDays,
    unpaid: settings.unpaidCardKeepDays ?? unpaidCardKeepDays,
  });
  return {
    keepDaysOf: (id) => daysOf(merchants().find((merchant) => merchant.id === id)?.settings),
    listDays() {
      const days = merchants().map(({ settings }) => daysOf(settings));
      return [...new Set(days.flatMap(({ paid, unpaid }) => [paid, unpaid]))];
    },
    rules() {
      const own = merchants().flatMap(({ id, settings }) => {
        const { cardKeepDays: paid, unpaidCardKeepDays: unpaid } = settings;
        return paid === undefined && unpaid === undefined ? [] : `${id} ${paid} ${unpaid}`;
      });
      return [cardKeepDays, unpaidCardKeepDays, ...own.sort()].join("\n");
    },
  };
}

const pageSize = 500;
/** In one run, so that a stopping node does not wait long for its end. */
const pagesMax = 20;
const walkEveryMs = hours(1);
/** A payment that began before the removal of its card is committed by then. */
const pauseMs = 60_000;

export function makeRetention(dependencies: Dependencies) {
  const { store, clock, keepDaysOf, listDays, audit } = dependencies;
  /** Condemned before the previous run ended: messages that were begun with them have been sent. */
  let ripe: ReadonlySet<string> = new Set();
  /** The last listed card, after which the listing continues. */
  let place: CondemnedCard | undefined;
  let last: Promise<void> = Promise.resolve();

  /** Runs share the cards that are ripe, so each begins after the one before it. */
  return (): Promise<void> => {
    last = last.catch(() => undefined).then(run);
    return last;
  };

  async function run(): Promise<void> {
    await destroyRipe();
    await condemnRemoved();
    const now = clock.now();
    await store.restartWalks(dependencies.rules(), now, later(now, -walkEveryMs));
    for (const days of listDays()) await walk(days);
    const condemned = new Set<string>();
    await eachPage(async (cards) => {
      for (const card of cards) condemned.add(keyOf(card));
    });
    ripe = condemned;
  }

  async function destroyRipe(): Promise<void> {
    place = await eachPage(async (condemned) => {
      const cards = condemned.filter((card) => ripe.has(keyOf(card)));
      const free = await findFree(cards);
      if (free.length === 0) return;
      await audit(countBy(free));
      // Again, because the audit may have taken its time. The vault's role cannot read the orders,
      // so its own statement cannot check it.
      await store.destroy(await findFree(free));
    });
  }

  /** Answers where the next run goes on: cards that are needed for long hold up no others. */
  async function eachPage(take: (cards: readonly CondemnedCard[]) => Promise<void>) {
    let after = place;
    for (let page = 0; page < pagesMax; page += 1) {
      const cards = await store.listCondemned(pageSize, after);
      await take(cards);
      if (cards.length < pageSize) return undefined;
      after = cards.at(-1);
    }
    return after;
  }

  /**
   * Returns the cards that no open order needs and, unless the owner wants the card destroyed, no
   * reference.
   */
  async function findFree(cards: readonly CondemnedCard[]): Promise<readonly CondemnedCard[]> {
    const old = cards.filter(({ why }) => why === "retention");
    const needed = [...(await store.findNeeded(cards)), ...(await store.findReferenced(old))];
    const kept = new Set(needed.map(keyOf));
    return cards.filter((card) => !kept.has(keyOf(card)));
  }

  async function condemnRemoved(): Promise<void> {
    const until = asInstant(clock.now() - dependencies.removedKeepMs - pauseMs);
    const cards = await store.findRemoved(until);
    if (cards.length === 0) return;
    await store.condemn(
      cards.map((card) => ({ ...card, why: "removed" as const })),
      clock.now(),
    );
    await store.markDestroyed(cards, clock.now());
  }

  /** Orders are looked through by id, up to the first that is younger; each once under one rule. */
  async function walk(days: number): Promise<void> {
    const now = clock.now();
    let after = await store.claimWalk(days, now, later(now, -walkEveryMs));
    for (let page = 0; after !== undefined && page < pagesMax; page += 1) {
      const orders = await store.listOrders(after, pageSize);
      const young = orders.findIndex(({ acceptedAt }) => acceptedAt > now - hours(24 * days));
      const old = young === -1 ? orders : orders.slice(0, young);
      await condemnAmong(old.filter((order) => isDue(order, now, keepDaysOf(order.merchantId))));
      const last = old.at(-1)?.id;
      if (last !== undefined) await store.saveWalk(days, after, last);
      if (orders.length < pageSize || young !== -1) return;
      after = last;
    }
    if (after !== undefined) await store.releaseWalk(days);
  }

  async function condemnAmong(orders: readonly Order[]): Promise<void> {
    const cards = orders.flatMap((order) =>
      cardsOf(order).map(({ cardId }) => ({ merchantId: order.merchantId, cardId })),
    );
    if (cards.length === 0) return;
    const referenced = new Set((await store.findReferenced(cards)).map(keyOf));
    const due = cards.filter((card) => !referenced.has(keyOf(card)));
    await store.condemn(
      due.map((card) => ({ ...card, why: "retention" as const })),
      clock.now(),
    );
  }
}

/**
 * An order that was paid with a registered card has none of its own. An unpaid order that is not
 * final yet at its time is looked at again with the paid ones.
 */
function isDue(order: Order, now: Instant, keep: KeepDays): boolean {
  if (order.page === undefined && order.card.cardId !== String(order.id)) return false;
  const { stage } = initialOf(order);
  const isUnpaid = isFinal(stage) && stage !== "approved" && order.owed === undefined;
  const isOlderThan = (days: number) => order.acceptedAt <= now - hours(24 * days);
  return isOlderThan(keep.paid) || (isUnpaid && isOlderThan(keep.unpaid));
}

function keyOf({ merchantId, cardId }: CardOfMerchant): string {
  return `${merchantId}/${cardId}`;
}

function countBy(cards: readonly CondemnedCard[]): Partial<Record<CondemnedWhy, number>> {
  const counts: Partial<Record<CondemnedWhy, number>> = {};
  for (const { why } of cards) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}
