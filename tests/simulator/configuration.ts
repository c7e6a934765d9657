/** What the simulated installation is configured with: one merchant, one endpoint, two gates. */
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

export const endpoint: Endpoint = {
  ...{ id: asEndpointId("1001"), merchant, name: "shop", currency: "USD", enabled: true },
  gates: gates.map(({ id, name }) => ({
    ...{ id, name, rank: 1, weight: 1, terminalId: "10000018" },
    ...{ descriptor: "ACME", shownDescriptor: "ACME", worksWithoutCvv: true, amountDigits: 12 },
    ...{ partialReversal: true, partialCapture: true },
  })),
  settings: { threeDSecure: "off" },
};

export const entryPoint: EntryPoint = { id: endpoint.id, merchant, endpoints: [endpoint] };

const configuration: Configuration = {
  ...{ cells: [{ name: "main" }], cellOf: new Map([[merchant.id, "main"]]) },
  ...{ merchants: [merchant], endpoints: new Map([[endpoint.id, endpoint]]), groups: [] },
  ...{ gates: new Map(gates.map((gate) => [gate.id, gate])), screeningRules: [] },
  endpointById: new Map([[String(endpoint.id), entryPoint]]),
  groupById: new Map(),
};

export const live: LiveConfiguration = {
  current: () => configuration,
  getEndpoint: () => endpoint,
  reload: async () => undefined,
};

/** The usual settings. */
export function readSettings(): Config {
  const config = readConfig({ GW_ENV: "staging" });
  if (config instanceof Problem) throw new Error(config.sentence);
  return config;
}
