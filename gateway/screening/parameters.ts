/**
 * The kinds of parameter of a screening rule. Like a request's field, each has a type for the
 * documents and reads its value from text, as an operator types it.
 */
import { findAlpha2, findCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { hours, minutes, seconds } from "../values/time.ts";

export type Parameter<Value> = {
  readonly type: string;
  readonly necessity: "mandatory" | "optional";
  readonly documentation: string;
  /** Nothing when the text is not of the type. */
  readonly read: (text: string) => Value | undefined;
};

export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

export type ParameterValues<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: Table[Name] extends OptionalParameter<infer Value>
    ? Value | undefined
    : Table[Name] extends Parameter<infer Value>
      ? Value
      : never;
};

type OptionalParameter<Value> = Parameter<Value> & { readonly necessity: "optional" };

export function optional<Value>(parameter: Parameter<Value>): OptionalParameter<Value> {
  return { ...parameter, necessity: "optional" };
}

export function choice<const Word extends string>(
  words: readonly Word[],
  documentation: string,
): Parameter<Word> {
  const read = (text: string) => words.find((word) => word === text);
  return mandatory(words.join("|"), documentation, read);
}

export function whole(min: number, max: number, documentation: string): Parameter<number> {
  return mandatory(`${min} to ${max}`, documentation, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

const units = { s: seconds(1), m: minutes(1), h: hours(1), d: hours(24) } as const;
const durationMaxMs = hours(24) * 400;

/** In milliseconds. */
export function duration(documentation: string, maxMs = durationMaxMs): Parameter<number> {
  const longest = `${maxMs / units.d}d`;
  return mandatory(`like 90s, 10m, 1h, 7d; up to ${longest}`, documentation, (text) => {
    const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    const value = Number(count) * (units[unit as keyof typeof units] ?? 0);
    return value > 0 && value <= maxMs ? value : undefined;
  });
}

/** The decimal as typed: its value depends on the currency. */
export function amount(documentation: string): Parameter<string> {
  const read = (text: string) => (/^\d{1,12}(\.\d{1,4})?$/.test(text) ? text : undefined);
  return mandatory("amount in the highest unit", documentation, read);
}

export function currency(documentation: string) {
  return mandatory("currency code", documentation, findCurrency);
}

/** Alpha-2, separated by commas. */
export function countries(documentation: string): Parameter<ReadonlySet<string>> {
  return mandatory("country codes like DE,AT", documentation, (text) => {
    const codes = text.split(",").map((code) => findAlpha2(code.trim().toUpperCase()));
    return codes.every((code) => code !== undefined) ? new Set(codes) : undefined;
  });
}

function mandatory<Value>(
  type: string,
  documentation: string,
  read: (text: string) => Value | undefined,
): Parameter<Value> {
  return { type, necessity: "mandatory", documentation, read };
}

export function readParameters<Table extends ParameterTable>(
  table: Table,
  texts: Readonly<Record<string, string>>,
): ParameterValues<Table> | Problem {
  const unknown = Object.keys(texts).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) return new Problem(`${unknown} is no parameter of this rule.`);
  const values: Record<string, unknown> = {};
  for (const [name, { type, necessity, read }] of Object.entries(table)) {
    const text = texts[name];
    if (text === undefined && necessity === "mandatory") return new Problem(`${name} is missing.`);
    if (text === undefined) continue;
    values[name] = read(text);
    if (values[name] === undefined) return new Problem(`${name} is ${type}, not ${text}.`);
  }
  // Every value was read by its own parameter.
  return values as ParameterValues<Table>;
}
