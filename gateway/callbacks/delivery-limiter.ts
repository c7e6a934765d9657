/**
 * Who may send now, who waits and who stays out. Each receiver of each merchant has a few places,
 * and each merchant a share of what is left of all: whoever hangs fills his own, and something is
 * always left for the next.
 */
import type { MerchantId } from "../values/ids.ts";
import { type Callback, type Full, placeOf } from "./callback.ts";

type Placed = { readonly callback: Pick<Callback, "merchantId" | "receiver"> };
type Count = { active: number; waiting: number };
type Receiver<Job> = { active: number; readonly waiting: Job[] };

export type DeliveryLimiter<Job> = {
  /** Whoever stays out is found in the database again when his lease is over. */
  enter(job: Job): "goes" | "waits" | "stays_out";
  /** Its place goes to the one that is answered, if any. */
  leave(job: Job): Job | undefined;
  /** All that wait; nobody does after that. */
  empty(): readonly Job[];
  /** From whom no more is to be taken from the database. */
  full(): Full;
  readonly waitingCount: number;
};

const placesPerReceiver = 64;
export const activeMax = 4_096;
export const waitingMax = 20_000;
/** With so many waiting, no more of a receiver are taken from the database. */
const fullAt = 256;

/** A third of what is left to all: a quarter of the whole for one alone, and never all of it. */
const activeShareOf = (left: number) => left / 3;
/** As much as is left: half of the whole for one alone. Who waits costs little but patience. */
const waitingShareOf = (left: number) => left;

export function makeDeliveryLimiter<Job extends Placed>(): DeliveryLimiter<Job> {
  const receivers = new Map<string, Receiver<Job>>();
  const merchants = new Map<MerchantId, Count>();
  const all: Count = { active: 0, waiting: 0 };

  return {
    enter(job) {
      const place = placeOf(job.callback);
      const { merchantId } = job.callback;
      const receiver = receivers.get(place) ?? { active: 0, waiting: [] };
      const merchant = merchants.get(merchantId) ?? { active: 0, waiting: 0 };
      if (receiver.active < placesPerReceiver && mayAct(merchant)) {
        receivers.set(place, receiver);
        merchants.set(merchantId, merchant);
        receiver.active += 1;
        merchant.active += 1;
        all.active += 1;
        return "goes";
      }
      // Nobody starts those of a receiver without anything under way. And no queue is longer than
      // what it leaves to the merchant's others: a short one finds room however long those are.
      const isStuck = receiver.active === 0;
      if (isStuck || receiver.waiting.length >= roomOf(merchant)) return "stays_out";
      receiver.waiting.push(job);
      merchant.waiting += 1;
      all.waiting += 1;
      return "waits";
    },
    leave(job) {
      const { receiver, merchant } = placedOf(job);
      const next = receiver.waiting.shift();
      if (next !== undefined) {
        merchant.waiting -= 1;
        all.waiting -= 1;
        return next;
      }
      receiver.active -= 1;
      merchant.active -= 1;
      all.active -= 1;
      if (receiver.active === 0) receivers.delete(placeOf(job.callback));
      if (merchant.active === 0) merchants.delete(job.callback.merchantId);
      return undefined;
    },
    empty() {
      for (const merchant of merchants.values()) merchant.waiting = 0;
      all.waiting = 0;
      return [...receivers.values()].flatMap(({ waiting }) => waiting.splice(0));
    },
    full() {
      const isFull = (merchant: Count) => !mayAct(merchant) || roomOf(merchant) <= 0;
      return {
        receivers: keysOf(receivers, ({ waiting }) => waiting.length >= fullAt),
        merchants: keysOf(merchants, isFull),
      };
    },
    get waitingCount() {
      return all.waiting;
    },
  };

  function mayAct({ active }: Count): boolean {
    return active < activeShareOf(activeMax - all.active);
  }

  function roomOf({ waiting }: Count): number {
    return waitingShareOf(waitingMax - all.waiting) - waiting;
  }

  function placedOf({ callback }: Job) {
    const receiver = receivers.get(placeOf(callback));
    const merchant = merchants.get(callback.merchantId);
    if (receiver === undefined || merchant === undefined) throw new Error("it has no place");
    return { receiver, merchant };
  }
}

function keysOf<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  isWanted: (value: Value) => boolean,
): Key[] {
  return [...map].filter(([, value]) => isWanted(value)).map(([key]) => key);
}
