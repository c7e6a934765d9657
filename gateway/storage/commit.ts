/**
 * The commit queue: every write of an order goes through here. The steps of all orders in flight
 * are gathered into one statement, which is one transaction: order, history, request and card
 * together. An order whose version moved on comes back as stale, alone.
 */

import type { Begin, Beginning } from "../engine/accept.ts";
import type { Step } from "../orders/advance.ts";
import type { Commit } from "../orders/apply.ts";
import type { OrderEvent } from "../orders/events.ts";
import { bytesArray, jsonArray, plainArray, textArray } from "./array-literal.ts";
import { isConnectionLoss, type Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";
import { dueAt, packFacts, packProgress } from "./order-row.ts";
import { tryAgain } from "./try-again.ts";

export function makeBegin(query: Query, node: string, options: CommitOptions): Begin {
  const begin = makePersistent(query, node, {
    ...{ statement: beginStatement, name: "begin_orders", triesMs: options.beginTriesMs },
    callbackLeaseMs: options.callbackLeaseMs,
  });
  return makeGather(
    async (beginnings: readonly Beginning[]) => {
      const steps = beginnings.map(({ step }) => step);
      const done = await begin(steps, [
        plainArray(steps.map(({ order }) => order.endpointId)),
        textArray(steps.map(({ order }) => order.clientOrderId)),
        plainArray(steps.map(({ order }) => order.attempt)),
        bytesArray(beginnings.map(({ digest }) => digest)),
        plainArray(steps.map(({ order }) => order.purchase.amount.minor)),
        plainArray(steps.map(({ order }) => order.purchase.amount.currency.code)),
        plainArray(beginnings.map(({ serialNumber }) => serialNumber)),
        jsonArray(steps.map(({ order }) => packFacts(order))),
        plainArray(steps.map(({ order }) => order.card.cardId)),
        plainArray(beginnings.map(({ card }) => card?.keyId ?? null)),
        bytesArray(beginnings.map(({ card }) => card?.sealed ?? null)),
        bytesArray(beginnings.map(({ card }) => card?.fingerprint ?? null)),
      ]);
      return steps.map(({ order }) => (done.has(order.id) ? "done" : "taken"));
    },
    options,
    isOneBadItem,
  );
}

export function makeCommit(query: Query, node: string, options: CommitOptions): Commit {
  const move = makePersistent(query, node, {
    ...{ statement: moveStatement, name: "move_orders", triesMs: Number.POSITIVE_INFINITY },
    callbackLeaseMs: options.callbackLeaseMs,
  });
  return makeGather(
    async (steps: readonly Step[]) => {
      // Two steps of one order start from the same version: only the first can hold.
      const seen = new Set<string>();
      const first = steps.filter(({ order }) => !seen.has(order.id) && seen.add(order.id));
      const done = await move(first, [plainArray(first.map(({ from }) => from))]);
      return steps.map(({ order }) => (done.delete(order.id) ? "done" : "stale"));
    },
    options,
    isOneBadItem,
  );
}

function isOneBadItem(error: unknown): boolean {
  return !isConnectionLoss(error);
}

export type CommitOptions = GatherOptions & {
  /** For how long a new order is tried again while the database is away, before it is refused. */
  readonly beginTriesMs: number;
  /** How long what a merchant is owed to be told is left to the node that wrote it. */
  readonly callbackLeaseMs: number;
};

/**
 * Writes a batch, again and again while the database is away: an answer of a bank that is known
 * here must not be lost. A try whose answer got lost may have been committed; the history tells.
 */
function makePersistent(
  query: Query,
  node: string,
  { statement, name, triesMs, callbackLeaseMs }: Writing,
) {
  return async (steps: readonly Step[], more: readonly string[]): Promise<Set<string>> => {
    const owed = jsonArray(steps.flatMap((step) => packCallback(step, callbackLeaseMs)));
    const values = [...stepColumns(steps, node), owed, ...more];
    return tryAgain(async (tries) => {
      const rows = await query<{ id: string }>(statement, values, name);
      const written =
        tries === 0
          ? []
          : await query<{ id: string }>(writtenStatement, [...values.slice(0, 3), node]);
      return new Set([...rows, ...written].map(({ id }) => id));
    }, triesMs);
  };
}

type Writing = {
  readonly statement: string;
  readonly name: string;
  readonly triesMs: number;
  readonly callbackLeaseMs: number;
};

function stepColumns(steps: readonly Step[], node: string): string[] {
  // Whoever only notes something leaves the order in the hands in which it is.
  const carriers = steps.map(({ order, events }) =>
    order.owed === undefined || events.every(isNote) ? null : node,
  );
  return [
    plainArray(steps.map(({ order }) => order.merchantId)),
    plainArray(steps.map(({ order }) => order.id)),
    plainArray(steps.map(({ order }) => order.version)),
    plainArray(steps.map(({ order }) => order.transaction.kind)),
    plainArray(steps.map(({ order }) => order.transaction.stage)),
    plainArray(steps.map(({ order }) => order.owed?.effect ?? null)),
    textArray(carriers),
    plainArray(steps.map(({ order }) => dueAt(order) ?? null)),
    plainArray(steps.map(({ order }) => order.transaction.finishedAt ?? null)),
    plainArray(steps.map(({ at }) => at)),
    jsonArray(steps.map(({ order }) => packProgress(order))),
    jsonArray(steps.map(({ events }) => JSON.stringify(events))),
    node,
  ];
}

/** Leased to this node, which sends it as soon as it is written. */
function packCallback({ order, at, callback }: Step, leaseMs: number): readonly string[] {
  if (callback === undefined) return [];
  const { url, receiver, sequence, serialNumber } = callback;
  const key = { merchant_id: order.merchantId, order_id: order.id, sequence };
  return [JSON.stringify({ ...key, serial: serialNumber, url, receiver, at, due: at + leaseMs })];
}

function isNote({ kind }: OrderEvent): boolean {
  return kind === "noted";
}

/** Nothing is told of what was not written; a callback of an earlier try is there already. */
const owe = (written: string) => `
  insert into callbacks (merchant_id, order_id, sequence, serial, url, receiver, made_at, begun_at,
    due_at)
  select owed.merchant_id, order_id, sequence, serial, url, receiver, to_timestamp(owed.at / 1000),
    to_timestamp(owed.at / 1000), to_timestamp(due / 1000)
  from json_to_recordset($14::json) as owed (merchant_id bigint, order_id bigint, sequence int,
    serial uuid, url text, receiver text, at float8, due float8)
  join ${written} on ${written}.merchant_id = owed.merchant_id and ${written}.id = owed.order_id
  on conflict do nothing`;

const stepTypes =
  "$1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], " +
  "$8::float8[], $9::float8[], $10::float8[]";
const stepNames = "merchant_id, id, version, kind, stage, owes, carrier, due_at, finished_at, at";
const stepDocuments = "json_array_elements($11::json), json_array_elements($12::json)";

const beginStatement = `
with source as materialized (
  select * from rows from (
    unnest(${stepTypes}, $15::bigint[], $16::text[], $17::int[], $18::bytea[],
      $19::bigint[], $20::text[], $21::uuid[],
      $23::bigint[], $24::int[], $25::bytea[], $26::bytea[]),
    ${stepDocuments}, json_array_elements($22::json))
  as source(${stepNames}, endpoint_id, client_orderid, attempt, digest,
    amount, currency, serial, card_id, key_id, sealed, fingerprint, progress, events, facts)
), begun as (
  insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest, version, kind,
    stage, owes, carrier, due_at, amount, currency, accepted_at, finished_at, facts, progress)
  select merchant_id, id, endpoint_id, client_orderid, attempt, digest, version, kind, stage, owes,
    carrier, to_timestamp(due_at / 1000), amount, currency, to_timestamp(at / 1000),
    to_timestamp(finished_at / 1000), facts, progress
  from source
  on conflict do nothing
  returning merchant_id, id
), history as (
  insert into order_history (merchant_id, order_id, version, at, node, events)
  select merchant_id, id, version, to_timestamp(at / 1000), $13::text, events
  from source join begun using (merchant_id, id)
), asked as (
  insert into requests (merchant_id, serial, endpoint_id, order_id, operation, at, answer)
  select merchant_id, serial, endpoint_id, id, kind, to_timestamp(at / 1000),
    '{"type":"async-response"}'::json
  from source join begun using (merchant_id, id)
), held as (
  insert into vault.cards (merchant_id, id, key_id, sealed, fingerprint)
  select merchant_id, card_id, key_id, sealed, fingerprint
  from source join begun using (merchant_id, id)
  where sealed is not null
), told as (${owe("begun")})
select id from begun`;

// The source's columns come back with the moved orders, so that the history needs no second join.
const moveStatement = `
with moved as (
  update orders
  set version = source.version, kind = source.kind, stage = source.stage, owes = source.owes,
    carrier = case when source.owes is not null then coalesce(source.carrier, orders.carrier) end,
    due_at = to_timestamp(source.due_at / 1000),
    finished_at = to_timestamp(source.finished_at / 1000), progress = source.progress
  from rows from (unnest(${stepTypes}, $15::int[]), ${stepDocuments})
    as source(${stepNames}, from_version, progress, events)
  where orders.merchant_id = source.merchant_id and orders.id = source.id
    and orders.version = source.from_version
  returning source.merchant_id, source.id, source.version, source.at, source.events
), history as (
  insert into order_history (merchant_id, order_id, version, at, node, events)
  select merchant_id, id, version, to_timestamp(at / 1000), $13::text, events from moved
), told as (${owe("moved")})
select id from moved`;

const writtenStatement = `
select order_id as id from order_history
where node = $4 and (merchant_id, order_id, version) in (
  select * from unnest($1::bigint[], $2::bigint[], $3::int[]))`;
