/**
 * Acts on a merchant's server for the checks of `gw certify`: buys as a browser does, sends
 * genuine, repeated and forged callbacks, and reads an order's state. The real results come from
 * the gateway.
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
  /** Where the merchant's server reports an order's state. `{order}` stands for the order's id. */
  readonly orderUrl: string;
  /** How long a check waits for the gateway's result of an order. */
  readonly waitMs: number;
  /** How long the merchant's server may take to ask for a result that no callback has announced. */
  readonly asksWithinMs: number;
};

const orderStates = ["open", "paid", "failed", "refunded"] as const;
type OrderState = (typeof orderStates)[number];

type CertifyCard = { readonly number: string; readonly cvv: string };

/** A result of an order, with the fields of the callback about it. */
export type Announced = {
  readonly key: CallbackKey;
  readonly order: string;
  readonly fields: Readonly<Record<string, string>>;
};

type Expected = {
  readonly order: string;
  readonly state: OrderState;
  /** How often the server must have shipped the goods. If undefined, at most once. */
  readonly shipped?: number;
};

/** Ends a check that the merchant's server has failed. The message says why its points are lost. */
export class PointsLost extends Error {}

export type CertifyStage = Exclude<Awaited<ReturnType<typeof openStage>>, Problem>;

const lookEveryMs = 100;
/** The merchant's server may answer a callback first and process it later. */
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
    /** Assigns the expectations that are added from now on to the check `name`. */
    begin(name: string): void {
      check = name;
    },
    /**
     * Looks at all orders again. Returns the checks whose orders no longer have the expected state
     * or were charged twice, each with a sentence that says what is wrong.
     */
    async lookAgain(): Promise<ReadonlyMap<string, string>> {
      const changed = new Map<string, string>();
      for (const { check: name, ...expected } of expectations.values()) {
        const twice = (await isChargedTwice(expected.order)) ? chargedTwice : undefined;
        const fault = twice ?? findFault(await view(expected.order), expected);
        if (fault === undefined) continue;
        // An order that was open when its check ended may have a result by now, which is no fault
        // of the merchant's server. The gateway is asked last, so that it knows every result that
        // the server has reported.
        if (fault !== twice && expected.state === "open" && (await hasResult(expected.order))) {
          continue;
        }
        changed.set(name, `At the end: ${fault}`);
      }
      return changed;
    },
  };

  async function buy(card: CertifyCard): Promise<string> {
    const order = randomUUID();
    const status = await press(card, order);
    if (status < 400) return order;
    throw new PointsLost(`The purchase was answered with ${status}.`);
  }

  /** Returns the HTTP status. A check repeats an order to act as an impatient buyer. */
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

  /** Buys with the card. Returns the gateway's result before a callback announces it. */
  async function pay(card: CertifyCard): Promise<Announced> {
    return resultOf(await buy(card));
  }

  async function resultOf(order: string, count = 1): Promise<Announced> {
    const found = await within(waitMs, async () => (await findResults(order))[count - 1]);
    if (found !== undefined) return found;
    throw new PointsLost("The gateway has no result of the order that names a callback URL.");
  }

  /** Returns the gateway's results of the order, the oldest first. */
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

  /** Two orders of the gateway for one order of the shop mean that the buyer was charged twice. */
  async function isChargedTwice(order: string): Promise<boolean> {
    return new Set((await findResults(order)).map(({ key }) => key.order)).size > 1;
  }

  async function hasResult(order: string): Promise<boolean> {
    return (await findResults(order)).length > 0;
  }

  /** Refunds an order directly at the gateway, so that only the callback announces the refund. */
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

  /** Sends a result's genuine callback. Without a 2xx answer, the server gets no points. */
  async function bring({ key }: Announced): Promise<void> {
    const outcome = await forward(await write(key));
    if (isAccepted(outcome)) return;
    throw new PointsLost(`A genuine callback was answered with ${describe(outcome)}.`);
  }

  /** Sends a callback with changed fields. Returns whether the merchant's server accepted it. */
  async function forge({ key }: Announced, changes: Changes): Promise<boolean> {
    return isAccepted(await forward(rewrite(await write(key), changes)));
  }

  async function write(key: CallbackKey): Promise<CallbackRequest> {
    const asked = merchant.writeCallback(key, callbackUrl);
    return demand(await asked.catch(loseFor("The gateway is unreachable")));
  }

  /** The server must report the expected state soon, and still at the end of all checks. */
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

/** A callback has its fields in a JSON body, a form body or the query of its URL. */
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
