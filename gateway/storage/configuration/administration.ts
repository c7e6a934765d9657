/**
 * Creates and changes merchants, endpoints, groups and gates. Every change is audited and notifies
 * all nodes, which read their configuration again.
 */
import type { Gate } from "../../acquirers/gates.ts";
import type { EndpointSettings, MerchantSettings } from "../../orders/merchant.ts";
import type { EndpointId, GateId, GroupId, MerchantId } from "../../values/ids.ts";
import type { ListedMacKey } from "../cards/mac-keys.ts";
import { isHere } from "../cells/cells.ts";
import { isOpen, refusedTries } from "../orders/find-orders.ts";
import type { Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";
import { notifyNodes } from "./configuration.ts";

export type RankedGate = {
  readonly gateId: GateId;
  readonly rank: number;
  readonly weight: number;
};

type NewEndpoint = {
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly currency: string;
  readonly gates: readonly RankedGate[];
  readonly settings: EndpointSettings;
};

type NewMacKey = Pick<ListedMacKey, "algorithm" | "bytes" | "checkValue"> & {
  readonly sealed: Uint8Array;
};

type NewZoneKey = NewMacKey & { readonly cipher: string; readonly everyS: number | null };

export type Administration = ReturnType<typeof makeAdministration>;

export function makeAdministration(audit: Audit) {
  const changes = makeChanges(audit);
  return {
    ...forMerchants(changes),
    ...forControlKeys(changes),
    ...forEndpoints(changes),
    ...forGates(changes),
    ...forMacKeys(changes),
  };
}

function forMerchants({ change }: Changes) {
  return {
    createMerchant(login: string, controlKey: Uint8Array, cell: string): Promise<MerchantId> {
      return change("merchant create", "merchant", undefined, [
        `insert into merchants (id, login, name, control_key, cell)
         values (nextval('merchant_ids'), $1, $1, $2, $3) returning id`,
        [login, controlKey, cell],
      ]);
    },

    async setMerchant(
      id: MerchantId,
      settings: MerchantSettings,
      action: "merchant set" | "merchant report set" | "wallet set" = "merchant set",
    ): Promise<void> {
      await change(action, "merchant", id, [
        "update merchants set settings = $2 where id = $1 returning id",
        [id, JSON.stringify(settings)],
      ]);
    },

    /** A disabled merchant may only ask for the status of its orders. */
    async enableMerchant(id: MerchantId, enabled: boolean): Promise<void> {
      await change(enabled ? "merchant enable" : "merchant disable", "merchant", id, [
        "update merchants set enabled = $2 where id = $1 returning id",
        [id, enabled],
      ]);
    },

    /** The public key is SPKI in PEM. */
    addMerchantKey(merchantId: MerchantId, name: string, publicKey: string): Promise<string> {
      return change("merchant key add", "merchant key", undefined, [
        `insert into merchant_keys (merchant_id, name, public_key) values ($1, $2, $3)
         returning id`,
        [merchantId, name, publicKey],
      ]);
    },

    /**
     * Marks the key as removed and keeps its row, which shows which key has signed an old request.
     */
    async removeMerchantKey(merchantId: MerchantId, id: string): Promise<void> {
      await change("merchant key remove", "merchant key", id, [
        `update merchant_keys set removed_at = now()
         where merchant_id = $1 and id = $2 and removed_at is null returning id`,
        [merchantId, id],
      ]);
    },
  };
}

function forControlKeys({ change }: Changes) {
  return {
    /** Both control keys are accepted until an operator drops the old one. */
    async putControlKey(how: "renew" | "set", id: MerchantId, sealed: Uint8Array): Promise<void> {
      await change(`merchant control-key ${how}`, "merchant", id, [
        `update merchants set old_control_key = control_key, control_key = $2,
           old_control_key_used_at = null, control_key_set_at = now()
         where id = $1 and old_control_key is null returning id`,
        [id, sealed],
      ]);
    },

    async dropOldControlKey(id: MerchantId): Promise<void> {
      await change("merchant control-key drop", "merchant", id, [
        `update merchants set old_control_key = null
         where id = $1 and old_control_key is not null returning id`,
        [id],
      ]);
    },
  };
}

function forEndpoints({ change }: Changes) {
  return {
    createEndpoint(endpoint: NewEndpoint): Promise<EndpointId> {
      const { merchantId, name, currency, gates, settings } = endpoint;
      return change("endpoint create", "endpoint", undefined, [
        `with made as (
           insert into endpoints (id, merchant_id, name, currency, settings)
           values (nextval('entry_point_ids'), $1, $2, $3, $4) returning id
         ), places as (
           insert into endpoint_gates (endpoint_id, gate_id, rank, weight)
           select made.id, place.* from made, unnest($5::bigint[], $6::int[], $7::int[]) as place
         )
         select id from made`,
        [merchantId, name, currency, JSON.stringify(settings), ...columnsOf(gates)],
      ]);
    },

    async setEndpoint(
      id: EndpointId,
      settings: EndpointSettings,
      enabled: boolean,
      action:
        | "endpoint set"
        | `endpoint callback ${"add" | "remove"}`
        | `route ${"add" | "set" | "move" | "remove"}` = "endpoint set",
    ): Promise<void> {
      await change(action, "endpoint", id, [
        "update endpoints set settings = $2, enabled = $3 where id = $1 returning id",
        [id, JSON.stringify(settings), enabled],
      ]);
    },

    async setEndpointGates(id: EndpointId, gates: readonly RankedGate[]): Promise<void> {
      await change("endpoint gates", "endpoint", id, [
        `with gone as (
           delete from endpoint_gates where endpoint_id = $1 and gate_id <> all($2::bigint[])
         ), places as (
           insert into endpoint_gates (endpoint_id, gate_id, rank, weight)
           select $1, place.* from unnest($2::bigint[], $3::int[], $4::int[]) as place
           on conflict (endpoint_id, gate_id)
           do update set rank = excluded.rank, weight = excluded.weight
         )
         select id from endpoints where id = $1`,
        [id, ...columnsOf(gates)],
      ]);
    },

    createGroup(
      merchantId: MerchantId,
      name: string,
      endpoints: readonly EndpointId[],
    ): Promise<GroupId> {
      return change("group create", "group", undefined, [
        `with made as (
           insert into endpoint_groups (id, merchant_id, name)
           values (nextval('entry_point_ids'), $1, $2) returning id
         ), members as (
           insert into endpoint_group_members (group_id, endpoint_id)
           select made.id, member from made, unnest($3::bigint[]) as member
         )
         select id from made`,
        [merchantId, name, endpoints],
      ]);
    },

    async setGroup(id: GroupId, endpoints: readonly EndpointId[], enabled: boolean): Promise<void> {
      await change("group set", "group", id, [
        `with gone as (
           delete from endpoint_group_members
           where group_id = $1 and endpoint_id <> all($2::bigint[])
         ), members as (
           insert into endpoint_group_members (group_id, endpoint_id)
           select $1, member from unnest($2::bigint[]) as member on conflict do nothing
         )
         update endpoint_groups set enabled = $3 where id = $1 returning id`,
        [id, endpoints, enabled],
      ]);
    },
  };
}

function forGates({ change, findAndChange }: Changes) {
  return {
    async putGate({ name, kind, settings }: Omit<Gate, "id">): Promise<GateId> {
      return change((isKnown) => (isKnown ? "gate set" : "gate create"), "gate", name, [
        `insert into gates (id, name, kind, settings) values (nextval('gate_ids'), $1, $2, $3)
         on conflict (name) do update set kind = $2, settings = $3 returning id, name as key`,
        [name, kind, JSON.stringify(settings)],
      ]);
    },

    /** Removes a gate that no endpoint uses and that no open order of any cell may still need. */
    async removeGate(id: GateId, cells: readonly Query[]): Promise<"removed" | "in_use"> {
      if (await isGateNeeded(id, cells)) return "in_use";
      const removed = await findAndChange("gate remove", "gate by id", id, [
        `delete from gates where id = $1
         and not exists (select from endpoint_gates where gate_id = $1) returning id`,
        [id],
      ]);
      return removed === undefined ? "in_use" : "removed";
    },
  };
}

function forMacKeys({ change, findAndChange }: Changes) {
  return {
    addMacKey(gateId: GateId, key: NewMacKey): Promise<string> {
      const { algorithm, bytes, checkValue, sealed } = key;
      return change("gate mac-key set", "mac key", undefined, [
        `insert into gate_mac_keys (gate_id, algorithm, mac_bytes, check_value, sealed)
         values ($1, $2, $3, $4, $5) returning id`,
        [gateId, algorithm, bytes, checkValue, sealed],
      ]);
    },

    async dropMacKey(id: string): Promise<void> {
      await change("gate mac-key drop", "mac key", id, [
        `with dropped as (
           delete from gate_mac_keys where id = $1 returning id, gate_id
         ), ended as (
           update gates set authentication_ended_at = now() from dropped
           where gates.id = dropped.gate_id and not exists (
             select from gate_mac_keys as other where other.gate_id = gates.id and other.id <> $1)
         )
         select id from dropped`,
        [id],
      ]);
    },

    /** Stores the key by which the gate's host encrypts new keys, and deletes the previous one. */
    async putZoneKey(gateId: GateId, key: NewZoneKey): Promise<void> {
      const { cipher, algorithm, bytes, checkValue, sealed, everyS } = key;
      await change("gate mac-key zone", "zone key", gateId, [
        `insert into gate_zone_keys
           (gate_id, cipher, algorithm, mac_bytes, check_value, sealed, every_s)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (gate_id) do update set cipher = $2, algorithm = $3, mac_bytes = $4,
           check_value = $5, sealed = $6, every_s = $7 returning gate_id as id`,
        [gateId, cipher, algorithm, bytes, checkValue, sealed, everyS],
      ]);
    },

    async dropZoneKey(gateId: GateId): Promise<boolean> {
      const dropped = await findAndChange("gate mac-key drop-zone", "zone key", gateId, [
        "delete from gate_zone_keys where gate_id = $1 returning gate_id as id",
        [gateId],
      ]);
      return dropped !== undefined;
    },
  };
}

/** Returns whether any cell has an open order that may have sent a message through the gate. */
export async function isGateNeeded(id: GateId, cells: readonly Query[]): Promise<boolean> {
  for (const query of cells) if ((await query(needingGate, [id])).length > 0) return true;
  return false;
}

const needingGate = `
select from orders where ${isOpen} and ${isHere}
  and (coalesce(progress #>> '{transaction,identifiers,gate,id}',
    progress #>> '{transaction,charge,gate,id}') = $1::text
  or exists (
    select from json_array_elements(coalesce(progress #> '{earlier,0,priorAttempts}',
      progress #> '{transaction,priorAttempts}', '[]')) as prior
    where prior.value #>> '{identifiers,gate,id}' = $1::text)
  or exists (
    select from ${refusedTries}, json_array_elements(tried -> 'attempts') as prior
    where prior.value #>> '{identifiers,gate,id}' = $1::text))
limit 1`;

// biome-ignore format: a table
const shown = {
  "merchant":     "select 'merchant ' || login as subject, cell, enabled, settings, old_control_key is not null as \"hasOldKey\" from merchants where id = $1",
  "merchant key": "select 'OAuth key ' || merchant_keys.id || ' of ' || login as subject, merchant_keys.name, encode(sha256(public_key::bytea), 'hex') as sha256, removed_at is not null as removed from merchant_keys join merchants on merchants.id = merchant_id where merchant_keys.id = $1",
  "endpoint":     "select 'endpoint ' || id as subject, name, currency, enabled, settings, array(select (select name from gates where gates.id = gate_id) || ':' || rank || ':' || weight from endpoint_gates where endpoint_id = endpoints.id order by rank, gate_id) as gates, (select login from merchants where merchants.id = merchant_id) as merchant from endpoints where id = $1",
  "group":        "select 'group ' || id as subject, name, enabled, array(select endpoint_id::text from endpoint_group_members where group_id = id order by endpoint_id) as endpoints, (select login from merchants where merchants.id = merchant_id) as merchant from endpoint_groups where id = $1",
  "gate":         "select 'gate ' || name as subject, kind, settings from gates where name = $1",
  "gate by id":   "select 'gate ' || name as subject, kind, settings from gates where id = $1",
  "mac key":      "select 'MAC key ' || gate_mac_keys.id || ' of gate ' || name as subject, algorithm, mac_bytes as bytes, check_value as \"checkValue\" from gate_mac_keys join gates on gates.id = gate_id where gate_mac_keys.id = $1",
  "zone key":     "select 'zone key of gate ' || name as subject, cipher, algorithm, mac_bytes as bytes, check_value as \"checkValue\", every_s as \"everyS\" from gate_zone_keys join gates on gates.id = gate_id where gate_id = $1",
} as const;

type Kind = keyof typeof shown;
type Statement = readonly [text: string, values: readonly unknown[]];
type Changed = { readonly id: string; readonly key?: string };
type Shown = { readonly subject: string };

type Changes = ReturnType<typeof makeChanges>;

/**
 * Makes the two functions that write a change, its audit entry with the row before and after, and
 * the notice to the nodes in one transaction. Both return the id of the row.
 */
function makeChanges(audit: Audit) {
  function findAndChange(
    action: string | ((isKnown: boolean) => string),
    kind: Kind,
    key: string | undefined,
    [text, values]: Statement,
  ): Promise<string | undefined> {
    return audit.change(async (query, write) => {
      const look = async (wanted: string | undefined) =>
        wanted === undefined ? [] : query<Shown>(shown[kind], [wanted]);
      const [before] = await look(key);
      const [changed] = await query<Changed>(text, values);
      if (changed === undefined) return undefined;
      const [after] = await look(changed.key ?? changed.id);
      const subject = (after ?? before)?.subject ?? kind;
      await write({
        action: typeof action === "string" ? action : action(before !== undefined),
        subject,
        before: withoutSubject(before),
        after: withoutSubject(after),
      });
      await notifyNodes(query);
      return changed.id;
    });
  }
  async function change<Id extends string>(...given: Parameters<typeof findAndChange>) {
    const id = await findAndChange(...given);
    if (id === undefined) throw new Error("nothing was changed");
    return id as Id;
  }
  return { change, findAndChange };
}

function withoutSubject(row: Shown | undefined): object | undefined {
  if (row === undefined) return undefined;
  const { subject: _, ...rest } = row;
  return rest;
}

function columnsOf(gates: readonly RankedGate[]): readonly (readonly unknown[])[] {
  return (["gateId", "rank", "weight"] as const).map((name) => gates.map((gate) => gate[name]));
}
