/**
 * The invariants that no crash may break, checked with the gateway's database, its interface and
 * the bank's ledger on disk. The balance at the bank must equal the approved sums of the gateway.
 * Both are computed from the stored data, without either program's own sums.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { testSearchPath } from "./databases/database-server.ts";
import { type Load, type Merchants, makeLoadClient } from "./load.ts";
import { plainCard } from "./merchant.ts";
import { until } from "./until.ts";

export type Books = Merchants & {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly nodes: readonly { readonly output: string }[];
};

/** All sales of the merchant. */
type Paid = Pick<Load, "sales">;
type Stores = Pick<Books, "databaseUrl" | "dataDir">;

export type BookedOrder = {
  readonly id: string;
  readonly client_orderid: string;
  readonly stage: string;
  readonly amount: string;
  readonly reference: string | null;
  readonly due: boolean;
};

type Entry = { readonly reference: string; readonly kind: string; readonly amount: number };

/** Waits until no order is in progress, then checks all invariants. Returns the orders. */
export async function assertBooksAgree(books: Books, load: Paid): Promise<readonly BookedOrder[]> {
  await untilFinal(books.databaseUrl);
  const orders = await readOrders(books.databaseUrl);
  assertNoneLost(orders, load);
  assertLedgerAgrees(orders, await readLedger(books.dataDir));
  await assertRepeatsAnswered(books, load);
  await assertStatusAgrees(books, load, orders);
  assert.equal((await readOrders(books.databaseUrl)).length, orders.length);
  for (const { output } of books.nodes) assert.ok(!output.includes(plainCard), "a card in a log");
  return orders;
}

/** Waits until every order has ended and owes no effect. */
export async function untilFinal(databaseUrl: string): Promise<void> {
  const open = async () => (await readOrders(databaseUrl)).filter((order) => !isDone(order));
  await until("every order is final", async () => {
    const left = await open().catch(() => undefined);
    return left?.length === 0 ? true : undefined;
  }).catch(async (error) => {
    const left = (await open()).slice(0, 5);
    throw new Error(`${error.message}: ${JSON.stringify(left)}`);
  });
}

function isDone({ due, stage }: BookedOrder): boolean {
  return !due && finals.has(stage);
}

const finals: ReadonlySet<string> = new Set(["approved", "declined", "filtered", "error"]);

export async function readOrders(databaseUrl: string): Promise<readonly BookedOrder[]> {
  return readRows<BookedOrder>(
    databaseUrl,
    `select id, client_orderid, stage, amount, owes is not null or finished_at is null as due,
       progress #>> '{transaction,identifiers,reference}' as reference
     from orders order by id`,
  );
}

/** Pools are kept, because tests read repeatedly and a connection costs more than a query. */
const pools = new Map<string, pg.Pool>();

export async function readRows<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  query: string,
): Promise<readonly Row[]> {
  const pool = pools.get(databaseUrl) ?? openPool(databaseUrl);
  return (await pool.query<Row>(query)).rows;
}

/** Opens a pool that does not keep the process running. */
function openPool(databaseUrl: string): pg.Pool {
  const options = `-c search_path=${testSearchPath}`;
  const limits = { max: 4, allowExitOnIdle: true };
  const pool = new pg.Pool({ connectionString: databaseUrl, options, ...limits });
  // Some tests kill the server under an open connection.
  pool.on("error", () => undefined);
  pools.set(databaseUrl, pool);
  return pool;
}

