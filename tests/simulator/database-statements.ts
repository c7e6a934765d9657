/** The statements of orders and numbers, as the model executes them. */

import { callbackStatements, insertCallbacks } from "./database-callbacks.ts";
import { cardStatements, refusedKeys } from "./database-cards.ts";
import { keyStatements, unnamedOfKeys } from "./database-keys.ts";
import {
  type OrderRecord,
  type Row,
  readArray,
  readBytes,
  readDocuments,
  ServerError,
  type Statement,
  type Tables,
} from "./database-model.ts";

type Step = Pick<
  OrderRecord,
  "merchant_id" | "id" | "version" | "kind" | "stage" | "owes" | "carrier" | "finished_at"
> & {
  readonly due_at: number | null;
  readonly at: number;
  readonly progress: string;
  readonly events: string;
};

/** Reads the columns $1 to $12, which all writing statements share. */
function readSteps(values: readonly unknown[]): Step[] {
  const [merchants, ids, versions, kinds, stages, owes, carriers, dues, finished, ats] = values
    .slice(0, 10)
    .map(readArray);
  const progress = readDocuments(values[10]);
  const events = readDocuments(values[11]);
  return (ids ?? []).map((id, index) => ({
    merchant_id: merchants?.[index] ?? "",
    id: id ?? "",
    version: Number(versions?.[index]),
    kind: kinds?.[index] ?? "",
    stage: stages?.[index] ?? "",
    owes: owes?.[index] ?? null,
    carrier: carriers?.[index] ?? null,
    due_at: numberOr(dues?.[index]),
    finished_at: numberOr(finished?.[index]),
    at: Number(ats?.[index]),
    progress: progress[index] ?? "",
    events: events[index] ?? "",
  }));
}

function numberOr(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}

function writeStep(tables: Tables, step: Step, values: readonly unknown[]): void {
  const { id, version, at, events, due_at } = step;
  const row = { order_id: id, version, at, node: String(values[12]), events };
  if (!tables.history.add(`${id}/${version}/${at}`, row)) throw new ServerError("23505");
  if (due_at === null) return;
  const due = { due_at, order_id: id, version };
  if (!tables.due.add(`${due_at}/${id}/${version}`, due)) throw new ServerError("23505");
}

const begin: Statement = (tables, values) => {
  const steps = readSteps(values);
  const [endpoints, clients, attempts] = values.slice(14, 17).map(readArray);
  const digests = readBytes(values[17]);
  const facts = readDocuments(values[20]);
  const [cardIds, keyIds] = values.slice(21, 23).map(readArray);
  const [sealed, fingerprints] = values.slice(23, 25).map(readBytes);
  const digestKeys = readArray(values[25]);
  const cvvDigests = readBytes(values[26]);
  const wanted = (sealed ?? []).flatMap((bytes, index) => (bytes ? [keyIds?.[index] ?? ""] : []));
  const refused = refusedKeys(tables, wanted);
  if (refused.length > 0) return refused.map((key) => ({ id: null, refusedKey: Number(key) }));

  const begun = steps.flatMap((step, index) => {
    const client = `${step.merchant_id}/${clients?.[index]}/${attempts?.[index]}`;
    if (tables.orders.has(step.id) || tables.clientOrders.has(client)) return [];
    const { due_at: _, at: changed_at, events: ___, ...own } = step;
    tables.clientOrders.put(client, step.id);
    const most = tables.attempts.get(`${step.merchant_id}/${clients?.[index]}`) ?? 0;
    const attempt = Math.max(most, Number(attempts?.[index]));
    tables.attempts.put(`${step.merchant_id}/${clients?.[index]}`, attempt);
    tables.orders.put(step.id, {
      ...own,
      changed_at,
      endpoint_id: endpoints?.[index] ?? "",
      client_orderid: clients?.[index] ?? "",
      attempt: Number(attempts?.[index]),
      facts: facts[index] ?? "",
      digest: digests[index] ?? Buffer.alloc(0),
      digest_key: numberOr(digestKeys[index]),
      cvv_digest: cvvDigests[index] ?? null,
    });
    writeStep(tables, step, values);
    const card = sealed?.[index];
    if (card) {
      const [id, keyId] = [cardIds?.[index] ?? "", Number(keyIds?.[index])];
      const fingerprint = fingerprints?.[index] ?? Buffer.alloc(0);
      const row = { merchant_id: step.merchant_id, id, keyId, sealed: card, fingerprint };
      if (!tables.cards.add(id, row)) throw new ServerError("23505");
    }
    return [step.id];
  });
  insertCallbacks(tables, values[13], new Set(begun));
  return begun.map((id) => ({ id, refusedKey: null }));
};

const move: Statement = (tables, values) => {
  const moved = moveSteps(tables, values, () => ({}));
  return moved.map(({ id }) => ({ id }));
};

