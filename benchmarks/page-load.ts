/**
 * Cardholders without browsers: each makes the shop ask for a payment page, opens it with its
 * files, posts a card, and follows the redirects to the result. They come on a schedule, like
 * arrivals.
 */
import { setTimeout as pause } from "node:timers/promises";
import { writeForm } from "@tollgate/protocols/form";
import { clientOrderIdOf, formPairs, type OrderName, payingCard, type Target } from "./requests.ts";

export type PageJob = {
  readonly target: Target;
  readonly prefix: string;
  readonly count: number;
  readonly perMinute: number;
};

export type PaidPages = {
  readonly orders: readonly OrderName[];
  /** The time from opening the page until it is loaded with its files. */
  readonly shownMs: readonly number[];
  /** The time from when the cardholder was due to the page with the result. */
  readonly paidMs: readonly number[];
};

const looksMax = 50;
const lookEveryMs = 200;

export async function payPages({ target, prefix, count, perMinute }: PageJob): Promise<PaidPages> {
  const startedAt = performance.now();
  const paid = Array.from({ length: count }, async (_, index) => {
    const dueAt = startedAt + (index * 60_000) / perMinute;
    await pause(Math.max(0, dueAt - performance.now()));
    const one = await payOne(target, prefix, index);
    return { ...one, paidMs: performance.now() - dueAt };
  });
  const all = await Promise.all(paid);
  return {
    orders: all.map(({ order }) => order),
    shownMs: all.map(({ shownMs }) => shownMs),
    paidMs: all.map(({ paidMs }) => paidMs),
  };
}

async function payOne(target: Target, prefix: string, index: number) {
  const base = `http://127.0.0.1:${target.port}`;
  const asked = await read(
    `${base}/gw/api/v2/sale-form/${target.endpoint}`,
    formPairs(target, prefix, index),
  );
  const reply = new URLSearchParams(asked.text);
  const address = new URL(reply.get("redirect-url") ?? "", base);
  const url = `${base}${address.pathname}`;
  const openedAt = performance.now();
  const page = await read(url);
  // These files are loaded by a browser the first time, all at once.
  const files = page.text.matchAll(/(?:src|href)="([^":]+\.(?:js|css))"/g);
  await Promise.all([...files].map(([, file = ""]) => read(new URL(file, url).href)));
  const shownMs = performance.now() - openedAt;
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = hidden.map(([, name = "", value = ""]) => [name, value] as const);
  const posted = await read(url, [...fields, ...payingCard(prefix, index)]);
  for (let looks = 0; looks < looksMax; looks += 1) {
    const journey = await read(posted.location);
    if (/name="status" value="approved"/.test(journey.text)) {
      const orderId = reply.get("gw-order-id") ?? "";
      return { order: { clientOrderId: clientOrderIdOf(prefix, index), orderId }, shownMs };
    }
    await pause(lookEveryMs);
  }
  throw new Error(`page ${index} was not paid: ${posted.status} ${posted.text.slice(0, 500)}`);
}

async function read(url: string, pairs?: readonly (readonly [string, string])[]) {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const sent = pairs && { method: "POST", headers, body: writeForm([...pairs]) };
  const answer = await fetch(url, { redirect: "manual", ...sent });
  const location = answer.headers.get("location");
  return {
    status: answer.status,
    text: await answer.text(),
    location: location === null ? url : new URL(location, url).href,
  };
}
