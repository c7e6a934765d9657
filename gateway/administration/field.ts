/**
 * The fields of actions. A value is written as text in every face: on the command line behind the
 * field's name, in the portal's form, and in an apply file.
 */
import type { Role } from "../values/roles.ts";

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];
export type Texts = Readonly<Record<Language, string>>;

export function texts(en: string, de: string): Texts {
  return { en, de };
}

/**
 * What a field holds, from which a face makes its control. A form offers what exists for
 * `merchant`, `endpoint`, `gate` and `currency`; `gate-place` is a gate with its rank and weight,
 * as `name:rank:weight`. `path` names a file that every node has. `picture` and `file` are sent by
 * a browser and named on the command line; `secret` comes from standard input there.
 */
export type FieldKind =
  | ("text" | "amount" | "fee" | "whole" | "day" | "moment" | "duration" | "colour" | "url")
  | ("switch" | "choice" | "flag" | "toggle")
  | ("merchant" | "endpoint" | "gate" | "gate-place" | "currency" | "user")
  | ("path" | "picture" | "file" | "secret");

/** A file or a secret that the user has given. */
export type Content = {
  /** As the user has named it; `-` is standard input. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
};

export type Field<Value = unknown> = {
  readonly kind: FieldKind;
  /** What stands for the value in the command's usage. */
  readonly shows: string;
  readonly help: Texts;
  readonly isRequired: boolean;
  /** On the command line it has a place, and no name before it. */
  readonly isWord: boolean;
  /** Takes several values. */
  readonly isList: boolean;
  /** Permitted values. */
  readonly choices?: readonly string[] | undefined;
  /** Those that a form offers to a user of this role, where they are not all. */
  readonly offered?: (by: Role) => readonly string[];
  readonly preset?: string | undefined;
  /** On the command line, the value that the field's name alone stands for. */
  readonly alone?: string | undefined;
  /** How it is written on the command line, where a form has a control. */
  readonly format?: string | undefined;
  /** The command line's names for yes and no, if they are not the field's own name. */
  readonly names?: { readonly yes?: string; readonly no?: string };
  /** On the command line, a letter that may stand in place of the name. */
  readonly letter?: string;
  /** Only the command line has it: it names files of the machine, or says how output looks. */
  readonly isOnlyOnCommandLine?: boolean;
  /** A further right that the action needs when the field is given. */
  readonly right?: "reveal_secrets";
  /** Carries the type of the value; never set. */
  readonly value?: Value;
};

/** By the name that functions use: `returnUrl` is `return-url` in every face. */
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<Each> = Each extends Field<infer Value> ? Value : never;
type Needed<Taken extends Fields> = {
  [Name in keyof Taken]: undefined extends ValueOf<Taken[Name]> ? never : Name;
}[keyof Taken];

/** What an action's function takes. */
export type Given<Taken extends Fields> = {
  readonly [Name in Needed<Taken>]: ValueOf<Taken[Name]>;
} & { readonly [Name in Exclude<keyof Taken, Needed<Taken>>]?: ValueOf<Taken[Name]> };

/** In English, and in German where the portal has a form. */
export type Help = readonly [en: string, de?: string];

export function textsOf([en, de = ""]: Help = [""]): Texts {
  return { en, de };
}

/** In the place of a kind, the values that are permitted. */
type Kind = FieldKind | readonly string[];
/** What a value of that kind may be. */
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

/** Makes fields for one value. */
function one<Absent extends undefined = never>(usage: Usage) {
  return <const Given extends Kind>(
    kind: Given,
    shows: string,
    help: Help,
  ): Field<ValueOfKind<Given> | Absent> => field(kind, shows, help, usage);
}

/** Makes fields for several values. */
function several<Absent extends undefined = never>(usage: Usage) {
  return (kind: FieldKind, shows: string, help: Help): Field<readonly string[] | Absent> =>
    field(kind, shows, help, { isList: true, ...usage });
}

/** An optional value behind its name. */
export const option = one<undefined>({});
/** A value behind its name that must be given. */
export const required = one({ isRequired: true });
/** A value at its place that must be given. */
export const word = one({ isRequired: true, isWord: true });
/** A value at its place that may be left out. */
export const lastWord = one<undefined>({ isWord: true });
/** Several values, each behind the name. */
export const list = several<undefined>({});
/** All values from a place on: one at least. */
export const words = several({ isRequired: true, isWord: true });
/** All values from a place on, or none. */
export const lastWords = several({ isWord: true });

/** A value behind its name that is this one unless another is given. */
export function preset<const Given extends Kind>(
  kind: Given,
  shows: string,
  value: ValueOfKind<Given> & string,
  help: Help,
): Field<ValueOfKind<Given>> {
  return field(kind, shows, help, { preset: value });
}

/** Given or not. */
export function flag(help: Help): Field<true | undefined> {
  return field("flag", "", help);
}

/** Yes or no, by two names on the command line. */
export function toggle(names: NonNullable<Field["names"]>, help: Help): Field<boolean | undefined> {
  return field("toggle", "on|off", help, { names });
}

export function onlyOnCommandLine<Value>(one: Field<Value>): Field<Value> {
  return { ...one, isOnlyOnCommandLine: true };
}

/** The names of a toggle on the command line: `sandbox` and `no-sandbox` unless it has others. */
export function namesOf(name: string, { names }: Field): NonNullable<Field["names"]> {
  if (names?.yes !== undefined || names?.no !== undefined) return names;
  return { yes: written(name), no: `no-${written(name)}` };
}

/** `returnUrl` is written `return-url`. */
export function written(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
