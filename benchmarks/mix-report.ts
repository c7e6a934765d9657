/**
 * Reports the cost of an order of the mix as a multiple of a plain sale, and the cost that each
 * part adds.
 */
import type { CpuTime } from "./cpu-time.ts";
import type { Mix, Part } from "./mix.ts";
import { pauseMsMax } from "./pauses.ts";

const multipleMax = 2.5;

/** Returns the cost that a part adds to a plain sale, for one order of the mix. */
export function addedBy({ share, cost }: Part, plain: CpuTime) {
  return {
    gateway: share * (cost.gateway - plain.gateway),
    database: share * (cost.database - plain.database),
    bank: share * (cost.bank - plain.bank),
  };
}

type Costs = ReturnType<typeof addedBy>;

/** Returns the cost of the gateway and PostgreSQL together, for which an operator pays. */
export function ownOf({ gateway, database }: Pick<CpuTime, "gateway" | "database">): number {
  return gateway + database;
}

export function printMix(mix: Mix): string {
  const { plain, cost, parts, latency, pauses, memoryBytes, refused } = mix;
  const added = parts.map((part) => ({ ...part, adds: addedBy(part, plain) }));
  const explained = added.reduce((sum, { adds }) => sum + ownOf(adds), ownOf(plain));
  const multiple = ownOf(cost) / ownOf(plain);
  const costs = (name: string, of: Costs, multiples: string) =>
    row(name, [of.gateway, of.database, of.bank, ownOf(of)].map(round), multiples);
  const times = (of: Costs, sign = "") => {
    const multiples = ownOf(of) / ownOf(plain);
    return `${multiples < 0 ? "" : sign}${multiples.toFixed(2)}`;
  };
  const partLines = added.flatMap(({ name, share, cost: alone, adds }) => [
    costs(name, alone, times(alone)),
    costs(`  adds, by ${share * 100} % of orders`, adds, times(adds, "+")),
  ]);
  const latencyLines = Object.entries(latency).map(([what, { count, p50, p99, max }]) =>
    row(what, [String(count), ...[p50, p99, max].map((ms) => ms.toFixed(2))]),
  );
  const verdict = multiple <= multipleMax ? "reached" : "MISSED";
  const memory = memoryBytes.map((bytes) => Math.round(bytes / 1e6)).join(", ");
  const unexplained = ownOf(cost) - explained;
  return [
    `  ${mix.orders} orders at ${mix.perSecond}/s`,
    "",
    row("µs of processor time an order", ["gateway", "PostgreSQL", "bank", "both own"], "÷ plain"),
    costs("plain sale", plain, "1.00"),
    ...partLines,
    costs("the mix", cost, times(cost)),
    ...(parts.length > 0 ? [`  of it in no part: ${round(unexplained)} µs`] : []),
    `  The mix costs ${multiple.toFixed(2)} plain sales (aim ${multipleMax}): ${verdict}`,
    "",
    row("ms to the answer, in the mix", ["count", "p50", "p99", "max"]),
    ...latencyLines,
    "",
    `  ${refused} orders refused${refused > 0 ? `, first: ${mix.refusal}` : ""}`,
    `  ${pauses.count} collections of garbage, the longest pause ` +
      `${pauses.longestMs.toFixed(1)} ms, ${pauses.long} over ${pauseMsMax} ms`,
    `  the gateway's memory, MB: ${memory}`,
  ].join("\n");
}

export const mixDefinitions = `
  both own      the gateway and PostgreSQL together; ÷ plain: the same of a plain sale
  plain sale    neither polled nor called back, without rules or a portal user
  each part     alone, at the same rate: what it costs an order, and what the mix therefore pays for
  in no part    what all of them together cost beyond that, or less, because they share work
  order         a refund counts as one; a preauthorisation with its capture counts as one`;

function round(us: number): string {
  return Math.round(us).toLocaleString("en");
}

function row(name: string, cells: readonly string[], last = ""): string {
  const padded = cells.map((cell) => cell.padStart(12)).join("");
  return `  ${name.padEnd(38)}${padded}${last.padStart(10)}`.trimEnd();
}
