/**
 * Gives the checks of `gw certify` their actions on a merchant's server: buy as a browser does,
 * send genuine, repeated and forged callbacks, and read which state the server reports for an
 * order. The real results of the orders come from the gateway.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { CallbackRequest } from "../callbacks/callback.ts";
import type { SendOutcome } from "../callbacks/send.ts";
import { Problem } from "../values/problem.ts";
import { readFields } from "./callback-listen.ts";
import {
  type CallbackKey,
  causeOf,
  type DemonstrationMerchant,
  makeForward,
} from "./demonstration-merchant.ts";

type StageOptions = {
  readonly purchaseUrl: string;
  readonly callbackUrl: string;
  /**
   * The URL at which the merchant's server reports the state of an order. `{order}` stands for the
   * order's id.
   */
  readonly orderUrl: string;
  /** How long a check waits for the gateway's result of an order. */
  readonly waitMs: number;
  /**
   * How long the merchant's server may take to ask the gateway for a result that no callback has
   * announced.
   */
  readonly asksWithinMs: number;
};

const orderStates = ["open", "paid", "failed", "refunded"] as const;
type OrderState = (typeof orderStates)[number];

type CertifyCard = { readonly number: string; readonly cvv: string };

/**
 * A result of an order, with the fields of the callback that announces the result to the merchant.
 */
export type Announced = {
  readonly key: CallbackKey;
  readonly order: string;
  readonly fields: Readonly<Record<string, string>>;
};

type Expected = {
  readonly order: string;
  readonly state: OrderState;
  /**
   * How many times the merchant's server must have shipped the goods of the order. Undefined allows
   * one shipment or none.
   */
  readonly shipped?: number;
};

/**
 * The error that ends a check which the merchant's server has failed. Its message says why the
 * points of the check are lost.
 */
export class PointsLost extends Error {}

export type CertifyStage = Exclude<Awaited<ReturnType<typeof openStage>>, Problem>;

const lookEveryMs = 100;
/**
 * How long a check waits for the expected state of an order, because the merchant's server may
 * answer a callback first and process it later.
 */
const processesWithinMs = 10_000;
const answersWithinMs = 15_000;
const buyerWaitsMs = 30_000;

