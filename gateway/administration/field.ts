/** The fields of actions. Values are written alike on the command line, in forms and in files. */
import type { Role } from "../values/roles.ts";

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];
export type Texts = Readonly<Record<Language, string>>;

export function texts(en: string, de: string): Texts {
  return { en, de };
}

/**
 * The type of a field's value, from which the portal chooses an input element. For `merchant`,
 * `endpoint`, `gate` and `currency`, a form offers those that exist. `gate-place` is a gate with
 * its rank and weight, as `name:rank:weight`. `path` names a file that every node has. A browser
 * sends the content of `picture` and `file`, and the command line names a file; it reads `secret`
 * from standard input.
 */
export type FieldKind =
  | ("text" | "amount" | "fee" | "whole" | "day" | "moment" | "duration" | "colour" | "url")
  | ("switch" | "choice" | "flag" | "toggle")
  | ("merchant" | "endpoint" | "gate" | "gate-place" | "currency" | "user")
  | ("path" | "picture" | "file" | "secret");

export type Content = {
  /** The file's name as the user has typed it; `-` is standard input. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
};

export type Field<Value = unknown> = {
  readonly kind: FieldKind;
  /** The placeholder for the value in the command's usage text, like `login`. */
  readonly shows: string;
  readonly help: Texts;
  readonly isRequired: boolean;
  /** If true, the command line takes the value by its position, without the field's name. */
  readonly isWord: boolean;
  readonly isList: boolean;
  readonly choices?: readonly string[] | undefined;
  /** Returns the choices for a user of this role. If absent, a form offers all choices. */
  readonly offered?: (by: Role) => readonly string[];
  readonly preset?: string | undefined;
  /** The value if the command line has the field's name without a value. */
  readonly alone?: string | undefined;
  /** The value's pattern in the command line's help. Forms have an input element for the value. */
  readonly format?: string | undefined;
  /** The options for yes and no. By default, the field's name, and the name after `no-`. */
  readonly names?: { readonly yes?: string; readonly no?: string };
  readonly letter?: string;
  /** True for a field that names files of the machine or controls how output is printed. */
  readonly isOnlyOnCommandLine?: boolean;
  /** A right that the user needs to give the field, in place of the action's right. */
  readonly right?: "reveal_secrets";
  /** Tells the compiler the type of the field's value. It is never set at run time. */
  readonly value?: Value;
};

/** The fields of an action by their names in the code: users write `returnUrl` as `return-url`. */
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<Each> = Each extends Field<infer Value> ? Value : never;
type Needed<Taken extends Fields> = {
  [Name in keyof Taken]: undefined extends ValueOf<Taken[Name]> ? never : Name;
}[keyof Taken];

export type Given<Taken extends Fields> = {
  readonly [Name in Needed<Taken>]: ValueOf<Taken[Name]>;
} & { readonly [Name in Exclude<keyof Taken, Needed<Taken>>]?: ValueOf<Taken[Name]> };

/** A help text in English, and in German where the portal has a form. */
export type Help = readonly [en: string, de?: string];

export function textsOf([en, de = ""]: Help = [""]): Texts {
  return { en, de };
}

type Kind = FieldKind | readonly string[];
type ValueOfKind<Given extends Kind> = Given extends readonly (infer Word)[]
  ? Word
  : Given extends "file" | "secret"
    ? Content
    : string;

type Usage = Omit<Partial<Field>, "value">;

function field<Value>(kind: Kind, shows: string, help: Help, more: Usage = {}): Field<Value> {
  const choices = kind === "switch" ? ["on", "off"] : kind;
  const taken = typeof kind === "string" ? { kind } : { kind: "choice" as const };
  const chosen = typeof choices === "string" ? {} : { choices };
  const usage = { isRequired: false, isWord: false, isList: false, ...more };
  return { ...usage, ...taken, ...chosen, shows, help: textsOf(help) };
}

function one<Absent extends undefined = never>(usage: Usage) {
  return <const Given extends Kind>(
    kind: Given,
    shows: string,
    help: Help,
  ): Field<ValueOfKind<Given> | Absent> => field(kind, shows, help, usage);
}

function several<Absent extends undefined = never>(usage: Usage) {
  return (kind: FieldKind, shows: string, help: Help): Field<readonly string[] | Absent> =>
    field(kind, shows, help, { isList: true, ...usage });
}

export const option = one<undefined>({});
export const required = one({ isRequired: true });
/** Makes a field for a required value at a fixed position of the command line. */
export const word = one({ isRequired: true, isWord: true });
export const lastWord = one<undefined>({ isWord: true });
/** Makes a field for any number of values. Each value follows the field's name. */
export const list = several<undefined>({});
/** Makes a field for one or more values, from a position of the command line to its end. */
export const words = several({ isRequired: true, isWord: true });
export const lastWords = several({ isWord: true });

export function preset<const Given extends Kind>(
  kind: Given,
  shows: string,
  value: ValueOfKind<Given> & string,
  help: Help,
): Field<ValueOfKind<Given>> {
  return field(kind, shows, help, { preset: value });
}

export function flag(help: Help): Field<true | undefined> {
  return field("flag", "", help);
}

export function toggle(names: NonNullable<Field["names"]>, help: Help): Field<boolean | undefined> {
  return field("toggle", "on|off", help, { names });
}

export function onlyOnCommandLine<Value>(one: Field<Value>): Field<Value> {
  return { ...one, isOnlyOnCommandLine: true };
}

export function namesOf(name: string, { names }: Field): NonNullable<Field["names"]> {
  if (names?.yes !== undefined || names?.no !== undefined) return names;
  return { yes: written(name), no: `no-${written(name)}` };
}

export function written(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
