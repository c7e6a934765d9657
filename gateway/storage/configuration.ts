/**
 * Merchants, endpoints, groups and gates: few and needed by every request, so they are read whole,
 * kept in memory, and read again when any node says that they have changed.
 */
import type { Gate } from "../acquirers/gate.ts";
import type {
  Endpoint,
  EndpointGate,
  EndpointGroup,
  EntryPoint,
  Merchant,
} from "../orders/merchant.ts";
import {
  asEndpointId,
  asGateId,
  asGroupId,
  asMerchantId,
  type EndpointId,
  type GateId,
} from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { Query } from "./database.ts";

export const configurationChannel = "tollgate_configuration";

export type Configuration = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<EndpointId, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<GateId, Gate>;
  /** By the number in the path; switched-off entry points are not here. */
  readonly endpointById: ReadonlyMap<string, EntryPoint>;
  readonly groupById: ReadonlyMap<string, EntryPoint>;
};

type OpenSecret = (sealed: Uint8Array, context: string) => Secret<string>;

export async function loadConfiguration(query: Query, open: OpenSecret): Promise<Configuration> {
  const merchants = new Map((await loadMerchants(query, open)).map((each) => [each.id, each]));
  const gates = new Map((await loadGates(query)).map((each) => [each.id, each]));
  const loaded = await loadEndpoints(query, merchants, gates);
  const endpoints = new Map(loaded.map((each) => [each.id, each]));
  const groups = await loadGroups(query, merchants, endpoints);
  return {
    merchants: [...merchants.values()],
    endpoints,
    groups,
    gates,
    endpointById: byId(loaded.filter(isEnabled).map((each) => ({ ...each, endpoints: [each] }))),
    groupById: byId(groups.filter(isEnabled)),
  };
}

/** What a merchant's control key is sealed for; the same when it is made and when it is opened. */
export function controlKeyContext(login: string): string {
  return `control-key/${login}`;
}

async function loadMerchants(query: Query, open: OpenSecret): Promise<readonly Merchant[]> {
  const rows = await query<{ id: string; login: string; name: string; control_key: Buffer }>(
    "select id, login, name, control_key from merchants order by id",
  );
  return rows.map(({ id, login, name, control_key }) => ({
    id: asMerchantId(id),
    login,
    name,
    controlKey: open(control_key, controlKeyContext(login)),
  }));
}

async function loadEndpoints(
  query: Query,
  merchants: ReadonlyMap<string, Merchant>,
  gates: ReadonlyMap<GateId, Gate>,
): Promise<readonly Endpoint[]> {
  const rows = await query<EndpointRow>(
    "select id, merchant_id, name, currency, gate_id, enabled, settings from endpoints order by id",
  );
  return rows.map((row) => ({
    id: asEndpointId(row.id),
    merchant: get(merchants, row.merchant_id),
    name: row.name,
    currency: row.currency,
    gate: gateOf(get(gates, asGateId(row.gate_id)), row.settings.descriptor),
    enabled: row.enabled,
    settings: { ...row.settings, threeDSecure: row.settings.threeDSecure ?? "off" },
  }));
}

async function loadGroups(
  query: Query,
  merchants: ReadonlyMap<string, Merchant>,
  endpoints: ReadonlyMap<EndpointId, Endpoint>,
): Promise<readonly EndpointGroup[]> {
  const rows = await query<GroupRow>(
    `select id, merchant_id, name, enabled, array(
       select endpoint_id from endpoint_group_members where group_id = id order by endpoint_id
     )::text[] as members
     from endpoint_groups order by id`,
  );
  return rows.map(({ id, merchant_id, name, enabled, members }) => ({
    id: asGroupId(id),
    merchant: get(merchants, merchant_id),
    name,
    enabled,
    endpoints: members.map((member) => get(endpoints, asEndpointId(member))).filter(isEnabled),
  }));
}

export async function loadGates(query: Query): Promise<readonly Gate[]> {
  const rows = await query<Omit<Gate, "id"> & { id: string }>(
    "select id, name, kind, settings from gates order by id",
  );
  return rows.map((row) => ({ ...row, id: asGateId(row.id) }));
}

function gateOf({ id, settings }: Gate, shown: string | undefined): EndpointGate {
  const { descriptor, terminalId, partialReversal, partialCapture, worksWithoutCvv } = settings;
  const shownDescriptor = shown ?? descriptor;
  return {
    id,
    descriptor,
    shownDescriptor,
    terminalId,
    partialReversal,
    partialCapture,
    worksWithoutCvv,
  };
}

type EndpointRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly name: string;
  readonly currency: string;
  readonly gate_id: string;
  readonly enabled: boolean;
  readonly settings: Partial<Endpoint["settings"]>;
};

type GroupRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly members: readonly string[];
};

function byId(entries: readonly EntryPoint[]): ReadonlyMap<string, EntryPoint> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}

function isEnabled({ enabled }: { readonly enabled: boolean }): boolean {
  return enabled;
}

/** The database's foreign keys promise that it is there. */
function get<Key extends string, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`no row ${key}`);
  return value;
}
