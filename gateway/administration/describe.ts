/** Describes an action for a form of the portal in one language, and its values as JSON schema. */
import type { Api } from "../portal-api/api.ts";
import { hasRight, type Role } from "../values/roles.ts";
import { type Action, isChange } from "./action.ts";
import { type Field, type Language, namesOf, type Texts, texts, written } from "./field.ts";
import { choiceLabels, documents, fieldLabels, kindLabels, type Labels } from "./labels.ts";

type ActionView = Api["GET /actions/:action"]["output"];

/** This type lets any text be looked up. The tables' own types allow only the names they have. */
const [labels, choiceNames]: readonly [Labels, Labels] = [fieldLabels, choiceLabels];

export function describeAction(action: Action, language: Language, role: Role): ActionView {
  const { name, does, duration } = action;
  const fields = offeredFields(action).filter(
    ([, { right }]) => right === undefined || hasRight(role, right),
  );
  return {
    name,
    does: does[language],
    isChange: isChange(action),
    ...(duration && { duration }),
    fields: fields.map((each) => describeField(each, language, role)),
  };
}

export function offeredFields({ fields }: Action): readonly (readonly [string, Field])[] {
  return Object.entries(fields).filter(([, each]) => each.isOnlyOnCommandLine !== true);
}

function describeField(
  [key, field]: readonly [string, Field],
  language: Language,
  role: Role,
): ActionView["fields"][number] {
  const { kind, help, isRequired, isList, preset } = field;
  const name = written(key);
  const document = documents[name];
  return {
    name,
    label: labelOf(key, field)?.[language] ?? name,
    help: help[language],
    kind,
    isRequired,
    isList,
    ...(preset !== undefined && { preset }),
    choices: choicesOf(key, field, role).map(([value, label = texts(value, value)]) => ({
      value,
      label: label[language],
    })),
    ...(document !== undefined && { document }),
  };
}

/** A yes-or-no field with only a name for no, like `no-endpoints`, has the label of that name. */
export function labelOf(key: string, field: Field): Texts | undefined {
  const { yes, no = "" } = field.kind === "toggle" ? namesOf(key, field) : { yes: key };
  return kindLabels[field.kind] ?? labels[yes === undefined ? no : written(key)];
}

function choicesOf(
  key: string,
  field: Field,
  role: Role,
): readonly (readonly [string, Texts | undefined])[] {
  if (field.kind !== "toggle") {
    const { offered, choices = [] } = field;
    return (offered?.(role) ?? choices).map((value) => [
      value,
      choiceNames[`${key} ${value}`] ?? choiceNames[value],
    ]);
  }
  const { on, off } = choiceLabels;
  return namesOf(key, field).yes === undefined
    ? [["off", on]]
    : [
        ["on", on],
        ["off", off],
      ];
}

export function schemaOf(action: Action): Readonly<Record<string, unknown>> {
  const fields = offeredFields(action);
  const required = fields.filter(([, each]) => each.isRequired && each.preset === undefined);
  return {
    type: "object",
    description: action.does.en,
    properties: Object.fromEntries(
      fields.map(([name, field]) => [written(name), schemaOfField(field)]),
    ),
    required: required.map(([name]) => written(name)),
    additionalProperties: false,
  };
}

function schemaOfField({ kind, help, choices, preset, isList }: Field) {
  const isBoolean = kind === "flag" || kind === "toggle";
  const one = { type: isBoolean ? "boolean" : "string", ...(choices && { enum: choices }) };
  return {
    ...(isList ? { type: "array", items: one } : one),
    description: help.en,
    ...(preset !== undefined && { default: preset }),
  };
}
