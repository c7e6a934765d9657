/**
 * What the values of options mean, and what they change of settings that are known. A setting that
 * may be absent is taken away with `none`.
 */
import type { Gate } from "../acquirers/gates.ts";
import type { GatePlace } from "../storage/administration.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { type Fee, parseFee } from "../values/money.ts";
import { Problem } from "../values/problem.ts";

/** The random digits that share out the orders could not tell much finer weights apart. */
const weightMax = 1000;
const rankMax = 99;

/** What is to be changed; a setting that is there without a value is taken away. */
export type Change<Settings> = { readonly [Key in keyof Settings]?: Settings[Key] | undefined };
export type Read<Value> = (text: string) => Value | undefined | Problem;

/** Changes nothing when the option was not given. */
export function changeOf<Key extends string, Value>(
  setting: Key,
  text: string | undefined,
  read: Read<Value>,
): { readonly [Name in Key]?: Value | undefined } | Problem {
  if (text === undefined) return {};
  const value = read(text);
  if (value instanceof Problem) return value;
  // The compiler takes a computed name for any name at all.
  return { [setting]: value } as { [Name in Key]?: Value | undefined };
}

/** All changes together, or the first that could not be read. */
export function mergeChanges<Settings>(
  changes: readonly (Change<Settings> | Problem)[],
): Change<Settings> | Problem {
  let merged: Change<Settings> = {};
  for (const change of changes) {
    if (change instanceof Problem) return change;
    merged = { ...merged, ...change };
  }
  return merged;
}

export function applyChange<Settings extends object>(
  known: Settings,
  change: Change<Settings>,
): Settings {
  const merged = Object.entries({ ...known, ...change });
  // Of what is known, only that goes which may be absent: no other reading comes without a value.
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined)) as Settings;
}

export function readText(option: string, form: RegExp, told: string): Read<string> {
  return (text) => (form.test(text) ? text : new Problem(`${option} is ${told}.`));
}

export function orNone<Value>(read: Read<Value>): Read<Value> {
  return (text) => (text === "none" ? undefined : read(text));
}

export function readFee(text: string): Fee | Problem {
  return (
    parseFee(text) ??
    new Problem(`${text} is no fee: write it like 2.5%, 30 or 2.5%+30 (30 minor units).`)
  );
}

export function readMinorUnits(text: string): string | Problem {
  if (/^\d{1,15}$/.test(text)) return String(BigInt(text));
  return new Problem(`${text} is no amount in minor units: write digits only.`);
}

export function readCurrencies(text: string): readonly string[] | undefined | Problem {
  if (text === "all") return undefined;
  const codes = text.split(",").map((code) => code.trim());
  const unknown = codes.find((code) => findCurrency(code) === undefined);
  if (unknown === undefined) return [...new Set(codes)];
  return new Problem(`${unknown} is no currency: write codes like USD,EUR, or all.`);
}

export function readSwitch(option: string): (text: string) => boolean | Problem {
  return (text) => {
    if (text === "on" || text === "off") return text === "on";
    return new Problem(`${option} is on or off, not ${text}.`);
  };
}

export function readOneOf<Word extends string>(
  option: string,
  words: readonly Word[],
): (text: string) => Word | Problem {
  return (text) => {
    const found = words.find((word) => word === text);
    return found ?? new Problem(`${option} is one of ${words.join(", ")}, not ${text}.`);
  };
}

/** The smaller limit may not be larger than the other. */
export function checkLimits<Settings extends Limits>(settings: Settings): Settings | Problem {
  const { amountMin, amountMax } = settings;
  if (amountMin === undefined || amountMax === undefined) return settings;
  if (BigInt(amountMin) <= BigInt(amountMax)) return settings;
  return new Problem("The smallest amount may not be larger than the largest.");
}

type Limits = { readonly amountMin?: string; readonly amountMax?: string };

/** Each `name`, `name:rank` or `name:rank:weight`; rank and weight are 1 when not said. */
export function readGatePlaces(
  texts: readonly string[],
  gates: Iterable<Gate>,
): readonly GatePlace[] | Problem {
  const byName = new Map([...gates].map((gate) => [gate.name, gate.id]));
  const places: GatePlace[] = [];
  for (const text of texts) {
    const [name = "", rank = "1", weight = "1", ...more] = text.split(":");
    const gateId = byName.get(name);
    if (gateId === undefined) {
      return new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
    }
    if (more.length > 0 || !isWithin(rank, rankMax) || !isWithin(weight, weightMax)) {
      return new Problem(
        `${text} is no place for a gate: write name:rank:weight, the rank from 1 to ${rankMax} ` +
          `and the weight from 1 to ${weightMax}.`,
      );
    }
    if (places.some((place) => place.gateId === gateId)) {
      return new Problem(`The gate ${name} is named twice.`);
    }
    places.push({ gateId, rank: Number(rank), weight: Number(weight) });
  }
  if (places.length === 0) return new Problem("An endpoint needs at least one gate.");
  return places;
}

export function printFee({ percent, fixed }: Fee): string {
  const share = percent === undefined ? undefined : `${percent}%`;
  return [share, fixed].filter((part) => part !== undefined).join("+");
}

function isWithin(text: string, most: number): boolean {
  return /^[1-9]\d{0,5}$/.test(text) && Number(text) <= most;
}
