/**
 * Making merchants, endpoints, groups and gates. Every change tells all nodes, which then read
 * their configuration again.
 */
import type { GateSettings } from "../acquirers/gate.ts";
import type { EndpointSettings } from "../orders/merchant.ts";
import {
  asEndpointId,
  asGateId,
  asGroupId,
  asMerchantId,
  type EndpointId,
  type GateId,
  type GroupId,
  type MerchantId,
} from "../values/ids.ts";
import { configurationChannel } from "./configuration.ts";
import type { Query } from "./database.ts";

export function makeAdministration(query: Query) {
  return {
    async createMerchant(merchant: {
      login: string;
      name: string;
      controlKey: Uint8Array;
    }): Promise<MerchantId> {
      const id = await insert(
        `insert into merchants (id, login, name, control_key)
         values (nextval('merchant_ids'), $1, $2, $3) returning id`,
        [merchant.login, merchant.name, merchant.controlKey],
      );
      return asMerchantId(id);
    },

    async createEndpoint(endpoint: {
      merchantId: MerchantId;
      name: string;
      currency: string;
      gateId: GateId;
      settings: EndpointSettings;
    }): Promise<EndpointId> {
      const id = await insert(
        `insert into endpoints (id, merchant_id, name, currency, gate_id, settings)
         values (nextval('entry_point_ids'), $1, $2, $3, $4, $5) returning id`,
        [
          endpoint.merchantId,
          endpoint.name,
          endpoint.currency,
          endpoint.gateId,
          JSON.stringify(endpoint.settings),
        ],
      );
      return asEndpointId(id);
    },

    async createGroup(group: {
      merchantId: MerchantId;
      name: string;
      endpoints: readonly EndpointId[];
    }): Promise<GroupId> {
      const id = await insert(
        `with made as (
           insert into endpoint_groups (id, merchant_id, name)
           values (nextval('entry_point_ids'), $1, $2) returning id
         ), members as (
           insert into endpoint_group_members (group_id, endpoint_id)
           select made.id, member from made, unnest($3::bigint[]) as member
         )
         select id from made`,
        [group.merchantId, group.name, group.endpoints],
      );
      return asGroupId(id);
    },

    /** A gate of that name is changed, or made when there is none. */
    async putGate(gate: { name: string; kind: string; settings: GateSettings }): Promise<GateId> {
      const id = await insert(
        `insert into gates (id, name, kind, settings) values (nextval('gate_ids'), $1, $2, $3)
         on conflict (name) do update set kind = $2, settings = $3 returning id`,
        [gate.name, gate.kind, JSON.stringify(gate.settings)],
      );
      return asGateId(id);
    },
  };

  async function insert(statement: string, values: readonly unknown[]): Promise<string> {
    const [row] = await query<{ id: string }>(statement, values);
    if (row === undefined) throw new Error("nothing was inserted");
    await query("select pg_notify($1, '')", [configurationChannel]);
    return row.id;
  }
}
