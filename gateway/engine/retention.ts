/**
 * Destroys card numbers that are no longer needed (decision 0040): of old orders, removed
 * references and erased persons. A card is condemned, so that no new order can use it. The next run
 * destroys its number, unless an order with it is in flight, in doubt or owes a reversal.
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
  /**
   * Begins or continues the hourly search through old orders for one retention period. Returns the
   * id of the last order that it has checked, or undefined if a node has ended the search since the
   * given time.
   */
  claimWalk(days: number, now: Instant, since: Instant): Promise<OrderId | undefined>;
  /** Called if a run ended before it reached young orders. The next run continues the search. */
  releaseWalk(days: number): Promise<void>;
  /**
   * Makes the search of every retention period begin again because the rules have changed, unless
   * another node has done this since the given time.
   */
  restartWalks(rules: string, now: Instant, since: Instant): Promise<void>;
  /** Saves how far a search came, unless it began again, as after a merchant moved to this cell. */
  saveWalk(days: number, from: OrderId, after: OrderId): Promise<void>;
  /** The orders are sorted by id. */
  listOrders(after: OrderId, limit: number): Promise<readonly Order[]>;
  findReferenced(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  condemn(cards: readonly CondemnedCard[], at: Instant): Promise<void>;
  /** Returns condemned cards after the given one, by merchant and id. */
  listCondemned(limit: number, after?: CardOfMerchant): Promise<readonly CondemnedCard[]>;
  /** Returns the cards whose number may still be sent for an order that has not ended. */
  findNeeded(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  destroy(cards: readonly CardOfMerchant[]): Promise<void>;
};

type KeepDays = { readonly paid: number; readonly unpaid: number };

type Dependencies = {
  readonly store: RetentionStore;
  readonly clock: Pick<Clock, "now">;
  readonly removedKeepMs: number;
  readonly keepDaysOf: (merchant: MerchantId) => KeepDays;
  /** Returns every retention period that some merchant has, in days. */
  readonly listDays: () => readonly number[];
  /**
   * Returns a text that differs after a change of any retention period. All searches then begin
   * again, because orders that they have checked may be due now.
   */
  readonly rules: () => string;
  /** Called before the cards are destroyed. */
  readonly audit: (counts: Partial<Record<CondemnedWhy, number>>) => Promise<void>;
};

type KeepSettings = { readonly cardKeepDays?: number; readonly unpaidCardKeepDays?: number };
type Keeping = { readonly id: MerchantId; readonly settings: KeepSettings };

/** A merchant's own retention periods replace those of the installation. */
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
/** A run reads at most this many pages, because a stopping node waits for the end of the run. */
const pagesMax = 20;
const walkEveryMs = hours(1);
/** A removed card is condemned after this pause, so that orders with it are committed first. */
const pauseMs = 60_000;

export function makeRetention(dependencies: Dependencies) {
  const { store, clock, keepDaysOf, listDays, audit } = dependencies;
  /** Cards condemned before the previous run ended, so that orders with them are committed. */
  let ripe: ReadonlySet<string> = new Set();
  /** The last condemned card that was listed. The next run continues after it. */
  let place: CondemnedCard | undefined;
  let last: Promise<void> = Promise.resolve();

  /** Runs never overlap, because each run uses the list of cards that the previous run has left. */
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
      // An order with the card may have come into flight while the audit entry was written. The
      // deletion cannot check this, because the vault's database role cannot read orders.
      await store.destroy(await findFree(free));
    });
  }

  /**
   * Returns the card after which the next run continues, so that cards that must be kept for long
   * do not delay the cards after them.
   */
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
   * An order that has not ended keeps its card. A reference keeps its card only from the end of the
   * retention period, not from a merchant's removal or the erasure of the person.
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

  /**
   * Condemns cards of old orders for one retention period. Each order is checked once for each
   * period, by ascending id, up to the first one that is too young.
   */
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
 * An order with a registered card has no card of its own, so it is never due. An order that is
 * still open at the end of the period for unpaid orders is due at the end of that for paid ones.
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
