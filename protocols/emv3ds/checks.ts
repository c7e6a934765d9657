/**
 * The form of a table and its checks. A row is an element, the check of its value, and its
 * inclusion in 2.1.0, 2.2.0 and 2.3.1: three columns, as in the annex of the specification. An
 * element that changed its format has a row for each. Elements without a row are never refused.
 */
import { data as isoCurrencies } from "currency-codes";
import isoCountries from "i18n-iso-countries/codes.json" with { type: "json" };
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import { type ErrorCode, type ProtocolVersion, protocolVersions } from "./message.ts";

export type ElementRow = readonly [
  element: string,
  check: Check,
  in210: Inclusion,
  in220: Inclusion,
  in231: Inclusion,
];

/** Returns the error code of a value. Checks of objects and arrays report the elements inside. */
type Check = (value: unknown, context: CheckContext) => ErrorCode | undefined;

export type Inclusion =
  | typeof no
  | ((context: CheckContext) => "required" | "optional" | "forbidden");
export type Condition = (context: CheckContext) => boolean;

export type CheckContext = {
  /** The element that is checked, such as `acctInfo.chAccDate`. Empty for the whole message. */
  readonly path: string;
  /** The object that contains the element. */
  readonly own: JsonObject;
  readonly message: JsonObject;
  readonly request: JsonObject | undefined;
  readonly version: ProtocolVersion;
  readonly allowHttp: boolean;
  readonly extensions: readonly string[];
  readonly report: (code: ErrorCode, element: string) => void;
};

/** Marks that the version does not have the element. */
export const no = "no row";
export const R: Inclusion = () => "required";
export const O: Inclusion = () => "optional";

export function when(condition: Condition): Inclusion {
  return (context) => (condition(context) ? "required" : "optional");
}