export async function openStage(merchant: DemonstrationMerchant, options: StageOptions) {
  const { purchaseUrl, callbackUrl, orderUrl, waitMs, asksWithinMs } = options;
  const forward = makeForward(callbackUrl, answersWithinMs);
  const known = new Map<string, Announced["fields"]>();
  const expectations = new Map<string, Expected & { readonly check: string }>();
  const first = await merchant.listCallbacks("").catch(causeOf);
  if (first instanceof Problem) return first;
  if (typeof first === "string") return new Problem(`The gateway does not answer: ${first}.`);
  const since = String(first.now);
  let check = "";
  return {
    buy,
    press,
    pay,
    resultOf,
    hasResult,
    refund,
    chargeBack,
    bring,
    forge,
    expect,
    asksWithinMs,
    /**
     * Starts the check with this name. Expectations that are added from now on belong to this
     * check.
     */
    begin(name: string): void {
      check = name;
    },
    /**
     * Looks at all orders again after the last check. Returns the checks whose orders no longer
     * have the expected state or were charged twice, each with a sentence that says what is wrong.
     */
    async lookAgain(): Promise<ReadonlyMap<string, string>> {
      const changed = new Map<string, string>();
      for (const { check: name, ...expected } of expectations.values()) {
        const twice = (await isChargedTwice(expected.order)) ? chargedTwice : undefined;
        const fault = twice ?? findFault(await view(expected.order), expected);
        if (fault === undefined) continue;
        // An order that was expected to be open may have got a result since its check, which is no
        // fault. The merchant's server is asked before the gateway, so that the gateway knows every
        // result that the server has reported.
        if (fault !== twice && expected.state === "open" && (await hasResult(expected.order))) {
          continue;
        }
        changed.set(name, `At the end: ${fault}`);
      }
      return changed;
    },
  };

  /** Sends a purchase with the card to the merchant's server and returns the order's id. */
  async function buy(card: CertifyCard): Promise<string> {
    const order = randomUUID();
    const status = await press(card, order);
    if (status < 400) return order;
    throw new PointsLost(`The purchase was answered with ${status}.`);
  }

  /**
   * Sends the purchase form to the merchant's server and returns the HTTP status of the answer. A
   * check sends the same order several times to simulate an impatient buyer.
   */
  async function press(card: CertifyCard, order: string): Promise<number> {
    const body = new URLSearchParams({
      order,
      credit_card_number: card.number,
      expire_month: "12",
      expire_year: "2031",
      cvv2: card.cvv,
      card_printed_name: "JANE DOE",
    });
    const signal = AbortSignal.timeout(buyerWaitsMs);
    const sent = { method: "POST", body, redirect: "manual", signal } as const;
    const answer = await fetch(purchaseUrl, sent).catch(loseFor("The purchase was not answered"));
    await answer.arrayBuffer().catch(() => undefined);
    return answer.status;
  }

  /**
   * Buys with the card and returns the gateway's result of the order, before a callback announces
   * the result to the merchant's server.
   */
  async function pay(card: CertifyCard): Promise<Announced> {
    return resultOf(await buy(card));
  }

  async function resultOf(order: string, count = 1): Promise<Announced> {
    const found = await within(waitMs, async () => (await findResults(order))[count - 1]);
    if (found !== undefined) return found;
    throw new PointsLost("The gateway has no result of the order that names a callback URL.");
  }

  /** Returns the results that the gateway has for the order so far, the oldest first. */
  async function findResults(order: string): Promise<readonly Announced[]> {
    const page = await merchant.listCallbacks(since).catch(() => undefined);
    if (page === undefined || page instanceof Problem) return [];
    for (const key of page.callbacks) {
      if (known.has(nameOf(key))) continue;
      const request = await merchant.writeCallback(key).catch(() => undefined);
      if (request === undefined || request instanceof Problem) continue;
      known.set(nameOf(key), Object.fromEntries(readFields(request)));
    }
    return page.callbacks.toReversed().flatMap((key) => {
      const fields = known.get(nameOf(key));
      return fields?.["client_orderid"]?.includes(order) ? [{ key, order, fields }] : [];
    });
  }

  /**
   * Returns whether the gateway has more than one order for one order of the shop, which means that
   * the buyer was charged twice.
   */
  async function isChargedTwice(order: string): Promise<boolean> {
    return new Set((await findResults(order)).map(({ key }) => key.order)).size > 1;
  }

  async function hasResult(order: string): Promise<boolean> {
    return (await findResults(order)).length > 0;
  }

  /**
   * Refunds an order directly at the gateway, as the merchant's staff does in the portal. Only the
   * callback announces the refund to the merchant's server.
   */
  async function refund({ order, fields }: Announced): Promise<Announced> {
    const { client_orderid: own = "", orderid = "" } = fields;
    const cause = await merchant.refund(own, orderid);
    if (cause !== undefined) throw new PointsLost(`No refund: ${cause}.`);
    return resultOf(order, 2);
  }

  async function chargeBack({ order, fields }: Announced): Promise<Announced> {
    const asked = merchant.chargeBack(fields["orderid"] ?? "");
    demand(await asked.catch(loseFor("No chargeback")));
    return resultOf(order, 2);
  }

  /**
   * Sends the genuine callback of a result to the merchant's server, as the gateway would send it
   * now. The points are lost if the server does not answer with 2xx.
   */
  async function bring({ key }: Announced): Promise<void> {
    const outcome = await forward(await write(key));
    if (isAccepted(outcome)) return;
    throw new PointsLost(`A genuine callback was answered with ${describe(outcome)}.`);
  }

  /**
   * Sends a callback whose fields were changed after it was signed. Returns whether the merchant's
   * server accepted this forged callback.
   */
  async function forge({ key }: Announced, changes: Changes): Promise<boolean> {
    return isAccepted(await forward(rewrite(await write(key), changes)));
  }

  async function write(key: CallbackKey): Promise<CallbackRequest> {
    const asked = merchant.writeCallback(key, callbackUrl);
    return demand(await asked.catch(loseFor("The gateway is unreachable")));
  }

  /**
   * Waits until the merchant's server reports the expected state of the order. The expectation is
   * stored, because the server must still report this state at the end of all checks.
   */
  async function expect(
    expected: Expected,
    limitMs = Math.min(processesWithinMs, asksWithinMs),
  ): Promise<void> {
    let fault: string | undefined;
    await within(limitMs, async () => {
      fault = findFault(await view(expected.order), expected);
      return fault === undefined ? true : undefined;
    });
    expectations.set(expected.order, { ...expected, check });
    if (fault !== undefined) throw new PointsLost(fault);
  }

  async function view(order: string): Promise<unknown> {
    const url = orderUrl.replaceAll("{order}", encodeURIComponent(order));
    const signal = AbortSignal.timeout(answersWithinMs);
    const read = async () => {
      const answer = await fetch(url, { headers: { accept: "application/json" }, signal });
      return answer.ok ? await answer.json() : `HTTP ${answer.status}`;
    };
    return read().catch(causeOf);
  }
}

