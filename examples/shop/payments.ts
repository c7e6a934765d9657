/**
 * All requests of the shop to the gateway, and how it finds out the result of an order. One
 * function, `ask`, reads the result from the gateway; callbacks, returning browsers, the order's
 * page and the regular check of unsettled orders only trigger it. Card data passes through to the
 * gateway, and is neither stored nor logged.
 */
import {
  asValue,
  type CallbackRequest,
  errorCodes,
  type GatewayError,
  isInDoubt,
  makeClient,
  makeReceiver,
  needsCardholder,
  Refused,
  renderStep,
  type StatusReply,
  takeStep,
  toMinorUnits,
} from "@tollgate/client";
import type { News, Order, Orders } from "./orders.ts";

export type Form = Readonly<Record<string, string | undefined>>;

/** The properties of the customer's browser in its request. */
export type Visitor = {
  readonly address: string;
  readonly headers: Readonly<Record<"accept" | "accept-language" | "user-agent", string>>;
};

export type Setup = {
  readonly gateway: {
    readonly baseUrl: string;
    readonly login: string;
    readonly controlKey: string;
    readonly endpoint: string;
    /** The private key of the merchant's OAuth signatures, which profiles need. */
    readonly privateKey: string;
  };
  readonly orders: Orders;
  /** The shop's own address, at which the gateway and browsers reach it. */
  readonly shopUrl: string;
  /** The address to which the gateway sends results. */
  readonly callbackUrl: string;
};

/** The time that a browser waits before it gets the order's page, which continues to ask. */
const patienceMs = 8_000;

export type Payments = ReturnType<typeof makePayments>;

