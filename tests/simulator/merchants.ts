/**
 * Merchants: each purchase is a sale or a preauthorisation, repeated if no answer comes, sometimes
 * sent twice at once or changed under the same id; and later perhaps a capture and returns, also
 * two at once. The merchant remembers each answer.
 */

import type { FollowUpTerms, Order } from "../../gateway/orders/order.ts";
import type { OrderRequest } from "../../gateway/orders/requests.ts";
import { waitsForCardholder } from "../../gateway/orders/stages.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { asOrderId, asSerialNumber, type OrderId } from "../../gateway/values/ids.ts";
import { getCurrency } from "../../gateway/values/iso-codes.ts";
import { Money } from "../../gateway/values/money.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { type Call, visit } from "./cardholder.ts";
import { allDigits, cardOf, factsOf } from "./cards.ts";
import { merchant, openShop, shops } from "./configuration.ts";
import type { DirectoryHost } from "./directory.ts";
import { momentOf, type Span } from "./faults.ts";
import type { Laws } from "./laws.ts";
import { refusedWallet } from "./node.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const receiverUrl = "https://shop.example/callback";

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly laws: Laws;
  readonly story: Story;
  readonly directory: DirectoryHost;
  readonly call: Call;
};

export type Purchase = { readonly index: number; readonly atMs: number };

export function planPurchases(random: Random, count: number, span: Span): Purchase[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    atMs: momentOf(random, span.storms, span.untilMs),
  }));
}

export function startPurchase({ index, atMs }: Purchase, options: Options): void {
  const { time, laws, story, call } = options;
  const random = options.random.fork(`purchase ${index}`);
  const client = `c-${index}`;
  const shop = random.chance(0.5) ? openShop : random.pick(shops);
  const habits = habitsOf(options.random.fork("habits"));
  // A stream of its own, so that payouts do not shift the other purchases.
  const isPayout = options.random.fork(`payout ${index}`).chance(payoutShare);
  time.after(atMs - time.now(), time.world, () => void buy());

  async function buy(): Promise<void> {
    const wanted = { client, endpointId: shop.id };
    const makeRequest = (asked: number) => {
      const request = requestOf(wanted, { random, habits }, asked);
      return isPayout ? asPayout(request, asked) : request;
    };
    const request = makeRequest(1 + random.below(99_999));
    const isTwice = random.chance(0.1);
    if (isTwice) void ask(request);
    const order = await ask(request);
    if (random.chance(0.05)) await ask(makeRequest(777));
    if (order === undefined) return;
    const orderId = order.id;
    await Promise.all([poll(orderId), visitOf(order)]);
    // Each correction is refused, unless the order has ended unpaid.
    const corrections = random.chance(0.2) ? random.pick([1, 4]) : 0;
    for (let made = 0; made < corrections; made++) {
      if (made > 0) await pause(random.skewed(100, 60_000));
      await ask(makeRequest(778 + made));
    }
    const wishes = wishesOf(request.kind, random, habits);
    for (const wish of wishes) {
      await pause(random.skewed(10, 60_000));
      if (random.chance(0.15)) void follow(orderId, wish);
      await follow(orderId, wish);
      await poll(orderId);
    }
  }

  async function visitOf(order: Order): Promise<void> {
    const { stage } = order.transaction;
    if (!waitsForCardholder(stage) && stage !== "authenticating") return;
    const token = order.page && (await call(async ({ pages }) => pages.tokenOf(order)));
    await visit(order, token, options, random.fork("visit"));
  }

  /** Sends the request until it is answered, or the merchant gives up. */
  async function ask(request: OrderRequest): Promise<Order | undefined> {
    for (let tries = 0; tries < 6; tries += 1) {
      const serialNumber = asSerialNumber(`${client}-${tries}-${random.below(1e9)}`);
      story.tell(`the merchant sends ${request.kind} ${client}`, client);
      const accepted = await call(({ engine }) => engine.accept({ ...request, serialNumber }));
      if (accepted !== undefined && !(accepted instanceof Failure)) {
        const { order } = accepted;
        laws.onAcknowledged(order.id);
        story.tell(`order ${order.id} is acknowledged`, client);
        return order;
      }
      const isFinal = accepted instanceof Failure && accepted.code !== "storage_unavailable";
      story.tell(`the merchant is told: ${accepted?.code ?? "no answer"}`, client);
      if (isFinal || random.chance(0.1)) return undefined;
      await pause(random.between(100, 20_000));
    }
    return undefined;
  }

  async function follow(orderId: OrderId, request: FollowUpTerms): Promise<void> {
    const serialNumber = asSerialNumber(`${client}-f-${random.below(1e9)}`);
    const wanted = { clientOrderId: client, orderId: asOrderId(orderId) };
    story.tell(`the merchant sends ${request.operation} of ${orderId}`, client);
    const done = await call(({ engine }) =>
      engine.followUp(shop, { wanted, serialNumber, request }),
    );
    if (done instanceof Failure || done === undefined) {
      story.tell(`the merchant is told: ${done?.code ?? "no answer"}`, client);
    }
  }

  /** Polls until the order is final, or for some minutes. */
  async function poll(orderId: OrderId): Promise<void> {
    for (let polls = 0; polls < 8; polls += 1) {
      await pause(random.skewed(200, 40_000));
      const wanted = { clientOrderId: client, orderId, bySerialNumber: undefined };
      const found = await call(({ engine }) => engine.find(shop, wanted));
      if (found === undefined) continue;
      if (found instanceof Failure) {
        if (found.code === "order_not_found") laws.onMissing(orderId);
        continue;
      }
      laws.onTold(found.transaction, orderId);
      if (found.transaction.finishedAt !== undefined) return;
    }
  }

  function pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void time.after(durationMs, time.world, resolve));
  }
}