/** Writes the steps of orders whose stored version is still the expected one. */
function moveSteps(
  tables: Tables,
  values: readonly unknown[],
  moreOf: (index: number) => Partial<OrderRecord>,
): readonly { readonly id: string; readonly index: number }[] {
  const steps = readSteps(values);
  const [froms, changes, fromDues] = values.slice(14, 17).map(readArray);
  const moved = steps.flatMap((step, index) => {
    const order = tables.orders.get(step.id);
    const from = Number(froms?.[index]);
    const changedAt = numberOr(changes?.[index]);
    if (order?.merchant_id !== step.merchant_id || order.version !== from) return [];
    if (order.changed_at !== changedAt) return [];
    const { due_at: _, at: changed_at, events: ___, carrier, ...own } = step;
    const runner = own.owes === null ? null : (carrier ?? order.carrier);
    tables.orders.put(step.id, { ...order, ...own, ...moreOf(index), changed_at, carrier: runner });
    tables.due.delete(`${fromDues?.[index]}/${step.id}/${from}`);
    writeStep(tables, step, values);
    return [{ id: step.id, index }];
  });
  insertCallbacks(tables, values[13], new Set(moved.map(({ id }) => id)));
  return moved;
}

/** A try on the payment page: a step with its card, which replaces the facts of the order. */
const enter: Statement = (tables, values) => {
  const merchants = readArray(values[0]);
  const [cardIds, keyIds] = values.slice(17, 19).map(readArray);
  const [sealed, fingerprints] = values.slice(19, 21).map(readBytes);
  const facts = readDocuments(values[21]);
  const refused = refusedKeys(tables, keyIds ?? []);
  if (refused.length > 0) return refused.map((key) => ({ id: null, refusedKey: Number(key) }));
  const moved = moveSteps(tables, values, (index) => ({ facts: facts[index] ?? "" }));
  for (const { index } of moved) {
    const card = sealed?.[index];
    if (!card) continue;
    const [id, keyId] = [cardIds?.[index] ?? "", Number(keyIds?.[index])];
    const fingerprint = fingerprints?.[index] ?? Buffer.alloc(0);
    const row = { merchant_id: merchants[index] ?? "", id, keyId, sealed: card, fingerprint };
    if (!tables.cards.add(id, row)) throw new ServerError("23505");
  }
  return moved.map(({ id }) => ({ id, refusedKey: null }));
};

const written: Statement = (tables, values) => {
  const [, ids, versions, ats] = values.slice(0, 4).map(readArray);
  const events = readDocuments(values[4]);
  const names = readArray(values[5]);
  return (ids ?? []).flatMap((id, index) => {
    const row = tables.history.get(`${id}/${versions?.[index]}/${ats?.[index]}`);
    const isOwn = row !== undefined && names.includes(row.node);
    return isOwn && row.events === events[index] ? [{ id }] : [];
  });
};

function orderRow(order: OrderRecord): Row {
  const { merchant_id, id, endpoint_id, client_orderid, attempt, version, changed_at } = order;
  const documents = { facts: JSON.parse(order.facts), progress: JSON.parse(order.progress) };
  const names = { merchant_id, id, endpoint_id, client_orderid, attempt };
  return { ...names, version, changed_at, ...documents };
}

const byId: Statement = (tables, values) => {
  const [merchants, ids] = values.map(readArray);
  return (ids ?? []).flatMap((id, index) => {
    const order = tables.orders.get(id ?? "");
    return order?.merchant_id === merchants?.[index] && order ? [orderRow(order)] : [];
  });
};

const byClientOrderId: Statement = (tables, values) => {
  const [merchants, clients] = values.map(readArray);
  const wanted = new Set((clients ?? []).map((client, index) => `${merchants?.[index]}/${client}`));
  const found = [...wanted].flatMap((key) => {
    const orders: OrderRecord[] = [];
    for (let attempt = 1; attempt <= (tables.attempts.get(key) ?? 0); attempt += 1) {
      const order = tables.orders.get(tables.clientOrders.get(`${key}/${attempt}`) ?? "");
      if (order !== undefined) orders.push(order);
    }
    return orders;
  });
  return found.map((order) => {
    const { digest, digest_key, cvv_digest } = order;
    return { ...orderRow(order), digest, digest_key, cvv_digest };
  });
};

const current: Statement = (tables, values) => {
  const [, ids, versions, changes] = values.map(readArray);
  return (ids ?? []).flatMap((id, index) => {
    const order = tables.orders.get(id ?? "");
    const isSame =
      order?.version === Number(versions?.[index]) &&
      order.finished_at !== null &&
      order.changed_at === numberOr(changes?.[index]);
    return isSame ? [{ id, version: order.version }] : [];
  });
};

const due: Statement = (tables, [now, most]) => {
  const found = tables.due
    .values()
    .filter(({ due_at }) => due_at <= Number(now))
    .sort((left, right) => left.due_at - right.due_at)
    .slice(0, Number(most));
  return found.map(({ due_at, order_id, version }) => {
    const order = tables.orders.get(order_id);
    if (order?.version !== version) tables.due.delete(`${due_at}/${order_id}/${version}`);
    return { ...(order && orderRow(order)), due_version: version };
  });
};

