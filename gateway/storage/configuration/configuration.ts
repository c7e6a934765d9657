/**
 * Merchants, endpoints, groups and gates. They are few and every request needs them, so a node
 * keeps all of them in memory and reads them again when it is notified of a change.
 */
import { createPublicKey } from "node:crypto";
import type { Gate } from "../../acquirers/gates.ts";
import type {
  Endpoint,
  EndpointGate,
  EndpointGroup,
  EndpointSettings,
  EntryPoint,
  Merchant,
  OAuthKey,
} from "../../orders/merchant.ts";
import { compileRoutes } from "../../orders/routing-rules.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import type { EndpointId, GateId, MerchantId } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { openReloadable } from "../../values/reloadable.ts";
import type { Clock } from "../../values/time.ts";
import type { Vault } from "../../vault/vault.ts";
import { loadMacKeys, loadZoneKeys } from "../cards/mac-keys.ts";
import { type CellMap, loadCells } from "../cells/cells.ts";
import type { Database, Query } from "../server/database.ts";

export const configurationChannel = "tollgate_configuration";

export async function notifyNodes(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}

export type Configuration = CellMap & {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<EndpointId, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<GateId, Gate>;
  /** The screening rules, including disabled ones. */
  readonly screeningRules: readonly ConfiguredRule[];
  /** The entry points by the number in the path of a request. */
  readonly endpointById: ReadonlyMap<string, EntryPoint>;
  readonly groupById: ReadonlyMap<string, EntryPoint>;
};

export type LiveConfiguration = Awaited<ReturnType<typeof openConfiguration>>;

type OpenSecret = Vault["openSecret"];
/** Returns what the messages of the gate's dialect have places for. */
type AbilitiesOf = (kind: Gate["kind"]) => Pick<EndpointGate, "amountDigits" | "exemptions">;

type Dependencies = {
  readonly snapshot: Database["snapshot"];
  readonly openSecret: OpenSecret;
  readonly abilitiesOf: AbilitiesOf;
  readonly onChange: (configuration: Configuration) => void;
  readonly onError: (error: unknown) => void;
};

export async function openConfiguration(dependencies: Dependencies) {
  const { snapshot, openSecret, abilitiesOf, onChange, onError } = dependencies;
  const { current, reload } = await openReloadable<Configuration>({
    read: () => snapshot((query) => loadConfiguration(query, openSecret, abilitiesOf)),
    onError,
  });
  return {
    current,
    getEndpoint: (id: EndpointId) => get(current().endpoints, id),
    findEntryPoint(form: "endpoint" | "group", id: string): EntryPoint | undefined {
      const { endpointById, groupById } = current();
      return (form === "group" ? groupById : endpointById).get(id);
    },
    /** Reads the configuration again. A gate that cannot be started is reported and left out. */
    async reload(): Promise<void> {
      await reload();
      try {
        onChange(current());
      } catch (error) {
        onError(error);
      }
    },
  };
}

/** `query` must read from one snapshot, because the configuration's rows refer to each other. */
export async function loadConfiguration(
  query: Query,
  open: OpenSecret,
  abilitiesOf: AbilitiesOf,
): Promise<Configuration> {
  const merchants = byId(await loadMerchants(query, open));
  const macKeys = await loadMacKeys(query, open);
  const zoneKeys = await loadZoneKeys(query, open);
  const gates = byId(
    (await loadGates(query)).map((gate) =>
      withKeys(gate, macKeys.get(gate.id), zoneKeys.get(gate.id)),
    ),
  );
  const endpoints = byId(await loadEndpoints(query, merchants, gates, abilitiesOf));
  const groups = await loadGroups(query, merchants, endpoints);
  return {
    merchants: [...merchants.values()],
    endpoints,
    groups,
    gates,
    screeningRules: await loadScreeningRules(query),
    // The cells are read after the merchants, so that even a new merchant's cell is known.
    cells: await loadCells(query, open),
    cellOf: new Map([...merchants.values()].map(({ id, cell }) => [id, cell])),
    endpointById: byId([...endpoints.values()].map((each) => entryPointOf(each, [each]))),
    groupById: byId(groups.map((group) => entryPointOf(group, group.endpoints))),
  };
}

export function controlKeyContext(login: string): string {
  return `control-key/${login}`;
}

