/**
 * Computes what rules and lists would have done to past orders, compares it with what became of
 * them, and changes nothing. Cells are searched one after the other, because rules count in each
 * cell separately.
 */
import type { Order } from "../../orders/order.ts";
import { initialOf, totalsOf } from "../../orders/transactions.ts";
import { openLists } from "../../screening/lists.ts";
import { makeReplay, type Replayed } from "../../screening/replay.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import { makeFindRuleSet } from "../../screening/rule-set.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { makeListStore } from "../../storage/screening/screening-lists.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { asInstant } from "../../values/time.ts";
import { readFileRules } from "../apply/screening.ts";
import { Invalid } from "../apply/work.ts";
import { type Given, onlyOnCommandLine, option, toggle } from "../field.ts";
import { periodFields, readPeriod, walkOrders } from "../orders/past-orders.ts";
import { type Output, Report, readConfiguration, readContent, type Session } from "../session.ts";
import { nameScopes, openCountries, printParameters, readScope } from "./screening-rule.ts";

export const tryFields = {
  rule: option("text", "ids", [
    "only these rules, like 3,7, also when they are off",
    "nur diese Regeln, wie 3,7, auch wenn sie ausgeschaltet sind",
  ]),
  file: onlyOnCommandLine(
    option("file", "file.yaml", ["the rules of a file for gw apply, in place of the configured"]),
  ),
  lists: toggle(
    {
      no: "no-lists",
    },
    ["without the allow and block lists", "ohne die Erlaubnis- und Sperrlisten"],
  ),
  ...periodFields,
  merchant: option("merchant", "login", [
    "tell of this merchant's orders alone",
    "nur von Zahlungen dieses Händlers berichten",
  ]),
  endpoint: option("endpoint", "id", [
    "tell of this endpoint's orders alone",
    "nur von Zahlungen dieses Endpunkts berichten",
  ]),
};

type TryOptions = Given<typeof tryFields>;

export async function tryRules(session: Session, given: TryOptions): Promise<Output> {
  const configuration = await readConfiguration(session);
  const rules = await chooseRules(given, configuration);
  if (rules instanceof Problem) return rules;
  const period = await readPeriod(session, given);
  if (period instanceof Problem) return period;
  const scope = readScope(configuration, given);
  if (scope instanceof Problem) return scope;
  const { lists } = await openLists(makeListStore(session.database), (error) => {
    throw error;
  });
  const countries = await openCountries(session);
  const isWanted = ({ merchantId, endpointId, acceptedAt }: Order) =>
    acceptedAt >= period.since &&
    (scope.merchantId ?? merchantId) === merchantId &&
    (scope.endpointId ?? endpointId) === endpointId;
  const withLists = given.lists !== false;
  const report = makeReport(rules, nameScopes(configuration));
  const source = { screeningRules: rules, endpoints: configuration.endpoints };
  const findRuleSet = makeFindRuleSet(
    () => source,
    () => undefined,
  );
  const keepMs = [...configuration.endpoints.keys()]
    .flatMap((id) => findRuleSet(id)?.tallies ?? [])
    .reduce((longest, tally) => Math.max(longest, tally.keepMs), 0);
  const walked = { since: asInstant(period.since - keepMs), until: period.until };
  const progress = session.progress("orders judged");
  let judged = 0;
  for (const cell of session.cells.names()) {
    const judge = makeReplay({
      findRuleSet,
      lists: withLists ? lists : noLists,
      findIpCountry: countries.find,
    });
    for await (const order of walkOrders(session, cell, walked)) {
      const replayed = await judge(order);
      if (isWanted(order)) report.add(order, replayed);
      progress(++judged);
    }
  }
  const notes = notesOf(rules, withLists && lists.needsCardDigest, countries.hasData);
  return printReport(report.total(), notes);
}

const noLists = { size: 0, find: () => undefined };

async function chooseRules(
  { rule, file }: TryOptions,
  configuration: Configuration,
): Promise<readonly ConfiguredRule[] | Problem> {
  const { screeningRules: known } = configuration;
  if (file !== undefined) {
    try {
      const read = readFileRules(await readContent(file), configuration);
      return read.map((each, at) => ({ ...each, id: String(at + 1) }));
    } catch (error) {
      if (error instanceof Invalid) return new Problem(error.message);
      return new Problem(`The file ${file.name} cannot be read: ${messageOf(error)}`);
    }
  }
  if (rule === undefined) return known.filter(({ enabled }) => enabled);
  const wanted = rule.split(",").map((id) => id.trim());
  const missing = wanted.find((id) => !known.some((each) => each.id === id));
  if (missing !== undefined) return new Problem(`There is no rule ${missing}.`);
  return known.filter(({ id }) => wanted.includes(id)).map((each) => ({ ...each, enabled: true }));
}

