/**
 * Collects the rules of an endpoint: the gateway's, the merchant's and its own. Rules that count
 * the same payments share a tally, which has the counted payments.
 */
import type { Endpoint } from "../orders/merchant.ts";
import type { RuleScope } from "../orders/order.ts";
import { asMerchantId, type EndpointId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { type ConfiguredRule, type Counting, type Judge, type Subject, scopeOf } from "./rule.ts";
import { findRule } from "./rules/index.ts";

export type RuleSet = {
  /** The rules, sorted by id. */
  readonly rules: readonly ActiveRule[];
  readonly tallies: readonly WantedTally[];
};

export type ActiveRule = Pick<ConfiguredRule, "id" | "kind" | "action"> & {
  readonly scope: RuleScope;
  readonly judge: Judge;
  /** The index of the rule's tally; undefined if the rule counts nothing. */
  readonly tally: number | undefined;
};

type WantedTally = {
  readonly per: Subject;
  /** The merchant whose payments are counted, or 0 for all merchants of the cell. */
  readonly owner: MerchantId;
  /** The name of the cell, merchant or endpoint whose payments are counted. */
  readonly place: string;
  readonly keepMs: number;
};

export type RuleSource = {
  readonly screeningRules: readonly ConfiguredRule[];
  readonly endpoints: ReadonlyMap<EndpointId, Endpoint>;
};

export type FindRuleSet = (endpoint: EndpointId) => RuleSet | undefined;

/**
 * `onUnusable` is called for a rule that this node does not understand, because a newer version of
 * the gateway added its kind or a parameter.
 */
export function makeFindRuleSet(
  current: () => RuleSource,
  onUnusable: (rule: ConfiguredRule, why: string) => void,
): FindRuleSet {
  let source: RuleSource | undefined;
  let bound: readonly BoundRule[] = [];
  let sets = new Map<EndpointId, RuleSet | undefined>();

  return (id) => {
    const newest = current();
    if (newest !== source) {
      source = newest;
      bound = bindRules(newest.screeningRules, onUnusable);
      sets = new Map();
    }
    if (bound.length === 0) return undefined;
    if (!sets.has(id)) sets.set(id, ruleSetOf(bound, newest.endpoints.get(id)));
    return sets.get(id);
  };
}

type BoundRule = { readonly rule: ConfiguredRule; readonly judge: Judge };

function bindRules(
  rules: readonly ConfiguredRule[],
  onUnusable: (rule: ConfiguredRule, why: string) => void,
): readonly BoundRule[] {
  return rules.flatMap((rule) => {
    if (!rule.enabled) return [];
    const judge = findRule(rule.kind)?.bind(rule.parameters) ?? new Problem("unknown kind");
    if (!(judge instanceof Problem)) return [{ rule, judge }];
    onUnusable(rule, judge.sentence);
    return [];
  });
}

function ruleSetOf(
  bound: readonly BoundRule[],
  endpoint: Endpoint | undefined,
): RuleSet | undefined {
  if (endpoint === undefined) return undefined;
  const tallies: WantedTally[] = [];
  const rules = bound.flatMap(({ rule, judge }): readonly ActiveRule[] => {
    const { id, kind, action, merchantId = endpoint.merchant.id, endpointId = endpoint.id } = rule;
    if (merchantId !== endpoint.merchant.id || endpointId !== endpoint.id) return [];
    const scope = scopeOf(rule);
    const tally = judge.counting && addTally(tallies, judge.counting, scope, endpoint);
    return [{ id, kind, action, scope, judge, tally }];
  });
  return rules.length === 0 ? undefined : { rules, tallies };
}

/** Returns the index of the tally, which is added unless an equal one exists. */
function addTally(
  tallies: WantedTally[],
  { per, at, keepMs }: Counting,
  scope: RuleScope,
  endpoint: Endpoint,
): number {
  const { owner, place } = placeOf(at ?? scope, endpoint);
  const known = tallies.findIndex((each) => each.per === per && each.place === place);
  if (known === -1) return tallies.push({ per, owner, place, keepMs }) - 1;
  const longest = Math.max(keepMs, tallies[known]?.keepMs ?? 0);
  tallies[known] = { per, owner, place, keepMs: longest };
  return known;
}

export function placeOf(scope: RuleScope, { id, merchant }: Pick<Endpoint, "id" | "merchant">) {
  switch (scope) {
    case "gateway":
      return { owner: asMerchantId("0"), place: "cell" };
    case "merchant":
      return { owner: merchant.id, place: `merchant ${merchant.id}` };
    case "endpoint":
      return { owner: merchant.id, place: `endpoint ${id}` };
  }
}
