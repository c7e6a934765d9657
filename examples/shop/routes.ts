/**
 * The shop's addresses. A browser decides nothing: its post starts a payment or a request to the
 * gateway, and the order's page shows the gateway's answer.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toMinorUnits } from "@tollgate/client";
import { isNotReceived, monthToCharge, type NewOrder, type Order, type Orders } from "./orders.ts";
import { product, renderCheckout, renderFields, renderOrder } from "./pages.ts";
import type { Payments, Visitor } from "./payments.ts";
import { type Asked, type Reply, type Route, redirect } from "./server.ts";

type Setup = {
  readonly orders: Orders;
  readonly payments: Payments;
  readonly bankUrl: string;
  readonly gatewayUrl: string;
  readonly newNonce: () => string;
};

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const orderId = `(${uuid}(?:-\\d{1,3})?)`;
const isNewId = new RegExp(`^${uuid}$`);

const files = Object.fromEntries(
  ["shop.css", "browser.js", "apples.svg"].map((name) => [
    name,
    readFileSync(join(import.meta.dirname, name), "utf8"),
  ]),
);
const types = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" };

export function makeRoutes({ orders, payments, bankUrl, gatewayUrl, newNonce }: Setup) {
  const gateway = new URL(gatewayUrl).origin;
  /** The policy lets the checkout show hosted fields, and lead to the gateway's payment page. */
  const policy =
    `default-src 'none'; style-src 'self'; script-src 'self' ${gateway}; frame-src ${gateway};` +
    ` img-src 'self'; connect-src 'self'; form-action 'self' ${gateway};` +
    " frame-ancestors 'none'; base-uri 'none'";
  const page = (body: string): Reply => ({ headers: { "content-security-policy": policy }, body });

  const routes: readonly Route[] = [
    ["GET", /^\/$/, checkout],
    ["GET", /^\/fields$/, showFields],
    ["POST", /^\/buy$/, buy],
    ["GET POST", new RegExp(`^/orders/${orderId}/step$`), withOrder(step)],
    ["GET POST", new RegExp(`^/orders/${orderId}$`), withOrder(show)],
    ["GET", new RegExp(`^/orders/${orderId}\\.json$`), withOrder(showJson)],
    // IN A SHOP OF YOUR OWN, ONLY SIGNED-IN STAFF MAY USE THE NEXT TWO ADDRESSES. HERE EVERYONE
    // MAY.
    ["POST", new RegExp(`^/orders/${orderId}/refund$`), withOrder(refund)],
    ["POST", new RegExp(`^/orders/${orderId}/next-month$`), withOrder(chargeNextMonth)],
    ["GET POST", /^\/callback$/, takeCallback],
    ["POST", /^\/wallets\/(walleta|walletb)$/, mintToken],
    ["GET", /^\/(shop\.css|browser\.js|apples\.svg)$/, sendFile],
  ];
  return routes;

  function checkout({ request }: Asked): Reply {
    const customer = customerOf(request.headers.cookie);
    const mine = orders.ofCustomer(customer);
    // Every form of the page contains the id, so that any number of posted forms charges once.
    const again = new URL(request.url ?? "", "http://shop").searchParams.get("order") ?? "";
    const id = mine.some((order) => order.id === again) ? again : randomUUID();
    const reply = page(renderCheckout(id, mine));
    const cookie = `customer=${customer}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000`;
    return { ...reply, headers: { ...reply.headers, "set-cookie": cookie } };
  }

  /** Shows the checkout with hosted fields, with a ticket of its own each time. */
  async function showFields({ request }: Asked): Promise<Reply> {
    const asked = new URL(request.url ?? "", "http://shop").searchParams.get("order") ?? "";
    const id = isNewId.test(asked) && orders.find(asked) === undefined ? asked : randomUUID();
    const fields = await payments.openFields();
    if (fields === undefined) return { status: 503, body: "The gateway does not answer now." };
    return page(renderFields(id, fields));
  }

  async function buy({ request, form }: Asked): Promise<Reply> {
    const { order: id = "", way = "card", card = "" } = form;
    const customer = customerOf(request.headers.cookie);
    const saved = orders.find(card);
    const isWay = way === "card" || way === "page" || (way === "saved" && saved?.cardReference);
    if (!isNewId.test(id) || !isWay || (way === "saved" && saved?.customer !== customer)) {
      return { status: 400, body: "The form is not complete." };
    }
    const isMonthly = form["often"] === "monthly" && way !== "saved";
    const keepCard = isMonthly || form["keep"] === "yes";
    const agreed = { keepCard, isMonthly, follows: null };
    const order = begin({ ...product, id, customer, ...agreed });
    if (order === undefined) return redirect(`/orders/${id}`);
    const visitor = visitorOf(request);
    if (way === "page") {
      return redirect((await payments.payByPage(order, form)) ?? `/orders/${id}`);
    }
    if (way === "card") await payments.pay(order, form, visitor);
    else await payments.paySaved(order, saved?.cardReference ?? "", form, visitor);
    return redirect(`/orders/${id}/step`);
  }

  /**
   * Begins an order. Returns undefined if the order must not be sent because it was sent before.
   */
  function begin(order: NewOrder): Order | undefined {
    return orders.begin(order) ? orders.find(order.id) : undefined;
  }

  /**
   * Handles a step. The browser comes from the shop, from the issuer's pages, or from the
   * gateway's.
   */
  async function step(order: Order, { form }: Asked): Promise<Reply> {
    const nonce = newNonce();
    const body = order.state === "open" ? await payments.step(order, form, nonce) : undefined;
    if (body === undefined) return redirect(`/orders/${order.id}`);
    const source = `'nonce-${nonce}'`;
    const anyBank = "form-action http: https:; frame-src http: https:";
    const own = `default-src 'none'; script-src ${source}; style-src ${source}; ${anyBank}`;
    return { body, headers: { "content-security-policy": `${own}; frame-ancestors 'self'` } };
  }

  async function show(order: Order): Promise<Reply> {
    if (order.state === "open") await payments.refresh(order);
    const now = orders.find(order.id) ?? order;
    return page(renderOrder(now, orders.history(order.id), orders.following(order.id)));
  }

  /** Shows the order as the shop knows it, without asking the gateway. */
  function showJson(order: Order): Reply {
    const { id, state, detail, amount, currency, refunded, gatewayOrder } = order;
    const history = orders.history(id);
    const shipped = history.filter(({ what }) => what === "shipped").length;
    const seen = { id, state, shipped, detail, amount, currency, refunded, gatewayOrder, history };
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(seen) };
  }

  async function refund(order: Order): Promise<Reply> {
    await payments.refund(order);
    return redirect(`/orders/${order.id}`);
  }

  /**
   * Does the work of the shop's monthly job. The id names the order and the month, so a job that
   * runs twice charges once. A month whose charge is open must end before the next one begins.
   */
  async function chargeNextMonth(first: Order, { request, form }: Asked): Promise<Reply> {
    const before = orders.following(first.id);
    const isOpen = before.some((month) => month.state === "open" && !isNotReceived(month));
    const isDue = form["month"] === String(monthToCharge(before)) && !isOpen;
    const { profile, customer } = first;
    if (first.isMonthly !== 1 || first.state !== "paid" || profile === null || !isDue) {
      return redirect(`/orders/${first.id}`);
    }
    const id = `${first.id}-${form["month"]}`;
    const agreed = { keepCard: false, isMonthly: false, follows: first.id };
    const order = begin({ ...product, id, customer, ...agreed });
    if (order !== undefined) await payments.payMonth(order, profile, visitorOf(request));
    return redirect(`/orders/${id}`);
  }

  async function takeCallback({ request, method, body }: Asked): Promise<Reply> {
    const { url = "", headers } = request;
    return { status: await payments.receive({ method, url, headers, body }) };
  }

  /**
   * Returns a token of the sandbox, which stands in for the wallet on the customer's phone. A real
   * wallet never asks the shop.
   */
  async function mintToken({ parts: [wallet] }: Asked): Promise<Reply> {
    const card = { pan: "4111111111111111", expirationYear: 2031, expirationMonth: 12 };
    const amount = Number(toMinorUnits(product.amount, product.currency));
    const body = JSON.stringify({ ...card, amount, currency: product.currency });
    const answer = await fetch(`${bankUrl}/wallets/${wallet}`, { method: "POST", body });
    return { status: answer.ok ? 200 : 502, body: await answer.text() };
  }

  function sendFile({ parts: [name = ""] }: Asked): Reply {
    const type = types[name.split(".")[1] as keyof typeof types];
    return { headers: { "content-type": `${type}; charset=utf-8` }, body: files[name] ?? "" };
  }

  function withOrder(answer: (order: Order, asked: Asked) => Reply | Promise<Reply>) {
    return (asked: Asked) => {
      const order = orders.find(asked.parts[0] ?? "");
      return order ? answer(order, asked) : { status: 404, body: "There is no such order." };
    };
  }
}

/** Returns the customer, who is identified by the browser. A real shop has accounts. */
function customerOf(cookies = ""): string {
  return new RegExp(`(?:^|; )customer=(${uuid})(?:;|$)`).exec(cookies)?.[1] ?? randomUUID();
}

function visitorOf({ socket, headers }: Asked["request"]): Visitor {
  const { accept = "*/*", "accept-language": language = "en" } = headers;
  const { "user-agent": agent = "" } = headers;
  return {
    address: (socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    headers: { accept, "accept-language": language, "user-agent": agent },
  };
}
