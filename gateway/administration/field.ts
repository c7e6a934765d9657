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

/** A file's content, or a secret, that the user has given as a value. */
export type Content = {
  /** The name of the file as the user has typed it; `-` is standard input. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
};

export type Field<Value = unknown> = {
  readonly kind: FieldKind;
  /** The placeholder for the value in the usage text of the command, like `login`. */
  readonly shows: string;
  readonly help: Texts;
  readonly isRequired: boolean;
  /** If true, the command line takes the value by its position, without the field's name. */
  readonly isWord: boolean;
  /** If true, the field takes several values. */
  readonly isList: boolean;
  /** The permitted values. */
  readonly choices?: readonly string[] | undefined;
  /**
   * Returns the permitted values that a form offers to a user of this role. Without this function,
   * the form offers all of them.
   */
  readonly offered?: (by: Role) => readonly string[];
  readonly preset?: string | undefined;
  /** The value that the field gets if the command line has the field's name without a value. */
  readonly alone?: string | undefined;
  /**
   * How the value is written on the command line, for a field that has its own input element in
   * forms.
   */
  readonly format?: string | undefined;
  /** The names of a yes-or-no field on the command line, if they are not `field` and `no-field`. */
  readonly names?: { readonly yes?: string; readonly no?: string };
  /** A single letter that users may type instead of the field's name on the command line. */
  readonly letter?: string;
  /**
   * If true, the portal does not have the field, because it names files of the machine or controls
   * how output is printed.
   */
  readonly isOnlyOnCommandLine?: boolean;
  /** A right that the user needs in addition to the right of the action, if the field is given. */
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

/** The type of the values that the function of an action takes. */
export type Given<Taken extends Fields> = {
  readonly [Name in Needed<Taken>]: ValueOf<Taken[Name]>;
} & { readonly [Name in Exclude<keyof Taken, Needed<Taken>>]?: ValueOf<Taken[Name]> };

/** A help text in English, and in German where the portal has a form. */
export type Help = readonly [en: string, de?: string];

export function textsOf([en, de = ""]: Help = [""]): Texts {
  return { en, de };
}

/** The kind of a field's value, or the list of its permitted values. */
type Kind = FieldKind | readonly string[];
/** The type of the value of a field of this kind. */
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

/** Returns a function that makes fields. Each of these fields takes one value. */
function one<Absent extends undefined = never>(usage: Usage) {
  return <const Given extends Kind>(
    kind: Given,
    shows: string,
    help: Help,
  ): Field<ValueOfKind<Given> | Absent> => field(kind, shows, help, usage);
}

/** Returns a function that makes fields. Each of these fields takes several values. */
function several<Absent extends undefined = never>(usage: Usage) {
  return (kind: FieldKind, shows: string, help: Help): Field<readonly string[] | Absent> =>
    field(kind, shows, help, { isList: true, ...usage });
}

/** Makes a field for an optional value, which follows the field's name. */
export const option = one<undefined>({});
/** Makes a field for a required value, which follows the field's name. */
export const required = one({ isRequired: true });
/** Makes a field for a required value at a fixed position of the command line. */
export const word = one({ isRequired: true, isWord: true });
/** Makes a field for an optional value at a fixed position of the command line. */
export const lastWord = one<undefined>({ isWord: true });
/** Makes a field for any number of values. Each value follows the field's name. */
export const list = several<undefined>({});
/** Makes a field for one or more values, from a position of the command line to its end. */
export const words = several({ isRequired: true, isWord: true });
/**
 * Makes a field for any number of values or none, from a position of the command line to its end.
 */
export const lastWords = several({ isWord: true });

/** Makes a field for a value after the field's name. The value has a default. */
export function preset<const Given extends Kind>(
  kind: Given,
  shows: string,
  value: ValueOfKind<Given> & string,
  help: Help,
): Field<ValueOfKind<Given>> {
  return field(kind, shows, help, { preset: value });
}

/** Makes a field without a value. It is either given or not. */
export function flag(help: Help): Field<true | undefined> {
  return field("flag", "", help);
}

/** Makes a field for yes or no. The command line has one name for yes and one for no. */
export function toggle(names: NonNullable<Field["names"]>, help: Help): Field<boolean | undefined> {
  return field("toggle", "on|off", help, { names });
}

export function onlyOnCommandLine<Value>(one: Field<Value>): Field<Value> {
  return { ...one, isOnlyOnCommandLine: true };
}

/**
 * Returns the names of a yes-or-no field on the command line: `sandbox` and `no-sandbox`, unless
 * the field has names of its own.
 */
export function namesOf(name: string, { names }: Field): NonNullable<Field["names"]> {
  if (names?.yes !== undefined || names?.no !== undefined) return names;
  return { yes: written(name), no: `no-${written(name)}` };
}

/** Returns a field's name as users write it: `return-url` for `returnUrl`. */
export function written(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
