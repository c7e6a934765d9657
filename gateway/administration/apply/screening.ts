/**
 * The section `screening` of the configuration's file: rules, and entries of the lists. A rule is
 * the same as a stored one when kind, place and parameters are; an entry when list, kind, place and
 * value are.
 */
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import {
  looksLikeCardNumber,
  readKindName,
  readListName,
  readReason,
} from "../../screening/list-file.ts";
import { findKind } from "../../screening/list-kinds.ts";
import type { ListScope } from "../../screening/lists.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import type { Configuration } from "../../storage/configuration.ts";
import {
  findListEntries,
  type NewListEntry,
  putEntries,
  removeEntries,
  type StoredListEntry,
} from "../../storage/screening-lists.ts";
import {
  addScreeningRule,
  changeScreeningRule,
  removeScreeningRule,
} from "../../storage/screening-rules.ts";
import { Problem } from "../../values/problem.ts";
import { calendar, parseDate } from "../../values/time.ts";
import { maskEntry } from "../lists.ts";
import { type NewRule, printAction, readRule, ruleScope } from "../screening-rule.ts";
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
  refuseUnknown("screening", unknown);
  const configuration = await work.load();
  if (rules !== undefined) await putRules(work, rowsOf(rules, "rules"), configuration);
  if (lists !== undefined) await putLists(work, rowsOf(lists, "lists"), configuration);
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
    else await changeScreeningRule(audit, known.id, read);
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
      ...{ action: String(action ?? usual), enabled: readEnabled(enabled, known) },
    }),
  );
}

function textsOf(parameters: Sections): Readonly<Record<string, string>> {
  const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(texts);
}

/** Of a file for `gw apply`; throws `Invalid`. */
export function readFileRules(text: string, configuration: Configuration): readonly NewRule[] {
  const document = sectionsOf(parse(text, { uniqueKeys: true }) ?? null, "The file");
  const { rules } = sectionsOf(document["screening"] ?? null, "screening");
  if (rules === undefined) throw new Invalid("The file has no rules under screening.");
  return rowsOf(rules, "rules").map((row) => readFileRule(row, configuration));
}

/** Of a merchant's login and the name of one of its endpoints. */
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

function printEntry(entry: NewListEntry, configuration: Configuration): FileEntry {
  const { list, kind, value, reason, expiresAt } = entry;
  return {
    ...{ list, kind, value, ...printPlace(entry, configuration) },
    ...(expiresAt !== undefined && { expires: calendar(expiresAt).iso }),
    ...(reason !== "" && { reason }),
  };
}

async function putLists(
  work: Work,
  rows: readonly Sections[],
  configuration: Configuration,
): Promise<void> {
  const { audit, query, prune, steps, session } = work;
  const stored = new Map((await findListEntries(query, {})).map((each) => [keyOf(each), each]));
  const changed: NewListEntry[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    const entry = readEntry(row, configuration);
    const known = stored.get(keyOf(entry));
    // A hash id may look like one: an entry of `gw list add` can be exported and applied.
    if (known === undefined && looksLikeCardNumber(entry.value)) {
      throw new Invalid("An entry of lists: value may be a card number; see gw list add.");
    }
    stored.delete(keyOf(entry));
    if (seen.has(keyOf(entry))) throw new Invalid("lists has the same entry twice.");
    seen.add(keyOf(entry));
    const [before, after] = [known && printed(known), printed(entry)];
    if (differs(work, `${entry.list} list, ${entry.kind}`, before, after)) changed.push(entry);
  }
  if (changed.length > 0) {
    await audit.change(async (change, write) => {
      await putEntries(change, changed, { by: session.actor.who });
      for (const entry of changed) {
        await write({ action: "list add", subject: `${entry.list} list`, after: maskEntry(entry) });
      }
    });
  }
  const gone = prune ? [...stored.values()] : [];
  await audit.change(async (change, write) => {
    await removeEntries(
      change,
      gone.map(({ id }) => id),
    );
    for (const entry of gone) await write(removalOf(entry));
  });
  for (const { list, kind } of gone) {
    steps.push({ what: `${list} list, ${kind}`, change: "remove", fields: [] });
  }

  function printed(entry: NewListEntry): FileEntry {
    return printEntry(entry, configuration);
  }
}

function removalOf({ id, addedAt: _, ...entry }: StoredListEntry) {
  return { action: "list remove", subject: `list entry ${id}`, before: maskEntry(entry) };
}

function keyOf({ list, kind, value, merchantId, endpointId }: NewListEntry): string {
  return [list, kind, merchantId, endpointId, value].join("/");
}

function readEntry(row: Sections, configuration: Configuration): NewListEntry {
  const { list, kind: kindName, value, merchant, endpoint, expires, reason, ...unknown } = row;
  refuseUnknown("An entry of lists", unknown);
  const read = <Value>(name: string, got: Value | Problem): Value => {
    if (!(got instanceof Problem)) return got;
    throw new Invalid(`An entry of lists: ${name} is ${got.sentence}.`);
  };
  const kind = read("kind", readKindName(String(kindName)));
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new Invalid(
      "An entry of lists: value is a long number without quotes; put it in quotes.",
    );
  }
  const expiresAt = expires === undefined ? undefined : parseDate(String(expires));
  if (expires !== undefined && expiresAt === undefined) {
    throw new Invalid("An entry of lists: expires is no moment like 2030-01-31T09:30:00Z.");
  }
  return {
    list: read("list", readListName(String(list))),
    kind,
    value: read("value", findKind(kind)?.read(String(value ?? "")) ?? new Problem("missing")),
    reason: read("reason", readReason(String(reason ?? ""))),
    ...placeOf(configuration, merchant, endpoint),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** For `gw export`. Entries name persons and may be very many: they are written when asked for. */
export function printScreening(
  configuration: Configuration,
  entries: readonly NewListEntry[] | undefined,
) {
  const rules = configuration.screeningRules.map((rule) => printRule(rule, configuration));
  return {
    rules,
    ...(entries && { lists: entries.map((entry) => printEntry(entry, configuration)) }),
  };
}
