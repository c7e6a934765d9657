/**
 * Computes a form's values from an action's description, and from the values a request, which has
 * only those that the user has changed. Also reads the results of actions.
 */
import { type ReactNode, useMemo } from "react";
import { type InputOf, type OutputOf, useAnswer } from "../shell/call.ts";

export type Shared = {
  readonly label: string;
  readonly description: ReactNode;
  readonly required: boolean;
  readonly error: string | undefined;
};

export type Action = OutputOf<"GET /actions/:action">;
export type Field = Action["fields"][number];
export type Values = InputOf<"POST /actions/run">["values"];
/** The values as the user edits them. Each is a text, and a list has one entry in each line. */
export type Texts = Readonly<Record<string, string>>;

const isSwitch = ({ kind }: Field) => kind === "flag" || kind === "toggle";
const isSent = ({ kind }: Field) => kind === "file" || kind === "secret";

/** A form opens with the current settings, or else with the action's defaults. */
export function initialOf(fields: readonly Field[], known: Texts): Texts {
  return Object.fromEntries(
    fields.map((field) => {
      const text = known[field.name] ?? field.preset ?? "";
      if (!isSwitch(field) || text === "") return [field.name, text];
      return [field.name, text === "true" || text === "on" ? "on" : "off"];
    }),
  );
}

export function valuesOf(fields: readonly Field[], initial: Texts, texts: Texts): Values {
  const written = fields.flatMap((field) => {
    const text = texts[field.name] ?? "";
    const isChanged = text.trim() !== (initial[field.name] ?? "");
    const isWanted = isChanged || (field.isRequired && text !== "");
    const value = isWanted ? sentValueOf(field, text) : undefined;
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return Object.fromEntries(written);
}

function sentValueOf(field: Field, text: string): Values[string] | undefined {
  if (isSent(field)) return text === "" ? undefined : text;
  if (isSwitch(field)) return text === "" ? undefined : text === "on";
  if (field.isList) return text.split(/\s+/).filter((each) => each !== "");
  if (isLocalTime(field, text)) return `${new Date(text).toISOString().slice(0, 19)}Z`;
  // The gateway removes an optional setting if the request sends the word `none`.
  return text.trim() === "" ? "none" : text.trim();
}

export type RankedGate = { readonly name: string; readonly rank: string; readonly weight: string };

/** The text of a form's field for gates has one gate in each line. */
export function readGates(text: string): readonly RankedGate[] {
  return text.split(/\s+/).flatMap((line) => {
    const [name = "", rank = "1", weight = "1"] = line.split(":");
    return name === "" ? [] : [{ name, rank, weight }];
  });
}

export function printGates(gates: readonly RankedGate[]): string {
  return gates.map(({ name, rank, weight }) => `${name}:${rank}:${weight}`).join("\n");
}

/** Whether the text has the format of the browser's `datetime-local` control. */
export function isLocalTime({ kind }: Field, text: string): boolean {
  return kind === "moment" && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text);
}

/** Fills a required currency with the endpoint's, because all its payments are in that currency. */
export function withCurrency(
  texts: Texts,
  fields: readonly Field[],
  endpoint: { readonly currency: string } | undefined,
): Texts {
  const field = fields.find(({ kind, isRequired }) => kind === "currency" && isRequired);
  if (field === undefined || endpoint === undefined) return texts;
  return { ...texts, [field.name]: endpoint.currency };
}

/** In a form with more than nine fields, only those that are required or set are shown at once. */
export function splitFields(fields: readonly Field[], known: Texts) {
  if (fields.length <= 9) return [fields, []] as const;
  const isFirst = ({ isRequired, name }: Field) => isRequired || known[name] !== undefined;
  return [fields.filter(isFirst), fields.filter((field) => !isFirst(field))] as const;
}

/** The field's name may be written like `return-url` or like `returnUrl`. */
export function labelOf(name: string, labels: Texts): string {
  const plain = writtenOf(name).replaceAll("-", " ");
  return labels[writtenOf(name)] ?? plain.slice(0, 1).toUpperCase() + plain.slice(1);
}

function writtenOf(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/** Translates the first word of the text that names a changed item, as in `endpoint 12`. */
export function subjectOf(text: string, labels: Texts): string {
  const [, kind = "", name] = /^(\w+) (\S+)$/.exec(text) ?? [];
  return name !== undefined && Object.hasOwn(labels, kind) ? `${labels[kind]} ${name}` : text;
}

type Show = { readonly choices: Texts; readonly showTime: (at: number) => string };

/** Times and choices of a preview are shown in the user's language, other values unchanged. */
export function showValue(name: string, value: string, { choices, showTime }: Show): string {
  if (name.endsWith("At") && /^\d{13}$/.test(value)) return showTime(Number(value));
  const isChoice = name === "3ds" || value === "on" || value === "off";
  return (isChoice && choices[value]) || value;
}

/** Shows switches and choices by their words, and lists with spaces between the entries. */
export function showSetting(value: string, choices: Texts): string {
  const word = value === "true" ? "on" : value === "false" ? "off" : value;
  return choices[word] ?? value.replaceAll(",", ", ");
}

/** Result values, mostly secrets, that the form shows in full with a button that copies them. */
const secrets = ["controlKey", "oldControlKey", "request", "publicKey", "secret", "password"];

export function secretsIn(result: object): readonly (readonly [name: string, text: string])[] {
  const shown = Object.entries(result).filter(([name]) => secrets.includes(name));
  return shown.map(([name, value]) => [name, String(value)]);
}

/** If a result contains secrets, returns its other values, as far as they have a label. */
export function factsIn(result: object, labels: Texts) {
  if (secretsIn(result).length === 0) return [];
  return Object.entries(result).flatMap(([name, value]) => {
    const isShown = Object.hasOwn(labels, writtenOf(name)) && !secrets.includes(name);
    const isFact = typeof value !== "object" && value !== "";
    return isShown && isFact ? [[name, String(value)] as const] : [];
  });
}

/** The values of a table's row by column. */
export type Row = Readonly<Record<string, string>>;

/** Runs an action that changes nothing, like `list show`. Any result is returned as rows. */
export function useRows(action: string, values: Values = {}) {
  const { data, ...found } = useAnswer("POST /actions/run", { action, values });
  const rows = useMemo(() => data && rowsOf(data.result), [data]);
  return { ...found, data: rows, result: data?.result };
}

export function rowsOf(result: object): readonly Row[] {
  const { rows = [result] }: { readonly rows?: readonly object[] } = result;
  return asRows(rows);
}

export function asRows(rows: readonly object[]): readonly Row[] {
  return rows.map((row) => {
    const pairs = Object.entries(row).map(([name, value]) => [name, String(value ?? "")]);
    return Object.fromEntries(pairs);
  });
}
