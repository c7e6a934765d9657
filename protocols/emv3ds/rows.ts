/**
 * How a table is written and walked. A row is an element, what its value must look like, and its
 * presence in 2.1.0, 2.2.0 and 2.3.1: three columns as in the specification's own annex. An element
 * that changed its form has a row for each form. Elements without a row are never refused.
 */
import { type ErrorCode, type Fields, type Version, versions } from "./message.ts";

export type Row = readonly [
  element: string,
  check: Check,
  in210: Presence,
  in220: Presence,
  in231: Presence,
];

/** The code of what is wrong with a value; checks of what lies inside report for themselves. */
export type Check = (value: unknown, place: Place) => ErrorCode | undefined;

export type Presence = typeof no | ((place: Place) => "required" | "optional" | "forbidden");
export type Condition = (place: Place) => boolean;

export type Place = {
  /** The element being looked at, such as `acctInfo.chAccDate`; empty for the whole message. */
  readonly path: string;
  /** The object that the element stands in. */
  readonly own: Fields;
  readonly message: Fields;
  readonly request: Fields | undefined;
  readonly version: Version;
  readonly allowHttp: boolean;
  readonly extensions: readonly string[];
  readonly report: (code: ErrorCode, element: string) => void;
};

/** The version does not know the element. */
export const no = "no row";
export const R: Presence = () => "required";
export const O: Presence = () => "optional";

export function when(condition: Condition): Presence {
  return (place) => (condition(place) ? "required" : "optional");
}

export function walk(rows: readonly Row[], fields: Fields, outer: Place): void {
  const column = versions.indexOf(outer.version);
  for (const [element, check, ...presences] of rows) {
    const presence = presences[column];
    if (presence === undefined || presence === no) continue;
    const path = outer.path === "" ? element : `${outer.path}.${element}`;
    const place = { ...outer, path, own: fields };
    const value = Object.hasOwn(fields, element) ? fields[element] : undefined;
    const code = judge(value, presence(place), check, place);
    if (code !== undefined) outer.report(code, path);
  }
}

function judge(
  value: unknown,
  presence: "required" | "optional" | "forbidden",
  check: Check,
  place: Place,
): ErrorCode | undefined {
  if (value === undefined) return presence === "required" ? "201" : undefined;
  if (isEmpty(value)) return presence === "required" ? "201" : "203";
  return presence === "forbidden" ? "203" : check(value, place);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
