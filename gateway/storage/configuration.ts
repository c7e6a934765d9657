/**
 * Merchants, endpoints, groups and gates: few and needed by every request, so they are read whole,
 * kept in memory, and read again when any node says that they have changed.
 */
import { createPublicKey } from "node:crypto";
import type { Gate, GateSettings } from "../acquirers/gates.ts";
import type {
  Endpoint,
  EndpointGate,
  EndpointGroup,
  EndpointSettings,
  EntryPoint,
  Merchant,
  MerchantSettings,
  OAuthKey,
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
  const rows = await query<MerchantRow>(
    "select id, login, name, control_key, settings from merchants order by id",
  );
  const keys = await loadOAuthKeys(query);
  return rows.map(({ id, login, name, control_key, settings }) => ({
    id: asMerchantId(id),
    login,
    name,
    controlKey: open(control_key, controlKeyContext(login)),
    oauthKeys: keys.get(id) ?? [],
    settings,
  }));
}

/** By merchant, the oldest first; removed ones are not here. */
async function loadOAuthKeys(query: Query): Promise<ReadonlyMap<string, readonly OAuthKey[]>> {
  const rows = await query<OAuthKeyRow>(
    `select merchant_id, id, name, public_key from merchant_keys
     where removed_at is null order by id`,
  );
  return Map.groupBy(
    rows.map(({ public_key, ...row }) => ({ ...row, publicKey: createPublicKey(public_key) })),
    ({ merchant_id }) => merchant_id,
  );
}

async function loadEndpoints(
  query: Query,
  merchants: ReadonlyMap<string, Merchant>,
  gates: ReadonlyMap<GateId, Gate>,
): Promise<readonly Endpoint[]> {
  const rows = await query<EndpointRow>(
    `select id, merchant_id, name, currency, enabled, settings, (
       select json_agg(json_build_object('id', gate_id::text, 'rank', rank, 'weight', weight)
                       order by rank, gate_id)
       from endpoint_gates where endpoint_id = endpoints.id
     ) as gates
     from endpoints order by id`,
  );
  return rows.map((row) => {
    const settings = { ...row.settings, threeDSecure: row.settings.threeDSecure ?? "off" };
    const merchant = get(merchants, row.merchant_id);
    return {
      id: asEndpointId(row.id),
      merchant,
      name: row.name,
      currency: row.currency,
      gates: (row.gates ?? []).map((place) =>
        gateOf(get(gates, asGateId(place.id)), place, { settings, merchant }),
      ),
      enabled: row.enabled,
      settings,
    };
  });
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

function gateOf(
  { id, name, settings }: Gate,
  { rank, weight }: GateRow,
  endpoint: Pick<Endpoint, "settings" | "merchant">,
): EndpointGate {
  const { descriptor, terminalId, partialReversal, partialCapture, worksWithoutCvv } = settings;
  const { currencies, amountMin, amountMax, recurrent } = settings;
  return {
    ...{ id, name, rank, weight, terminalId, partialReversal, partialCapture, worksWithoutCvv },
    descriptor,
    shownDescriptor: endpoint.settings.descriptor ?? descriptor,
    ...(currencies === undefined ? {} : { currencies }),
    ...(amountMin === undefined ? {} : { amountMin: BigInt(amountMin) }),
    ...(amountMax === undefined ? {} : { amountMax: BigInt(amountMax) }),
    ...(recurrent === undefined ? {} : { recurrent }),
    ...(endpoint.merchant.settings.commissions === true
      ? { fees: feesOf(endpoint.settings, settings) }
      : {}),
  };
}

function feesOf(endpoint: EndpointSettings, gate: GateSettings): NonNullable<EndpointGate["fees"]> {
  return {
    ...(endpoint.fee === undefined ? {} : { seller: endpoint.fee }),
    ...(gate.fee === undefined ? {} : { acquirer: gate.fee }),
  };
}

type MerchantRow = {
  readonly id: string;
  readonly login: string;
  readonly name: string;
  readonly control_key: Buffer;
  readonly settings: MerchantSettings;
};

type OAuthKeyRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly name: string;
  readonly public_key: string;
};

type EndpointRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly name: string;
  readonly currency: string;
  readonly enabled: boolean;
  readonly settings: Partial<EndpointSettings>;
  /** Nothing when the endpoint has none. */
  readonly gates: readonly GateRow[] | null;
};

type GateRow = { readonly id: string; readonly rank: number; readonly weight: number };

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
