/**
 * Destroys card numbers that are no longer needed (decision 0040): those of old orders, of removed
 * references and of erased persons. A card is first condemned, and from then on no order can begin
 * with it. The next run destroys it, unless an order with it is in flight, in doubt or owes a
 * reversal.
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
   * Returns the order id after which this pass continues, or undefined if a node has made the pass
   * since.
   */
  claimWalk(days: number, now: Instant, since: Instant): Promise<OrderId | undefined>;
  /**
   * Called when the pass has not yet reached orders that are too young, so that the next run
   * continues.
   */
  releaseWalk(days: number): Promise<void>;
  /** Restarts every pass because the rules have changed, unless another node has done so since. */
  restartWalks(rules: string, now: Instant, since: Instant): Promise<void>;
  /**
   * Saves the position of a pass, unless the pass was restarted because a merchant was moved here.
   */
  saveWalk(days: number, from: OrderId, after: OrderId): Promise<void>;
  /** Returns orders by ascending id. */
  listOrders(after: OrderId, limit: number): Promise<readonly Order[]>;
  /** Returns those cards that a reference needs. */
  findReferenced(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  condemn(cards: readonly CondemnedCard[], at: Instant): Promise<void>;
  /** Returns condemned cards after the given one, by merchant and id. */
  listCondemned(limit: number, after?: CardOfMerchant): Promise<readonly CondemnedCard[]>;
  /** Returns those cards whose number an open order may have to send again. */
  findNeeded(cards: readonly CardOfMerchant[]): Promise<readonly CardOfMerchant[]>;
  destroy(cards: readonly CardOfMerchant[]): Promise<void>;
};

type KeepDays = { readonly paid: number; readonly unpaid: number };

type Dependencies = {
  readonly store: RetentionStore;
  readonly clock: Pick<Clock, "now">;
  readonly removedKeepMs: number;
  readonly keepDaysOf: (merchant: MerchantId) => KeepDays;
  /** Returns all retention periods in use, in days. */
  readonly listDays: () => readonly number[];
  /**
   * Returns a text that changes when a merchant's periods change. Passes then restart, because
   * orders that they have passed may be due now.
   */
  readonly rules: () => string;
  /** Called before the cards are destroyed. */
  readonly audit: (counts: Partial<Record<CondemnedWhy, number>>) => Promise<void>;
};

type KeepSettings = { readonly cardKeepDays?: number; readonly unpaidCardKeepDays?: number };
type Keeping = { readonly id: MerchantId; readonly settings: KeepSettings };

/** Returns the retention periods of each merchant: its own, or those of the installation. */
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
/** The limit of one run, so that a stopping node does not have to wait long for it. */
const pagesMax = 20;
const walkEveryMs = hours(1);
/** A payment that began before the removal of its card is committed after this time. */
const pauseMs = 60_000;

export function makeRetention(dependencies: Dependencies) {
  const { store, clock, keepDaysOf, listDays, audit } = dependencies;
  /**
   * The cards that were condemned before the previous run ended. No message with their numbers is
   * still being sent.
   */
  let ripe: ReadonlySet<string> = new Set();
  /** The last listed card. The next listing continues after it. */
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
      // The orders are checked again, because the audit entry may have taken long. The vault's
      // database role cannot read the orders, so the deletion cannot check them itself.
      await store.destroy(await findFree(free));
    });
  }

  /**
   * Calls `take` with pages of condemned cards. Returns where the next run continues, so that cards
   * that are needed for long do not delay the others.
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
   * Returns the cards that can be destroyed: no open order needs them, and no reference, unless the
   * merchant removed it or the person was erased.
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
   * Checks the orders by id, up to the first one that is too young. Each order is checked once for
   * each period.
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
 * Whether the order's card is due. An order with a registered card has no card of its own. An
 * unpaid order that is still open when its period ends is checked again with the paid orders.
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
