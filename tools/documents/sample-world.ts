/**
 * Who and what the examples in the documents are about: a merchant, his endpoint with one gate, a
 * group, and the moment at which time stands still.
 */
import type { Endpoint, EntryPoint, Merchant } from "../../gateway/orders/merchant.ts";
import {
  asCardRefId,
  asEndpointId,
  asGateId,
  asGroupId,
  asMerchantId,
} from "../../gateway/values/ids.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { asInstant, type Clock } from "../../gateway/values/time.ts";
import { samplePublicKey } from "./sample-oauth.ts";

export const sampleBaseUrl = "https://gateway.example";
export const sampleControlKey = "B6C1FA06-4E44-4B3F-9D44-2E0C5A7F9D31";

const now = asInstant(Date.UTC(2027, 2, 14, 9, 26, 53));
export const sampleClock: Clock = { now: () => now, after: () => () => undefined };

const merchant: Merchant = {
  id: asMerchantId("1"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret(sampleControlKey),
  oauthKeys: [{ id: "1", name: "", publicKey: samplePublicKey }],
  settings: {},
};

export const onlyEndpoint: Endpoint = {
  id: asEndpointId("1001"),
  merchant,
  name: "plain",
  currency: "USD",
  gates: [
    {
      id: asGateId("1"),
      name: "acquirer",
      rank: 1,
      weight: 1,
      descriptor: "ACME*ONLINE",
      shownDescriptor: "ACME*ONLINE",
      terminalId: "10000018",
      partialReversal: true,
      partialCapture: true,
      worksWithoutCvv: false,
    },
  ],
  enabled: true,
  settings: { threeDSecure: "off" },
};

export const sampleEndpoint: EntryPoint = {
  id: onlyEndpoint.id,
  merchant,
  endpoints: [onlyEndpoint],
};
export const sampleGroup: EntryPoint = { ...sampleEndpoint, id: asGroupId("1007") };

/** The id of the gateway's first order, of its second, and so on. */
export function sampleOrderId(count: number): string {
  return String(1_001_734_520 + count);
}

/** What a registration of the sample card gives. */
export const sampleReferences = {
  card: asCardRefId("7302946158017725431"),
  recurring: asCardRefId("5518203974410682937"),
  destination: asCardRefId("8860143527993204116"),
  destination_recurring: asCardRefId("4407719385260148592"),
} as const;

export const sampleCardNumber = "4000001000000018";
