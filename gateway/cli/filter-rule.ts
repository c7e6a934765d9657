/** A screening rule as operators write it: in options, and in the file of `gw apply`. */
import type { RuleAction } from "../orders/order.ts";
import type { ConfiguredRule } from "../screening/rule.ts";
import { findRule } from "../screening/rules/index.ts";
import { Problem } from "../values/problem.ts";

/** As operators type them. */
const actionWords: Readonly<Record<string, RuleAction>> = {
  ...{ block: "block", "3ds": "force_3ds", mark: "mark", allow: "allow" },
};

export type NewRule = Omit<ConfiguredRule, "id">;

/** From options, or from a file. */
export function readRule(
  kind: string,
  parameters: Readonly<Record<string, string>>,
  { action, ...rest }: Omit<NewRule, "action" | "kind" | "parameters"> & { action: string },
): NewRule | Problem {
  const rule = findRule(kind);
  if (rule === undefined) return new Problem(`There is no rule ${kind}: see gw filter add --help.`);
  const bound = rule.bind(parameters);
  if (bound instanceof Problem) return new Problem(`${kind}: ${bound.sentence}`);
  const does = readAction(action);
  return does instanceof Problem ? does : { kind, parameters, action: does, ...rest };
}

function readAction(text: string): RuleAction | Problem {
  const words = Object.keys(actionWords).join(", ");
  return actionWords[text] ?? new Problem(`An action is one of ${words}, not ${text}.`);
}

export function printAction(action: RuleAction): string {
  return Object.entries(actionWords).find(([, each]) => each === action)?.[0] ?? action;
}

/** A rule of an endpoint does not name the merchant. */
export function ruleScope({
  merchantId,
  endpointId,
}: Partial<Pick<ConfiguredRule, "merchantId" | "endpointId">>) {
  return { merchantId: endpointId === undefined ? merchantId : undefined, endpointId };
}
