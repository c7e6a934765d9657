/** The statements of callbacks, as the model executes them. */
import {
  type CallbackRecord,
  type Row,
  readArray,
  type Statement,
  type Tables,
} from "./database-model.ts";

type Key = {
  readonly merchant_id: string;
  readonly order_id: string;
  readonly sequence: number;
};
type Found = Key & { readonly due: number; readonly waits: number | null };
type Attempted = Key & {
  readonly lease: number;
  readonly at: number;
  readonly ended: string | null;
  readonly due: number | null;
  readonly counted: number;
};

/** PostgreSQL's times are whole microseconds. */
const microsOf = (milliseconds: number) => Math.round(milliseconds * 1000);
const keyOf = ({ order_id, sequence }: Key) => `${order_id}/${sequence}`;

export function insertCallbacks(
  tables: Tables,
  packed: unknown,
  writtenOrders: ReadonlySet<string>,
): void {
  const owed = JSON.parse(String(packed)) as (CallbackRecord & { at: number; due: number })[];
  for (const { merchant_id, order_id, sequence, serial, url, receiver, at, due } of owed) {
    if (!writtenOrders.has(String(order_id))) continue;
    const key = { merchant_id: String(merchant_id), order_id: String(order_id), sequence };
    tables.callbacks.add(keyOf(key), {
      ...key,
      serial,
      url,
      receiver,
      tries: 0,
      ended: null,
      begun_at: microsOf(at),
      due_at: microsOf(due),
    });
  }
}

type Told = Pick<CallbackRecord, "order_id" | "sequence" | "url">;

/** Whether the order's first callback is to be delivered before the other one. */
function isBefore(earlier: Told, later: Told): boolean {
  const isOfSameUrl =
    earlier.url === later.url || Math.max(earlier.sequence, later.sequence) < 10_000;
  const isOfSameOrder = earlier.order_id === later.order_id;
  return isOfSameOrder && isOfSameUrl && earlier.sequence % 10_000 < later.sequence % 10_000;
}

/** Returns the open earlier callbacks of the order to the URL. */
export function earlierOf(tables: Tables, later: Told): CallbackRecord[] {
  const { order_id, sequence } = later;
  const places = Array.from({ length: (sequence % 10_000) - 1 }, (_, index) => index + 1);
  // The order's own URLs, and that of its endpoint.
  const sequences = places.flatMap((place) => [place, 10_000 + place]);
  return sequences.flatMap((each) => {
    const callback = tables.callbacks.get(`${order_id}/${each}`);
    const isEarlier = callback?.ended === null && isBefore(callback, later);
    return isEarlier ? [callback] : [];
  });
}

const due: Statement = (tables, [now, most, receivers, merchants]) => {
  const nowMicros = microsOf(Number(now));
  const saturated = new Set([...readArray(receivers), ...readArray(merchants)]);
  const isDue = ({ due_at }: CallbackRecord) => due_at !== null && due_at <= nowMicros;
  const found = tables.callbacks.values().filter((callback) => {
    const { merchant_id, receiver } = callback;
    if (!isDue(callback) || saturated.has(merchant_id)) return false;
    if (saturated.has(`${merchant_id} ${receiver}`)) return false;
    return !earlierOf(tables, callback).some(isDue);
  });
  const sorted = found.sort((left, right) => (left.due_at ?? 0) - (right.due_at ?? 0));
  return sorted.slice(0, Number(most)).map((callback): Row => {
    const { merchant_id, order_id, sequence, due_at } = callback;
    const earlier = earlierOf(tables, callback).map((each) => each.due_at ?? 0);
    const waits = earlier.length === 0 ? null : Math.max(...earlier) / 1e6;
    return { merchant_id, order_id, sequence, due: (due_at ?? 0) / 1e6, waits };
  });
};

/** Changes the rows that still have the time at which they were found. */
function change(
  tables: Tables,
  packed: unknown,
  dueAt: (found: Found) => number,
): CallbackRecord[] {
  return (JSON.parse(String(packed)) as Found[]).flatMap((found) => {
    const callback = tables.callbacks.get(keyOf(found));
    const isSame = callback?.ended === null && callback.due_at === Math.round(found.due * 1e6);
    if (callback === undefined || !isSame) return [];
    tables.callbacks.put(keyOf(callback), { ...callback, due_at: dueAt(found) });
    return [callback];
  });
}

const defer: Statement = (tables, [packed]) => {
  change(tables, packed, ({ waits }) => Math.round((waits ?? 0) * 1e6));
  return [];
};

const claim: Statement = (tables, [packed, until]) =>
  change(tables, packed, () => microsOf(Number(until))).map((callback) => {
    const { merchant_id, order_id, sequence, serial, url, receiver, tries, begun_at } = callback;
    const key = { merchantId: merchant_id, orderId: order_id, sequence, serialNumber: serial };
    return { ...key, url, receiver, tries, begunAt: begun_at / 1000 };
  });

const wait: Statement = (tables, [merchant, order, sequence, lease, url]) => {
  const key = {
    merchant_id: String(merchant),
    order_id: String(order),
    sequence: Number(sequence),
    url: String(url),
  };
  const earlier = earlierOf(tables, key);
  if (earlier.length === 0) return [];
  const callback = tables.callbacks.get(keyOf(key));
  if (callback?.ended === null && callback.due_at === microsOf(Number(lease))) {
    const due_at = Math.max(...earlier.map((each) => each.due_at ?? 0));
    tables.callbacks.put(keyOf(key), { ...callback, due_at });
  }
  return [{}];
};

const record: Statement = (tables, [packed]) => {
  const attempted = JSON.parse(String(packed)) as Attempted[];
  const inBatch = new Set(attempted.map(keyOf));
  for (const attempt of attempted) {
    const callback = tables.callbacks.get(keyOf(attempt));
    if (callback?.ended !== null || callback.due_at !== microsOf(attempt.lease)) continue;
    const { ended } = attempt;
    const due_at = ended === null ? microsOf(attempt.due ?? 0) : null;
    const tries = callback.tries + attempt.counted;
    tables.callbacks.put(keyOf(callback), { ...callback, tries, ended, due_at });
    takeAlong(tables, { ...attempt, url: callback.url }, inBatch);
  }
  return [];
};

function takeAlong(tables: Tables, attempt: Attempted & Told, inBatch: ReadonlySet<string>): void {
  for (const later of tables.callbacks.values()) {
    if (
      !isBefore({ ...attempt, order_id: String(attempt.order_id) }, later) ||
      later.ended !== null ||
      inBatch.has(keyOf(later))
    )
      continue;
    const begun_at = attempt.ended === null ? later.begun_at : microsOf(attempt.at);
    const due_at = microsOf(attempt.due ?? attempt.at);
    tables.callbacks.put(keyOf(later), { ...later, due_at, begun_at });
  }
}

const release: Statement = (tables, [packed, now]) => {
  for (const held of JSON.parse(String(packed)) as (Key & { lease: number })[]) {
    const callback = tables.callbacks.get(keyOf(held));
    if (callback?.ended !== null || callback.due_at !== microsOf(held.lease)) continue;
    tables.callbacks.put(keyOf(callback), { ...callback, due_at: microsOf(Number(now)) });
  }
  return [];
};

// biome-ignore format: a table
export const callbackStatements: Readonly<Record<string, Statement>> = {
  due_callbacks:     due,
  defer_callbacks:   defer,
  claim_callbacks:   claim,
  defer_callback:    wait,
  record_callbacks:  record,
  release_callbacks: release,
};