const owned: Statement = (tables, [node]) => {
  const open = new Set(tables.due.values().map(({ order_id }) => order_id));
  return tables.orders
    .values()
    .filter(({ id, carrier, owes, finished_at }) => {
      return open.has(id) && carrier === node && (owes !== null || finished_at === null);
    })
    .map(orderRow);
};

const byNumber: Statement = (tables, [first, last]) => {
  const [low, high] = [Number(first), Number(last)];
  const [order] =
    low === high
      ? [tables.orders.get(String(first))]
      : tables.orders
          .values()
          .filter(({ id }) => Number(id) >= low && Number(id) <= high)
          .sort((one, other) => Number(one.id) - Number(other.id));
  return order === undefined ? [] : [{ ...orderRow(order), is_here: true }];
};

const epochS = 1_735_689_600;
const ahead = 100_000;
const increment = 1_000;

/** The function `take_order_numbers` of the schema. */
const takeNumbers: Statement = (tables, [ownTime, reached, isFirst, reachedId, wanted], nowMs) => {
  const time = nowMs / 1000;
  const size = Number(wanted);
  const minimum = Math.floor(
    (Math.max(time, Math.min(Number(ownTime), time + 86_400)) - epochS) * 1e4,
  );
  const blocks = tables.blocks.values();
  const known = blocks.reduce((most, block) => Math.max(most, block.first_sequence), 0);
  const timeline = tables.timeline();
  const since = isFirst === true ? tables.blocks.get(`${known}`)?.timeline : timeline;
  const takeovers = Math.min(timeline - (since ?? timeline), 100);
  let present = tables.numbers.get("sequence") ?? minimum;
  let least = Math.max(minimum, Number(reached));
  if (takeovers > 0) {
    least = Math.max(least, known, present) + 100_000 + 200_000 * takeovers + (minimum % 100_000);
  }
  const far = present < minimum + 2 * ahead ? minimum + ahead : present + ahead;
  if (isFirst === true) least = Math.max(least, far);
  if (present < least) present = least;
  const first_sequence = present + increment;
  tables.numbers.put("sequence", first_sequence);
  const passed = Math.max(first_sequence - known, 1);
  const recent = blocks.filter((block) => block.first_sequence > known - passed);
  const given = recent.reduce((sum, block) => sum + block.size, 0);
  const skipped = Math.min(Math.min(Math.floor(passed / 1000), 9000) + 2 * given, 1e7);
  const byClock = Math.floor(minimum / 10) % 1_000_000;
  const unseen = skipped + (takeovers > 0 ? 100_000 * takeovers + byClock : 0);
  const begin = Math.floor(first_sequence / 10) % 10_000_000;
  const lost = blocks.length === 0 ? begin : isFirst === true ? unseen : 0;
  const next = tables.numbers.get("id") ?? 10_000_000;
  const first_id = Math.max(next + lost, Number(reachedId));
  tables.numbers.put("id", first_id + size);
  tables.blocks.put(`${first_sequence}`, { first_sequence, first_id, size, timeline });
  return [{ first_sequence: String(first_sequence), first_id: String(first_id) }];
};

const findBlocks: Statement = (tables, [sequence]) => {
  const blocks = tables.blocks
    .values()
    .sort((left, right) => left.first_sequence - right.first_sequence);
  const behind = blocks.find(({ first_sequence }) => first_sequence > Number(sequence));
  const before = blocks.findLast(({ first_sequence }) => first_sequence <= Number(sequence));
  return [before, behind].filter((block) => block !== undefined);
};

// biome-ignore format: a table
export const statements: Readonly<Record<string, Statement>> = {
  ...callbackStatements,
  ...cardStatements,
  ...keyStatements,
  begin_orders:             begin,
  move_orders:              move,
  enter_cards:              enter,
  written_orders:           written,
  orders_by_id:             byId,
  orders_by_client_orderid: byClientOrderId,
  orders_current:           current,
  orders_due:               due,
  orders_owned:             owned,
  order_by_number:          byNumber,
  request_by_serial:        () => [],
  time:                     (_tables, _values, nowMs) => [{ now: nowMs }],
  take_order_numbers:       takeNumbers,
  order_block:              findBlocks,
};

/** Statements without a name, by words that occur in no other one. */
// biome-ignore format: a table
const unnamed: readonly (readonly [words: string, name: string])[] = [
  ["from order_history as written",  "written_orders"],
  ["where id between $1 and $2",     "order_by_number"],
  ["carrier = $1",                   "orders_owned"],
  ["delete from held_secrets",       "remove_expired_pending"],
  ["from order_blocks",              "order_block"],
  ["take_order_numbers(",            "take_order_numbers"],
  ["extract(epoch from clock_timestamp())", "time"],
  ...unnamedOfKeys,
];

export function nameOf(text: string, name: string | undefined): string {
  const found = name ?? unnamed.find(([words]) => text.includes(words))?.[1];
  if (found === undefined) throw new Error(`the model knows no statement like: ${text}`);
  return found;
}
