/**
 * The commit queue, through which every order is written. It gathers the steps of all orders in
 * flight into one statement, which writes the orders, their history, when they are due, and their
 * cards. A step of an order that has changed since it was read is returned as stale and does not
 * affect the others.
 */
import type { Begin, Beginning } from "../../engine/accept.ts";
import type { Enter, Entry } from "../../engine/payment-page.ts";
import { dueAtOf, type Step } from "../../orders/advance.ts";
import type { Commit } from "../../orders/apply.ts";
import { anyStage } from "../../orders/transitions.ts";
import {
  type ConfirmKeys,
  lockUsableKeys,
  type RefusedKey,
  writeUnderKeys,
} from "../cards/card-keys.ts";
import { assertHomeCell } from "../cells/cells.ts";
import { besideOthers, type Query } from "../server/database.ts";
import {
  bytesArray,
  type GatherOptions,
  jsonArray,
  makeGather,
  plainArray,
  textArray,
} from "../server/gather.ts";
import type { NodeName } from "../server/presence.ts";
import { packEvents, packFacts, packProgress } from "./order-row.ts";

/** A commit of an acquirer's answer has an infinite `retryMs`: only this node knows the answer. */
type CommitOptions = GatherOptions &
  ConfirmKeys & {
    /** How long a new callback is reserved for the node that has written it. */
    readonly callbackLeaseMs: number;
    readonly isBusy?: () => boolean;
  };

/**
 * The shortest time between two commits of a busy gateway (decision 0045). Without it, at a few
 * hundred orders a second, each order has a commit of its own, which costs 50 % more for an order
 * than a commit of three orders. Under full load it has no effect, because a commit takes longer.
 */
const busyGapMs = 6;

/** PostgreSQL is idle while a node prepares a larger commit of new orders (decision 0045). */
const beginWholeMax = 48;

type Begun = Awaited<ReturnType<Begin>>;
type Moved = Awaited<ReturnType<Commit>>;

export function makeBegin(query: Query, node: NodeName, options: CommitOptions) {
  const statement = { statement: beginStatement, name: "begin_orders" };
  const write = makeWrite(query, node, { ...options, ...statement });
  return makeGather(
    async (beginnings: readonly Beginning[], isRepeated): Promise<readonly Begun[]> => {
      const steps = beginnings.map(({ step }) => step);
      const cards = beginnings.map(({ sealCard }) => sealCard?.());
      const written = await write(steps, isRepeated, [
        plainArray(steps.map(({ order }) => order.endpointId)),
        textArray(steps.map(({ order }) => order.clientOrderId)),
        plainArray(steps.map(({ order }) => order.attempt)),
        bytesArray(beginnings.map(({ digest }) => digest.digest)),
        plainArray(steps.map(({ order }) => order.purchase.amount.minor)),
        plainArray(steps.map(({ order }) => order.purchase.amount.currency.code)),
        jsonArray(steps.map(({ order }) => packFacts(order))),
        plainArray(steps.map(({ order }) => order.card.cardId)),
        plainArray(cards.map((card) => card?.keyId ?? null)),
        bytesArray(cards.map((card) => card?.sealed ?? null)),
        bytesArray(cards.map((card) => card?.fingerprint ?? null)),
        plainArray(beginnings.map(({ digest }) => digest.keyId)),
        bytesArray(beginnings.map(({ digest }) => digest.cvv ?? null)),
      ]);
      if (beginnings.length === 0) await query(probeStatement);
      return steps.map(({ order }) => (written.has(order.id) ? "done" : "taken"));
    },
    { ...options, retryAlone: true, gapMs: gapOf(options), wholeMax: beginWholeMax },
  );
}

export function makeCommit(query: Query, node: NodeName, options: CommitOptions) {
  const statement = { statement: moveStatement, name: "move_orders" };
  const write = makeWrite(query, node, { ...options, ...statement });
  return makeGather(
    async (steps: readonly Step[], isRepeated): Promise<readonly Moved[]> => {
      // All steps of an order in a batch start from the same version, so only the first is written.
      const seen = new Set<string>();
      const first = steps.filter(({ order }) => !seen.has(order.id) && seen.add(order.id));
      const written = await write(first, isRepeated, [...fromColumns(first)]);
      return steps.map(({ order }) => (written.delete(order.id) ? "done" : "stale"));
    },
    { ...options, retryAlone: true, gapMs: gapOf(options) },
  );
}