type Counts = { orders: number; paid: number; refunded: number; chargedBack: number };

function countOrder(counts: Counts, order: Order): void {
  counts.orders += 1;
  if (initialOf(order).stage === "approved") counts.paid += 1;
  const { returned, cancelled } = totalsOf(order);
  if (returned.minor + cancelled.minor > 0n) counts.refunded += 1;
  if ((order.chargebacks ?? []).length > 0) counts.chargedBack += 1;
}

const nothing = (): Counts => ({ orders: 0, paid: 0, refunded: 0, chargedBack: 0 });

function makeReport(rules: readonly ConfiguredRule[], nameScope: ReturnType<typeof nameScopes>) {
  const did = { all: nothing(), blocked: nothing(), forced: nothing(), marked: nothing() };
  const byRule = new Map(rules.map(({ id }) => [id, { fired: nothing(), missing: 0 }]));
  const listed = { allow: nothing(), block: nothing() };
  return {
    add(order: Order, { did: what, findings }: Replayed): void {
      countOrder(did.all, order);
      if (what !== "passed") countOrder(did[what], order);
      for (const finding of findings) {
        const rule = byRule.get(finding.rule);
        if (finding.kind === "list" && "facts" in finding) {
          countOrder(listed[finding.facts["list"] === "allow" ? "allow" : "block"], order);
        } else if (rule !== undefined && "missing" in finding) rule.missing += 1;
        else if (rule !== undefined) countOrder(rule.fired, order);
      }
    },
    total: () => ({
      ...did,
      rules: rules.map((rule) => ({
        rule: rule.id,
        kind: rule.kind,
        counts: nameScope(rule),
        action: rule.action,
        parameters: rule.parameters,
        ...(byRule.get(rule.id)?.fired ?? nothing()),
        noData: byRule.get(rule.id)?.missing ?? 0,
      })),
      lists: listed,
    }),
  };
}

type Total = ReturnType<ReturnType<typeof makeReport>["total"]>;

function printReport(total: Total, notes: readonly string[]): Report {
  const { rules, lists, ...did } = total;
  const row = ({ orders, paid, refunded, chargedBack }: Counts) => ({
    orders,
    paid,
    refunded,
    "charged back": chargedBack,
  });
  const names = { all: "looked at", blocked: "blocked", forced: "sent to 3-D Secure" };
  const totals = Object.entries({ ...names, marked: "only marked" }).map(([name, would]) => ({
    would,
    ...row(did[name as keyof typeof did]),
  }));
  const each = [
    ...rules.map(({ rule, kind, counts, parameters, action, noData, ...fired }) => ({
      rule,
      kind,
      counts,
      action,
      ...row(fired),
      "no data": noData,
      parameters: printParameters(parameters),
    })),
    ...Object.entries(lists).map(([list, counts]) => ({
      rule: "",
      kind: `${list} list`,
      counts: "",
      action: list,
      ...row(counts),
    })),
  ];
  const sentences = notes.length === 0 ? [] : [notes.join("\n")];
  return new Report({ ...total, notes }, totals, each, ...sentences);
}

function notesOf(
  rules: readonly ConfiguredRule[],
  hasCardDigests: boolean,
  hasCountries: boolean,
): readonly string[] {
  const isEverywhere = (rule: ConfiguredRule) =>
    rule.merchantId === undefined && rule.endpointId === undefined;
  const perCard = rules.some((rule) => isEverywhere(rule) && rule.parameters["per"] === "card");
  const byAddress = rules.some(({ kind, parameters }) => {
    return kind === "countries" && parameters["compare"]?.endsWith("ip") === true;
  });
  // biome-ignore format: a table
  const notes: readonly (readonly [isSo: boolean, sentence: string])[] = [
    [perCard,                    "A past order shows a card of one merchant only: rules per card of the whole gateway were tried for each merchant alone."],
    [hasCardDigests,             "Card entries for the whole gateway were not tried: past orders do not have what they are compared with."],
    [byAddress && !hasCountries, "There is no data about countries of IP addresses: see GW_IP_COUNTRY_FILE."],
  ];
  return notes.filter(([isSo]) => isSo).map(([, sentence]) => sentence);
}
