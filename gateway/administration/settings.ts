/**
 * Settings of merchants, endpoints, gates and directory servers. For each setting, a table has the
 * field in which users give it, the key under which it is stored, and how its value is read and
 * printed.
 */
import { resolve } from "node:path";
import type { Currency } from "../values/iso-codes.ts";
import { type Fee, formatAmount, Money, parseAmount, parseFee } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Field, type Help, textsOf, written } from "./field.ts";
import { printSwitch } from "./readers.ts";

type FileValue = string | number | boolean | readonly string[];
export type FileEntry = Readonly<Record<string, FileValue>>;
/** The values that a user has given, by field names. Not all of them belong to settings. */
export type GivenSettings = Readonly<Record<string, unknown>>;

/** Returns undefined to remove the setting. */
type Read<Value> = (text: string, name: string) => Value | undefined | Problem;

export type Form<Value> = Pick<Field, "kind" | "shows" | "choices" | "names"> & {
  readonly read: Read<Value>;
  print?(value: Value): FileValue;
  readonly isRequired?: boolean;
};

export type SettingRow<Settings> = {
  /** The name of the field: users write `cardKeepDays` as `card-keep-days`. */
  readonly name: string;
  readonly key: keyof Settings;
  readonly form: Form<Settings[keyof Settings]>;
  readonly field: Field<string | boolean | undefined>;
  /** Returns whether the setting is required, which may depend on other settings. */
  readonly isRequired: (settings: Partial<Settings>) => boolean;
};

export function setting<Settings, Key extends keyof Settings>(
  name: string,
  key: Key,
  form: Form<NonNullable<Settings[Key]>>,
  help: Help,
  isRequired: SettingRow<Settings>["isRequired"] = () => form.isRequired === true,
): SettingRow<Settings> {
  const { kind, shows, choices, names } = form;
  const usage = { kind, shows, choices, ...(names && { names }), help: textsOf(help) };
  const field = { ...usage, isRequired: false, isWord: false, isList: false };
  return { name, key, form, field, isRequired };
}

export function form<Value>(
  kind: Field["kind"],
  shows: string,
  read: Read<Value>,
  print?: (value: Value) => FileValue,
): Form<Value> {
  return { kind, shows, read, ...(print && { print }) };
}

export function required<Value>(inner: Form<Value>): Form<Value> {
  return { ...inner, isRequired: true };
}

/** Lets the word `none` remove the setting. */
export function optional<Value>(inner: Form<Value>): Form<Value> {
  const { choices, read } = inner;
  return {
    ...inner,
    read: (given, name) => (given === "none" ? undefined : read(given, name)),
    choices: choices && [...choices, "none"],
  };
}

/** A text that matches a pattern. `none` is refused, because it removes optional settings. */
export function text(shows: string, pattern: RegExp, description: string): Form<string> {
  return form("text", shows, (given, name) => {
    const isGood = pattern.test(given) && given !== "none";
    return isGood ? given : new Problem(`${name} is ${description}.`);
  });
}

export function oneOf<const Word extends string>(
  shows: string,
  choices: readonly Word[],
): Form<Word> {
  const read: Read<Word> = (given, name) => {
    const stray = new Problem(`${name} is one of ${choices.join(", ")}, not ${given}.`);
    return choices.find((each) => each === given) ?? stray;
  };
  return { ...form("choice", shows, read), choices };
}

export function whole(shows: string, min: number, max = 999_999): Form<number> {
  return form("whole", shows, (given, name) => {
    const isGood = /^[1-9]\d{0,6}$/.test(given) && Number(given) >= min && Number(given) <= max;
    return isGood ? Number(given) : new Problem(`${name} is a number from ${min} to ${max}.`);
  });
}

export const onOff: Form<boolean> = {
  ...form("switch", "on|off", readSwitch, printSwitch),
  choices: ["on", "off"],
};

function readSwitch(given: string, name: string): boolean | Problem {
  if (given === "on" || given === "off") return given === "on";
  return new Problem(`${name} is on or off, not ${given}.`);
}

export function yesOrNo(names: Field["names"] = {}): Form<boolean> {
  return { ...form("toggle", "on|off", (given) => given === "true"), names };
}

/** Yes stores true, and no removes the setting. */
export const onlyYes: Form<true> = { ...yesOrNo(), read: (given) => given === "true" || undefined };

/** A relative path is made absolute, because a node may be started in another folder. */
export const path: Form<string> = form("path", "file", (given) => resolve(given));

export const fee: Form<Fee> = form(
  "fee",
  "fee",
  (given) =>
    parseFee(given) ??
    new Problem(`${given} is no fee: write it like 2.5%, 30 or 2.5%+30 (30 minor units).`),
  ({ percent, fixed }) =>
    [percent && `${percent}%`, fixed].filter((part) => part !== undefined).join("+"),
);