function gapOf({ isBusy }: CommitOptions): () => number {
  return () => (isBusy?.() ? busyGapMs : 0);
}

type Writing = Pick<CommitOptions, "callbackLeaseMs" | "confirmKeys"> & {
  readonly statement: string;
  readonly name: string;
};

/**
 * Returns a function that writes a batch of steps. If the answer to an earlier try was lost, that
 * try may be committed before or at the same time. The versions and keys of rows keep a step from
 * being written twice, and the history shows which steps are written.
 */
function makeWrite(
  query: Query,
  node: NodeName,
  { statement, name, callbackLeaseMs, ...keys }: Writing,
) {
  return async (steps: readonly Step[], isRepeated: boolean, more: readonly string[]) => {
    const callbacks = jsonArray(steps.flatMap((step) => packCallbacks(step, callbackLeaseMs)));
    const columns = stepColumns(steps, node.name);
    const values = [...columns, callbacks, ...more];
    const write = () => query<WrittenRow>(statement, values, name);
    const rows = await writeUnderKeys(query, keys, write);
    const written = new Set(rows.map(({ id }) => id));
    for (const { id } of isRepeated ? await findWritten(steps) : []) written.add(id);
    return written;
  };

  function findWritten(steps: readonly Step[]) {
    return query<{ id: string }>(writtenStatement, [
      plainArray(steps.map(({ order }) => order.merchantId)),
      plainArray(steps.map(({ order }) => order.id)),
      plainArray(steps.map(({ order }) => order.version)),
      plainArray(steps.map(({ at }) => at)),
      jsonArray(steps.map(({ events }) => packEvents(events))),
      textArray(node.names()),
    ]);
  }
}

type WrittenRow = RefusedKey & { readonly id: string };

function stepColumns(steps: readonly Step[], node: string): string[] {
  const runningNodes = steps.map((step) =>
    step.order.owed === undefined || leavesRun(step) ? null : node,
  );
  return [
    plainArray(steps.map(({ order }) => order.merchantId)),
    plainArray(steps.map(({ order }) => order.id)),
    plainArray(steps.map(({ order }) => order.version)),
    plainArray(steps.map(({ order }) => order.transaction.kind)),
    plainArray(steps.map(({ order }) => order.transaction.stage)),
    plainArray(steps.map(({ order }) => order.owed?.effect ?? null)),
    textArray(runningNodes),
    plainArray(steps.map(({ order }) => dueAtOf(order) ?? null)),
    plainArray(steps.map(({ order }) => order.transaction.finishedAt ?? null)),
    plainArray(steps.map(({ at }) => at)),
    jsonArray(steps.map(({ order }) => packProgress(order))),
    jsonArray(steps.map(({ events }) => packEvents(events))),
    node,
  ];
}

/** Packs the state before each step: the order's version, its time of change and its due time. */
function fromColumns(steps: readonly Step[]): string[] {
  return [
    plainArray(steps.map(({ from }) => from)),
    plainArray(steps.map(({ fromChangedAt }) => fromChangedAt ?? null)),
    plainArray(steps.map(({ fromDueAt }) => fromDueAt ?? null)),
  ];
}

/** Returns whether the order stays with its node, because its next effect does not change. */
function leavesRun({ order, events }: Step): boolean {
  const isPriorNext = order.owed?.effect === "reverse_prior";
  return events.every(
    ({ kind }) =>
      anyStage[kind]?.owes === "as before" || (kind === "prior_approved_late" && !isPriorNext),
  );
}

/** Reserves new callbacks for this node, which sends them right after the commit. */
function packCallbacks({ order, at, callbacks = [] }: Step, leaseMs: number): readonly string[] {
  const named = { merchant_id: order.merchantId, order_id: order.id };
  return callbacks.map(({ url, receiver, sequence, serialNumber: serial }) =>
    JSON.stringify({ ...named, sequence, serial, url, receiver, at, due: at + leaseMs }),
  );
}

/** The JSON is read before the insert: Citus accepts only immutable functions in an insert. */
const owedCallbacks = `owed as materialized (
  select * from json_to_recordset($14::json) as owed (merchant_id bigint, order_id bigint,
    sequence int, serial uuid, url text, receiver text, at float8, due float8)
)`;

