/** A merchant as tests speak of it: sales with all filled in but what matters to the test. */
import type { makeClient } from "@tollgate/client";
import type { MerchantSet } from "@tollgate/gateway/demonstration";

export type SaleFields = Readonly<Record<string, string | undefined>>;

type Needs = {
  readonly set: MerchantSet;
  readonly baseUrl: () => string;
  readonly makeClient: typeof makeClient;
};

let count = 0;

/** A card that no scenario names: its CVV decides, and 123 is approved. */
export const plainCard = "4111111111111111";

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

export function makeMerchant({ set, baseUrl, makeClient }: Needs) {
  const client = () =>
    makeClient({
      baseUrl: baseUrl(),
      login: set.login,
      controlKey: set.controlKey,
      tries: 1,
    });
  const at = (name: string) => client().endpoint(set.endpoints[name] ?? "");
  return {
    set,
    client,
    endpoint: at,
    group: () => client().group(set.group),
    sale: (fields: SaleFields = {}, endpoint = "plain") => at(endpoint).sale(saleFields(fields)),
    status: (
      sale: { readonly "merchant-order-id": string; readonly "gw-order-id"?: string },
      endpoint = "plain",
    ) =>
      at(endpoint).status({
        client_orderid: sale["merchant-order-id"],
        ...(sale["gw-order-id"] === undefined ? {} : { orderid: sale["gw-order-id"] }),
      }),
  };
}
