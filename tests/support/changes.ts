/** Settings that a test changes as an operator would. The gateway restarts with them. */

import type { Installation } from "@tollgate/gateway/installation";
import type { MerchantSet } from "@tollgate/gateway/merchant-set";

type Dependencies = {
  readonly installation: Installation;
  readonly set: MerchantSet;
  /** `down` names the gates whose links cannot come up. */
  readonly restart: (down?: readonly string[]) => Promise<void>;
};

/** The gates of an endpoint by name, rank and weight. */
export type RankedGates = readonly (readonly [gate: string, rank: number, weight: number])[];

/** A rule of the whole gateway, unless it names an endpoint or the id of a merchant. */
type ScreeningRule = {
  readonly kind: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly action?: string;
  readonly endpoint?: string;
  readonly merchant?: string;
};

export function makeChanges({ installation: { database }, set, restart }: Dependencies) {
  return {
    async changeEndpoint(name: string, settings: object) {
      await merge("endpoints", "id", set.endpoints[name], settings);
      await restart();
    },
    async changeMerchant(settings: object, login = set.login) {
      await merge("merchants", "login", login, settings);
      await restart();
    },
    async changeGate(name: string, settings: object, ...down: readonly string[]) {
      await merge("gates", "name", name, settings);
      await restart(down);
    },
    /** Changes a gate as `gw gate set` does, and notifies the running gateway. */
    async setGate(name: string, settings: object) {
      await merge("gates", "name", name, settings);
      await database.query("select pg_notify('tollgate_configuration', '')");
    },
    /** Replaces all screening rules by these. */
    async screenBy(...rules: readonly ScreeningRule[]) {
      await database.query("delete from screening_rules");
      for (const { kind, action = "block", parameters, endpoint, merchant } of rules) {
        const ids = [merchant, endpoint && set.endpoints[endpoint]];
        await database.query(addRule, [...ids, kind, JSON.stringify(parameters), action]);
      }
      await restart();
    },
    async placeGates(endpoint: string, places: RankedGates) {
      const id = set.endpoints[endpoint];
      await database.query("delete from endpoint_gates where endpoint_id = $1", [id]);
      for (const place of places) await database.query(placeGate, [id, ...place]);
      await restart();
    },
  };

  async function merge(table: string, key: string, value: string | undefined, settings: object) {
    await database.query(
      `update ${table} set settings = (settings::jsonb || $2::jsonb)::json where ${key} = $1`,
      [value, JSON.stringify(settings)],
    );
  }
}

const placeGate = `insert into endpoint_gates (endpoint_id, gate_id, rank, weight)
  select $1, id, $3, $4 from gates where name = $2`;
const addRule = `insert into screening_rules (merchant_id, endpoint_id, kind, parameters, action)
  values ($1, $2, $3, $4, $5)`;
