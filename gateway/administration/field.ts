/**
 * The fields of actions. Users write a value as the same text everywhere: on the command line after
 * the field's name, in the portal's form, and in a file for `gw apply`.
 */
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

/** The content of a file or a secret that the user has given. */
export type Content = {
  /** The name as the user has written it; `-` is standard input. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
};

export type Field<Value = unknown> = {
  readonly kind: FieldKind;
  /** The placeholder for the value in the command's usage. */
  readonly shows: string;
  readonly help: Texts;
  readonly isRequired: boolean;
  /** If true, the command line takes the value by its position, without the field's name. */
  readonly isWord: boolean;
  /** If true, the field takes several values. */
  readonly isList: boolean;
  /** The permitted values. */
  readonly choices?: readonly string[] | undefined;
  /** Returns the values that a form offers to a user of this role, if it does not offer all. */
  readonly offered?: (by: Role) => readonly string[];
  readonly preset?: string | undefined;
  /** The value that the field's name without a value stands for on the command line. */
  readonly alone?: string | undefined;
  /** How the value is written on the command line, if the form has an input element of its own. */
  readonly format?: string | undefined;
  /** The names for yes and no on the command line, if they differ from the field's own name. */
  readonly names?: { readonly yes?: string; readonly no?: string };
  /** A letter that may replace the name on the command line. */
  readonly letter?: string;
  /**
   * If true, the portal does not have the field, because it names files of the machine or controls
   * how output is printed.
   */
  readonly isOnlyOnCommandLine?: boolean;
  /** A further right that the action needs when the field is given. */
  readonly right?: "reveal_secrets";
  /** Carries the type of the value at compile time and is never set. */
  readonly value?: Value;
};

/** Fields by their names in code: users write `returnUrl` as `return-url`. */
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<Each> = Each extends Field<infer Value> ? Value : never;
type Needed<Taken extends Fields> = {
  [Name in keyof Taken]: undefined extends ValueOf<Taken[Name]> ? never : Name;
}[keyof Taken];

/** The values that an action's function takes. */
export type Given<Taken extends Fields> = {
  readonly [Name in Needed<Taken>]: ValueOf<Taken[Name]>;
} & { readonly [Name in Exclude<keyof Taken, Needed<Taken>>]?: ValueOf<Taken[Name]> };

/** A help text in English, and in German where the portal has a form. */
export type Help = readonly [en: string, de?: string];

export function textsOf([en, de = ""]: Help = [""]): Texts {
  return { en, de };
}

/** The kind of a value, or the list of permitted values. */
type Kind = FieldKind | readonly string[];
/** The values that a field of the kind can have. */
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

/** Returns a function that makes fields of an action. Each field takes one value. */
function one<Absent extends undefined = never>(usage: Usage) {
  return <const Given extends Kind>(
    kind: Given,
    shows: string,
    help: Help,
  ): Field<ValueOfKind<Given> | Absent> => field(kind, shows, help, usage);
}

/** Returns a function that makes fields of an action. Each field takes several values. */
function several<Absent extends undefined = never>(usage: Usage) {
  return (kind: FieldKind, shows: string, help: Help): Field<readonly string[] | Absent> =>
    field(kind, shows, help, { isList: true, ...usage });
}

/** An optional value after its name. */
export const option = one<undefined>({});
/** A required value after its name. */
export const required = one({ isRequired: true });
/** A required value at a fixed position. */
export const word = one({ isRequired: true, isWord: true });
/** An optional value at a fixed position. */
export const lastWord = one<undefined>({ isWord: true });
/** Any number of values, each after the field's name. */
export const list = several<undefined>({});
/** One or more values from a position to the end. */
export const words = several({ isRequired: true, isWord: true });
/** Any number of values from a position to the end, or none. */
export const lastWords = several({ isWord: true });

/** Makes a field for a value after its name, with this default value. */
export function preset<const Given extends Kind>(
  kind: Given,
  shows: string,
  value: ValueOfKind<Given> & string,
  help: Help,
): Field<ValueOfKind<Given>> {
  return field(kind, shows, help, { preset: value });
}

/** Makes a field that is either given or not, without a value. */
export function flag(help: Help): Field<true | undefined> {
  return field("flag", "", help);
}

/** Makes a field for yes or no, which the command line gives by two names. */
export function toggle(names: NonNullable<Field["names"]>, help: Help): Field<boolean | undefined> {
  return field("toggle", "on|off", help, { names });
}

export function onlyOnCommandLine<Value>(one: Field<Value>): Field<Value> {
  return { ...one, isOnlyOnCommandLine: true };
}

/**
 * Returns the names of a toggle on the command line: `sandbox` and `no-sandbox`, unless the field
 * has others.
 */
export function namesOf(name: string, { names }: Field): NonNullable<Field["names"]> {
  if (names?.yes !== undefined || names?.no !== undefined) return names;
  return { yes: written(name), no: `no-${written(name)}` };
}

/** Returns a field's name as users write it: `return-url` for `returnUrl`. */
export function written(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