export async function readLedger(dataDir: string): Promise<readonly Entry[]> {
  const text = await readFile(join(dataDir, "bank", "ledger.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * Asserts that what the bank holds and has taken equals the gateway's sums. Captures and returns
 * count too.
 */
export async function assertMoneyAddsUp({ databaseUrl, dataDir }: Stores): Promise<void> {
  const ledger = await readLedger(dataDir);
  const booked = ledger.map((entry) => ({ ...entry, amount: BigInt(entry.amount) }));
  assertBalancesAgree(await readRows<StoredOrder>(databaseUrl, selectStoredOrders), booked);
}

/**
 * The number of sales that a crash has left in each state, which shows that it came at the wanted
 * moment.
 */
export type Left = {
  readonly unanswered: number;
  /** Sales that a merchant has sent, and that have no order. */
  readonly unwritten: number;
  /** Sales with an order whose result the merchant has not received. */
  readonly untold: number;
  /** Sales on their way to the bank, which has booked them (`charged`) or has not (`uncharged`). */
  readonly charged: number;
  readonly uncharged: number;
  readonly approved: number;
};

export async function readWhatIsLeft(
  { databaseUrl, dataDir }: Stores,
  { sales }: Paid,
): Promise<Left> {
  const sent = new Set(sales.map(({ fields }) => fields.client_orderid));
  const orders = (await readOrders(databaseUrl)).filter((each) => sent.has(each.client_orderid));
  const booked = new Set((await readLedger(dataDir)).map(({ reference }) => reference));
  const written = new Set(orders.map((order) => order.client_orderid));
  const unanswered = sales.filter(({ reply }) => reply === undefined);
  const untold = unanswered.filter(({ fields }) => written.has(fields.client_orderid));
  const open = orders.filter(({ stage }) => stage === "authorizing");
  const charged = open.filter(({ reference }) => booked.has(reference ?? ""));
  return {
    unanswered: unanswered.length,
    unwritten: unanswered.length - untold.length,
    untold: untold.length,
    charged: charged.length,
    uncharged: open.length - charged.length,
    approved: orders.filter(({ stage }) => stage === "approved").length,
  };
}

/**
 * Asserts that every sale has exactly one order, and an acknowledged sale the acknowledged order.
 */
function assertNoneLost(orders: readonly BookedOrder[], { sales }: Paid): void {
  const bySale = Map.groupBy(orders, (order) => order.client_orderid);
  for (const { fields, reply } of sales) {
    const own = bySale.get(fields.client_orderid) ?? [];
    assert.ok(own.length <= 1, `${fields.client_orderid} has ${own.length} orders`);
    if (reply !== undefined) assert.equal(own[0]?.id, reply["gw-order-id"]);
  }
  const known = new Set(sales.map(({ fields }) => fields.client_orderid));
  assert.deepEqual(
    orders.filter((order) => !known.has(order.client_orderid)),
    [],
  );
}

function assertLedgerAgrees(orders: readonly BookedOrder[], ledger: readonly Entry[]): void {
  const booked = Map.groupBy(ledger, ({ reference }) => reference);
  const references = new Set(orders.map(({ reference }) => reference));
  for (const reference of booked.keys()) {
    assert.ok(references.has(reference), `the bank has booked the unknown ${reference}`);
  }
  for (const { id, stage, amount, reference } of orders) {
    const entries = booked.get(reference ?? "") ?? [];
    const charges = entries.filter(({ kind }) => kind === "sale").length;
    const standing = entries.reduce((sum, each) => sum + signed(each), 0);
    assert.ok(charges <= 1, `order ${id} was charged ${charges} times`);
    assert.equal(standing, stage === "approved" ? Number(amount) : 0, `order ${id} is ${stage}`);
  }
}

function signed({ kind, amount }: Entry): number {
  return kind === "reversal" ? -amount : amount;
}

/**
 * Asserts that the identical request, sent once more and much later, is answered with the same
 * order.
 */
async function assertRepeatsAnswered(books: Merchants, { sales }: Paid): Promise<void> {
  const endpoint = makeLoadClient(books);
  const answered = sales.filter(({ reply }) => reply !== undefined);
  const again = await Promise.all(answered.map(({ fields }) => endpoint.sale(fields)));
  for (const [at, { reply }] of answered.entries()) {
    assert.equal(again[at]?.["gw-order-id"], reply?.["gw-order-id"]);
  }
}

async function assertStatusAgrees(
  books: Merchants,
  { sales }: Paid,
  orders: readonly BookedOrder[],
): Promise<void> {
  const endpoint = makeLoadClient(books);
  const stages = new Map(orders.map(({ id, stage }) => [id, stage]));
  const replies = sales.flatMap(({ reply }) => (reply === undefined ? [] : [reply]));
  const statuses = await Promise.all(
    replies.map((reply) =>
      endpoint.status({
        client_orderid: reply["merchant-order-id"],
        orderid: reply["gw-order-id"],
      }),
    ),
  );
  for (const [at, { status }] of statuses.entries()) {
    assert.equal(status, stages.get(replies[at]?.["gw-order-id"] ?? ""));
  }
}

/** An entry of the bank's ledger, from its memory or its disk. */
export type Booked = {
  readonly reference: string;
  readonly kind: string;
  readonly amount: bigint;
};

/** Amounts in minor units: held for a capture, and taken from the cardholder. */
export type Balance = { readonly held: bigint; readonly taken: bigint };

type StoredTransaction = {
  readonly kind: string;
  readonly stage: string;
  readonly amount: readonly [minor: string, currency: string];
  readonly identifiers?: { readonly reference: string };
  readonly answer?: { readonly approvedAmount?: readonly [minor: string, currency: string] };
};

export type StoredOrder = {
  readonly id: string;
  /** Whether the order still owes an effect. */
  readonly due: boolean;
  readonly progress: {
    readonly transaction: StoredTransaction;
    readonly earlier: readonly StoredTransaction[];
    readonly page?: {
      readonly refused: readonly {
        readonly attempts: readonly Pick<StoredTransaction, "identifiers">[];
      }[];
    };
  };
};

/** Selects the orders of both cells, which may be the same. */
export const selectStoredOrders = `
  select distinct on (id) id, owes is not null or finished_at is null as due, progress
  from (
    select id, owes, finished_at, progress from orders
    union all select id, owes, finished_at, progress from public.orders) as stored`;

/**
 * Compares balances. Orders in progress or in doubt are left out, because their result is not known
 * yet.
 */
export function assertBalancesAgree(
  orders: readonly StoredOrder[],
  ledger: readonly Booked[],
): void {
  const booked = Map.groupBy(ledger, ({ reference }) => orderPart(reference));
  const known = new Set(orders.map((order) => orderPart(referenceOf(order) ?? "")));
  for (const part of booked.keys()) {
    assert.ok(known.has(part), `the bank has booked the unknown ${part}`);
  }
  for (const order of orders.filter(({ due }) => !due)) {
    const entries = booked.get(orderPart(referenceOf(order) ?? "")) ?? [];
    assert.deepEqual(balanceAtBank(entries), balanceAtGateway(order), `order ${order.id}`);
    const charges = Map.groupBy(entries.filter(isCharge), ({ reference }) => reference);
    for (const same of charges.values()) {
      assert.equal(same.length, 1, `order ${order.id} was charged twice`);
    }
  }
}

/** Waits until the statement's charges, returns and payouts add up to those of the orders. */
export async function assertStatementAgrees(
  readRowsOf: <Row extends object>(text: string) => Promise<readonly Row[]>,
): Promise<void> {
  const orders = await readRowsOf<StoredOrder>(selectStoredOrders);
  const taken = orders.reduce((sum, order) => sum + balanceAtGateway(order).taken, 0n);
  // The writer of the portal's index books the orders some time after they are committed.
  await until(`the statement says ${taken}`, async () => {
    const [stated] = await readRowsOf<{ taken: string }>(
      "select coalesce(sum(gross - returns - payouts), 0)::text as taken from statement_days",
    );
    return stated?.taken === String(taken) || undefined;
  });
}

/**
 * Returns what the references of one order share: its attempts differ in the last two characters.
 */
export function orderPart(reference: string): string {
  return reference.slice(0, 10);
}

export function balanceAtBank(entries: readonly Booked[]): Balance {
  const sum = (kind: string) =>
    entries.filter((each) => each.kind === kind).reduce((total, each) => total + each.amount, 0n);
  const captured = sum("capture");
  const isCaptured = entries.some(({ kind }) => kind === "capture");
  const held = sum("authorisation");
  const given = sum("reversal") + sum("refund");
  // Before a capture a reversal reduces the hold, and afterwards the captured money.
  if (held > 0n && !isCaptured) return { held: held - given, taken: 0n };
  return { held: 0n, taken: sum("sale") + captured - given };
}

function balanceAtGateway({ progress }: StoredOrder): Balance {
  const approved = [...progress.earlier, progress.transaction].filter(
    ({ stage }) => stage === "approved",
  );
  const sum = (kind: string) =>
    approved
      .filter((each) => each.kind === kind)
      .reduce((total, each) => total + granted(each), 0n);
  const captured = approved.some(({ kind }) => kind === "capture");
  return {
    held: captured ? 0n : sum("preauth") - sum("cancel"),
    taken: sum("sale") + sum("capture") - sum("refund") - sum("void"),
  };
}

/**
 * Returns the granted amount. A bank may grant a charge in part, but carries out a follow-up in
 * full or not at all.
 */
function granted({ kind, amount, answer }: StoredTransaction): bigint {
  const isCharge = kind === "sale" || kind === "preauth";
  return BigInt((isCharge ? (answer?.approvedAmount ?? amount) : amount)[0]);
}

export function referenceOf({ progress }: StoredOrder): string | undefined {
  const { earlier, transaction, page } = progress;
  // For a payment page whose time is over, this is the last of its refused tries.
  const refused = page?.refused.flatMap(({ attempts }) => attempts).at(-1);
  const { identifiers = refused?.identifiers } = earlier[0] ?? transaction;
  return identifiers?.reference;
}

function isCharge({ kind }: Booked): boolean {
  return kind === "sale" || kind === "authorisation";
}
