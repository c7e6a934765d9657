/** Reads values that several actions take as users write them, and prints them in the same form. */
import type { KeyObject } from "node:crypto";
import { CsvFaults } from "../values/csv-records.ts";
import { Problem } from "../values/problem.ts";
import { hours, type Instant, later, parseDate } from "../values/time.ts";
import { type Field, option } from "./field.ts";

export function printSwitch(isOn: boolean): string {
  return isOn ? "on" : "off";
}

export const ends: Field<string | undefined> = {
  ...option("moment", "moment", ["when it ends", "wann er endet"]),
  format: "a moment like 2030-01-31T09:30:00Z, or a time like 12h or 30d from now",
};

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

/** The names of gates and directory servers stand in addresses and in lists with colons. */
export function findNameFault(name: string): Problem | undefined {
  if (/^[A-Za-z0-9._-]{1,40}$/.test(name)) return undefined;
  return new Problem("A name is 1 to 40 letters, digits, dots, dashes or underscores.");
}

/** Returns an error handler: a file's faults become one problem, other errors are thrown again. */
export function refuseFaults(consequence: string) {
  return (error: unknown): Problem => {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, consequence].join("\n"));
  };
}

export function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}
