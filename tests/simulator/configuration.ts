/** What the simulated installation is configured with: one merchant, three endpoints, two gates. */
import type { Gate } from "../../gateway/acquirers/gates.ts";
import { type Config, readConfig } from "../../gateway/config/config.ts";
import type { Endpoint, EntryPoint, Merchant } from "../../gateway/orders/merchant.ts";
import type { Configuration, LiveConfiguration } from "../../gateway/storage/configuration.ts";
import { asEndpointId, asGateId, asMerchantId } from "../../gateway/values/ids.ts";
import { Problem } from "../../gateway/values/problem.ts";
import { Secret } from "../../gateway/values/secret.ts";

export const merchant: Merchant = {
  ...{ id: asMerchantId("7"), login: "acme", name: "Acme", cell: "main", enabled: true },
  ...{ controlKey: new Secret("a key"), oauthKeys: [], settings: {} },
};

/** The host cannot be asked what became of a charge; at the other port it can. */
const gates: readonly Gate[] = [
  gateOf("1", { kind: "sandbox", port: 8583 }),
  gateOf("2", { kind: "iso87_binary", port: 8584 }),
];

function gateOf(id: string, { kind, port }: { kind: Gate["kind"]; port: number }): Gate {
  return {
    ...{ id: asGateId(id), name: `gate-${id}`, kind },
    settings: {
      ...{ host: "host", port, connections: 2 },
      ...{ terminalId: "10000018", merchantCode: "TG100000000001", nameAndPlace: "Acme, Delft" },
      ...{ categoryCode: "5732", countryCode: "528", acquirerId: "400001", descriptor: "ACME" },
      ...{ worksWithoutCvv: true, partialReversal: true, partialCapture: true },
    },
  };
}

/** Amounts above it are filtered out. */
const settings = { amountMax: "95000", pageFields: [] };
const endpointGates = gates.map(({ id, name }) => ({
  ...{ id, name, rank: 1, weight: 1, terminalId: "10000018" },
  ...{ descriptor: "ACME", shownDescriptor: "ACME", worksWithoutCvv: true, amountDigits: 12 },
  ...{ partialReversal: true, partialCapture: true },
}));

export type Shop = EntryPoint & { readonly id: Endpoint["id"] };

function shopOf(number: string, threeDSecure: Endpoint["settings"]["threeDSecure"]): Shop {
  const id = asEndpointId(number);
  const own = { settings: { ...settings, threeDSecure }, gates: endpointGates, enabled: true };
  const endpoint = { ...own, id, merchant, name: `shop-${number}`, currency: "USD" };
  return { id, merchant, endpoints: [endpoint] };
}

export const openShop = shopOf("1001", "off");
export const strictShop = shopOf("1003", "always");
export const shops: readonly Shop[] = [openShop, shopOf("1002", "when_possible"), strictShop];
const endpoints = new Map(shops.flatMap((shop) => shop.endpoints.map((each) => [each.id, each])));

/** Where the endpoint has no 3-D Secure, a rule forces it for large amounts. */
const screeningRules: Configuration["screeningRules"] = [
  {
    ...{ id: "1", merchantId: undefined, endpointId: openShop.id, kind: "amount", enabled: true },
    ...{ parameters: { currency: "USD", max: "900.00" }, action: "force_3ds" },
  },
];

const configuration: Configuration = {
  ...{ cells: [{ name: "main" }], cellOf: new Map([[merchant.id, "main"]]) },
  ...{ merchants: [merchant], endpoints, groups: [] },
  ...{ gates: new Map(gates.map((gate) => [gate.id, gate])), screeningRules },
  endpointById: new Map(shops.map((shop) => [String(shop.id), shop])),
  groupById: new Map(),
};

export const live: LiveConfiguration = {
  current: () => configuration,
  getEndpoint(id) {
    const endpoint = endpoints.get(id);
    if (endpoint === undefined) throw new Error(`no endpoint ${id}`);
    return endpoint;
  },
  reload: async () => undefined,
};

/** The usual settings. */
export function readSettings(): Config {
  const config = readConfig({ GW_ENV: "staging" });
  if (config instanceof Problem) throw new Error(config.sentence);
  return config;
}
