/**
 * Merchants that constantly buy, capture and return through the published client, at either node in
 * turn. They repeat the identical request until it is answered, and remember every acknowledgement
 * and every final status.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  type Acknowledgement,
  makeClient,
  type StatusReply,
  StillProcessing,
} from "@tollgate/client";
import { makeRandom, type Random } from "../simulator/random.ts";
import { type Merchants as Place, patience } from "../support/load.ts";
import { about, saleFields } from "../support/merchant.ts";
import { cards } from "../support/threeds.ts";

export type Told = {
  /** The serial number of the transaction. */
  readonly serialNumber: string;
  readonly status: string;
  readonly atMs: number;
};
export type Purchase = {
  readonly clientOrderId: string;
  readonly journey: string;
  /** The order ids of both requests, if one was sent twice at once. */
  readonly orderIds: string[];
  readonly told: Told[];
};
/** The acknowledgement of a sale or a preauthorisation. */
export type Acknowledged = { readonly atMs: number; readonly node: string };
export type Merchants = ReturnType<typeof startMerchants>;

type Options = {
  readonly seed: number;
  readonly set: Place["set"];
  readonly nodes: ReadonlyMap<string, { readonly url: string }>;
  readonly callbackUrl: string;
  readonly clients: number;
  readonly now: () => number;
};
type Journey = {
  readonly share: number;
  readonly endpoint?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly begin?: "sale" | "preauth";
  readonly isDoubled?: boolean;
  readonly next?: "capture" | "return";
};

// biome-ignore format: a table
export const journeys: Readonly<Record<string, Journey>> = {
  "sale":                      { share: 6 },
  "sale, sent twice at once":  { share: 1, isDoubled: true },
  "sale, declined":            { share: 1, fields: { cvv2: "116" } },
  "sale, not answered":        { share: 1, fields: { cvv2: "217" } },
  "sale, returned":            { share: 2, next: "return" },
  "preauth, captured":         { share: 2, begin: "preauth", next: "capture" },
  "preauth, cancelled":        { share: 1, begin: "preauth", next: "return" },
  "3-D Secure, frictionless":  { share: 2, endpoint: "secure", fields: { credit_card_number: cards.frictionlessNoMethod } },
};

const placeholder = "http://gateway.invalid";
const begins = /\/(sale|preauth)\//;
/** The time after which the merchant tries the other node. */
const timeoutMs = 6_000;
const restMs = 900;

export function startMerchants({ seed, set, nodes, callbackUrl, clients, now }: Options) {
  const purchases: Purchase[] = [];
  const acknowledged: Acknowledged[] = [];
  const refused: string[] = [];
  const names = [...nodes.keys()];
  let tries = 0;
  let isOver = false;
  const client = makeClient({
    baseUrl: placeholder,
    login: set.login,
    controlKey: set.controlKey,
    ...patience,
    timeoutMs,
    async fetch(address, request) {
      tries += 1;
      const node = names[tries % names.length] ?? "";
      const response = await fetch(
        address.replace(placeholder, nodes.get(node)?.url ?? ""),
        request,
      );
      if (response.status === 200 && begins.test(address)) acknowledged.push({ atMs: now(), node });
      return response;
    },
  });
  const paying = Promise.all(
    Array.from({ length: clients }, (_, index) => buy(makeRandom(seed, `merchant ${index}`))),
  );

  return {
    purchases,
    acknowledged,
    refused,
    /** Begins no new purchases. Resolves when those that were begun are done. */
    async finish(): Promise<void> {
      isOver = true;
      await paying;
    },
    /** Returns the gateway's present status of the transaction. */
    ask: ({ clientOrderId, orderIds: [orderid = ""], journey }: Purchase, { serialNumber }: Told) =>
      endpointOf(journeys[journey]?.endpoint).status({
        client_orderid: clientOrderId,
        orderid,
        "by-request-sn": serialNumber,
      }),
  };

  function endpointOf(name = "plain") {
    return client.endpoint(set.endpoints[name] ?? "");
  }

  async function buy(random: Random): Promise<void> {
    const drawn = Object.keys(journeys).flatMap((name) => Array(journeys[name]?.share).fill(name));
    while (!isOver) {
      const name = random.pick(drawn);
      const urls = { server_callback_url: callbackUrl, notify_url: callbackUrl };
      const fields = saleFields({ ...journeys[name]?.fields, ...urls });
      const purchase = { clientOrderId: fields.client_orderid, journey: name };
      const kept: Purchase = { ...purchase, orderIds: [], told: [] };
      purchases.push(kept);
      await travel(kept, journeys[name] ?? { share: 0 }, fields).catch((error) => {
        if (!(error instanceof StillProcessing)) refused.push(`${name}: ${error}`);
      });
      await pause(random.between(0, 2 * restMs));
    }
  }

  async function travel(
    purchase: Purchase,
    { endpoint, begin = "sale", isDoubled = false, next }: Journey,
    fields: ReturnType<typeof saleFields>,
  ): Promise<void> {
    const at = endpointOf(endpoint);
    const replies = await Promise.all(
      Array.from({ length: isDoubled ? 2 : 1 }, () => at[begin](fields)),
    );
    purchase.orderIds.push(...replies.map((reply) => reply["gw-order-id"]));
    const [first] = replies;
    if (first === undefined) return;
    const status = await untilFinal(first);
    if (status !== "approved" || next === undefined) return;
    await untilFinal(await at[next](about(first, {})));

    async function untilFinal(reply: Acknowledgement): Promise<string> {
      const final: StatusReply = await at.waitForResult(reply, { everyMs: 300 });
      const serialNumber = reply["serial-number"];
      purchase.told.push({ serialNumber, status: final.status, atMs: now() });
      return final.status;
    }
  }
}
