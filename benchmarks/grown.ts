/**
 * `npm run bench -- --grown <n>`: measures completed sales with ten thousand stored orders and with
 * n, in one run. The database makes the stored orders itself, as copies of a paid one, spread over
 * a year. The machine's speed changes during that time, so sales are compared as a share of the
 * single-row inserts measured in turn with them, and by processor time.
 */
import { Client } from "pg";
import { addOrders } from "../gateway/storage/orders/generated-orders.ts";
import { median } from "./figures.ts";
import { type Costs, measureByTurns, measureSales, type Turns, warmRoute } from "./measure.ts";
import type { Setup } from "./setup.ts";

const fewOrders = 10_000;
const portionOrders = 50_000;
const rounds = 5;
const target = 0.9;

type Stored = {
  readonly orders: number;
  readonly completedPerSecond: number;
  readonly insertsPerSecond: number;
  /** Completed sales as a share of inserts, the median over the rounds. */
  readonly share: number;
  readonly saleCosts: Pick<Costs["sale"], "gateway" | "database">;
  readonly bytesPerOrder: number;
};

export type Grown = {
  readonly few: Stored;
  readonly many: Stored;
  readonly ratio: number;
  readonly isMet: boolean;
};

type Say = (text: string) => void;

export async function measureGrown(setup: Setup, total: number, say: Say): Promise<Grown> {
  const { database, plan } = setup;
  say(`Warming up with ${plan.warmUpOrders} sales …`);
  const { completedPerSecond } = await measureSales(setup, "warm", plan.warmUpOrders);
  await warmRoute(setup);
  const count = Math.round((completedPerSecond * plan.saleSeconds) / 2);
  const measure = async (name: string): Promise<Stored> => {
    // The first statements after a pause read again what the cache has lost.
    await measureSales(setup, `${name}-again`, count);
    const measured: Turns[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      measured.push(await measureByTurns(setup, `${name}${round}`, count));
    }
    const stored = { ...(await readSize(database)), ...mediansOf(measured) };
    say(printStored(stored));
    return stored;
  };

  await fill(setup, { from: 1, until: fewOrders, total }, say);
  const few = await measure("few");
  await fill(setup, { from: fewOrders + 1, until: total, total }, say);
  const many = await measure("many");
  const ratio = many.share / few.share;
  return { few, many, ratio, isMet: ratio >= target };
}

function mediansOf(measured: readonly Turns[]) {
  const of = (read: (turns: Turns) => number) => median(measured.map(read));
  return {
    completedPerSecond: of(({ sales }) => sales.completedPerSecond),
    insertsPerSecond: of(({ insertsPerSecond }) => insertsPerSecond),
    share: of(({ sales, insertsPerSecond }) => sales.completedPerSecond / insertsPerSecond),
    saleCosts: {
      gateway: of(({ costs }) => costs.sale.gateway),
      database: of(({ costs }) => costs.sale.database),
    },
  };
}

export function printGrown({ few, many, ratio, isMet }: Grown): string {
  const verdict = `ratio ${ratio.toFixed(2)}, target ${target}: ${isMet ? "met" : "missed"}`;
  return [printStored(few), printStored(many), verdict].join("\n");
}

function printStored(stored: Stored): string {
  const { gateway, database } = stored.saleCosts;
  return [
    `${stored.orders} stored orders: ${Math.round(stored.completedPerSecond)} completed sales/s`,
    `${stored.share.toFixed(3)} of ${Math.round(stored.insertsPerSecond)} inserts/s`,
    `a sale costs PostgreSQL ${Math.round(database)} µs, the gateway ${Math.round(gateway)} µs`,
    `${Math.round(stored.bytesPerOrder)} bytes per order with its history, card and indexes`,
  ].join(", ");
}

type Fill = { readonly from: number; readonly until: number; readonly total: number };

/**
 * Fills the tables. Client order ids are not sorted, so their index is rebuilt after many
 * insertions.
 */
async function fill({ gateway }: Setup, { from, until, total }: Fill, say: Say): Promise<void> {
  const connections = await Promise.all([open(gateway.databaseUrl), open(gateway.databaseUrl)]);
  const [{ query }] = connections;
  const [paid] = await query<{ id: string; merchant_id: string }>(
    "select id, merchant_id from orders where stage = 'approved' order by id desc limit 1",
  );
  if (paid === undefined) throw new Error("no sale was approved");
  const { id: template, merchant_id: merchant } = paid;
  const [index] = await query<{ definition: string }>(
    "select pg_get_indexdef('orders_by_client_orderid'::regclass) as definition",
  );
  await query("drop index orders_by_client_orderid");
  const startedAt = performance.now();
  let next = from;
  let done = 0;
  await Promise.all(
    connections.map(async ({ query: add }) => {
      while (next <= until) {
        const portion = { from: next, count: Math.min(portionOrders, until - next + 1) };
        next += portion.count;
        await addOrders(add, { template, merchant, ...portion, days: 365, total });
        done += portion.count;
        const perSecond = (done * 1000) / (performance.now() - startedAt);
        const [all, left] = [until - from + 1, Math.round((until - from + 1 - done) / perSecond)];
        say(`Stored ${done} of ${all} orders (${Math.round(perSecond)}/s, ${left} s left)`);
      }
    }),
  );
  say("Making the index of client order ids, gathering statistics …");
  await query(index?.definition ?? "");
  for (const table of ["orders", "order_history", "cards"]) {
    await query(`vacuum (analyze) ${table}`);
  }
  await query("checkpoint");
  for (const { close } of connections) await close();
}

async function open(databaseUrl: string) {
  const options = "-c search_path=public,vault";
  const client = new Client({ connectionString: databaseUrl, options });
  await client.connect();
  return {
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await client.query(text, [...values])).rows as Row[],
    close: () => client.end(),
  };
}

async function readSize(database: Client): Promise<Pick<Stored, "orders" | "bytesPerOrder">> {
  const { rows } = await database.query(`
    select (select count(*) from orders) as orders,
      (select sum(pg_total_relation_size(oid)) from pg_class
       where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'vault')) as bytes`);
  const orders = Number(rows[0]?.orders);
  return { orders, bytesPerOrder: Number(rows[0]?.bytes) / orders };
}
