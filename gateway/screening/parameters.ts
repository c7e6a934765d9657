/**
 * The kinds of parameters of screening rules. Each kind names its type for the documentation, and
 * reads a value from an operator's text.
 */
import { findAlpha2, findCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { hours, minutes, seconds } from "../values/time.ts";

export type Documentation = { readonly en: string; readonly de: string };

type ParameterKind = "choice" | "whole" | "duration" | "amount" | "currency" | "countries";

export type Parameter<Value> = {
  readonly kind: ParameterKind;
  readonly type: Documentation;
  readonly necessity: "mandatory" | "optional";
  readonly documentation: Documentation;
  readonly choices?: readonly string[];
  /** Returns undefined if the text is not a value of this type. */
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
  en: string,
  de: string,
): Parameter<Word> {
  const read = (text: string) => words.find((word) => word === text);
  const list = words.join("|");
  const type = { en: list, de: list };
  return mandatory({ kind: "choice", type, documentation: { en, de }, choices: words, read });
}

export function whole(min: number, max: number, en: string, de: string): Parameter<number> {
  const type = { en: `${min} to ${max}`, de: `${min} bis ${max}` };
  return mandatory({
    kind: "whole",
    type,
    documentation: { en, de },
    read(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  });
}

const units = { s: seconds(1), m: minutes(1), h: hours(1), d: hours(24) } as const;
const durationMaxMs = hours(24) * 400;

/** The value is a number of milliseconds. */
export function duration(en: string, de: string, maxMs = durationMaxMs): Parameter<number> {
  const longest = `${maxMs / units.d}d`;
  const type = {
    en: `like 90s, 10m, 1h, 7d; up to ${longest}`,
    de: `wie 90s, 10m, 1h, 7d; bis ${longest}`,
  };
  return mandatory({
    kind: "duration",
    type,
    documentation: { en, de },
    read(text) {
      const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
      const value = Number(count) * (units[unit as keyof typeof units] ?? 0);
      return value > 0 && value <= maxMs ? value : undefined;
    },
  });
}

/** The value is the decimal as typed, because its minor units depend on the currency. */
export function amount(en: string, de: string): Parameter<string> {
  const type = { en: "amount in the highest unit", de: "Betrag wie 12.50" };
  const read = (text: string) => (/^\d{1,12}(\.\d{1,4})?$/.test(text) ? text : undefined);
  return mandatory({ kind: "amount", type, documentation: { en, de }, read });
}

export function currency(en: string, de: string) {
  const type = { en: "currency code", de: "Währungscode" };
  return mandatory({ kind: "currency", type, documentation: { en, de }, read: findCurrency });
}

export function countries(en: string, de: string): Parameter<ReadonlySet<string>> {
  const type = { en: "country codes like DE,AT", de: "Ländercodes wie DE,AT" };
  return mandatory({
    kind: "countries",
    type,
    documentation: { en, de },
    read(text) {
      const codes = text.split(",").map((code) => findAlpha2(code.trim().toUpperCase()));
      return codes.every((code) => code !== undefined) ? new Set(codes) : undefined;
    },
  });
}

function mandatory<Value>(parameter: Omit<Parameter<Value>, "necessity">): Parameter<Value> {
  return { ...parameter, necessity: "mandatory" };
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
    if (values[name] === undefined) return new Problem(`${name} is ${type.en}, not ${text}.`);
  }
  // Each value was read by the parameter of its name, so it has that parameter's type.
  return values as ParameterValues<Table>;
}
