/**
 * Stores the counts that nodes share of their gates, one row for each node and gate, and the state
 * of each gate's health, which the first node to judge it changes.
 */
import type { HealthStore, SharedHealth } from "../../acquirers/health.ts";
import type { Health, NodeView } from "../../orders/gate-health.ts";
import type { GateId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import type { Query } from "../server/database.ts";

/** A node that has shared nothing for so long has ended or is without the database. */
const freshMs = 5_000;

type SharedRow = {
  readonly gate: GateId;
  readonly state: Health["state"] | null;
  readonly since: number;
  readonly why: string;
  readonly views: readonly (NodeView & { readonly node: string })[] | null;
};

export function makeHealthStore(query: Query): HealthStore {
  return {
    async share(node, own, at): Promise<readonly SharedHealth[]> {
      if (own.length > 0) {
        await query(shareStatement, [node, at, JSON.stringify(own)], "share_health");
      }
      const rows = await query<SharedRow>(readStatement, [node, at - freshMs], "read_health");
      return rows.map(({ gate, state, since, why, views }) => ({
        gate,
        health: state === null ? undefined : { state, since: asInstant(since), why },
        views: new Map((views ?? []).map(({ node: name, ...view }) => [name, view])),
      }));
    },

    async change(gate, from, to): Promise<boolean> {
      const values = [gate, to.state, to.since, to.why, from?.state ?? null, from?.since ?? null];
      return (await query(changeStatement, values)).length > 0;
    },
  };
}

const shareStatement = `
with gone as (
  delete from gate_observations where at < to_timestamp($2::float8 / 1000) - interval '7 days'
)
insert into gate_observations (gate_id, node, at, recent, usual)
select gate, $1, to_timestamp($2::float8 / 1000), recent, usual
from json_to_recordset($3::json) as own(gate bigint, recent json, usual json)
where exists (select from gates where id = gate)
on conflict (gate_id, node)
do update set at = excluded.at, recent = excluded.recent, usual = excluded.usual`;

/** A node reads its own row at any age, because it goes on with that after a restart. */
const readStatement = `
select gates.id as gate, state, (extract(epoch from since) * 1000)::float8 as since, why, (
  select json_agg(json_build_object('node', node, 'recent', recent, 'usual', usual))
  from gate_observations
  where gate_id = gates.id and (node = $1 or at >= to_timestamp($2::float8 / 1000))
) as views
from gates left join gate_health on gate_health.gate_id = gates.id order by gates.id`;

const changeStatement = `
insert into gate_health (gate_id, state, since, why)
values ($1, $2, to_timestamp($3::float8 / 1000), $4)
on conflict (gate_id) do update set state = $2, since = to_timestamp($3::float8 / 1000), why = $4
where gate_health.state = $5 and gate_health.since = to_timestamp($6::float8 / 1000)
returning gate_id`;