/** Skips callbacks that exist, because an earlier try of the statement was committed. */
const insertCallbacks = (written: string) => `
  insert into callbacks (merchant_id, order_id, sequence, serial, url, receiver, made_at, begun_at,
    due_at)
  select owed.merchant_id, order_id, sequence, serial, url, receiver, to_timestamp(owed.at / 1000),
    to_timestamp(owed.at / 1000), to_timestamp(due / 1000)
  from owed
  join ${written} on ${written}.merchant_id = owed.merchant_id and ${written}.id = owed.order_id
  where ${besideOthers}
  on conflict do nothing`;

/** Inserts when a node must look at the order next. The row is for this version only. */
const insertDue = (written: string) => `
  insert into due (due_at, order_id, version, merchant_id, node)
  select to_timestamp(due_at / 1000), id, version, merchant_id, carrier from ${written}
  where due_at is not null and ${besideOthers}`;

const stepTypes =
  "$1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], " +
  "$8::float8[], $9::float8[], $10::float8[]";
const stepNames = "merchant_id, id, version, kind, stage, owes, carrier, due_at, finished_at, at";
const stepDocuments = "json_array_elements($11::json), json_array_elements($12::json)";

export const beginStatement = `
with source as materialized (
  select * from rows from (
    unnest(${stepTypes}, $15::bigint[], $16::text[], $17::int[], $18::bytea[],
      $19::bigint[], $20::text[], $22::bigint[], $23::int[], $24::bytea[], $25::bytea[],
      $26::int[], $27::bytea[]),
    ${stepDocuments}, json_array_elements($21::json))
  as source(${stepNames}, endpoint_id, client_orderid, attempt, digest,
    amount, currency, card_id, key_id, sealed, fingerprint, digest_key, cvv_digest,
    progress, events, facts)
), ${lockUsableKeys("$23::int[]")}, refused as (
  select distinct key_id from source
  where sealed is not null and key_id not in (select id from usable)
), begun as (
  insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest, digest_key,
    cvv_digest, version, kind, stage, owes, carrier, amount, currency, accepted_at, changed_at,
    finished_at, facts, progress)
  select merchant_id, id, endpoint_id, client_orderid, attempt, digest, digest_key, cvv_digest,
    version, kind, stage, owes, carrier, amount, currency, to_timestamp(at / 1000),
    at, to_timestamp(finished_at / 1000), facts, progress
  from source where not exists (select from refused) and ${assertHomeCell("= any($1::bigint[])")}
  on conflict do nothing
  returning merchant_id, id
), history as (
  insert into order_history (merchant_id, order_id, version, at, node, events)
  select merchant_id, id, version, to_timestamp(at / 1000), $13::text, events
  from source join begun using (merchant_id, id) where ${besideOthers}
), awaited as (${insertDue("source join begun using (merchant_id, id)")}
), held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, key_id, sealed, fingerprint, to_timestamp(at / 1000)
  from source join begun using (merchant_id, id)
  where sealed is not null and ${besideOthers}
), ${owedCallbacks}, told as (${insertCallbacks("begun")})
select id, null as "refusedKey" from begun
union all
select null, key_id from refused`;

/**
 * Writes steps. The update changes no indexed column, so that PostgreSQL writes no index entries (a
 * HOT update). It also returns the columns from which the history is written.
 */
export const moveStatement = moveStatementWith();

type MoveParts = {
  readonly before?: string;
  readonly after?: string;
  readonly arrays?: string;
  readonly arrayNames?: string;
  readonly documents?: string;
  readonly documentNames?: string;
  readonly set?: string;
  readonly condition?: string;
  readonly result?: string;
};