/** An amount is written like 12.34 and stored in minor units. */
export function amountIn(currency: Currency | undefined): Form<string> {
  const read: Read<string> = (given) => {
    const money = currency && parseAmount(given, currency);
    const unread = new Problem(`${given} is no amount in ${currency?.code}.`);
    return money === undefined ? unread : String(money.minor);
  };
  const print = (minor: string) =>
    currency ? formatAmount(new Money(BigInt(minor), currency)) : minor;
  return form("amount", "amount", read, print);
}

type Limits = { readonly amountMin?: string; readonly amountMax?: string };

export function checkLimits<Settings extends Limits>(settings: Settings): Settings | Problem {
  const { amountMin, amountMax } = settings;
  if (amountMin === undefined || amountMax === undefined) return settings;
  if (BigInt(amountMin) <= BigInt(amountMax)) return settings;
  return new Problem("The smallest amount may not be larger than the largest.");
}

/** Actions pass all values on without reading them, so this type names none of the fields. */
export function fieldsOf<Settings>(
  table: readonly SettingRow<Settings>[],
): Readonly<Record<never, Field>> {
  return Object.fromEntries(table.map(({ name, field }) => [name, field]));
}

export function givenOf<Settings>(table: readonly SettingRow<Settings>[], given: GivenSettings) {
  const names = table.map(({ name }) => name).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

export function findNothing<Settings>(
  table: readonly SettingRow<Settings>[],
  given: GivenSettings,
) {
  if (Object.keys(givenOf(table, given)).length > 0) return undefined;
  return new Problem("Nothing to change: give at least one setting.");
}

/** Reads the given settings and keeps the others. Refuses if required settings are missing. */
export function readSettings<Settings extends object>(
  table: readonly SettingRow<Settings>[],
  given: GivenSettings,
  known: Partial<Settings>,
  what = "It",
): Settings | Problem {
  const settings = { ...known };
  for (const {
    name,
    key,
    form: { read },
  } of table) {
    if (given[name] === undefined) continue;
    const value = read(String(given[name]), written(name));
    if (value instanceof Problem) return value.about(name);
    if (value === undefined) delete settings[key];
    else settings[key] = value;
  }
  const missing = table.filter(
    ({ key, isRequired }) => settings[key] === undefined && isRequired(settings),
  );
  const [first] = missing;
  // All required settings are present, so the object is complete and the cast is safe.
  if (first === undefined) return settings as Settings;
  const names = missing.map(({ name }) => written(name)).join(", ");
  return new Problem(`${what} also needs ${names}.`).about(first.name);
}

export type PrintedSetting = Pick<SettingRow<object>, "name"> & {
  readonly key: PropertyKey;
  readonly form: { print?(value: unknown): FileValue };
};

export function printSettings(table: readonly PrintedSetting[], settings: object): FileEntry {
  const known: Readonly<Record<PropertyKey, unknown>> = { ...settings };
  const pairs = table.flatMap(({ name, key, form: { print = printPlain } }) => {
    const value = known[key];
    return value === undefined ? [] : [[written(name), print(value)] as const];
  });
  return Object.fromEntries(pairs);
}

/** A setting without a value is printed with its default, or omitted if it has no default. */
export function showSettings(
  table: readonly PrintedSetting[],
  settings: object,
  usual: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const printed = printSettings(table, settings);
  const pairs = table.flatMap(({ name }) => {
    const value = printed[written(name)] ?? usual[written(name)];
    return value === undefined ? [] : [[written(name), showValue(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function showValue(value: FileValue): string {
  if (typeof value === "boolean") return printSwitch(value);
  if (typeof value === "object") return value.join(", ");
  return String(value).replace(/^(data:[a-z/+]+);.*$/s, "$1");
}

function printPlain(value: unknown): FileValue {
  if (Array.isArray(value)) return value.length === 0 ? "all" : value.map(String);
  return typeof value === "number" || typeof value === "boolean" ? value : String(value);
}

/** Reads settings in a file for `gw apply`. A name that no setting has is a problem. */
export function readEntry<Settings>(
  table: readonly SettingRow<Settings>[],
  entry: object,
  what: string,
): GivenSettings | Problem {
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(entry)) {
    const row = table.find(({ name }) => written(name) === key);
    if (row === undefined) return new Problem(`${what} has no setting ${key}.`);
    given[row.name] = textOf(value, row.field);
  }
  return given;
}

function textOf(value: unknown, { kind }: Field): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "boolean" && kind !== "toggle" ? printSwitch(value) : String(value);
}

export function schemaOf<Settings>(table: readonly SettingRow<Settings>[]): object {
  const pairs = table.map(({ name, field: { kind, help } }) => {
    const type = schemaTypes[kind] ?? { type: ["string", "number", "array", "null"] };
    return [written(name), { description: help.en, ...type }] as const;
  });
  return Object.fromEntries(pairs);
}

const schemaTypes: Readonly<Partial<Record<Field["kind"], object>>> = {
  switch: { enum: ["on", "off", true, false] },
  toggle: { type: "boolean" },
};
