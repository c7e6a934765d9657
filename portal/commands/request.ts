/**
 * From a command's description to the fields of its form, and from the fields to the request; and
 * what a command that only looks tells. A switch and its opposite are one field, and only changed
 * fields are sent.
 */
import { useQuery } from "@tanstack/react-query";
import { call, type InputOf, type OutputOf } from "../shell/call.ts";

export type Command = OutputOf<"GET /command">;
type CommandOption = Command["options"][number];
export type CommandRequest = InputOf<"POST /commands/preview">;

export type Field = {
  readonly name: string;
  readonly does: string;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  /** What it takes, like `amount`; empty for a switch. */
  readonly value: string;
  readonly isList: boolean;
  readonly preset: string;
  /** Of a word, in place of an option. */
  readonly isWord: boolean;
  /** The option that says no. */
  readonly opposite?: string;
};

export type Values = Readonly<Record<string, string>>;

/** Words that the screen gives stand first and are no fields. */
export function fieldsOf(command: Command, givenWords: number): readonly Field[] {
  const words = command.words.slice(givenWords).map(({ name, isRequired, isList, choices }) => ({
    ...{ name, does: "", isRequired, choices, value: name, isList, preset: "", isWord: true },
  }));
  const names = command.options.map(({ name }) => name);
  const isOpposite = (name: string) => names.some((each) => oppositeOf(each, names) === name);
  const options = command.options.filter(({ name }) => !isOpposite(name));
  return [...words, ...options.map((option) => fieldOf(option, names))];
}

function fieldOf(option: CommandOption, names: readonly string[]): Field {
  const { name, does, isRequired, choices, value, isRepeated, preset = "" } = option;
  const opposite = oppositeOf(name, names);
  return {
    ...{ name, does, isRequired, choices, value, preset, isList: isRepeated, isWord: false },
    ...(opposite !== undefined && { opposite }),
  };
}

function oppositeOf(name: string, names: readonly string[]): string | undefined {
  const opposites: Values = { enable: "disable", "without-cvv": "with-cvv" };
  return [opposites[name], `no-${name}`].find((each) => each && names.includes(each));
}

/** What the form begins with: the settings as they are, or what the command would take. */
export function initialOf(fields: readonly Field[], known: Values): Values {
  return Object.fromEntries(
    fields.map(({ name, preset, opposite, value }) => {
      const text = known[name] ?? preset;
      const isSwitch = opposite !== undefined || value === "";
      if (!isSwitch) return [name, text];
      return [name, text === "" ? "" : text === "true" || text === "on" ? "on" : "off"];
    }),
  );
}

type Written = {
  readonly words: readonly string[];
  readonly initial: Values;
  readonly values: Values;
  readonly input: string;
};

export function requestOf(
  { name, input: wants }: Command,
  fields: readonly Field[],
  { words, initial, values, input }: Written,
): CommandRequest {
  const writtenIn = (field: Field) => (values[field.name] ?? "").trim();
  const isChanged = (field: Field) => writtenIn(field) !== (initial[field.name] ?? "");
  return {
    name,
    words: [...words, ...fields.filter(({ isWord }) => isWord).flatMap(wordsOf)],
    options: fields.filter((field) => !field.isWord && isChanged(field)).flatMap(optionsOf),
    ...(wants !== undefined && { input }),
  };

  function wordsOf(field: Field): readonly string[] {
    const text = writtenIn(field);
    if (field.isList) return text.split(/\s+/).filter((word) => word !== "");
    return text === "" ? [] : [text];
  }

  function optionsOf(field: Field): CommandRequest["options"] {
    const text = writtenIn(field);
    if (field.opposite !== undefined)
      return [{ name: text === "on" ? field.name : field.opposite }];
    if (field.value === "") return text === "on" ? [{ name: field.name }] : [];
    if (field.isList) return wordsOf(field).map((value) => ({ name: field.name, value }));
    // As one would type it: an optional setting is removed by the word.
    return [{ name: field.name, value: text === "" ? "none" : text }];
  }
}

/** What must be given, or is set already, stands first; all where there is little. */
export function splitFields(fields: readonly Field[], known: Values, isSet: boolean) {
  if (fields.length <= 9) return [fields, []] as const;
  const isFirst = ({ isRequired, isWord, name }: Field) =>
    isRequired || isWord || (isSet && known[name] !== undefined);
  return [fields.filter(isFirst), fields.filter((field) => !isFirst(field))] as const;
}

/** The label of an option or a word; a name that has none is shown as it is. */
export function labelOf(name: string, labels: Values): string {
  const plain = name.replaceAll(/-|(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return labels[name] ?? plain.slice(0, 1).toUpperCase() + plain.slice(1);
}

/** `endpoint 12`, with its first word as the user reads it. */
export function subjectOf(text: string, labels: Values): string {
  const [, kind = "", name] = /^(\w+) (\S+)$/.exec(text) ?? [];
  return name !== undefined && Object.hasOwn(labels, kind) ? `${labels[kind]} ${name}` : text;
}

type Show = { readonly choices: Values; readonly showTime: (at: number) => string };

/** A value of the preview: a moment, a choice by its word, or the value itself. */
export function showValue(name: string, value: string, { choices, showTime }: Show): string {
  if (name.endsWith("At") && /^\d{13}$/.test(value)) return showTime(Number(value));
  const isChoice = name === "3ds" || value === "on" || value === "off";
  return (isChoice && choices[value]) || value;
}

/** The portal shows it once, because the gateway never returns it again. */
const secrets = ["controlKey", "oldControlKey", "request", "publicKey", "secret"];

export function secretsIn(result: object): readonly (readonly [name: string, text: string])[] {
  const shown = Object.entries(result).filter(([name]) => secrets.includes(name));
  return shown.map(([name, value]) => [name, String(value)]);
}

type Given = Partial<Omit<CommandRequest, "name">>;
/** A line of a table. */
export type Row = Readonly<Record<string, string>>;

/** The rows of a command like `list show`; one that shows one thing has one. */
export function useRows(name: string, { words = [], options = [] }: Given = {}, enabled = true) {
  return useQuery({
    queryKey: ["rows", name, words, options],
    queryFn: async ({ signal }): Promise<readonly Row[]> => {
      const { result } = await call("POST /commands/run", { name, words, options }, { signal });
      return rowsOf(result);
    },
    enabled,
  });
}

export function rowsOf(result: object): readonly Row[] {
  const { rows = [result] }: { readonly rows?: readonly object[] } = result;
  return rows.map((row) => {
    const pairs = Object.entries(row).map(([name, value]) => [name, String(value ?? "")]);
    return Object.fromEntries(pairs);
  });
}
