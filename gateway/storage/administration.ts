/**
 * Creates and changes merchants, endpoints, groups and gates. Every change notifies all nodes,
 * which then read their configuration again.
 */
import type { Gate } from "../acquirers/gates.ts";
import type { EndpointSettings, MerchantSettings } from "../orders/merchant.ts";
import type { EndpointId, GateId, GroupId, MerchantId } from "../values/ids.ts";
import { isHere } from "./cells.ts";
import { notifyNodes } from "./configuration.ts";
import type { Query } from "./database.ts";
import { isOpen } from "./find-orders.ts";
import type { ListedMacKey } from "./mac-keys.ts";

/** A gate with its rank and weight among an endpoint's gates. */
export type GatePlace = {
  readonly gateId: GateId;
  readonly rank: number;
  readonly weight: number;
};

export type NewEndpoint = {
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly currency: string;
  readonly gates: readonly GatePlace[];
  readonly settings: EndpointSettings;
};

type NewMacKey = Pick<ListedMacKey, "algorithm" | "bytes" | "checkValue"> & {
  readonly sealed: Uint8Array;
};

type NewZoneKey = NewMacKey & { readonly cipher: string; readonly everyS: number | null };

export function makeAdministration(query: Query) {
  const changes = makeChanges(query);
  return { ...forMerchants(changes), ...forEndpoints(changes), ...forGates(changes) };
}

function forMerchants({ change }: Changes) {
  return {
    createMerchant(login: string, controlKey: Uint8Array, cell: string): Promise<MerchantId> {
      return change(
        `insert into merchants (id, login, name, control_key, cell)
         values (nextval('merchant_ids'), $1, $1, $2, $3) returning id`,
        [login, controlKey, cell],
      );
    },

    async setMerchant(id: MerchantId, settings: MerchantSettings): Promise<void> {
      const values = [id, JSON.stringify(settings)];
      await change("update merchants set settings = $2 where id = $1 returning id", values);
    },

    /** The key is SPKI in PEM. */
    addMerchantKey(merchantId: MerchantId, name: string, publicKey: string): Promise<string> {
      return change(
        `insert into merchant_keys (merchant_id, name, public_key) values ($1, $2, $3)
         returning id`,
        [merchantId, name, publicKey],
      );
    },

    /** The row stays: it tells which key an old request was signed with. */
    async removeMerchantKey(merchantId: MerchantId, id: string): Promise<void> {
      await change(
        `update merchant_keys set removed_at = now()
         where merchant_id = $1 and id = $2 and removed_at is null returning id`,
        [merchantId, id],
      );
    },
  };
}

function forEndpoints({ change }: Changes) {
  return {
    createEndpoint(endpoint: NewEndpoint): Promise<EndpointId> {
      const { merchantId, name, currency, gates, settings } = endpoint;
      return change(
        `with made as (
           insert into endpoints (id, merchant_id, name, currency, settings)
           values (nextval('entry_point_ids'), $1, $2, $3, $4) returning id
         ), places as (
           insert into endpoint_gates (endpoint_id, gate_id, rank, weight)
           select made.id, place.* from made, unnest($5::bigint[], $6::int[], $7::int[]) as place
         )
         select id from made`,
        [merchantId, name, currency, JSON.stringify(settings), ...columnsOf(gates)],
      );
    },

    async setEndpoint(id: EndpointId, settings: EndpointSettings, enabled: boolean): Promise<void> {
      await change("update endpoints set settings = $2, enabled = $3 where id = $1 returning id", [
        id,
        JSON.stringify(settings),
        enabled,
      ]);
    },

    /** These and no others. */
    async setEndpointGates(id: EndpointId, gates: readonly GatePlace[]): Promise<void> {
      await change(
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
      );
    },

    createGroup(
      merchantId: MerchantId,
      name: string,
      endpoints: readonly EndpointId[],
    ): Promise<GroupId> {
      return change(
        `with made as (
           insert into endpoint_groups (id, merchant_id, name)
           values (nextval('entry_point_ids'), $1, $2) returning id
         ), members as (
           insert into endpoint_group_members (group_id, endpoint_id)
           select made.id, member from made, unnest($3::bigint[]) as member
         )
         select id from made`,
        [merchantId, name, endpoints],
      );
    },
  };
}

