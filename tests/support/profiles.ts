/** Requests about recurring payment profiles, signed as the demonstration merchant signs them. */
import { endOfFile } from "./end-of-file.ts";
import { type Fields, makeKeyPair, postSigned, type Signer, worldsWithKey } from "./wire.ts";

export type Named = Readonly<Record<string, string>>;

/** An approved card. */
export const card = "4000001000000018";
let count = 0;

export function newId(): string {
  count += 1;
  return `profile-${count}`;
}

/** The names have hyphens here, and underscores in the documents. */
export function creation(fields: Fields = {}): Fields {
  return {
    "rp_card_type": "SRC",
    "client-orderid": newId(),
    "credit-card-number": card,
    "card-printed-name": "JANE DOE",
    "expire-month": "12",
    "expire-year": "2031",
    "currency": "USD",
    "email": "jane@example.com",
    "phone": "+1 555 0100",
    "address1": "1 Main Street",
    "city": "Springfield",
    "state": "IL",
    "zip-code": "62701",
    "country": "US",
    "customer-ip": "203.0.113.7",
    ...fields,
  };
}

export const named = (each: Named) => ({
  "merchant-order-id": each["merchant-order-id"] ?? "",
  "gw-order-id": each["gw-order-id"] ?? "",
  "serial-number": each["serial-number"] ?? "",
});

/** Starts a world for the tests of a file, whose merchant has a key for OAuth. */
export async function openProfiles(settings: Readonly<Record<string, string>> = {}) {
  const { privateKey, ...pair } = makeKeyPair();
  const world = await worldsWithKey({ privateKey, ...pair }).startSigned(endOfFile, settings);
  const merchant = world.merchant();
  const signer: Signer = { consumerKey: "demo", privateKey };

  async function ask(
    what: string,
    fields: Fields,
    { endpoint = "plain", by = signer }: { endpoint?: string; by?: Signer } = {},
  ): Promise<Named> {
    const path = `/gw/api/v4/${what}/${world.set.endpoints[endpoint] ?? endpoint}`;
    const { text } = await postSigned(world, by, path, fields);
    return Object.fromEntries(new URLSearchParams(text));
  }

  return {
    world,
    merchant,
    signer,
    ask,
    create: (fields: Fields = {}) => ask("create-recurring-payment", creation(fields)),
    update: (fields: Fields) =>
      ask("update-recurring-payment", { "client-orderid": newId(), ...fields }),
    charge: (id: string | undefined, fields: Fields = {}) => {
      const order = { "client-orderid": newId(), "recurring-payment-id": id, "amount": "4.99" };
      return ask("process-recurring-payment", { ...order, ...fields });
    },
    async statusOf(charged: Named) {
      await world.settle();
      return merchant.status(named(charged));
    },
  };
}
