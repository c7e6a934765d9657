/**
 * `npm run bench -- --grown <n>`: completed sales with ten thousand stored orders and with n, in
 * one run. The database makes the stored orders itself: copies of a paid one, spread over a year.
 */
import type { Client } from "pg";
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
  /** Every order of a gateway has a higher one. */
  readonly highestId: string;
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

  await fill(database, { from: 1, until: fewOrders, total }, say);
  const few = await measure("few");
  await fill(database, { from: fewOrders + 1, until: total, total }, say);
  const many = await measure("many");
  const ratio = many.completedPerSecond / few.completedPerSecond;
  const highestId = String((total + 1) * 1_000_000);
  return { few, many, ratio, isMet: ratio >= target, highestId };
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
async function fill(database: Client, { from, until, total }: Fill, say: Say): Promise<void> {
  const query = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await database.query(text, [...values])).rows as Row[];
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
  for (let next = from; next <= until; next += portionOrders) {
    const count = Math.min(portionOrders, until - next + 1);
    await addOrders(query, { template, merchant, from: next, count, days: 365, total });
    const done = next + count - from;
    const perSecond = (done * 1000) / (performance.now() - startedAt);
    const left = Math.round((until - next - count + 1) / perSecond);
    say(
      `Stored ${done} of ${until - from + 1} orders (${Math.round(perSecond)}/s, ${left} s left)`,
    );
  }
  say("Making the index of client order ids, gathering statistics …");
  await query(index?.definition ?? "");
  await query("vacuum (analyze) orders");
  await query("vacuum (analyze) order_history");
  await query("vacuum (analyze) vault.cards");
  await query("checkpoint");
}

async function readSize(database: Client): Promise<{ orders: number; bytes: number }> {
  const { rows } = await database.query(`
    select (select count(*) from orders) as orders,
      (select sum(pg_total_relation_size(oid)) from pg_class
       where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'vault')) as bytes`);
  return { orders: Number(rows[0]?.orders), bytes: Number(rows[0]?.bytes) };
}
