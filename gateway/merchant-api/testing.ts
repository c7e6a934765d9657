/** Helps the tests of this folder: a merchant with an endpoint and a group. */
import type { Endpoint, EntryPoint, Merchant } from "../orders/merchant.ts";
import { asEndpointId, asGateId, asGroupId, asMerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";

const merchant: Merchant = {
  id: asMerchantId("7"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret("top-secret-key"),
  cell: "main",
  enabled: true,
  oauthKeys: [],
  settings: {},
};

export function endpointWith(optionalFields: readonly string[]): Endpoint {
  return {
    id: asEndpointId("1001"),
    merchant,
    name: "plain",
    currency: "USD",
    gates: [
      {
        id: asGateId("1"),
        name: "gate",
        rank: 1,
        weight: 1,
        terminalId: "10000018",
        descriptor: "GATE",
        shownDescriptor: "SHOP",
        worksWithoutCvv: false,
        amountDigits: 12,
        partialReversal: true,
        partialCapture: false,
      },
    ],
    enabled: true,
    settings: { threeDSecure: "off", optionalFields },
  };
}

export function entryPointOf(...endpoints: readonly Endpoint[]): EntryPoint {
  return { id: asEndpointId("1001"), merchant, endpoints };
}

export const entryPoint: EntryPoint = entryPointOf(endpointWith([]));
export const group: EntryPoint = { ...entryPoint, id: asGroupId("1007") };
