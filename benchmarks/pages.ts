/**
 * `npm run bench -- --pages`: measures how 200 payment pages a minute, opened and paid, affect 500
 * sales a second. Sales alone and sales beside pages are measured in turn, and the median of five
 * rounds counts, because other work on the machine delays only some rounds.
 */
import { arriveAtGateway } from "./arrivals.ts";
import { delaysOf, median } from "./figures.ts";
import { measureSales } from "./measure.ts";
import type { Setup } from "./setup.ts";

const pagesPerMinute = 200;
const rounds = 5;
const ratioMax = 1.5;
/** The number of pages that compile the pages' code. */
const warmUpPages = 40;

type Round = {
  readonly withoutMs: number;
  readonly besideMs: number;
  readonly pages: number;
  readonly pageMs: number;
};

export type PageFigures = {
  readonly rounds: readonly Round[];
  readonly withoutMs: number;
  readonly besideMs: number;
  readonly ratio: number;
  readonly isMet: boolean;
};

export async function measurePages(
  given: Setup,
  say: (text: string) => void,
): Promise<PageFigures> {
  // The slices are long, because a p99 needs thousands of sales.
  const setup = { ...given, plan: { ...given.plan, arrivalSlices: 1, arrivalSeconds: 8 } };
  const { plan } = setup;
  say(`Warming up with ${plan.warmUpOrders} sales and ${warmUpPages} payment pages …`);
  await measureSales(setup, "warm", plan.warmUpOrders);
  await pay(setup, "warmpage", warmUpPages, 600);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // Each of the two comes first in turn.
    const isFirst = round % 2 === 1;
    const early = isFirst ? await salesAlone(setup, round) : undefined;
    const beside = await salesBeside(setup, round);
    const withoutMs = early ?? (await salesAlone(setup, round));
    measured.push({ withoutMs, ...beside });
    const { besideMs, pages, pageMs } = beside;
    say(
      `Round ${round} of ${rounds}: p99 of a sale ${withoutMs.toFixed(1)} ms alone, ` +
        `${besideMs.toFixed(1)} ms beside ${pages} pages (paid in ${Math.round(pageMs)} ms)`,
    );
  }
  const [withoutMs, besideMs] = [
    median(measured.map((each) => each.withoutMs)),
    median(measured.map((each) => each.besideMs)),
  ];
  const ratio = besideMs / withoutMs;
  return { rounds: measured, withoutMs, besideMs, ratio, isMet: ratio <= ratioMax };
}

async function salesAlone(setup: Setup, round: number): Promise<number> {
  return p99Of(await arriveAtGateway(setup, `alone${round}`));
}

async function salesBeside(setup: Setup, round: number) {
  const count = Math.round((pagesPerMinute * setup.plan.arrivalSeconds) / 60);
  const paying = pay(setup, `page${round}`, count, pagesPerMinute);
  const sales = await arriveAtGateway(setup, `beside${round}`);
  const { paidMs } = await paying;
  return { besideMs: p99Of(sales), pages: count, pageMs: median(paidMs) };
}

async function pay(
  { gateway, otherLoad, acknowledged }: Setup,
  prefix: string,
  count: number,
  perMinute: number,
) {
  const { target } = gateway;
  const paid = await otherLoad.ask("payPages", { target, prefix, count, perMinute });
  acknowledged.push(...paid.orders);
  return paid;
}

function p99Of(slice: Parameters<typeof delaysOf>[0][number]): number {
  return delaysOf([slice], ({ answeredAtMs }) => answeredAtMs).p99;
}

export function printPages({ withoutMs, besideMs, ratio, isMet }: PageFigures): string {
  return [
    `Sales at 500 a second, p99 until acknowledged, median of ${rounds} rounds:`,
    `alone ${withoutMs.toFixed(1)} ms`,
    `beside ${pagesPerMinute} payment pages a minute ${besideMs.toFixed(1)} ms`,
    `ratio ${ratio.toFixed(2)}, target ${ratioMax}: ${isMet ? "met" : "missed"}`,
  ].join("\n");
}
