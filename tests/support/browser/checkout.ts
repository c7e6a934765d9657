/**
 * A shop, a gateway, a bank and a browser: all that a cardholder meets in a payment with 3-D
 * Secure. The shop's server begins a payment, which continues in the browser.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { before } from "node:test";
import { openVault } from "@tollgate/gateway/administration";
import { atEnd, type Test } from "../clean-up.ts";
import { endOfFile } from "../end-of-file.ts";
import type { Acknowledged, SaleFields } from "../merchant.ts";
import { chargesAt, startPatientWorld } from "../threeds.ts";
import { until } from "../until.ts";
import type { World } from "../world.ts";

export type Checkout = {
  readonly world: World;
  readonly shop: Shop;
  begin(card: string, fields?: SaleFields): Promise<Payment>;
};

export type Payment = {
  readonly order: Acknowledged;
  readonly orderId: string;
  /** The value of `redirect-to`. */
  readonly link: string;
  /** The page of the pending step, for the shop to show. */
  readonly html: string;
  /**
   * The charges that the host has received since the payment began, and those that the bank has
   * booked.
   */
  charges(): { readonly received: number; readonly booked: number };
};

export const charged = { received: 1, booked: 1 };
export const notCharged = { received: 0, booked: 0 };

/** Makes one checkout for all tests of the group that calls this. It is ready when they run. */
export function prepareCheckout(
  settings: Readonly<Record<string, string>> = {},
  furnish: (world: World) => Promise<unknown> = async () => undefined,
): () => Checkout {
  let checkout: Checkout | undefined;
  before(async () => {
    checkout = await startCheckout(endOfFile, settings);
    await furnish(checkout.world);
  });
  return () => {
    assert.ok(checkout !== undefined, "asked for before the tests run");
    return checkout;
  };
}

async function startCheckout(
  t: Test,
  settings: Readonly<Record<string, string>>,
): Promise<Checkout> {
  const [world, shop] = await Promise.all([startPatientWorld(t, settings), startShop(t)]);
  return {
    world,
    shop,
    async begin(card, fields = {}) {
      const before = countCharges(world);
      const merchant = world.merchant("secure");
      const redirect_url = `${shop.url}/return`;
      const order = await merchant.sale({ credit_card_number: card, redirect_url, ...fields });
      await world.settle();
      const { "redirect-to": link = "", html = "" } = await merchant.status(order);
      const orderId = order["gw-order-id"];
      return { order, orderId, link, html, charges: () => since(before, countCharges(world)) };
    },
  };
}

type Charges = ReturnType<Payment["charges"]>;

function countCharges(world: World): Charges {
  return { received: chargesAt(world), booked: world.bank.ledger().length };
}

function since(before: Charges, now: Charges): Charges {
  return { received: now.received - before.received, booked: now.booked - before.booked };
}

/** Asserts that the shop received the result at the right address, signed and correct. */
export async function assertReturned(
  { world, shop }: Checkout,
  { order, orderId }: Pick<Payment, "order" | "orderId">,
  path: string,
  status: string,
): Promise<Arrival> {
  const arrival = await shop.arrived(orderId);
  const { fields } = arrival;
  const clientOrderId = order["merchant-order-id"];
  assert.deepEqual([arrival.path, fields["status"]], [path, status]);
  assert.equal(fields["client_orderid"], clientOrderId);
  const signed = status + orderId + clientOrderId + world.set.controlKey;
  assert.equal(fields["control"], hash("sha1", signed));
  const told = await world.merchant("secure").status(order);
  assert.equal(told.status, status);
  return arrival;
}

/** Returns the last authentication request that the bank has received. */
export function lastAreq({ world }: Checkout) {
  const areq = world.bank.threeDsMessages().findLast(({ type }) => type === "AReq");
  assert.ok(areq !== undefined, "the bank was never asked");
  return areq.fields;
}

/** Returns the address of an order that has no step left. */
export async function linkOf({ world }: Checkout, orderId: string): Promise<string> {
  const vault = await openVault(world.installation);
  return `${world.gateway.url}/gw/form/redirect/${orderId}/${vault.tokenOf(`link/${orderId}`)}`;
}

/** A form that a browser posted to the shop. */
export type Arrival = {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Shop = {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** The forms of one order, oldest first. */
  arrivalsOf(orderId: string): readonly Arrival[];
  /** Waits for the first form. */
  arrived(orderId: string): Promise<Arrival>;
  /** Serves this text as a page of the shop, and returns its address. */
  publish(page: string): string;
};

const thanks = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<h1>Back in the shop</h1>`;

export async function startShop(t: Test): Promise<Shop> {
  const arrivals: Arrival[] = [];
  const pages = new Map<string, string>();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const arrivalsOf = (orderId: string) =>
    arrivals.filter(({ fields }) => fields["orderid"] === orderId);
  return {
    url,
    arrivals,
    arrivalsOf,
    arrived: (orderId) => until(`${orderId} is back in the shop`, () => arrivalsOf(orderId)[0]),
    publish(page) {
      const path = `/page-${pages.size + 1}`;
      pages.set(path, page);
      return url + path;
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "POST") {
      const fields = Object.fromEntries(new URLSearchParams(await text(request)));
      arrivals.push({ path, fields });
    }
    const page = pages.get(path) ?? thanks;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  }
}
