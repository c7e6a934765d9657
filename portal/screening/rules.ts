/** Rules, lists and trials of screening: what is asked of the gateway, and what is shown of it. */
import type { CommandRequest, Row } from "../commands/request.ts";
import type { ConfigurationMessages } from "../language/configuration.ts";
import type { OutputOf } from "../shell/call.ts";

export type Rule = OutputOf<"GET /rules">["rules"][number];

/** Each parameter with its value, as `count 9` or as the form takes it, `count=9`. */
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

/** One row more than is shown tells whether there is a next page. */
export function listOptions(query: URLSearchParams): CommandRequest["options"] {
  const given = { list: query.get("list"), kind: query.get("kind"), before: query.get("after") };
  const options = Object.entries({ ...given, limit: String(pageRows + 1) });
  return options.flatMap(([name, value]) => (value ? [{ name, value }] : []));
}

export function pageOf(rows: readonly Row[]) {
  const next = rows.length > pageRows ? rows[pageRows - 1]?.["entry"] : undefined;
  return { rows: rows.slice(0, pageRows), next };
}

/** A day of the trial begins in UTC. */
export function trialOptions(rule: string, since: string): CommandRequest["options"] {
  return [
    ...(rule.trim() === "" ? [] : [{ name: "rule", value: rule.trim() }]),
    ...(since === "" ? [] : [{ name: "since", value: `${since}T00:00:00Z` }]),
  ];
}

type Counts = Readonly<Record<"orders" | "paid" | "refunded" | "chargedBack", number>>;
/** As `gw filter try --json` prints it. */
export type Report = Readonly<Record<"all" | "blocked" | "forced" | "marked", Counts>> & {
  readonly rules: readonly (Counts & {
    readonly rule: string;
    readonly kind: string;
    readonly noData: number;
  })[];
  readonly notes: readonly string[];
};

/** The sums first, then each rule. */
export function reportRows(
  report: Report,
  { wouldHave, ruleKinds }: Pick<ConfigurationMessages, "wouldHave" | "ruleKinds">,
) {
  const totals = (["all", "blocked", "forced", "marked"] as const).map((name) => ({
    ...{ key: name, name: wouldHave[name], counts: report[name] },
  }));
  const ofRules = report.rules.map(({ rule, kind, ...counts }) => ({
    ...{ key: `rule ${rule}`, name: `${ruleKinds[kind] ?? kind} ${rule}`, counts },
  }));
  return [...totals, ...ofRules];
}
