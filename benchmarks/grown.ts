/**
 * `npm run bench -- --grown <n>`: completed sales with ten thousand stored orders and with n, in
 * one run. The database makes the stored orders itself: copies of a paid one, spread over a year.
 */
import { Client } from "pg";
import { addOrders } from "../gateway/storage/testing/many-orders.ts";
import { median } from "./figures.ts";
import { measureSales } from "./measure.ts";
import type { Setup } from "./setup.ts";

const fewOrders = 10_000;
const portionOrders = 50_000;
const slices = 5;
const target = 0.9;

type Stored = {
  readonly orders: number;
  readonly completedPerSecond: number;
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
  const count = Math.round((completedPerSecond * plan.saleSeconds) / slices);
  const measure = async (name: string): Promise<Stored> => {
    // A gateway's first statements after a pause read what the cache has lost.
    await measureSales(setup, `${name}-again`, count);
    const rates: number[] = [];
    for (let slice = 1; slice <= slices; slice += 1) {
      rates.push((await measureSales(setup, `${name}-${slice}`, count)).completedPerSecond);
    }
    const { orders, bytes } = await readSize(database);
    const perSecond = median(rates);
    say(`With ${orders} stored orders: completed ${Math.round(perSecond)}/s`);
    return { orders, completedPerSecond: perSecond, bytesPerOrder: bytes / orders };
  };

  await fill(setup, { from: 1, until: fewOrders, total }, say);
  const few = await measure("few");
  await fill(setup, { from: fewOrders + 1, until: total, total }, say);
  const many = await measure("many");
  const ratio = many.completedPerSecond / few.completedPerSecond;
  return { few, many, ratio, isMet: ratio >= target };
}

export function printGrown({ few, many, ratio, isMet }: Grown): string {
  const line = ({ orders, completedPerSecond, bytesPerOrder }: Stored) =>
    `${orders} stored orders: ${Math.round(completedPerSecond)} completed sales/s, ` +
    `${Math.round(bytesPerOrder)} bytes per order with its history, card and indexes`;
  const verdict = `ratio ${ratio.toFixed(2)}, target ${target}: ${isMet ? "met" : "missed"}`;
  return [line(few), line(many), verdict].join("\n");
}

type Fill = { readonly from: number; readonly until: number; readonly total: number };

/** Client order ids are in no order: their index is made anew after many insertions. */
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

async function readSize(database: Client): Promise<{ orders: number; bytes: number }> {
  const { rows } = await database.query(`
    select (select count(*) from orders) as orders,
      (select sum(pg_total_relation_size(oid)) from pg_class
       where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'vault')) as bytes`);
  return { orders: Number(rows[0]?.orders), bytes: Number(rows[0]?.bytes) };
}
