/**
 * `npm run bench -- --portal <n>`: measures the time of the portal's screens with n stored orders,
 * which `gw generate orders` makes. Requests are sent one after the other, as a person does, with
 * values of orders from the whole year; the 95th percentile counts. `node benchmarks/portal.ts
 * <demo.json>` measures a running installation.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const requests = 40;
const warmUps = 3;
const targetMs = 200;

type Measured = { readonly screen: string; readonly p50: number; readonly p95: number };
export type PortalFigures = { readonly measured: readonly Measured[]; readonly isMet: boolean };
type Line = Readonly<
  Record<"order" | "clientOrder" | "email" | "lastFour" | "reference", string>
> & {
  readonly at: number;
  readonly amount: { readonly text: string };
};
type Say = (text: string) => void;
type Ask = (path: string) => Promise<{ readonly orders: readonly Line[] }>;

/** Generates orders in a separate process, as an operator does. */
export async function generateOrders(folder: string, count: number): Promise<void> {
  const gw = join(import.meta.dirname, "../gateway/cli/gw.ts");
  const parameters = ["generate", "orders", "--count", String(count), "--progress"];
  const child = spawn(process.execPath, [...process.execArgv, gw, ...parameters], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, GW_DATA_DIR: folder },
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`gw generate orders ended with ${code}`);
}

export async function measurePortal(folder: string, say: Say): Promise<PortalFigures> {
  const operator = await signIn(folder, "operator");
  const merchant = await signIn(folder, "merchant");
  const samples = await findSamples(operator);
  const measured: Measured[] = [];
  for (const [screen, pathOf, isMerchants = false] of screens) {
    const times: number[] = [];
    for (let count = -warmUps; count < requests; count += 1) {
      const path = pathOf(samples[Math.abs(count) % samples.length] ?? fail());
      const startedAt = performance.now();
      await (isMerchants ? merchant : operator)(path);
      if (count >= 0) times.push(performance.now() - startedAt);
    }
    const figures = { screen, p50: percentileOf(times, 0.5), p95: percentileOf(times, 0.95) };
    say(printOne(figures));
    measured.push(figures);
  }
  return { measured, isMet: measured.every(({ p95 }) => p95 < targetMs) };
}

const screens: readonly (readonly [
  screen: string,
  path: (line: Line) => string,
  isMerchants?: boolean,
])[] = [
  ["list", () => "orders"],
  ["list, a later page", ({ at, order }) => `orders?after=${at}-${order}`],
  ["list of a merchant", () => "orders", true],
  ["status", () => "orders?status=declined"],
  ["status and old dates", ({ at }) => `orders?status=declined&until=${Math.round(at)}`],
  ["status of which there is none", () => "orders?status=filtered"],
  ["stage, currency and network", () => "orders?stage=sale_approved&currency=USD&network=VISA"],
  ["currency of which there is none", () => "orders?currency=EUR&status=approved"],
  ["search by order id", ({ order }) => `orders?search=${order}`],
  ["search by client order id", ({ clientOrder }) => `orders?search=${clientOrder}`],
  ["search by email", ({ email }) => `orders?search=${encodeURIComponent(email)}`],
  ["search by last four", ({ lastFour }) => `orders?search=${lastFour}`],
  ["search by amount", ({ amount }) => `orders?search=${amount.text}`],
  ["search by RRN", ({ reference }) => `orders?search=${reference}`],
  ["search without a match", ({ order }) => `orders?search=x${order}`],
  ["search of a merchant", ({ email }) => `orders?search=${encodeURIComponent(email)}`, true],
  ["order", ({ order }) => `orders/${order}`],
  ["home, an hour", () => "home?range=hour"],
  ["home, a day", () => "home?range=day"],
  ["home, a month", () => "home?range=month"],
  ["home, a year", () => "home?range=year"],
  ["home of a merchant, a year", () => "home?range=year", true],
  [
    "export, 5,000 orders",
    ({ at, order }) => `exports/orders?status=declined&after=${at}-${order}`,
  ],
];

/** Returns orders from the whole year. */
async function findSamples(ask: Ask): Promise<readonly Line[]> {
  const now = Date.now();
  const days = Array.from({ length: 20 }, (_, index) => 1 + index * 18);
  const pages = await Promise.all(
    days.map((day) => ask(`orders?limit=2&until=${now - day * 86_400_000}`)),
  );
  return pages.flatMap(({ orders }) => orders);
}

export async function signIn(folder: string, who: "operator" | "merchant"): Promise<Ask> {
  const { portal } = JSON.parse(readFileSync(join(folder, "demo.json"), "utf8"));
  const { url, [who]: user } = portal;
  const entered = await fetch(`${url}api/sign-in`, {
    method: "POST",
    headers: { "x-portal": "1" },
    body: JSON.stringify(user),
  });
  const cookie = entered.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  return async (path) => {
    const answer = await fetch(`${url}api/${path}`, { headers: { cookie } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  };
}

export function printPortal({ measured, isMet }: PortalFigures): string {
  const verdict = `each below ${targetMs} ms at the 95th percentile: ${isMet ? "met" : "missed"}`;
  return [...measured.map(printOne), verdict].join("\n");
}

function printOne({ screen, p50, p95 }: Measured): string {
  const [half, most] = [p50, p95].map((ms) => `${ms.toFixed(0).padStart(5)} ms`);
  return `${screen.padEnd(34)} median ${half}, p95 ${most}`;
}

function percentileOf(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

function fail(): never {
  throw new Error("there are no orders");
}

if (import.meta.main) {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  await measurePortal(process.argv[2] ?? "", say);
}