export function makePayments({ gateway, orders, shopUrl, callbackUrl }: Setup) {
  const endpoint = makeClient({ ...gateway, timeoutMs: 10_000 }).endpoint(gateway.endpoint);
  const { baseUrl, login: consumerKey, privateKey } = gateway;
  const oauth = makeClient({ baseUrl, oauth: { consumerKey, privateKey }, timeoutMs: 10_000 });
  const profiles = oauth.endpoint(gateway.endpoint);
  const receiver = makeReceiver({ controlKey: gateway.controlKey, confirm: endpoint });
  /** Orders whose request has not been answered yet. */
  const sending = new Set<string>();
  const stepUrl = (id: string) => `${shopUrl}/orders/${id}/step`;
  return {
    openFields,
    pay,
    payByPage,
    paySaved,
    payMonth,
    step,
    refund,
    receive,
    refresh,
    refreshAll,
  };

  /** Returns what a page with hosted fields needs, or undefined if the gateway gives no ticket. */
  async function openFields() {
    const reply = await asValue(profiles.createEphemeralTicket({}));
    const ticket = reply instanceof Error ? undefined : reply.ephemeralTicket;
    const script = `${gateway.baseUrl}/sdk/hosted-fields/v1/index.js`;
    return ticket === undefined ? undefined : { ticket, script, endpoint: gateway.endpoint };
  }

  /** Pays by card, by the token of hosted fields or by wallet, depending on the form. */
  async function pay(order: Order, form: Form, visitor: Visitor): Promise<void> {
    const { wallet } = form;
    // A browser may only send encrypted payment data, because anyone can write the decrypted kind.
    const means = /^wallet[ab]$/.test(wallet ?? "")
      ? { payment_data: form["payment_data"], payment_data_type: `${wallet}_encrypted` }
      : pick(form, cardFields);
    const browser = browserOf(form, visitor);
    const request = { ...ownFields(order), ...contactOf(form), ...means, ...browser };
    await send(order, endpoint.sale({ ...request, ipaddress: visitor.address }));
  }

  /**
   * Opens the gateway's page, on which the customer types the card, so that the shop never sees it.
   */
  async function payByPage(order: Order, form: Form): Promise<string | null> {
    await send(order, endpoint.saleForm({ ...ownFields(order), ...contactOf(form) }));
    return orders.find(order.id)?.paymentPage ?? null;
  }

  /** Charges the saved card of a customer who is present, and types its security code. */
  async function paySaved(order: Order, cardrefid: string, form: Form, visitor: Visitor) {
    const { cvv2 } = form;
    const why = { recurrent_initiator: "CARDHOLDER", recurrent_scenario: "IRREGULAR" };
    const request = { ...ownFields(order), ...why, cardrefid, cvv2, ipaddress: visitor.address };
    await send(order, endpoint.makeRebill(request));
  }

  /** Charges a month of the subscription through its profile, without the customer. */
  async function payMonth(order: Order, profile: string, { address }: Visitor): Promise<void> {
    const { redirect_url: _, currency: __, ...own } = ownFields(order);
    const request = { ...own, recurring_payment_id: profile, customer_ip: address };
    await send(order, profiles.processRecurringPayment(request));
  }

  /** Returns the fields of the shop's own order. The price never comes from the form. */
  function ownFields({ id, title, amount, currency }: Order) {
    return {
      client_orderid: id,
      order_desc: title,
      amount,
      currency,
      redirect_url: stepUrl(id),
      server_callback_url: callbackUrl,
      notify_url: callbackUrl,
    };
  }

  async function send({ id }: Order, call: Promise<Acknowledged>): Promise<void> {
    sending.add(id);
    try {
      const reply = await asValue(call);
      if (!(reply instanceof Error)) {
        orders.acknowledge(id, reply["gw-order-id"], reply["redirect-url"] ?? null);
      } else if (isFinalRefusal(reply) && reply.code !== errorCodes.DUPLICATE_ORDER) {
        orders.apply(id, { state: "failed", detail: reply.message });
      } else {
        // The client has repeated the request already. It may have arrived, and only the gateway
        // knows.
        orders.apply(id, { state: "open", detail: "unreachable" });
      }
    } finally {
      sending.delete(id);
    }
  }

  /**
   * Handles every step of 3-D Secure at one address: uploads what the browser posts, and returns
   * the next page for it, or undefined if the cardholder has nothing to do.
   */
  async function step(order: Order, posted: Form, nonce: string): Promise<string | undefined> {
    const { id, gatewayOrder: orderid } = order;
    if (orderid === null) return undefined;
    const ids = { client_orderid: id, orderid };
    const page = { returnUrl: stepUrl(id), nonce };
    const taken = await asValue(takeStep(endpoint, ids, posted, page));
    // A refused upload came too late or for another step. The status has the next step.
    if (!(taken instanceof Error) && taken.html !== undefined) return taken.html;
    const status = await asValue(endpoint.waitForResult(ids, { timeoutMs: patienceMs }));
    await apply(order, status);
    return status instanceof Error ? undefined : renderStep(status, page);
  }

  async function refund(order: Order): Promise<void> {
    const { id, gatewayOrder: orderid } = order;
    if (order.state !== "paid" || orderid === null) return;
    const begun = await asValue(endpoint.return({ client_orderid: id, orderid }));
    if (begun instanceof Error) return;
    await apply(order, await asValue(endpoint.waitForResult(begun, { timeoutMs: patienceMs })));
  }

  /**
   * Receives a callback and returns the HTTP status. A callback that is not genuine is refused, and
   * a repeat is accepted.
   */
  async function receive(request: CallbackRequest): Promise<number> {
    let isOurs = true;
    const { status } = await receiver.receive(request, async ({ client_orderid }) => {
      const order = orders.find(client_orderid);
      isOurs = order !== undefined;
      // If the gateway cannot be asked now, the callback gets no 200 and is sent again.
      if (order !== undefined && !(await ask(order))) throw new Error("no status");
    });
    // The status 410 ends the callbacks of an order that another program of the merchant has made.
    return isOurs ? status : 410;
  }

  async function refresh(order: Order): Promise<void> {
    if (!sending.has(order.id)) await ask(order);
  }

  async function refreshAll(): Promise<void> {
    for (const order of orders.unsettled()) await refresh(order);
  }

  /**
   * Asks the gateway about an order. It names the order's own id, because the gateway's is unknown
   * if its reply was lost.
   */
  async function ask(order: Order): Promise<boolean> {
    const status = await asValue(endpoint.status({ client_orderid: order.id }));
    await apply(order, status);
    return !(status instanceof Error);
  }

  async function apply(order: Order, status: StatusReply | GatewayError): Promise<void> {
    orders.apply(order.id, newsOf(order, status));
    if (!(status instanceof Error)) await keepCard(order.id, status);
  }

  /**
   * Registers the card of the paid order: as a saved card, and as the profile of a subscription.
   * The shop needs no card number for it, and issuers see later charges with the first one.
   */
  async function keepCard(id: string, status: StatusReply): Promise<void> {
    const { state, keepCard: isWanted, profile, gatewayOrder } = orders.find(id) ?? {};
    if (state !== "paid" || isWanted !== 1 || profile !== null || !gatewayOrder) return;
    const ids = { client_orderid: id, orderid: gatewayOrder };
    const reply = await asValue(profiles.createCardRefV4(ids));
    if (isFinalRefusal(reply)) orders.dropCard(id);
    if (reply instanceof Error) return;
    const { "card-ref-id": card, "recurring-payment-id": registered } = reply;
    if (card === undefined || registered === undefined) return;
    const name = `${status["card-type"] ?? "Card"} ···· ${status["last-four-digits"] ?? ""}`;
    orders.keepCard(id, card, registered, name);
  }
}