/** Returns the follow-ups that the merchant wants after the approval. */
function wishesOf(
  kind: OrderRequest["kind"],
  random: Random,
  { captured, returned }: Habits,
): FollowUpTerms[] {
  const give = (minor?: bigint): FollowUpTerms => {
    const amount = minor === undefined ? undefined : new Money(minor, getCurrency("USD"));
    return { operation: "return", amount, comment: `r${random.below(1e6)}` };
  };
  const capture: FollowUpTerms = { operation: "capture", amount: undefined, comment: "c" };
  const returns = random.chance(0.3) ? [give(BigInt(1 + random.below(50)))] : [];
  if (random.chance(0.2)) returns.push(give());
  const takeBack: FollowUpTerms = { operation: "void", amount: undefined, comment: undefined };
  if (random.chance(0.15)) returns.unshift(takeBack);
  if (kind === "account-verification") return [];
  if (kind === "payout") return [give(), capture, takeBack];
  if (kind !== "preauth") return random.chance(returned) ? returns : [];
  return random.chance(captured) ? [capture, ...returns] : [give()];
}

/** The share of purchases in which the merchant pays out instead. */
const payoutShare = 0.08;

/** A payout with the card and the customer of the request. */
function asPayout(request: OrderRequest, minor: number): OrderRequest {
  const { page: _, purchase, clientOrderId, ...others } = request;
  const { wallet: __, otherAmounts: ___, ...paid } = purchase;
  const cardData = cardOf(usualDigits);
  return {
    ...others,
    clientOrderId,
    kind: "payout",
    purchase: { ...paid, amount: new Money(BigInt(minor), getCurrency("USD")) },
    card: { kind: "new", facts: factsOf(cardData) },
    cardData: { ...cardData, cvv: undefined },
    requestFingerprint: { text: new Secret(`payout/${clientOrderId}/${minor}`), cvv: undefined },
  };
}

/** Returns a smaller amount, to be tried if the bank refuses the amount. */
function smaller(minor: number, by: number): Money {
  return new Money(BigInt(Math.ceil(minor / by)), getCurrency("USD"));
}

const nobody = {
  firstName: undefined,
  lastName: undefined,
  email: undefined,
  phone: undefined,
  cellPhone: undefined,
  birthday: undefined,
  country: undefined,
  state: undefined,
  city: undefined,
  zipCode: undefined,
  address: undefined,
};
const urls = {
  redirect: undefined,
  redirectSuccess: undefined,
  redirectFail: undefined,
  serverCallback: undefined,
  notify: receiverUrl,
};

type Wanted = { readonly client: string; readonly endpointId: OrderRequest["endpointId"] };

function requestOf(
  { client, endpointId }: Wanted,
  { random, habits }: { readonly random: Random; readonly habits: Habits },
  asked: number,
): OrderRequest {
  const kind = random.pick(habits.kinds);
  const minor = kind === "account-verification" ? 0 : asked;
  const text = new Secret(`${kind}/${client}/${minor}`);
  const cardData = cardOf(random.chance(0.5) ? usualDigits : random.pick(allDigits));
  const way = random.pick(habits.ways);
  const others = kind !== "account-verification" && random.chance(0.2);
  return {
    kind,
    merchantId: merchant.id,
    endpointId,
    clientOrderId: client,
    serialNumber: asSerialNumber(""),
    purchase: {
      amount: new Money(BigInt(minor), getCurrency("USD")),
      description: "a ticket",
      ipAddress: "203.0.113.7",
      customer: nobody,
      urls,
      merchantData: undefined,
      purpose: undefined,
      comment: undefined,
      siteUrl: undefined,
      browser: undefined,
      ...(others && { otherAmounts: [smaller(minor, 2), smaller(minor, 3)] }),
      ...(way === "wallet" && { wallet: refusedWallet }),
    },
    ...(way === "card"
      ? { card: { kind: "new", facts: factsOf(cardData) }, cardData }
      : { card: { kind: "none" }, cardData: undefined }),
    ...(way === "page" && { page: { lifeMs: random.pick([60_000, 300_000]), triesMax: 3 } }),
    requestFingerprint: { text, cvv: cardData.cvv },
  };
}

const usualDigits = allDigits[0] ?? "";
// biome-ignore format: a table
const kinds = ["sale", "sale", "sale", "sale", "sale", "sale", "sale", "preauth", "preauth", "preauth", "preauth", "account-verification", "account-verification"] as const;
// biome-ignore format: a table
const ways = ["card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "card", "page", "page", "page", "wallet"] as const;

type Habits = ReturnType<typeof habitsOf>;

/**
 * Returns what merchants do most often in a seed; some seeds prefer a kind of payment that is rare
 * in others.
 */
function habitsOf(random: Random) {
  const prevailing = random.pick(["sale", "preauth", "account-verification"] as const);
  const isPage = random.chance(0.2);
  return {
    kinds: random.chance(0.4) ? [...kinds, ...kinds.map(() => prevailing)] : kinds,
    ways: isPage ? [...ways, ...ways.map(() => "page" as const)] : ways,
    /**
     * The share of preauthorisations that are captured and not cancelled, and of sales with
     * returns.
     */
    captured: random.pick([0.8, 0.8, 0.2]),
    returned: random.pick([0.4, 0.4, 1]),
  };
}
