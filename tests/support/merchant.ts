/**
 * A merchant of a test: its sales have all fields filled in except those that matter to the test.
 */
import type { makeClient } from "@tollgate/client";
import type { MerchantSet } from "@tollgate/gateway/merchant-set";

export type SaleFields = Readonly<Record<string, string | undefined>>;

type Dependencies = {
  readonly set: MerchantSet;
  readonly baseUrl: () => string;
  readonly makeClient: typeof makeClient;
  /** The endpoint to use if a test names none. */
  readonly through?: string;
};

/** An order as an acknowledgement names it. */
export type Acknowledged = {
  readonly "merchant-order-id": string;
  readonly "gw-order-id": string;
  readonly "serial-number": string;
};

/** An amount in the currency of the demonstration's first endpoint, or the whole amount. */
export type HowMuch = {
  readonly amount?: string;
  readonly currency?: string;
  readonly comment?: string;
};

/** A limit in real time, which no test reaches even on a busy machine. */
const patienceMs = 300_000;

let count = 0;

/** A card that no scenario of the bank names. Its CVV decides the result, and 123 is approved. */
export const plainCard = "4111111111111111";

export function withCheckDigit(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, each, at) => {
    const value = Number(each) * (at % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

export function saleFields(fields: SaleFields = {}) {
  count += 1;
  const filled = {
    client_orderid: `order-${process.pid}-${count}`,
    order_desc: "A dozen apples",
    amount: "10.15",
    currency: "USD",
    email: "jane@example.com",
    ipaddress: "203.0.113.7",
    address1: "1 Main Street",
    city: "Springfield",
    state: "IL",
    zip_code: "62701",
    country: "US",
    phone: "+1 555 0100",
    credit_card_number: plainCard,
    card_printed_name: "JANE DOE",
    expire_month: "12",
    expire_year: "2031",
    cvv2: "123",
    redirect_url: "https://shop.example/return",
  };
  return { ...filled, ...fields };
}

export function makeMerchant({ set, baseUrl, makeClient, through = "plain" }: Dependencies) {
  const client = () =>
    makeClient({
      baseUrl: baseUrl(),
      login: set.login,
      controlKey: set.controlKey,
      tries: 1,
      timeoutMs: patienceMs,
      syncTimeoutMs: patienceMs,
    });
  const at = (name: string) => client().endpoint(set.endpoints[name] ?? "");
  return {
    set,
    client,
    endpoint: at,
    group: () => client().group(set.group),
    sale: (fields: SaleFields = {}, endpoint = through) => at(endpoint).sale(saleFields(fields)),
    preauth: (fields: SaleFields = {}, endpoint = through) =>
      at(endpoint).preauth(saleFields(fields)),
    verify: (fields: SaleFields = {}, endpoint = through) =>
      at(endpoint).accountVerification(saleFields(fields)),
    capture: (order: Acknowledged, much: HowMuch = {}) => at(through).capture(about(order, much)),
    return: (order: Acknowledged, much: HowMuch = {}) => at(through).return(about(order, much)),
    void: (order: Acknowledged, much: HowMuch = {}) => at(through).void(about(order, much)),
    status: (
      sale: { readonly "merchant-order-id": string; readonly "gw-order-id"?: string },
      endpoint = through,
    ) =>
      at(endpoint).status({
        client_orderid: sale["merchant-order-id"],
        ...(sale["gw-order-id"] === undefined ? {} : { orderid: sale["gw-order-id"] }),
      }),
    register: (order: Acknowledged) => at(through).createCardRef(about(order, {})),
    cardInfo: (cardrefid = "") => at(through).getCardInfo({ cardrefid }),
    removeCard: (cardrefid: string) => at(through).removeCardRef({ cardrefid }),
    rebill: (fields: SaleFields) => at(through).makeRebill(rebillFields(fields)),
    uploadMethod: (order: Acknowledged, fields: SaleFields = {}, endpoint = through) =>
      at(endpoint).uploadMethodUrlResult({ ...methodFields, ...named(order), ...fields }),
    uploadCres: (order: Acknowledged, cres: string, endpoint = through) =>
      at(endpoint).uploadCresResult({ ...named(order), cres }),
    uploadPares: (
      order: Acknowledged,
      answer: { readonly paRes: string; readonly md: string },
      endpoint = through,
    ) => at(endpoint).uploadParesResult({ ...named(order), ...answer }),
    /** Reads the status of one request. */
    describe: (asked: Acknowledged) =>
      at(through).status({
        client_orderid: asked["merchant-order-id"],
        orderid: asked["gw-order-id"],
        "by-request-sn": asked["serial-number"],
      }),
  };
}

export function rebillFields(fields: SaleFields) {
  count += 1;
  const filled = {
    client_orderid: `rebill-${process.pid}-${count}`,
    cardrefid: "",
    order_desc: "A dozen apples, as every month",
    amount: "10.15",
    currency: "USD",
    ipaddress: "203.0.113.7",
  };
  return { ...filled, ...fields };
}

/** The properties of a common browser. The id of the authentication comes from the status. */
const methodFields = {
  threeDSServerTransID: "",
  threeDSCompInd: "Y",
  notificationURL: "https://shop.example/3ds",
  browserLanguage: "en-GB",
  browserColorDepth: "24",
  browserJavaEnabled: "false",
  browserJavascriptEnabled: "true",
  browserIP: "203.0.113.7",
  browserUserAgent: "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0",
  browserAcceptHeader: "text/html,application/xhtml+xml,*/*;q=0.8",
  browserTZ: "-60",
  browserScreenHeight: "1080",
  browserScreenWidth: "1920",
};

/** Returns the fields by which uploads name an order. */
function named(order: Acknowledged) {
  return { "client-order-id": order["merchant-order-id"], orderid: order["gw-order-id"] };
}

export function about(order: Acknowledged, { amount, currency = "USD", comment }: HowMuch) {
  return {
    client_orderid: order["merchant-order-id"],
    orderid: order["gw-order-id"],
    ...(amount === undefined ? {} : { amount, currency }),
    ...(comment === undefined ? {} : { comment }),
  };
}
