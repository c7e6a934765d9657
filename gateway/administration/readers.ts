/**
 * Reads the values of fields as users write them, and prints them as one would write them. `none`
 * removes a setting that is optional.
 */
import type { KeyObject } from "node:crypto";
import { CsvFaults } from "../values/csv-records.ts";
import { type Currency, findCurrency, getCurrency } from "../values/iso-codes.ts";
import { type Fee, formatAmount, Money, parseAmount, parseFee } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { hours, type Instant, later, parseDate } from "../values/time.ts";
import { type Field, option } from "./field.ts";

/** Reads a field's value; nothing removes the setting. */
export type Read<Value> = (text: string, name: string) => Value | undefined | Problem;

/** The word that removes a setting is none of its values. */
export function readText(form: RegExp, description: string): Read<string> {
  return (text, option) =>
    form.test(text) && text !== "none" ? text : new Problem(`${option} is ${description}.`);
}

export function orNone<Value>(read: Read<Value>): Read<Value> {
  return (text, option) => (text === "none" ? undefined : read(text, option));
}

/** Of an option without a value, with its opposite: `--sandbox` and `--no-sandbox`. */
export function readFlag(text: string): boolean {
  return text === "true";
}

export function readFee(text: string): Fee | Problem {
  return (
    parseFee(text) ??
    new Problem(`${text} is no fee: write it like 2.5%, 30 or 2.5%+30 (30 minor units).`)
  );
}

export function printFee({ percent, fixed }: Fee): string {
  const share = percent === undefined ? undefined : `${percent}%`;
  return [share, fixed].filter((part) => part !== undefined).join("+");
}

/** Reads an amount like 12.34. Settings keep it in minor units. */
export function readAmountIn(currency: Currency | undefined): Read<string> {
  return (text) => {
    const money = currency && parseAmount(text, currency);
    return money === undefined
      ? new Problem(`${text} is no amount in ${currency?.code}.`)
      : String(money.minor);
  };
}

export function readCurrencies(text: string): readonly string[] | undefined | Problem {
  if (text === "all") return undefined;
  const codes = text.split(",").map((code) => code.trim());
  const unknown = codes.find((code) => findCurrency(code) === undefined);
  if (unknown === undefined) return [...new Set(codes)];
  return new Problem(`${unknown} is no currency: write codes like USD,EUR, or all.`);
}

export function readFrom(min: number): Read<number> {
  return (text, option) =>
    /^\d{1,6}$/.test(text) && Number(text) >= min
      ? Number(text)
      : new Problem(`${option} is a number from ${min}.`);
}

export function readSwitch(text: string, option: string): boolean | Problem {
  if (text === "on" || text === "off") return text === "on";
  return new Problem(`${option} is on or off, not ${text}.`);
}

/** As one would type it. */
export function printSwitch(isOn: boolean): string {
  return isOn ? "on" : "off";
}

export function readOneOf<const Word extends string>(words: readonly Word[]) {
  return (text: string, option: string): Word | Problem => {
    const found = words.find((word) => word === text);
    return found ?? new Problem(`${option} is one of ${words.join(", ")}, not ${text}.`);
  };
}

export const ends: Field<string | undefined> = {
  ...option("moment", "moment", ["when it ends", "wann er endet"]),
  format: "a moment like 2030-01-31T09:30:00Z, or a time like 12h or 30d from now",
};

/** A moment of a filter. */
export function readInstant(text: string | undefined): Instant | undefined | Problem {
  if (text === undefined) return undefined;
  const sentence = `${text} is no moment: write it like 2030-01-31 or 2030-01-31T09:30:00Z.`;
  return parseDate(text) ?? new Problem(sentence);
}

const units = { h: hours(1), d: hours(24) } as const;

export function readMoment(text: string, now: Instant): Instant | Problem {
  const [, count = "", unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  const at = unit === undefined ? parseDate(text) : later(now, Number(count) * units[unit as "h"]);
  if (at === undefined) {
    return new Problem(`${text} is neither a moment like 2030-01-31T09:30:00Z nor 12h or 30d.`);
  }
  return at > now ? at : new Problem(`${text} is over already.`);
}

export function printLimit(minor: string | undefined, currency: string): string {
  return minor === undefined
    ? "none"
    : formatAmount(new Money(BigInt(minor), getCurrency(currency)));
}

type Limits = { readonly amountMin?: string; readonly amountMax?: string };

export function checkLimits<Settings extends Limits>(settings: Settings): Settings | Problem {
  const { amountMin, amountMax } = settings;
  if (amountMin === undefined || amountMax === undefined) return settings;
  if (BigInt(amountMin) <= BigInt(amountMax)) return settings;
  return new Problem("The smallest amount may not be larger than the largest.");
}

/** Of a gate or a directory server. Names are part of addresses, and of lists with colons. */
export function findNameFault(name: string): Problem | undefined {
  if (/^[A-Za-z0-9._-]{1,40}$/.test(name)) return undefined;
  return new Problem("A name is 1 to 40 letters, digits, dots, dashes or underscores.");
}

/** For what reads a file: its faults are refused together, and others are thrown on. */
export function refuseFaults(consequence: string) {
  return (error: unknown): Problem => {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, consequence].join("\n"));
  };
}

/** A public key as it is stored. */
export function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}