const chargedTwice = "The gateway has more than one order for one purchase.";

function loseFor(what: string) {
  return (error: unknown): never => {
    throw new PointsLost(`${what}: ${causeOf(error)}.`);
  };
}

function demand<Answer>(answer: Answer | Problem): Answer {
  if (answer instanceof Problem) throw new PointsLost(answer.sentence);
  return answer;
}

function findFault(view: unknown, { state, shipped }: Expected): string | undefined {
  if (typeof view === "string") return `The order cannot be read: ${view}.`;
  const { state: seen, shipped: count } = Object(view) as Readonly<Record<string, unknown>>;
  if (!orderStates.some((each) => each === seen) || typeof count !== "number") {
    return "The order has no `state` (open, paid, failed, refunded), or no number `shipped`.";
  }
  if (seen !== state) return `The order is ${seen}, and should be ${state}.`;
  const isRight = shipped === undefined ? count <= 1 : count === shipped;
  if (isRight) return undefined;
  return `The order counts ${count} as shipped, and should count ${shipped ?? 1}.`;
}

type Changes = Readonly<Record<string, string | undefined>>;

/**
 * Returns the callback with changed fields, which are in its JSON body, its form body or the query
 * of its URL.
 */
function rewrite(request: CallbackRequest, changes: Changes): CallbackRequest {
  if (request.headers["content-type"] === "application/json") {
    return { ...request, body: JSON.stringify({ ...JSON.parse(request.body), ...changes }) };
  }
  const apply = (fields: URLSearchParams) => {
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) fields.delete(name);
      else fields.set(name, value);
    }
    return fields.toString();
  };
  if (request.method === "POST")
    return { ...request, body: apply(new URLSearchParams(request.body)) };
  const url = new URL(request.url);
  url.search = apply(url.searchParams);
  return { ...request, url: url.href };
}

function isAccepted({ status = 0 }: SendOutcome): boolean {
  return status >= 200 && status < 300;
}

function describe({ status, failure }: SendOutcome): string {
  return String(status ?? `nothing (${failure})`);
}

function nameOf({ order, sequence }: CallbackKey): string {
  return `${order}-${sequence}`;
}

/** Calls `find` repeatedly until it returns something or the time limit is reached. */
async function within<Found>(
  limitMs: number,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const found = await find();
    if (found !== undefined || performance.now() > giveUpAt) return found;
    await pause(lookEveryMs);
  }
}
