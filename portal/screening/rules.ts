/**
 * Formats screening rules, list entries and trials, and makes the requests for lists and trials.
 */
import type { Row, Values } from "../actions/values.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import type { OutputOf } from "../shell/call.ts";

export type Rule = OutputOf<"GET /rules">["rules"][number];

/** A parameter is written `count 9` for the user to read, or `count=9` for the form. */
export function parametersOf({ parameters }: Pick<Rule, "parameters">, between: " " | "=") {
  return Object.entries(parameters).map(([name, value]) => `${name}${between}${value}`);
}

export function placeOf(
  { merchant, endpoint }: Pick<Rule, "merchant" | "endpoint">,
  everywhere: string,
): string {
  return [merchant ?? everywhere, endpoint].filter((each) => each !== undefined).join(", ");
}

const pageRows = 100;

/** Requests one row more than the page shows. If that row comes, there is a next page. */
export function listValues(query: URLSearchParams): Values {
  const [list, kind, before] = ["list", "kind", "after"].map((name) => query.get(name));
  return {
    ...(list && { list }),
    ...(kind && { kind }),
    ...(before && { before }),
    limit: String(pageRows + 1),
  };
}

export function pageOf(rows: readonly Row[]) {
  const next = rows.length > pageRows ? rows[pageRows - 1]?.["entry"] : undefined;
  return { rows: rows.slice(0, pageRows), next };
}

/** A day in the request begins at midnight UTC. */
export function trialValues(rule: string, since: string): Values {
  return {
    ...(rule.trim() !== "" && { rule: rule.trim() }),
    ...(since !== "" && { since: `${since}T00:00:00Z` }),
  };
}

type Counts = Readonly<Record<"orders" | "paid" | "refunded" | "chargedBack", number>>;
/** The result of a trial of rules, as `gw filter try --json` prints it. */
export type Report = Readonly<Record<"all" | "blocked" | "forced" | "marked", Counts>> & {
  readonly rules: readonly (Counts & {
    readonly rule: string;
    readonly kind: string;
    readonly noData: number;
  })[];
  readonly notes: readonly string[];
};

/** Returns the sums of all rules, and after them a row for each rule. */
export function reportRows(
  report: Report,
  { wouldHave, ruleKinds }: Pick<Messages, "wouldHave" | "ruleKinds">,
) {
  const totals = (["all", "blocked", "forced", "marked"] as const).map((name) => ({
    key: name,
    name: wouldHave[name],
    counts: report[name],
  }));
  const ofRules = report.rules.map(({ rule, kind, ...counts }) => ({
    key: `rule ${rule}`,
    name: `${wordIn(ruleKinds, kind)} ${rule}`,
    counts,
  }));
  return [...totals, ...ofRules];
}
