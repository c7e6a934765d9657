/** The configuration of the simulated installation: one merchant, three endpoints, two gates. */
import type { Gate } from "../../gateway/acquirers/gates.ts";
import { type Config, readConfig } from "../../gateway/config/config.ts";
import type { Endpoint, EntryPoint, Merchant } from "../../gateway/orders/merchant.ts";
import {
  type Configuration,
  endpointGateOf,
  type LiveConfiguration,
} from "../../gateway/storage/configuration/configuration.ts";
import { asEndpointId, asGateId, asMerchantId, type GateId } from "../../gateway/values/ids.ts";
import { Problem } from "../../gateway/values/problem.ts";
import { Secret } from "../../gateway/values/secret.ts";

export const merchant: Merchant = {
  id: asMerchantId("7"),
  login: "acme",
  name: "Acme",
  cell: "main",
  enabled: true,
  controlKey: new Secret("a key"),
  oauthKeys: [],
  settings: {},
};

/**
 * At the first port the host cannot be asked about a charge, and recognises repeated payouts; at
 * the other it can be asked.
 */
export const gates: readonly Gate[] = [
  gateOf("1", { kind: "sandbox", port: 8583 }),
  gateOf("2", { kind: "iso87_binary", port: 8584 }),
];

function gateOf(id: string, { kind, port }: { kind: Gate["kind"]; port: number }): Gate {
  return {
    id: asGateId(id),
    name: `gate-${id}`,
    kind,
    settings: {
      host: "host",
      port,
      connections: 2,
      terminalId: "10000018",
      merchantCode: "TG100000000001",
      nameAndPlace: "Acme, Delft",
      categoryCode: "5732",
      countryCode: "528",
      acquirerId: "400001",
      descriptor: "ACME",
      worksWithoutCvv: true,
      partialReversal: true,
      partialCapture: true,
      payouts: true,
      payoutRepeatHours: 720,
    },
  };
}

/** Amounts above this limit are filtered. */
const settings = { amountMax: "95000", pageFields: [], payouts: true };

function offer(to: Pick<Endpoint, "settings" | "merchant">, offered: readonly Gate[]) {
  const place = { rank: 1, weight: 1 };
  return offered.map((gate) => ({ ...endpointGateOf(gate, place, to), amountDigits: 12 }));
}

export type Shop = EntryPoint & { readonly id: Endpoint["id"] };

function shopOf(number: string, threeDSecure: Endpoint["settings"]["threeDSecure"]): Shop {
  const id = asEndpointId(number);
  const own = { settings: { ...settings, threeDSecure }, merchant, enabled: true };
  const endpoint = {
    ...own,
    id,
    gates: offer(own, gates),
    name: `shop-${number}`,
    currency: "USD",
  };
  return { id, merchant, endpoints: [endpoint] };
}

export const openShop = shopOf("1001", "off");
export const strictShop = shopOf("1003", "always");
const secureShop = shopOf("1002", "when_possible");
export const shops: readonly Shop[] = [openShop, secureShop, strictShop];

/** At the endpoint without 3-D Secure, a rule forces it for large amounts. */
const screeningRules: Configuration["screeningRules"] = [
  {
    id: "1",
    merchantId: undefined,
    endpointId: openShop.id,
    kind: "amount",
    enabled: true,
    parameters: { currency: "USD", max: "900.00" },
    action: "force_3ds",
  },
];

/** Changes of endpoints that operators make for a while. */
export const changes: readonly Partial<Endpoint["settings"]>[] = [
  ...[{ threeDSecure: "off" } as const, { threeDSecure: "always" } as const],
  ...[{ acceptsPartialApprovals: true }, { amountMax: "20000" }],
];

export type Configurations = ReturnType<typeof makeConfigurations>;

/**
 * The configuration in the database, which operators change. Each node reads it some time later.
 */
export function makeConfigurations(onChanged: () => void) {
  const present = new Map(gates.map((gate) => [gate.id, gate]));
  const removed = new Set<string>();
  let changed: Partial<Endpoint["settings"]> = {};
  let newest = read();
  return {
    newest: () => newest,
    /** Returns a gate, even one that is removed for a while. */
    gateOf: (id: GateId) => present.get(id),
    put(gate: Gate): void {
      present.set(gate.id, gate);
      tell();
    },
    remove(gone: readonly Gate[]): void {
      for (const { id } of gone) removed.add(id);
      tell();
    },
    change(settings: typeof changed): void {
      changed = { ...changed, ...settings };
      tell();
    },
    heal(): void {
      removed.clear();
      changed = {};
      tell();
    },
  };

  function tell(): void {
    newest = read();
    onChanged();
  }

  function read(): Configuration {
    const left = [...present.values()].filter(({ id }) => !removed.has(id));
    const offered = shops.map((shop) => ({
      ...shop,
      endpoints: shop.endpoints.map((endpoint) => ({
        ...endpoint,
        gates: offer(endpoint, left),
        settings: settingsOf(endpoint),
      })),
    }));
    const endpoints = offered.flatMap((shop) => shop.endpoints);
    return {
      cells: [{ name: "main" }],
      cellOf: new Map([[merchant.id, "main"]]),
      merchants: [merchant],
      groups: [],
      screeningRules,
      groupById: new Map(),
      endpoints: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])),
      gates: new Map(left.map((gate) => [gate.id, gate])),
      endpointById: new Map(offered.map((shop) => [String(shop.id), shop])),
    };
  }

  /** The endpoint that always authenticates keeps doing so, because a law depends on it. */
  function settingsOf({ settings: own, id }: Endpoint): Endpoint["settings"] {
    const { threeDSecure, ...others } = changed;
    const isKept = threeDSecure === undefined || id !== secureShop.id;
    return { ...own, ...others, ...(!isKept && { threeDSecure }) };
  }
}

/** Opens a node's copy of the configuration. */
export function openLive({ newest }: Configurations): LiveConfiguration {
  let current = newest();
  return {
    current: () => current,
    getEndpoint(id) {
      const endpoint = current.endpoints.get(id);
      if (endpoint === undefined) throw new Error(`no endpoint ${id}`);
      return endpoint;
    },
    findEntryPoint: (form, id) =>
      (form === "group" ? current.groupById : current.endpointById).get(id),
    reload: async () => {
      current = newest();
    },
  };
}

/**
 * The deadlines are short, so that more of them meet faults and less virtual time passes without
 * faults.
 */
// biome-ignore format: a table
const environment = {
  GW_ENV: "staging",
  GW_CLAIM_EVERY_S: "2",
  GW_METHOD_DEADLINE_S: "120", GW_CHALLENGE_DEADLINE_S: "120", GW_PARES_DEADLINE_S: "150",
  GW_PROCESSING_DEADLINE_S: "48", GW_DOUBT_ALARM_S: "120",
  GW_KEY_GRACE_S: "20",
};

export function readSettings(): Config {
  const config = readConfig(environment);
  if (config instanceof Problem) throw new Error(config.sentence);
  return config;
}
