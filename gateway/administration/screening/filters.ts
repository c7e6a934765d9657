/**
 * The rules of screening. Each kind of rule is added by an action of its own, whose fields are the
 * rule's parameters.
 */
import type { ConfiguredRule, Rule } from "../../screening/rule.ts";
import { rules } from "../../screening/rules/index.ts";
import {
  addScreeningRule,
  changeScreeningRule,
  enableScreeningRule,
  removeScreeningRule,
} from "../../storage/screening/screening-rules.ts";
import { isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { type Field, flag, lastWords, option, preset, required, word } from "../field.ts";
import { type Output, Report, readConfiguration, type Session } from "../session.ts";
import { tryFields, tryRules } from "./filter-try.ts";
import {
  actionNames,
  makeFindMissing,
  type NewRule,
  nameScopes,
  printAction,
  readRule,
  readScope,
  ruleScope,
  scopeFields,
} from "./screening-rule.ts";

const actionHelp = [
  "block, 3ds (force 3-D Secure), mark, or allow (pass the other rules)",
  "sperren, 3-D Secure erzwingen, markieren oder an den anderen Regeln vorbeilassen",
] as const;
const rule = word("text", "rule", ["the number of the rule", "die Nummer der Regel"]);

const addActions: readonly Action[] = rules.map((kind) =>
  action({
    name: `filter add ${kind.kind}`,
    does: [kind.documentation.en, kind.documentation.de],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: {
      ...parameterFields(kind),
      ...scopeFields,
      action: preset(actionNames, "action", "block", actionHelp),
      disabled: flag([
        "add it, and leave it off, to try it first",
        "anlegen und ausgeschaltet lassen, um sie zuerst zu proben",
      ]),
    },
    perform: (session, given) => addRule(session, kind.kind, given),
  }),
);

export const filterActions: readonly Action[] = [
  ...addActions,
  action({
    name: "filter list",
    does: ["list all rules with their parameters", "alle Regeln mit ihren Parametern auflisten"],
    right: "see_configuration",
    mode: "look",
    commandLineOnly: "the portal shows rules on a screen of its own",
    fields: {},
    perform: listRules,
  }),
  action({
    name: "filter change",
    does: [
      "change parameters, like count=5 window=1h; none removes one",
      "Parameter ändern, wie count=5 window=1h; none entfernt einen",
    ],
    right: "change_merchants",
    mode: "change",
    inFile: "otherwise",
    fields: {
      rule,
      parameters: lastWords("text", "parameters", [
        "parameters with their new values",
        "Parameter mit ihren neuen Werten",
      ]),
      action: option(actionNames, "action", actionHelp),
    },
    perform: changeRule,
  }),
  action({
    name: "filter try",
    does: [
      "tell what rules and lists would have done to past orders",
      "sagen, was Regeln und Listen mit früheren Zahlungen getan hätten",
    ],
    right: "see_orders",
    mode: "look",
    duration: "minutes",
    fields: tryFields,
    perform: tryRules,
  }),
  action({
    name: "filter enable",
    does: ["switch a rule on", "eine Regel einschalten"],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: { rule },
    perform: (session, given) => enableRule(session, given.rule, true),
  }),
  action({
    name: "filter disable",
    does: ["switch a rule off", "eine Regel ausschalten"],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: { rule },
    perform: (session, given) => enableRule(session, given.rule, false),
  }),
  action({
    name: "filter remove",
    does: ["remove a rule", "eine Regel entfernen"],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: { rule },
    perform: removeRule,
  }),
];

/** The rule reads their texts itself, and checks what they must be together. */
function parameterFields({
  parameters,
}: Rule): Readonly<Record<string, Field<string | undefined>>> {
  const fields = Object.entries(parameters).map(([name, parameter]) => {
    const { type, documentation, necessity, choices, kind } = parameter;
    const help = [`${documentation.en} (${type.en})`, `${documentation.de} (${type.de})`] as const;
    const make = necessity === "mandatory" ? required : option;
    const fieldKind = kind === "countries" ? "text" : kind;
    return [name, make(choices ?? fieldKind, "value", help)] as const;
  });
  return Object.fromEntries(fields);
}

type GivenRule = {
  readonly merchant?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly action: string;
  readonly disabled?: true | undefined;
};

async function addRule(
  session: Session,
  kind: string,
  { merchant, endpoint, action: does, disabled, ...parameters }: GivenRule,
): Promise<Output> {
  const configuration = await readConfiguration(session);
  const scope = readScope(configuration, { merchant, endpoint });
  if (scope instanceof Problem) return scope;
  const enabled = disabled !== true;
  const read = readRule(kind, parameters, { action: does, enabled, ...ruleScope(scope) });
  if (read instanceof Problem) return read;
  const id = await addScreeningRule(session.audit, read);
  return { rule: id, ...describe(read, nameScopes(configuration)) };
}

async function listRules(session: Session): Promise<Output> {
  const configuration = await readConfiguration(session);
  const nameScope = nameScopes(configuration);
  const findMissing = await makeFindMissing(session);
  const rows = configuration.screeningRules.map((each) => ({
    rule: each.id,
    ...describe(each, nameScope),
    data: findMissing(each) ?? "good",
  }));
  const { screeningRules } = configuration;
  const values = rows.map((row, at) => ({ ...row, parameters: screeningRules[at]?.parameters }));
  return new Report(values, rows);
}

function describe(known: NewRule, nameScope: ReturnType<typeof nameScopes>) {
  const { kind, parameters, action: does, enabled } = known;
  return {
    kind,
    parameters: printParameters(parameters),
    counts: nameScope(known),
    action: printAction(does),
    state: enabled ? "on" : "off",
  };
}

function printParameters(parameters: ConfiguredRule["parameters"]): string {
  return Object.entries(parameters)
    .map(([name, text]) => `${name}=${text}`)
    .join(" ");
}

type Changed = {
  readonly rule: string;
  readonly parameters: readonly string[];
  readonly action?: string | undefined;
};

async function changeRule(
  session: Session,
  { rule: id, parameters: pairs, action: does }: Changed,
): Promise<Output> {
  const configuration = await readConfiguration(session);
  const known = configuration.screeningRules.find((each) => each.id === id);
  if (known === undefined) return unknown(id);
  if (pairs.length === 0 && does === undefined) return new Problem("Give what is to change.");
  const parameters: Record<string, string> = { ...known.parameters };
  for (const pair of pairs) {
    const [, name = "", text = ""] = /^([a-z-]+)=(.+)$/.exec(pair) ?? [];
    if (name === "") return new Problem("A parameter is given like count=5.");
    if (text === "none") delete parameters[name];
    else parameters[name] = text;
  }
  const { kind, merchantId, endpointId, enabled } = known;
  const rest = { merchantId, endpointId, enabled, action: does ?? printAction(known.action) };
  const changed = readRule(kind, parameters, rest);
  if (changed instanceof Problem) return changed;
  await changeScreeningRule(session.audit, id, changed);
  return { rule: id, ...describe(changed, nameScopes(configuration)) };
}

async function enableRule({ audit }: Session, id: string, enabled: boolean): Promise<Output> {
  const found = isNumericId(id) && (await enableScreeningRule(audit, id, enabled));
  return found ? { rule: id, state: enabled ? "on" : "off" } : unknown(id);
}

async function removeRule(
  { audit }: Session,
  { rule: id }: { readonly rule: string },
): Promise<Output> {
  const found = isNumericId(id) && (await removeScreeningRule(audit, id));
  return found ? { rule: id, state: "removed" } : unknown(id);
}

function unknown(id: string): Problem {
  return new Problem(`There is no rule ${id}.`);
}
