/**
 * `gw filter`: the rules of screening. Each kind of rule is a command of its own under `add`, whose
 * options are the rule's parameters.
 */
import { type Command, Option } from "commander";
import type { ConfiguredRule, Rule } from "../screening/rule.ts";
import { rules } from "../screening/rules/index.ts";
import {
  addScreeningRule,
  changeScreeningRule,
  enableScreeningRule,
  removeScreeningRule,
} from "../storage/screening-rules.ts";
import { isNumericId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session, setAction } from "./command.ts";
import { type NewRule, printAction, readRule, ruleScope } from "./filter-rule.ts";
import { tryOptions, tryRules } from "./filter-try.ts";
import { readConfiguration } from "./installation.ts";
import { makeFindMissing } from "./screening-data.ts";
import { makeScopeOf, nameScopes, scopeOptions } from "./screening-scope.ts";

const actionOption = new Option(
  "--action <action>",
  "block, 3ds (force 3-D Secure), mark, or allow (pass the other rules)",
);

export function addFilterCommands(filter: Command): void {
  const add = filter.command("add").description("add a rule; its kinds are commands");
  for (const rule of rules) {
    setAction(
      add.command(rule.kind).description(rule.documentation),
      (session: Session, given: Given) => addRule(session, rule, given),
      [
        ...optionsOf(rule),
        ...scopeOptions,
        new Option(actionOption.flags, actionOption.description).default("block"),
        new Option("--disabled", "add it, and leave it off: see gw filter try"),
      ],
    );
  }
  // biome-ignore format: a table
  addCommands(filter, [
    ["list",                          "list all rules with their parameters",                   list],
    ["change <rule> [parameters...]", "change parameters, like count=5 window=1h; none removes one", change, [actionOption]],
    ["try",                           "tell what rules and lists would have done to past orders", tryRules, tryOptions],
    ["enable <rule>",                 "switch a rule on",                                       (session: Session, id: string) => enable(session, id, true)],
    ["disable <rule>",                "switch a rule off",                                      (session: Session, id: string) => enable(session, id, false)],
    ["remove <rule>",                 "remove a rule",                                          remove],
  ]);
}

type Given = Readonly<Record<string, string | boolean | undefined>>;

function optionsOf({ parameters }: Rule): readonly Option[] {
  return Object.entries(parameters).map(([name, { type, documentation, necessity }]) =>
    new Option(`--${name} <value>`, `${documentation} (${type})`).makeOptionMandatory(
      necessity === "mandatory",
    ),
  );
}

async function addRule(session: Session, { kind, parameters }: Rule, given: Given) {
  const texts = Object.keys(parameters).flatMap((name) =>
    given[name] === undefined ? [] : [[name, String(given[name])]],
  );
  const configuration = await readConfiguration(session);
  const words = [given["merchant"], given["endpoint"]].map((each) => String(each ?? ""));
  const scope = makeScopeOf(configuration)(words[0] ?? "", words[1] ?? "");
  if (scope instanceof Problem) return new Problem(`That is ${scope.sentence}.`);
  const rule = readRule(kind, Object.fromEntries(texts), {
    ...{ action: String(given["action"]), enabled: given["disabled"] !== true },
    ...ruleScope(scope),
  });
  if (rule instanceof Problem) return rule;
  const id = await addScreeningRule(session.audit, rule);
  return { rule: id, ...describe(rule, nameScopes(configuration)) };
}

async function list(session: Session): Promise<Output> {
  const configuration = await readConfiguration(session);
  const nameScope = nameScopes(configuration);
  const findMissing = await makeFindMissing(session);
  return configuration.screeningRules.map((rule) => ({
    rule: rule.id,
    ...describe(rule, nameScope),
    ...(session.json && { parameters: rule.parameters }),
    data: findMissing(rule) ?? "good",
  }));
}

export function describe(rule: NewRule, nameScope: ReturnType<typeof nameScopes>) {
  const { kind, parameters, action, enabled } = rule;
  return {
    kind,
    parameters: printParameters(parameters),
    ...{ counts: nameScope(rule), action: printAction(action), state: enabled ? "on" : "off" },
  };
}

function printParameters(parameters: ConfiguredRule["parameters"]): string {
  return Object.entries(parameters)
    .map(([name, text]) => `${name}=${text}`)
    .join(" ");
}

async function change(
  session: Session,
  id: string,
  pairs: readonly string[],
  { action }: { readonly action?: string },
): Promise<Output> {
  const configuration = await readConfiguration(session);
  const known = configuration.screeningRules.find((rule) => rule.id === id);
  if (known === undefined) return unknown(id);
  if (pairs.length === 0 && action === undefined) return new Problem("Give what is to change.");
  const parameters: Record<string, string> = { ...known.parameters };
  for (const pair of pairs) {
    const [, name = "", text = ""] = /^([a-z-]+)=(.+)$/.exec(pair) ?? [];
    if (name === "") return new Problem("A parameter is given like count=5.");
    if (text === "none") delete parameters[name];
    else parameters[name] = text;
  }
  const { kind, merchantId, endpointId, enabled } = known;
  const rest = { merchantId, endpointId, enabled, action: action ?? printAction(known.action) };
  const rule = readRule(kind, parameters, rest);
  if (rule instanceof Problem) return rule;
  await changeScreeningRule(session.audit, id, rule);
  return { rule: id, ...describe(rule, nameScopes(configuration)) };
}

async function enable({ audit }: Session, id: string, enabled: boolean): Promise<Output> {
  const found = isNumericId(id) && (await enableScreeningRule(audit, id, enabled));
  return found ? { rule: id, state: enabled ? "on" : "off" } : unknown(id);
}

async function remove({ audit }: Session, id: string): Promise<Output> {
  const found = isNumericId(id) && (await removeScreeningRule(audit, id));
  return found ? { rule: id, state: "removed" } : unknown(id);
}

function unknown(id: string): Problem {
  return new Problem(`There is no rule ${id}: see gw filter list.`);
}