function moveStatementWith(parts: MoveParts = {}): string {
  const { before = "", after = "", arrays = "", arrayNames = "" } = parts;
  const { documents = "", documentNames = "", set = "", condition = "" } = parts;
  return `
with ${before}moved as (
  update orders
  set version = source.version, kind = source.kind, stage = source.stage, owes = source.owes,
    carrier = case when source.owes is not null then coalesce(source.carrier, orders.carrier) end,
    changed_at = source.at,
    finished_at = to_timestamp(source.finished_at / 1000), progress = source.progress${set}
  from rows from (unnest(${stepTypes}, $15::int[], $16::float8[], $17::float8[]${arrays}),
      ${stepDocuments}${documents})
    as source(${stepNames}, from_version, from_changed_at, from_due_at${arrayNames},
      progress, events${documentNames})
  where orders.merchant_id = source.merchant_id and orders.id = source.id
    and orders.version = source.from_version
    and orders.changed_at = source.from_changed_at
    and ${assertHomeCell("= any($1::bigint[])")}${condition}
  returning source.merchant_id, source.id, source.version, source.at, source.events,
    source.due_at, orders.carrier, source.from_version, source.from_due_at${arrayNames}
), history as (
  insert into order_history (merchant_id, order_id, version, at, node, events)
  select merchant_id, id, version, to_timestamp(at / 1000), $13::text, events from moved
  where ${besideOthers}
), past as (
  delete from due using moved
  where due.due_at = to_timestamp(moved.from_due_at / 1000) and due.order_id = moved.id
    and due.version = moved.from_version
), awaited as (${insertDue("moved")}
)${after}, ${owedCallbacks}, told as (${insertCallbacks("moved")})
${parts.result ?? "select id from moved"}`;
}

/** Writes no order. Its commit waits for the disk and the synchronous standby all the same. */
const probeStatement = "select pg_logical_emit_message(true, 'tollgate', 'probe')";

/**
 * Finds the steps of a batch that are already written. Events are compared too, because another
 * step of this node may have the same version. The rows are locked, so that this commit waits for
 * the synchronous standby: after a crash, a server may show commits that no standby has.
 */
export const writtenStatement = `
select order_id as id from order_history as written
join rows from (unnest($1::bigint[], $2::bigint[], $3::int[], $4::float8[]),
    json_array_elements($5::json))
  as source(merchant_id, id, version, at, events)
  on written.merchant_id = source.merchant_id and written.order_id = source.id
    and written.version = source.version and written.at = to_timestamp(source.at / 1000)
where written.events::text = source.events::text and written.node = any($6::text[])
for update of written`;

type Entered = Awaited<ReturnType<Enter>>;

/**
 * Commits a try on the payment page: the step, the card and the payer in one statement. Nothing is
 * written under a destroyed key, or if the order has changed, so that only one of two tabs begins a
 * try.
 */
export function makeEnter(query: Query, node: NodeName, options: CommitOptions) {
  const named = { ...options, statement: enterStatement, name: "enter_cards" };
  const write = makeWrite(query, node, named);
  return makeGather(
    async (entries: readonly Entry[], isRepeated): Promise<readonly Entered[]> => {
      // Only one try of an order in a batch is written, because all start from the same version.
      const seen = new Set<string>();
      const first = entries.filter(
        ({ step }) => !seen.has(step.order.id) && seen.add(step.order.id),
      );
      const steps = first.map(({ step }) => step);
      const cards = first.map(({ sealCard }) => sealCard?.());
      const written = await write(steps, isRepeated, [
        ...fromColumns(steps),
        plainArray(cards.map((card) => card?.cardId ?? null)),
        plainArray(cards.map((card) => card?.keyId ?? null)),
        bytesArray(cards.map((card) => card?.sealed ?? null)),
        bytesArray(cards.map((card) => card?.fingerprint ?? null)),
        jsonArray(steps.map(({ order }) => packFacts(order))),
      ]);
      return entries.map(({ step }) => (written.delete(step.order.id) ? "done" : "stale"));
    },
    { ...options, retryAlone: true },
  );
}

export const enterStatement = moveStatementWith({
  before: `${lockUsableKeys("$19::int[]")}, refused as (
  select distinct key_id from unnest($19::int[]) as wanted(key_id)
  where key_id is not null and key_id not in (select id from usable)
), `,
  arrays: ", $18::bigint[], $19::int[], $20::bytea[], $21::bytea[]",
  arrayNames: ", card_id, key_id, sealed, fingerprint",
  documents: ", json_array_elements($22::json)",
  documentNames: ", facts",
  set: ", facts = source.facts",
  condition: " and not exists (select from refused)",
  after: `, held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, key_id, sealed, fingerprint, to_timestamp(at / 1000) from moved
  where sealed is not null and ${besideOthers}
)`,
  result: `select id, null as "refusedKey" from moved
union all
select null, key_id from refused`,
});