function entryPointOf(
  own: Pick<Endpoint, "merchant" | "enabled"> & Pick<EntryPoint, "id">,
  endpoints: readonly Endpoint[],
): EntryPoint {
  const { id, merchant, enabled } = own;
  const disabled = merchant.enabled ? (enabled ? undefined : "itself") : "merchant";
  return { id, merchant, endpoints, ...(disabled && { disabled }) };
}

type MerchantRow = Omit<Merchant, "controlKey" | "oldControlKey" | "oauthKeys"> & {
  readonly control_key: Buffer;
  readonly old_control_key: Buffer | null;
};
type OAuthKeyRow = Omit<OAuthKey, "publicKey"> & { merchant_id: MerchantId; public_key: string };

async function loadMerchants(query: Query, open: OpenSecret): Promise<readonly Merchant[]> {
  const rows = await query<MerchantRow>(
    `select id, login, name, cell, enabled, control_key, old_control_key, settings
     from merchants order by id`,
  );
  const keyRows = await query<OAuthKeyRow>(
    `select merchant_id, id, name, public_key from merchant_keys
     where removed_at is null order by id`,
  );
  const keys = keyRows.map(({ public_key, ...row }) => ({
    ...row,
    publicKey: createPublicKey(public_key),
  }));
  const oauthKeys = Map.groupBy(keys, ({ merchant_id }) => merchant_id);
  return rows.map(({ control_key, old_control_key: old, ...row }) => ({
    ...row,
    controlKey: open(control_key, controlKeyContext(row.login)),
    ...(old !== null && { oldControlKey: open(old, controlKeyContext(row.login)) }),
    oauthKeys: oauthKeys.get(row.id) ?? [],
  }));
}

export function loadGates(query: Query): Promise<readonly Gate[]> {
  return query<Gate>("select id, name, kind, settings from gates order by id");
}

function withKeys(gate: Gate, macKeys: Gate["macKeys"], zoneKey: Gate["zoneKey"]): Gate {
  return { ...gate, ...(macKeys && { macKeys }), ...(zoneKey && { zoneKey }) };
}

type GateRow = Pick<EndpointGate, "id" | "rank" | "weight">;
type EndpointRow = Omit<Endpoint, "merchant" | "gates" | "settings"> & {
  readonly merchant_id: MerchantId;
  readonly settings: Partial<EndpointSettings>;
  readonly gates: readonly GateRow[] | null;
};

async function loadEndpoints(
  query: Query,
  merchants: ReadonlyMap<MerchantId, Merchant>,
  gates: ReadonlyMap<GateId, Gate>,
  abilitiesOf: AbilitiesOf,
): Promise<readonly Endpoint[]> {
  const rows = await query<EndpointRow>(
    `select id, merchant_id, name, currency, enabled, settings, (
       select json_agg(json_build_object('id', gate_id::text, 'rank', rank, 'weight', weight)
                       order by rank, gate_id)
       from endpoint_gates where endpoint_id = endpoints.id
     ) as gates
     from endpoints order by id`,
  );
  return rows.map(({ merchant_id, gates: gateRows, ...row }) => {
    const settings = { threeDSecure: "off" as const, ...row.settings };
    const endpoint = { ...row, merchant: get(merchants, merchant_id), settings };
    const ownGates = (gateRows ?? []).map((own) => {
      const gate = get(gates, own.id);
      return { ...endpointGateOf(gate, own, endpoint), ...abilitiesOf(gate.kind) };
    });
    const place = { gates: ownGates, currency: getCurrency(row.currency) };
    return { ...endpoint, gates: ownGates, routes: compileRoutes(settings.routes, place) };
  });
}