type Acknowledged = {
  readonly "gw-order-id": string;
  readonly "redirect-url"?: string | undefined;
};

/**
 * Whether the reply finally refuses the request. A gateway that is busy or has failed says nothing
 * about it.
 */
function isFinalRefusal(reply: unknown): reply is Refused {
  return reply instanceof Refused && reply.httpStatus < 400;
}

/**
 * Returns the result that a status means for the shop. Doubt stays doubt, and no timer of the shop
 * ends it.
 */
function newsOf(order: Order, status: StatusReply | GatewayError): News {
  if (status instanceof Refused && status.code === errorCodes.ORDER_NOT_FOUND) {
    return { state: "open", detail: "not_received" };
  }
  if (status instanceof Error) {
    return { state: "open", detail: order.gatewayOrder === null ? "unreachable" : order.detail };
  }
  const known = { gatewayOrder: status["gw-order-id"] };
  const isReturn = status["transaction-type"] === "reversal";
  const refunded = status["total-reversal-amount"] ?? "0.00";
  // Only a paid order can be returned, even if the shop does not know of the payment yet. The shop
  // ships nothing while a return is in progress, and an order that it knows as paid stays paid.
  if (isReturn && status.status === "processing") return { ...known, state: "open" };
  if (isReturn)
    return { ...known, state: isWhole(order, refunded) ? "refunded" : "paid", refunded };
  if (status.status === "approved") {
    const isRight = isSame(status.amount, order) && status.currency === order.currency;
    const isPaid = isRight && status["charged-amount"] === undefined;
    return { ...known, state: isPaid ? "paid" : "open", detail: isPaid ? "" : "wrong_amount" };
  }
  if (status.status !== "processing") {
    return { ...known, state: "failed", detail: status["error-message"] ?? status.status };
  }
  const waiting = needsCardholder(status) ? "bank_step" : "processing";
  return { ...known, state: "open", detail: isInDoubt(status) ? "in_doubt" : waiting };
}

function isSame(amount: string | undefined, order: Order): boolean {
  const [told = "", own] = [amount, order.amount].map((each) =>
    toMinorUnits(each ?? "", order.currency),
  );
  return told !== "" && told === own;
}

function isWhole({ amount, currency }: Order, refunded: string): boolean {
  return Number(toMinorUnits(refunded, currency)) >= Number(toMinorUnits(amount, currency));
}

const cardFields = [
  "credit_card_number",
  "expire_month",
  "expire_year",
  "cvv2",
  "card_printed_name",
  "hosted_fields_token",
] as const;

export const demonstrationContact = {
  email: "jane@example.com",
  phone: "+1 555 0100",
  address1: "1 Main Street",
  city: "Springfield",
  zip_code: "62701",
  state: "IL",
  country: "US",
};

function contactOf(form: Form): typeof demonstrationContact {
  const typed = pick(form, Object.keys(demonstrationContact));
  return { ...demonstrationContact, ...typed };
}

/** Fields that the page's script fills in; empty without scripts. */
const browserFields = [
  ...["color_depth", "java_enabled", "javascript_enabled", "screen_height", "screen_width"],
  "time_zone",
].map((name) => `customer_browser_${name}`);

function browserOf(form: Form, { headers }: Visitor): Form {
  const found = pick(form, browserFields);
  if (Object.keys(found).length < browserFields.length) return {};
  return {
    ...found,
    customer_browser_info: "true",
    customer_browser_accept_header: headers.accept,
    customer_browser_accept_language: headers["accept-language"],
    customer_browser_user_agent: headers["user-agent"],
  };
}

/** Returns only the named fields that are filled in, so that a form cannot choose others. */
function pick(form: Form, names: readonly string[]): Readonly<Record<string, string>> {
  const filled = names.flatMap((name) => (form[name] ? [[name, form[name]] as const] : []));
  return Object.fromEntries(filled);
}
