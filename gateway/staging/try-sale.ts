/**
 * Pays as a merchant would: over HTTP, through the merchant interface, with a signed request. So
 * that the first page shown afterwards has news, it asks for the status a few times.
 */
import { setTimeout as pause } from "node:timers/promises";
import { writeForm } from "@tollgate/protocols/form";
import { findCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import {
  type ExampleFields,
  type ExampleSale,
  operationUrl,
  signSale,
  signStatus,
} from "./example-sale.ts";
import type { Chosen, WelcomeFacts } from "./welcome-facts.ts";

/** Why a sale was not accepted, for the person at the form. */
export class TryRefusal {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export type TryPlace = {
  /** Where this gateway listens; its public address may lead through a proxy. */
  readonly address: string;
  readonly clientOrderId: string;
};

const askEveryMs = 60;
const askTimes = 20;
const answerWithinMs = 10_000;

export async function trySale(
  facts: WelcomeFacts,
  chosen: Chosen,
  { address, clientOrderId }: TryPlace,
): Promise<TryRefusal | undefined> {
  const sale = saleOf(facts, chosen, clientOrderId);
  if (sale instanceof TryRefusal) return sale;
  const at = { baseUrl: address, pathWord: facts.pathWord };
  const { endpoint } = sale;

  const url = operationUrl(at, { operation: "sale", endpoint });
  const answer = await post(url, signSale(facts.merchant, sale));
  if (answer instanceof TryRefusal) return answer;
  if (answer.get("type") !== "async-response") {
    return new TryRefusal(
      `The gateway refused the sale: ${answer.get("error-code")} ${answer.get("error-message")}`,
    );
  }
  const statusUrl = operationUrl(at, { operation: "status", endpoint });
  await untilSettled(() => post(statusUrl, signStatus(facts.merchant, clientOrderId)));
  return undefined;
}

/** Only test cards and endpoints that the page offers: nobody shall type a real card number. */
function saleOf(
  { baseUrl, cards, endpoints }: WelcomeFacts,
  { card, amount, endpoint: id }: Chosen,
  clientOrderId: string,
): ExampleSale | TryRefusal {
  const known = cards?.find((each) => each.card === card);
  if (known === undefined) return new TryRefusal("Choose one of the sandbox bank’s test cards.");
  const endpoint = endpoints.find((each) => each.id === id);
  if (endpoint === undefined) return new TryRefusal("Choose one of the endpoints.");

  const currency = findCurrency(endpoint.currency);
  if (currency === undefined || parseAmount(amount, currency) === undefined) {
    const digits = currency?.exponent ?? 0;
    return new TryRefusal(
      `“${amount}” is no amount in ${endpoint.currency}: write digits, ` +
        (digits === 0 ? "without a fraction." : `with at most ${digits} after a point.`),
    );
  }
  return {
    endpoint: endpoint.id,
    clientOrderId,
    description: `Test card ${known.name}`,
    amount,
    currency: endpoint.currency,
    card,
    redirectUrl: `${baseUrl}/?order=${encodeURIComponent(clientOrderId)}`,
  };
}

async function untilSettled(ask: () => Promise<URLSearchParams | TryRefusal>): Promise<void> {
  for (let times = 0; times < askTimes; times += 1) {
    await pause(askEveryMs);
    const answer = await ask();
    if (answer instanceof TryRefusal || answer.get("status") !== "processing") return;
  }
}

async function post(url: string, fields: ExampleFields): Promise<URLSearchParams | TryRefusal> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: writeForm(fields),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    return new URLSearchParams(withoutLineFeeds(await answer.text()));
  } catch (error) {
    return new TryRefusal(`The gateway did not answer itself at ${url}: ${String(error)}.`);
  }
}

/** Where GW_LINE_FEEDS is on, they end every value. */
function withoutLineFeeds(text: string): string {
  return text.replaceAll("\n", "");
}
