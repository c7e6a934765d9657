/**
 * Changes of the screening rules. Each is audited and notifies all nodes, because the rules are a
 * part of the configuration in their memory.
 */
import type { ConfiguredRule } from "../../screening/rule.ts";
import { ruleColumns as columns, notifyNodes } from "../configuration/configuration.ts";
import type { Audit } from "../people/audit.ts";

/** The caller has checked that the parameters are valid for the kind of rule. */
export async function addScreeningRule(
  audit: Audit,
  rule: Omit<ConfiguredRule, "id">,
): Promise<string> {
  const { merchantId, endpointId, kind, parameters, action, enabled } = rule;
  const id = await change(audit, `filter add ${kind}`, undefined, [
    `insert into screening_rules (merchant_id, endpoint_id, kind, parameters, action, enabled)
     values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [merchantId, endpointId, kind, JSON.stringify(parameters), action, enabled],
  ]);
  if (id === undefined) throw new Error("the rule was not added");
  return id;
}

export function changeScreeningRule(
  audit: Audit,
  id: string,
  { parameters, action, enabled }: Pick<ConfiguredRule, "parameters" | "action" | "enabled">,
) {
  return change(audit, "filter change", id, [
    `update screening_rules set parameters = $2, action = $3, enabled = $4
     where id = $1 returning ${columns}`,
    [id, JSON.stringify(parameters), action, enabled],
  ]);
}

export function enableScreeningRule(audit: Audit, id: string, enabled: boolean) {
  return change(audit, enabled ? "filter enable" : "filter disable", id, [
    `update screening_rules set enabled = $2 where id = $1 returning ${columns}`,
    [id, enabled],
  ]);
}

export function removeScreeningRule(audit: Audit, id: string) {
  return change(audit, "filter remove", id, [
    `with removed as (delete from screening_rules where id = $1 returning id)
     select id from removed`,
    [id],
  ]);
}

function change(
  audit: Audit,
  action: string,
  id: string | undefined,
  [text, values]: readonly [string, readonly unknown[]],
): Promise<string | undefined> {
  return audit.change(async (query, write) => {
    const look = (wanted: string) =>
      query<object>(`select ${columns} from screening_rules where id = $1`, [wanted]);
    const [before] = id === undefined ? [] : await look(id);
    const [changed] = await query<{ readonly id: string }>(text, values);
    if (changed === undefined) return undefined;
    const [after] = await look(changed.id);
    await write({ action, subject: `screening rule ${changed.id}`, before, after });
    await notifyNodes(query);
    return changed.id;
  });
}
