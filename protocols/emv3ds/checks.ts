/** What a value may look like: the words in the second column of the tables. */
import { countries, currencies } from "./iso-codes.ts";
import { type ErrorCode, isFields } from "./message.ts";
import { type Check, type Condition, type Row, walk } from "./rows.ts";

/** Lengths count characters, as the specification does, not the halves of a pair. */
export function text(lengthMin: number, lengthMax: number): Check {
  return textThat((value) => {
    if (value.length < lengthMin || value.length > 2 * lengthMax) return false;
    const length = value.length > lengthMax ? [...value].length : value.length;
    return length <= lengthMax;
  });
}

export function digits(lengthMin: number, lengthMax: number): Check {
  return matching(new RegExp(`^[0-9]{${lengthMin},${lengthMax}}$`));
}

export function oneOf(...values: readonly string[]): Check {
  return textThat((value) => values.includes(value));
}

/**
 * Two-digit codes, each given alone or as a span such as `80-99`. An element with codes for its
 * network reserves all others, which has a fault of its own from 2.3.1 on.
 */
export function codes(...spans: readonly string[]): Check {
  const reserves = spans.includes("80-99");
  return (value, { version }) => {
    if (typeof value !== "string" || !/^[0-9]{2}$/.test(value)) return "203";
    const isKnown = spans.some((span) => span.slice(0, 2) <= value && value <= span.slice(-2));
    if (isKnown) return undefined;
    return reserves && version === "2.3.1" && value !== "00" ? "207" : "203";
  };
}

export function matching(pattern: RegExp): Check {
  return textThat((value) => pattern.test(value));
}

export const boolean: Check = (value) => unless(typeof value === "boolean");
export const uuid = textThat(isUuid);
export const emailAddress = matching(/^(?=.{3,254}$)[^\s@]+@[^\s@]+$/);
export const protocolVersion = matching(/^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}$/);

/** Some networks send 20 bytes with padding, one 21 bytes without: both are 28 characters. */
export const authenticationValue = matching(/^(?=.{28}$)[A-Za-z0-9+/]{26,28}={0,2}$/);

export const country: Check = isoCode(countries);
export const currency: Check = isoCode(currencies);

export function url(lengthMax: number): Check {
  return (value, { allowHttp }) =>
    unless(typeof value === "string" && isUrl(value, lengthMax, allowHttp));
}

/** The parser of addresses knows the many ways to shorten IPv6. */
export const ipAddress = textThat((value) => {
  const isFour = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/.test(value);
  const isSix = /^[0-9a-f:.]{2,45}$/i.test(value) && URL.canParse(`https://[${value}]/`);
  return (isFour && !value.endsWith(".")) || isSix;
});

export function isUrl(value: string, lengthMax: number, allowHttp: boolean): boolean {
  if (value.length > lengthMax) return false;
  const scheme = allowHttp ? /^https?:\/\/[^\s/]/i : /^https:\/\/[^\s/]/i;
  return scheme.test(value) && !/\s/.test(value) && URL.canParse(value);
}

export function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

/** `YYYYMMDD`, or with hours and minutes, or with seconds too: a day that the calendar has. */
export function moment(length: 8 | 12 | 14): Check {
  const clock = /^(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){0,2}$/;
  return textThat((value) => {
    if (value.length !== length || !/^[0-9]+$/.test(value)) return false;
    const [year, month, day] = [value.slice(0, 4), value.slice(4, 6), value.slice(6, 8)];
    return isDay(Number(year), Number(month), Number(day)) && clock.test(value.slice(8) || "00");
  });
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

export function object(rows: readonly Row[]): Check {
  return (value, place) => {
    if (!isFields(value)) return "203";
    walk(rows, value, place);
  };
}

/** An object whose inside is none of this codec's business. */
export const anyObject: Check = (value) => unless(isFields(value));

export function array(lengthMax: number, item: Check): Check {
  return (value, place) => {
    if (!Array.isArray(value) || value.length > lengthMax) return "203";
    for (const one of value) {
      const code = item(one, place);
      if (code !== undefined) return code;
    }
  };
}

export function either(check: Check, other: Check): Check {
  return (value, place) => check(value, place) && other(value, place);
}

/** A value that looks right is still wrong where the condition does not hold. */
export function provided(check: Check, condition: Condition): Check {
  return (value, place) => check(value, place) ?? unless(condition(place));
}

function isoCode(known: ReadonlySet<string>): Check {
  return (value) => {
    if (typeof value !== "string" || !/^[0-9]{3}$/.test(value)) return "203";
    return known.has(value) ? undefined : "304";
  };
}

function textThat(isRight: (value: string) => boolean): Check {
  return (value) => unless(typeof value === "string" && isRight(value));
}

function unless(isRight: boolean): ErrorCode | undefined {
  return isRight ? undefined : "203";
}
