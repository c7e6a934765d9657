/**
 * Merchants: each purchase is a sale or a preauthorisation, sent again when no answer comes,
 * sometimes twice at once or changed under the same id; later perhaps a capture and returns, also
 * two at once. The merchant remembers what it was told.
 */

import type { FollowUpTerms } from "../../gateway/orders/order.ts";
import type { OrderRequest } from "../../gateway/orders/requests.ts";
import { CardNumber } from "../../gateway/values/card-number.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { asOrderId, asSerialNumber, type OrderId } from "../../gateway/values/ids.ts";
import { getCurrency } from "../../gateway/values/iso-codes.ts";
import { Money } from "../../gateway/values/money.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { endpoint, entryPoint, merchant } from "./configuration.ts";
import type { Laws } from "./laws.ts";
import type { SimulatedNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const cardDigits = "4000000000000002";
const cvv = "917";
/** In every stored text, its digits stand in no other number. */
export const secrets = [cardDigits];

export const receiverUrl = "https://shop.example/callback";

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly laws: Laws;
  readonly story: Story;
  /** At a node of the seed's choice; nothing when no answer came. */
  readonly call: <Result>(
    work: (node: SimulatedNode) => Promise<Result>,
  ) => Promise<Result | undefined>;
};

export type Purchase = { readonly index: number; readonly atMs: number };

export function planPurchases(random: Random, count: number, untilMs: number): Purchase[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    atMs: random.between(500, untilMs),
  }));
}

export function startPurchase({ index, atMs }: Purchase, options: Options): void {
  const { time, laws, story, call } = options;
  const random = options.random.fork(`purchase ${index}`);
  const client = `c-${index}`;
  time.after(atMs - time.now(), time.world, () => void buy());

  async function buy(): Promise<void> {
    const request = requestOf(client, random, 1 + random.below(99_999));
    const isTwice = random.chance(0.1);
    if (isTwice) void ask(request);
    const orderId = await ask(request);
    if (random.chance(0.05)) await ask(requestOf(client, random, 777));
    if (orderId === undefined) return;
    await poll(orderId);
    const wishes = wishesOf(request.kind, random);
    for (const wish of wishes) {
      await pause(random.skewed(10, 60_000));
      if (random.chance(0.15)) void follow(orderId, wish);
      await follow(orderId, wish);
      await poll(orderId);
    }
  }

  /** Sends the request until it is answered, or the merchant gives up. */
  async function ask(request: OrderRequest): Promise<OrderId | undefined> {
    for (let tries = 0; tries < 6; tries += 1) {
      const serialNumber = asSerialNumber(`${client}-${tries}-${random.below(1e9)}`);
      story.tell(`the merchant sends ${request.kind} ${client}`, client);
      const accepted = await call(({ engine }) => engine.accept({ ...request, serialNumber }));
      if (accepted !== undefined && !(accepted instanceof Failure)) {
        const { order } = accepted;
        laws.onAcknowledged(order.id);
        story.tell(`order ${order.id} is acknowledged`, client);
        return order.id;
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
      engine.followUp(entryPoint, { wanted, serialNumber, request }),
    );
    if (done instanceof Failure || done === undefined) {
      story.tell(`the merchant is told: ${done?.code ?? "no answer"}`, client);
    }
  }

  /** Until the order is final, or for some minutes. */
  async function poll(orderId: OrderId): Promise<void> {
    for (let polls = 0; polls < 8; polls += 1) {
      await pause(random.skewed(200, 40_000));
      const wanted = { clientOrderId: client, orderId, bySerialNumber: undefined };
      const found = await call(({ engine }) => engine.find(entryPoint, wanted));
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

/** What the merchant wants after the approval. */
function wishesOf(kind: OrderRequest["kind"], random: Random): FollowUpTerms[] {
  const give = (minor?: bigint): FollowUpTerms => {
    const amount = minor === undefined ? undefined : new Money(minor, getCurrency("USD"));
    return { operation: "return", amount, comment: `r${random.below(1e6)}` };
  };
  const capture: FollowUpTerms = { operation: "capture", amount: undefined, comment: "c" };
  const returns = random.chance(0.3) ? [give(BigInt(1 + random.below(50)))] : [];
  if (random.chance(0.2)) returns.push(give());
  if (kind !== "preauth") return random.chance(0.4) ? returns : [];
  return random.chance(0.8) ? [capture, ...returns] : [give()];
}

/** To be tried when the bank refuses the amount. */
function smaller(minor: number, by: number): Money {
  return new Money(BigInt(Math.ceil(minor / by)), getCurrency("USD"));
}

const nobody = {
  ...{ firstName: undefined, lastName: undefined, email: undefined, phone: undefined },
  ...{ cellPhone: undefined, birthday: undefined, country: undefined, state: undefined },
  ...{ city: undefined, zipCode: undefined, address: undefined },
};
const urls = {
  ...{ redirect: undefined, redirectSuccess: undefined, redirectFail: undefined },
  ...{ serverCallback: undefined, notify: receiverUrl },
};

function requestOf(clientOrderId: string, random: Random, minor: number): OrderRequest {
  const kind = random.chance(0.75) ? "sale" : "preauth";
  const number = new CardNumber(cardDigits);
  const expiry = { expiryMonth: "12", expiryYear: "30" };
  const text = new Secret(`${kind}/${clientOrderId}/${minor}`);
  return {
    ...{ kind, merchantId: merchant.id, endpointId: endpoint.id, clientOrderId },
    serialNumber: asSerialNumber(""),
    purchase: {
      amount: new Money(BigInt(minor), getCurrency("USD")),
      ...{ description: "a ticket", ipAddress: "203.0.113.7", customer: nobody, urls },
      ...{ merchantData: undefined, purpose: undefined, comment: undefined },
      ...{ siteUrl: undefined, browser: undefined },
      ...(random.chance(0.2) && { otherAmounts: [smaller(minor, 2), smaller(minor, 3)] }),
    },
    card: {
      kind: "new",
      facts: {
        ...{ bin: number.bin, lastFour: number.lastFour, network: number.network, ...expiry },
        holderName: "JANE DOE",
      },
    },
    cardData: { number, ...expiry, cvv: new Secret(cvv) },
    requestFingerprint: { text, cvv: new Secret(cvv), withCvv: () => text },
  };
}