export function endpointGateOf(
  { id, name, settings }: Gate,
  { rank, weight }: Pick<GateRow, "rank" | "weight">,
  endpoint: Pick<Endpoint, "settings" | "merchant">,
): Omit<EndpointGate, "amountDigits"> {
  const { descriptor, terminalId, partialReversal, partialCapture, worksWithoutCvv } = settings;
  const { currencies, amountMin, amountMax, recurrent, zone, fee: acquirer } = settings;
  const { payouts, payoutRepeatHours: repeatHours, payoutFields: fields } = settings;
  const { refunds, holdDays, merchantCode, acquirerId, hostChanges } = settings;
  const { descriptor: shownDescriptor = descriptor, fee: seller } = endpoint.settings;
  const fees = { ...(seller && { seller }), ...(acquirer && { acquirer }) };
  return {
    id,
    name,
    rank,
    weight,
    terminalId,
    partialReversal,
    partialCapture,
    worksWithoutCvv,
    descriptor,
    shownDescriptor,
    merchantCode,
    acquirerId,
    ...(hostChanges !== undefined && { hostChanges }),
    ...(currencies && { currencies }),
    ...(amountMin !== undefined && { amountMin: BigInt(amountMin) }),
    ...(amountMax !== undefined && { amountMax: BigInt(amountMax) }),
    ...(payouts === true && {
      payouts: { ...(repeatHours !== undefined && { repeatHours }), ...(fields && { fields }) },
    }),
    ...(recurrent && { recurrent }),
    ...(acquirer && { cost: acquirer }),
    ...(zone !== undefined && { zone }),
    ...(refunds && { refunds }),
    ...(holdDays !== undefined && { holdDays }),
    ...(endpoint.merchant.settings.commissions === true && { fees }),
  };
}

type GroupRow = Omit<EndpointGroup, "merchant" | "endpoints"> & {
  readonly merchant_id: MerchantId;
  readonly members: readonly EndpointId[];
};

async function loadGroups(
  query: Query,
  merchants: ReadonlyMap<MerchantId, Merchant>,
  endpoints: ReadonlyMap<EndpointId, Endpoint>,
): Promise<readonly EndpointGroup[]> {
  const rows = await query<GroupRow>(
    `select id, merchant_id, name, enabled, array(
       select endpoint_id from endpoint_group_members where group_id = id order by endpoint_id
     )::text[] as members
     from endpoint_groups order by id`,
  );
  return rows.map(({ merchant_id, members, ...row }) => ({
    ...row,
    merchant: get(merchants, merchant_id),
    endpoints: members.map((member) => get(endpoints, member)),
  }));
}

type RuleRow = Omit<ConfiguredRule, "merchantId" | "endpointId"> & {
  readonly merchant_id: MerchantId | null;
  readonly endpoint_id: EndpointId | null;
};

export const ruleColumns = "id, merchant_id, endpoint_id, kind, parameters, action, enabled";

async function loadScreeningRules(query: Query): Promise<readonly ConfiguredRule[]> {
  const rows = await query<RuleRow>(`select ${ruleColumns} from screening_rules order by id`);
  return rows.map(({ merchant_id, endpoint_id, ...row }) => ({
    ...row,
    merchantId: merchant_id ?? undefined,
    endpointId: endpoint_id ?? undefined,
  }));
}

function byId<Entry extends { readonly id: string }>(entries: readonly Entry[]) {
  return new Map<Entry["id"], Entry>(entries.map((entry) => [entry.id, entry]));
}

function get<Key extends string, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`no row ${key}`);
  return value;
}

async function noteOldControlKey(query: Query, id: MerchantId): Promise<void> {
  await query(
    `update merchants set old_control_key_used_at = now()
     where id = $1 and old_control_key is not null`,
    [id],
  );
}

const noteEveryMs = 60_000;

/** Notes when merchants use their old control keys, to show when these can be dropped. */
export function makeNoteOldControlKey(
  query: Query,
  clock: Pick<Clock, "now">,
  onError: (error: unknown) => void,
): (merchant: MerchantId) => void {
  const notedAt = new Map<MerchantId, number>();
  return (merchant) => {
    const now = clock.now();
    if (now - (notedAt.get(merchant) ?? 0) < noteEveryMs) return;
    notedAt.set(merchant, now);
    noteOldControlKey(query, merchant).catch(onError);
  };
}

type ControlKeyUse = { readonly set: string | null; readonly oldUsed: string | null };

export async function findControlKeyUse(query: Query, id: MerchantId): Promise<ControlKeyUse> {
  const printed = (column: string) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')`;
  const [row] = await query<ControlKeyUse>(
    `select ${printed("control_key_set_at")} as set, ${printed("old_control_key_used_at")}
       as "oldUsed" from merchants where id = $1`,
    [id],
  );
  return row ?? { set: null, oldUsed: null };
}