function forGates({ change, findAndChange }: Changes) {
  return {
    /** Changes the gate of that name, or creates it. */
    putGate({ name, kind, settings }: Omit<Gate, "id">): Promise<GateId> {
      return change(
        `insert into gates (id, name, kind, settings) values (nextval('gate_ids'), $1, $2, $3)
         on conflict (name) do update set kind = $2, settings = $3 returning id`,
        [name, kind, JSON.stringify(settings)],
      );
    },

    addMacKey(gateId: GateId, key: NewMacKey): Promise<string> {
      const { algorithm, bytes, checkValue, sealed } = key;
      return change(
        `insert into gate_mac_keys (gate_id, algorithm, mac_bytes, check_value, sealed)
         values ($1, $2, $3, $4, $5) returning id`,
        [gateId, algorithm, bytes, checkValue, sealed],
      );
    },

    /** Under which the gate's host delivers keys. One that is replaced is gone. */
    async putZoneKey(gateId: GateId, key: NewZoneKey): Promise<void> {
      const { cipher, algorithm, bytes, checkValue, sealed, everyS } = key;
      await change(
        `insert into gate_zone_keys
           (gate_id, cipher, algorithm, mac_bytes, check_value, sealed, every_s)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (gate_id) do update set cipher = $2, algorithm = $3, mac_bytes = $4,
           check_value = $5, sealed = $6, every_s = $7 returning gate_id as id`,
        [gateId, cipher, algorithm, bytes, checkValue, sealed, everyS],
      );
    },

    async dropZoneKey(gateId: GateId): Promise<boolean> {
      const dropped = await findAndChange(
        "delete from gate_zone_keys where gate_id = $1 returning gate_id as id",
        [gateId],
      );
      return dropped !== undefined;
    },

    async dropMacKey(id: string): Promise<void> {
      await change(
        `with dropped as (
           delete from gate_mac_keys where id = $1 returning id, gate_id
         ), ended as (
           update gates set authentication_ended_at = now() from dropped
           where gates.id = dropped.gate_id and not exists (
             select from gate_mac_keys as other where other.gate_id = gates.id and other.id <> $1)
         )
         select id from dropped`,
        [id],
      );
    },

    /** Only a gate that no endpoint uses and that no open order of any cell may still need. */
    async removeGate(id: GateId, cells: readonly Query[]): Promise<"removed" | "in_use"> {
      for (const query of cells) if ((await query(needingGate, [id])).length > 0) return "in_use";
      const removed = await findAndChange(
        `delete from gates where id = $1
         and not exists (select from endpoint_gates where gate_id = $1) returning id`,
        [id],
      );
      return removed === undefined ? "in_use" : "removed";
    },
  };
}

const needingGate = `
select from orders where ${isOpen} and ${isHere}
  and (coalesce(progress #>> '{transaction,identifiers,gate,id}',
    progress #>> '{transaction,charge,gate,id}') = $1::text
  or exists (
    select from json_array_elements(coalesce(progress #> '{earlier,0,priorAttempts}',
      progress #> '{transaction,priorAttempts}', '[]')) as prior
    where prior.value #>> '{identifiers,gate,id}' = $1::text))
limit 1`;

type Values = readonly unknown[];

type Changes = ReturnType<typeof makeChanges>;

/** Both return the id of the row that was made or changed. */
function makeChanges(query: Query) {
  async function findAndChange(statement: string, values: Values) {
    const [row] = await query<{ id: string }>(statement, values);
    if (row !== undefined) await notifyNodes(query);
    return row?.id;
  }
  async function change<Id extends string>(statement: string, values: Values): Promise<Id> {
    const id = await findAndChange(statement, values);
    if (id === undefined) throw new Error("nothing was changed");
    return id as Id;
  }
  return { change, findAndChange };
}

function columnsOf(gates: readonly GatePlace[]): readonly Values[] {
  return (["gateId", "rank", "weight"] as const).map((name) => gates.map((gate) => gate[name]));
}
