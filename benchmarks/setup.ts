/**
 * The processes of a run with the orders acknowledged so far, and the functions that run a job on
 * them.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import { isOfGateway } from "../gateway/storage/orders/generated-orders.ts";
import type { BaselineJobs } from "./baselines.ts";
import type { Processes } from "./cpu-time.ts";
import type { MeasuredGateway } from "./gateway.ts";
import type { Load, LoadJobs } from "./load.ts";
import type { Part } from "./parts.ts";
import type { Plan } from "./plan.ts";
import { type Batch, clientOrderIdOf, type OrderName } from "./requests.ts";

/** Everything that runs during the benchmark, and the orders acknowledged so far. */
export type Setup = {
  readonly plan: Plan;
  readonly gateway: MeasuredGateway;
  readonly database: Client;
  readonly ordersDue: "due" | "orders";
  readonly load: Part<LoadJobs>;
  /** A second generator, for concurrent load of another kind. */
  readonly otherLoad: Part<LoadJobs>;
  readonly inserts: Part<BaselineJobs>;
  readonly processes: Processes;
  readonly routePort: number;
  /** The port of a merchant's receiver that answers callbacks at once. */
  readonly receiverPort: number;
  readonly acknowledged: OrderName[];
  /** The acknowledged orders of the endpoint with 3-D Secure. */
  readonly authenticated: OrderName[];
};

const settleWithinMs = 60_000;
const lookEveryMs = 5;

export function run(
  { plan, gateway, load }: Setup,
  batch: Batch,
  {
    target = gateway.target,
    seconds,
  }: { target?: MeasuredGateway["target"]; seconds?: number } = {},
): Promise<Load> {
  return load.ask("run", { target, connections: plan.connections, batch, seconds });
}

/** Returns the time at which all orders, or callbacks, were found to be final. */
export async function untilNoneOpen(
  { database, ordersDue }: Setup,
  what: "orders" | "callbacks" = "orders",
): Promise<number> {
  const table = what === "orders" ? ordersDue : what;
  const giveUpAt = Date.now() + settleWithinMs;
  for (;;) {
    const { rowCount } = await database.query({
      name: `open ${table}`,
      text: `select 1 from ${table} where due_at is not null limit 1`,
    });
    // The audit finds the orders that are still open after that.
    if (rowCount === 0 || Date.now() > giveUpAt) return Date.now();
    await pause(lookEveryMs);
  }
}

/** Returns the table that shows which orders are due. Earlier commits have no table for it. */
export async function findOrdersDue(database: Client): Promise<"due" | "orders"> {
  const { rows } = await database.query("select to_regclass('due') is not null as is_known");
  return rows[0]?.is_known ? "due" : "orders";
}

export async function countApproved({ database }: Setup, prefix: string): Promise<number> {
  const { rows } = await database.query(
    `select count(*) from orders
     where ${isOfGateway} and stage = 'approved' and client_orderid like $1`,
    [`${prefix}-%`],
  );
  return Number(rows[0]?.count);
}

/** Returns the orders that the last job's replies acknowledged. */
export async function takeAcknowledged(
  setup: Setup,
  prefix: string,
  { into = setup.acknowledged, load = setup.load } = {},
): Promise<readonly OrderName[]> {
  const orderIds = await load.ask("found", undefined);
  const orders = orderIds.flatMap((orderId, index) =>
    orderId === "" ? [] : [{ clientOrderId: clientOrderIdOf(prefix, index), orderId }],
  );
  // The orders are added one by one, because there may be more than a call accepts arguments.
  for (const order of orders) into.push(order);
  return orders;
}

/**
 * Returns the replies per second, from the first request to the last reply. None may be refused.
 */
export function rateOf(load: Load): number {
  const { sent, refused, refusal } = load;
  if (refused > 0) throw new Error(`${refused} of ${sent} were refused, first: ${refusal}`);
  return (sent * 1000) / spanOf(load);
}

export function spanOf({ startedAtMs, endedAtMs }: Load): number {
  return endedAtMs - startedAtMs;
}

const window = "1h";

/** Ten rules that most sales of honest payers do not trigger. */
const screeningRules = [
  ["velocity", { per: "card", count: "20", window }],
  ["velocity", { per: "card", sum: "1000000", currency: "USD", window: "1d" }],
  ["velocity", { per: "email", count: "100", window }],
  ["velocity", { per: "email", sum: "1000000", currency: "USD", window }],
  ["velocity", { per: "ip", count: "100", window, of: "approved" }],
  ["cards", { per: "email", count: "50", window }],
  ["cards", { per: "ip", count: "50", window }],
  ["declines", { per: "card", count: "5", window }],
  ["duplicate", { window: "10m" }],
  ["first-seen", { per: "email", age: "1s" }],
] as const;

/** Switches ten rules on, as `gw filter add` does. */
export async function screenSales({ database }: Pick<Setup, "database">): Promise<void> {
  for (const [kind, parameters] of screeningRules) {
    await database.query(
      "insert into screening_rules (kind, parameters, action) values ($1, $2, 'mark')",
      [kind, JSON.stringify(parameters)],
    );
  }
  await database.query("select pg_notify('tollgate_configuration', '')");
}
