/**
 * Merchants, endpoints, groups and gates. They are few and every request needs them, so a node
 * reads them whole, keeps them in memory, and reads them again when it is notified of a change.
 */
import { createPublicKey } from "node:crypto";
import type { Gate } from "../acquirers/gates.ts";
import type {
  Endpoint,
  EndpointGate,
  EndpointGroup,
  EndpointSettings,
  EntryPoint,
  Merchant,
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
import { openReloadable } from "../values/reloadable.ts";
import type { Secret } from "../values/secret.ts";
import type { Query } from "./database.ts";

export const configurationChannel = "tollgate_configuration";

export async function notifyNodes(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}

export type Configuration = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<EndpointId, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<GateId, Gate>;
  /** By the number in the path; disabled entry points are not here. */
  readonly endpointById: ReadonlyMap<string, EntryPoint>;
  readonly groupById: ReadonlyMap<string, EntryPoint>;
};

export type LiveConfiguration = {
  current(): Configuration;
  getEndpoint(id: EndpointId): Endpoint;
  reload(): Promise<void>;
};

type OpenSecret = (sealed: Uint8Array, context: string) => Secret<string>;

type Dependencies = {
  readonly query: Query;
  readonly openSecret: OpenSecret;
  readonly onChange: (configuration: Configuration) => void;
  readonly onError: (error: unknown) => void;
};

export async function openConfiguration(dependencies: Dependencies): Promise<LiveConfiguration> {
  const { query, openSecret, onChange, onError } = dependencies;
  const { current, reload } = await openReloadable<Configuration>({
    async read(present) {
      const configuration = await loadConfiguration(query, openSecret);
      if (present !== undefined) onChange(configuration);
      return configuration;
    },
    onError,
  });
  return {
    current,
    getEndpoint: (id) => get(current().endpoints, id),
    reload,
  };
}

export async function loadConfiguration(query: Query, open: OpenSecret): Promise<Configuration> {
  const merchants = byId(await loadMerchants(query, open));
  const gates = byId(await loadGates(query));
  const endpoints = byId(await loadEndpoints(query, merchants, gates));
  const groups = await loadGroups(query, merchants, endpoints);
  const enabled = [...endpoints.values()].filter(isEnabled);
  return {
    ...{ merchants: [...merchants.values()], endpoints, groups, gates },
    endpointById: byId(enabled.map((each) => ({ ...each, endpoints: [each] }))),
    groupById: byId(groups.filter(isEnabled)),
  };
}

/** What a merchant's control key is sealed for. */
export function controlKeyContext(login: string): string {
  return `control-key/${login}`;
}

type MerchantRow = Pick<Merchant, "login" | "name" | "settings"> & {
  readonly id: string;
  readonly control_key: Buffer;
};

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

type OAuthKeyRow = Pick<OAuthKey, "id" | "name"> & {
  readonly merchant_id: string;
  readonly public_key: string;
};

/** By merchant, the oldest first, without removed ones. */
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

type EndpointRow = Pick<Endpoint, "name" | "currency" | "enabled"> & {
  readonly id: string;
  readonly merchant_id: string;
  readonly settings: Partial<EndpointSettings>;
  /** Null when the endpoint has none. */
  readonly gates: readonly GateRow[] | null;
};

type GateRow = Pick<EndpointGate, "rank" | "weight"> & { readonly id: string };

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
  return rows.map(({ id, merchant_id, gates: gateRows, ...row }) => {
    const settings = { ...row.settings, threeDSecure: row.settings.threeDSecure ?? "off" };
    const merchant = get(merchants, merchant_id);
    const endpoint = { ...row, id: asEndpointId(id), merchant, settings };
    const endpointGates = (gateRows ?? []).map((gateRow) =>
      gateOf(get(gates, asGateId(gateRow.id)), gateRow, endpoint),
    );
    return { ...endpoint, gates: endpointGates };
  });
}

function gateOf(
  { id, name, settings }: Gate,
  { rank, weight }: GateRow,
  endpoint: Pick<Endpoint, "settings" | "merchant">,
): EndpointGate {
  const { descriptor, terminalId, partialReversal, partialCapture, worksWithoutCvv } = settings;
  const { currencies, amountMin, amountMax, recurrent, fee: acquirer } = settings;
  const { descriptor: shownDescriptor = descriptor, fee: seller } = endpoint.settings;
  const fees = { ...(seller && { seller }), ...(acquirer && { acquirer }) };
  return {
    ...{ id, name, rank, weight, terminalId, partialReversal, partialCapture, worksWithoutCvv },
    ...{ descriptor, shownDescriptor },
    ...(currencies && { currencies }),
    ...(amountMin !== undefined && { amountMin: BigInt(amountMin) }),
    ...(amountMax !== undefined && { amountMax: BigInt(amountMax) }),
    ...(recurrent && { recurrent }),
    ...(endpoint.merchant.settings.commissions === true && { fees }),
  };
}

type GroupRow = Pick<EndpointGroup, "name" | "enabled"> & {
  readonly id: string;
  readonly merchant_id: string;
  readonly members: readonly string[];
};

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

function byId<Entry extends { readonly id: string }>(entries: readonly Entry[]) {
  return new Map<Entry["id"], Entry>(entries.map((entry) => [entry.id, entry]));
}

function isEnabled({ enabled }: { readonly enabled: boolean }): boolean {
  return enabled;
}

/** The database's foreign keys guarantee that it exists. */
function get<Key extends string, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`no row ${key}`);
  return value;
}
