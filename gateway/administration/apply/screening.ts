/**
 * The screening rules of a configuration file. A rule of the file is the same as a stored rule if
 * kind, scope and parameters are equal. The entries of lists are in a separate file.
 */
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import type { ListScope } from "../../screening/lists.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import {
  addScreeningRule,
  changeScreeningRule,
  enableScreeningRule,
  removeScreeningRule,
} from "../../storage/screening/screening-rules.ts";
import { type NewRule, printAction, readRule, ruleScope } from "../screening/screening-rule.ts";
import type { FileEntry } from "../settings.ts";
import {
  differs,
  Invalid,
  readEnabled,
  refuseUnknown,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./work.ts";

export async function putScreening(work: Work, section: Sections): Promise<void> {
  const { rules, lists, ...unknown } = section;
  if (lists !== undefined) {
    throw new Invalid("screening has no lists: gw list import reads their entries, as CSV.");
  }
  refuseUnknown("screening", unknown);
  if (rules !== undefined) await putRules(work, rowsOf(rules, "rules"), await work.load());
}

export function rowsOf(value: unknown, what: string): readonly Sections[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Invalid(`${what} is no list.`);
  return value.map((row) => sectionsOf(row, `An entry of ${what}`));
}

async function putRules(
  work: Work,
  rows: readonly Sections[],
  configuration: Configuration,
): Promise<void> {
  const { audit, prune, steps } = work;
  const print = (rule: Omit<ConfiguredRule, "id">) => printRule(rule, configuration);
  const left = [...configuration.screeningRules];
  for (const row of rows) {
    const { kind, parameters, ...wanted } = readFileRule(row, configuration);
    const at = left.findIndex(
      (each) =>
        each.kind === kind &&
        isDeepStrictEqual(ruleScope(each), ruleScope(wanted)) &&
        isDeepStrictEqual({ ...each.parameters }, { ...parameters }),
    );
    const [known] = at === -1 ? [] : left.splice(at, 1);
    const read = readFileRule(row, configuration, known);
    if (!differs(work, `rule ${kind}`, known && print(known), print(read))) continue;
    if (known === undefined) await addScreeningRule(audit, read);
    else if (known.action === read.action) {
      await enableScreeningRule(audit, known.id, read.enabled);
    } else await changeScreeningRule(audit, known.id, read);
  }
  for (const { id, kind } of prune ? left : []) {
    await removeScreeningRule(audit, id);
    steps.push({ what: `rule ${id} ${kind}`, change: "remove", fields: [] });
  }
}

function readFileRule(
  row: Sections,
  configuration: Configuration,
  known?: Pick<ConfiguredRule, "action" | "enabled">,
): NewRule {
  const { rule: kind, merchant, endpoint, action, enabled, ...parameters } = row;
  const usual = known === undefined ? "block" : printAction(known.action);
  return valid(
    readRule(String(kind), textsOf(parameters), {
      ...ruleScope(placeOf(configuration, merchant, endpoint)),
      action: String(action ?? usual),
      enabled: readEnabled(enabled, known),
    }),
  );
}

function textsOf(parameters: Sections): Readonly<Record<string, string>> {
  const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(texts);
}

/** Throws `Invalid`. */
export function readFileRules(text: string, configuration: Configuration): readonly NewRule[] {
  const document = sectionsOf(parse(text, { uniqueKeys: true }) ?? null, "The file");
  const { rules } = sectionsOf(document["screening"] ?? null, "screening");
  if (rules === undefined) throw new Invalid("The file has no rules under screening.");
  return rowsOf(rules, "rules").map((row) => readFileRule(row, configuration));
}

/** Reads a rule's scope: an endpoint by name, a merchant or, if both are undefined, everywhere. */
function placeOf(configuration: Configuration, login: unknown, name: unknown): ListScope {
  if (login === undefined && name === undefined) return {};
  const merchant = configuration.merchants.find((each) => each.login === login);
  if (merchant === undefined) throw new Invalid(`There is no merchant ${String(login)}.`);
  if (name === undefined) return { merchantId: merchant.id };
  const found = [...configuration.endpoints.values()].filter(
    (each) => each.merchant.id === merchant.id && each.name === String(name),
  );
  const [endpoint] = found;
  if (endpoint === undefined || found.length > 1) {
    throw new Invalid(`${merchant.login} has ${found.length} endpoints ${String(name)}.`);
  }
  return { merchantId: merchant.id, endpointId: endpoint.id };
}

function printPlace(
  { merchantId, endpointId }: Partial<Pick<ConfiguredRule, "merchantId" | "endpointId">>,
  { merchants, endpoints }: Configuration,
): FileEntry {
  const endpoint = endpointId && endpoints.get(endpointId);
  const merchant = endpoint?.merchant ?? merchants.find(({ id }) => id === merchantId);
  return {
    ...(merchant && { merchant: merchant.login }),
    ...(endpoint && { endpoint: endpoint.name }),
  };
}

function printRule(rule: Omit<ConfiguredRule, "id">, configuration: Configuration): FileEntry {
  const { kind, action, enabled, parameters } = rule;
  const place = printPlace(rule, configuration);
  return { rule: kind, ...place, action: printAction(action), enabled, ...parameters };
}

export function printScreening(configuration: Configuration) {
  return { rules: configuration.screeningRules.map((rule) => printRule(rule, configuration)) };
}
