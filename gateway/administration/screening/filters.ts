/** The screening rules. Each kind has its own action, whose fields are the rule's parameters. */
import type { Rule } from "../../screening/rule.ts";
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
import {
  type Field,
  flag,
  type Help,
  lastWords,
  option,
  preset,
  required,
  word,
} from "../field.ts";
import { printSwitch } from "../readers.ts";
import { Report, readConfiguration } from "../session.ts";
import { tryFields, tryRules } from "./filter-try.ts";
import {
  actionNames,
  inOrder,
  makeFindMissing,
  type NewRule,
  nameScopes,
  printAction,
  printParameters,
  readRule,
  readScope,
  ruleScope,
  scopeFields,
} from "./screening-rule.ts";

const actionHelp = [
  "block, 3ds (force 3-D Secure), mark, or allow (pass the other rules)",
  "sperren, 3-D Secure erzwingen, markieren oder von den anderen Regeln ausnehmen",
] as const;
const rule = word("text", "rule", ["the number of the rule", "die Nummer der Regel"]);

const addActions: readonly Action[] = rules.map((kind) =>
  action("change", "change_merchants", {
    name: `filter add ${kind.kind}`,
    does: [kind.documentation.en, kind.documentation.de],
    inFile: "exported",
    fields: {
      ...parameterFields(kind),
      ...scopeFields,
      action: preset(actionNames, "action", "block", actionHelp),
      disabled: flag([
        "add it, and leave it off, to try it first",
        "anlegen und ausgeschaltet lassen, um sie zuerst zu testen",
      ]),
    },
    async perform(session, { merchant, endpoint, action: does, disabled, ...parameters }) {
      const configuration = await readConfiguration(session);
      const scope = readScope(configuration, { merchant, endpoint });
      if (scope instanceof Problem) return scope;
      const rest = { action: does, enabled: disabled !== true, ...ruleScope(scope) };
      const read = readRule(kind.kind, parameters, rest);
      if (read instanceof Problem) return read;
      const id = await addScreeningRule(session.audit, read);
      return { rule: id, ...describe(read, nameScopes(configuration)) };
    },
  }),
);

export const filterActions: readonly Action[] = [
  ...addActions,
  action("look", "see_configuration", {
    name: "filter list",
    does: ["list all rules with their parameters"],
    commandLineOnly: "the portal shows rules on a screen of its own",
    async perform(session) {
      const configuration = await readConfiguration(session);
      const nameScope = nameScopes(configuration);
      const findMissing = await makeFindMissing(session);
      const rows = configuration.screeningRules.map((each) => ({
        rule: each.id,
        ...describe(each, nameScope),
        data: findMissing(each) ?? "good",
      }));
      const { screeningRules } = configuration;
      const values = rows.map((row, at) => ({
        ...row,
        parameters: screeningRules[at]?.parameters,
      }));
      return new Report(values, rows);
    },
  }),
  action("change", "change_merchants", {
    name: "filter change",
    does: [
      "change parameters, like count=5 window=1h; none removes one",
      "Parameter ändern, wie count=5 window=1h; none entfernt einen",
    ],
    inFile: "otherwise",
    fields: {
      rule,
      parameters: lastWords("text", "parameters", [
        "parameters with their new values",
        "Parameter mit ihren neuen Werten",
      ]),
      action: option(actionNames, "action", actionHelp),
    },
    async perform(session, { rule: id, parameters: pairs, action: does }) {
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
    },
  }),
  action("look", "see_orders", {
    name: "filter try",
    does: [
      "tell what rules and lists would have done to past orders",
      "zeigen, was Regeln und Listen mit früheren Zahlungen gemacht hätten",
    ],
    duration: "minutes",
    fields: tryFields,
    perform: tryRules,
  }),
  enablingAction("filter enable", true, ["switch a rule on", "eine Regel einschalten"]),
  enablingAction("filter disable", false, ["switch a rule off", "eine Regel ausschalten"]),
  action("change", "change_merchants", {
    name: "filter remove",
    does: ["remove a rule", "eine Regel entfernen"],
    inFile: "exported",
    fields: { rule },
    async perform({ audit }, { rule: id }) {
      const found = isNumericId(id) && (await removeScreeningRule(audit, id));
      return found ? { rule: id, state: "removed" } : unknown(id);
    },
  }),
];

/** The rule parses its own parameters, so this type names none of the fields. */
function parameterFields({ parameters }: Rule): Readonly<Record<never, Field>> {
  const fields = Object.entries(parameters).map(([name, parameter]) => {
    const { type, documentation, necessity, choices, kind } = parameter;
    const help = [`${documentation.en} (${type.en})`, `${documentation.de} (${type.de})`] as const;
    const make = necessity === "mandatory" ? required : option;
    const fieldKind = kind === "countries" ? "text" : kind;
    return [name, make(choices ?? fieldKind, "value", help)] as const;
  });
  return Object.fromEntries(fields);
}

function describe(known: NewRule, nameScope: ReturnType<typeof nameScopes>) {
  const { kind, parameters, action: does, enabled } = known;
  return {
    kind,
    parameters: printParameters(inOrder(kind, parameters)),
    counts: nameScope(known),
    action: printAction(does),
    state: printSwitch(enabled),
  };
}

function enablingAction(name: string, enabled: boolean, does: Help): Action {
  return action("change", "change_merchants", {
    name,
    does,
    inFile: "exported",
    fields: { rule },
    async perform({ audit }, { rule: id }) {
      const found = isNumericId(id) && (await enableScreeningRule(audit, id, enabled));
      return found ? { rule: id, state: printSwitch(enabled) } : unknown(id);
    },
  });
}

function unknown(id: string): Problem {
  return new Problem(`There is no rule ${id}.`);
}