export function checkElements(
  rows: readonly ElementRow[],
  own: JsonObject,
  outer: CheckContext,
): void {
  const column = protocolVersions.indexOf(outer.version);
  for (const [element, check, ...inclusions] of rows) {
    const inclusion = inclusions[column];
    if (inclusion === undefined || inclusion === no) continue;
    const path = outer.path === "" ? element : `${outer.path}.${element}`;
    const context = { ...outer, path, own };
    const value = Object.hasOwn(own, element) ? own[element] : undefined;
    const requirement = inclusion(context);
    if (value === undefined && requirement !== "required") continue;
    let code: ErrorCode | undefined = requirement === "required" ? "201" : "203";
    if (!isEmpty(value) && requirement !== "forbidden") code = check(value, context);
    if (code !== undefined) outer.report(code, path);
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Checks the length in characters, as the specification counts, and not in UTF-16 code units. */
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
 * Checks two-digit codes, each given alone or as a range such as `80-99`. An element with codes for
 * its network reserves all others, which is a fault of its own from 2.3.1 on.
 */
export function codes(...ranges: readonly string[]): Check {
  const reserves = ranges.includes("80-99");
  return (value, { version }) => {
    if (typeof value !== "string" || !/^[0-9]{2}$/.test(value)) return "203";
    const isKnown = ranges.some((range) => range.slice(0, 2) <= value && value <= range.slice(-2));
    if (isKnown) return undefined;
    return reserves && version === "2.3.1" && value !== "00" ? "207" : "203";
  };
}

export function matching(pattern: RegExp): Check {
  return textThat((value) => pattern.test(value));
}

/** Checks a value that the acquirer's host gets unchanged, in a field of printable characters. */
export function printable(length: number): Check {
  return matching(new RegExp(`^[ -~]{${length}}$`));
}

export const boolean: Check = (value) => unless(typeof value === "boolean");
export const uuid = textThat(isUuid);
export const emailAddress = matching(/^(?=.{3,254}$)[^\s@]+@[^\s@]+$/);
export const protocolVersion = matching(/^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}$/);

/**
 * Some networks send 20 bytes with padding, one sends 21 bytes without. Both have 28 characters.
 */
export const authenticationValue = matching(/^(?=.{28}$)[A-Za-z0-9+/]{26,28}={0,2}$/);

/**
 * The specification forbids the private country codes, and currencies of metals, bond units and
 * tests.
 */
export const country = isoCode(
  isoCountries.map(([, , numeric = ""]) => numeric),
  /^9(?:0[1-9]|[1-9]\d)$/,
);
export const currency = isoCode(
  isoCurrencies.map(({ number }) => number),
  /^(?:95[5-9]|96[0-4]|999)$/,
);

export function url(lengthMax: number): Check {
  return (value, { allowHttp }) =>
    unless(typeof value === "string" && isUrl(value, lengthMax, allowHttp));
}

/** Uses the URL parser, which knows the many ways to shorten IPv6. */
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

/**
 * Checks a day of the calendar as `YYYYMMDD`, with hours and minutes for 12 digits and seconds for
 * 14.
 */
export function moment(length: 8 | 12 | 14): Check {
  const clock = /^(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){0,2}$/;
  return textThat((value) => {
    if (value.length !== length || !/^[0-9]+$/.test(value)) return false;
    const year = Number(value.slice(0, 4));
    const month = Number(value.slice(4, 6));
    const day = Number(value.slice(6, 8));
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
    return day >= 1 && day <= days && clock.test(value.slice(8) || "00");
  });
}

export function object(rows: readonly ElementRow[]): Check {
  return (value, context) => {
    if (!isJsonObject(value)) return "203";
    checkElements(rows, value, context);
  };
}

/** An object whose members are not checked. */
export const anyObject: Check = (value) => unless(isJsonObject(value));

export function array(lengthMax: number, item: Check): Check {
  return (value, context) => {
    if (!Array.isArray(value) || value.length > lengthMax) return "203";
    for (const one of value) {
      const code = item(one, context);
      if (code !== undefined) return code;
    }
  };
}

export function either(check: Check, other: Check): Check {
  return (value, context) => check(value, context) && other(value, context);
}

/** Adds a condition: a well-formed value is wrong if the condition does not hold. */
export function provided(check: Check, condition: Condition): Check {
  return (value, context) => check(value, context) ?? unless(condition(context));
}

function isoCode(list: readonly string[], forbidden: RegExp): Check {
  const known = new Set(list.filter((code) => !forbidden.test(code)));
  return (value) => {
    if (typeof value !== "string" || !/^[0-9]{3}$/.test(value)) return "203";
    return known.has(value) ? undefined : "304";
  };
}

function textThat(isRight: (value: string) => boolean): Check {
  return (value) => unless(typeof value === "string" && isStorable(value) && isRight(value));
}

/**
 * Returns whether PostgreSQL can store the text. Otherwise the order that contains it could not be
 * written.
 */
function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}

function unless(isRight: boolean): ErrorCode | undefined {
  return isRight ? undefined : "203";
}

const extensionItemRows: readonly ElementRow[] = [
  ["id", text(1, 64), R, R, R],
  ["name", text(1, 64), R, R, R],
  ["criticalityIndicator", boolean, R, R, R],
  ["data", jsonOfLength(8059), R, R, R],
];

/** Any message may contain extensions. A critical one must be understood. */
export const extensionRows: readonly ElementRow[] = [
  ["messageExtension", array(10, extension), O, O, no],
  ["messageExtension", array(15, extension), no, no, O],
];

function extension(value: unknown, context: CheckContext): ErrorCode | undefined {
  if (!isJsonObject(value)) return "203";
  checkElements(extensionItemRows, value, context);
  const isKnown = context.extensions.some((id) => id === value.id);
  return value.criticalityIndicator === true && !isKnown ? "202" : undefined;
}

function jsonOfLength(lengthMax: number): Check {
  return (value) => unless(isJsonObject(value) && JSON.stringify(value).length <= lengthMax);
}
