/**
 * The address of the orders screen and what it asks the gateway for: search, filters, dates and the
 * page. A date in the address is a day of the user's own calendar.
 */
import type { InputOf, OutputOf } from "../shell/call.ts";

export type OrdersInput = InputOf<"GET /orders">;
export type OrderLine = OutputOf<"GET /orders">["orders"][number];

/** Filters with several values each, by their name in the address and in the API. */
export const filterNames = [
  ...(["status", "stage", "type", "endpoint", "gate", "currency", "network"] as const),
];

/** What the address has besides the page and the selected row. */
const kept = ["search", "merchant", "from", "until", ...filterNames] as const;

export function readOrdersQuery(query: URLSearchParams): OrdersInput {
  const text = (name: string) => query.get(name) || undefined;
  const lists = filterNames.flatMap((name) => {
    const values = valuesOf(query, name);
    return values.length === 0 ? [] : [[name, values] as const];
  });
  const [from, until] = [startOfDay(text("from")), startOfDay(text("until"), 1)];
  const [search, merchant, after] = [text("search"), text("merchant"), text("after")];
  return {
    ...Object.fromEntries(lists),
    ...(search && { search }),
    ...(merchant && { merchant }),
    ...(after && { after }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  };
}

export function valuesOf(query: URLSearchParams, name: string): readonly string[] {
  return (query.get(name) ?? "").split(",").filter((value) => value !== "");
}

export function isFiltered(query: URLSearchParams): boolean {
  return kept.some((name) => query.has(name));
}

/** The query of a view: what is searched and filtered, without the page. */
export function viewOf(query: URLSearchParams): string {
  const entries = kept.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as [string, string]] : [];
  });
  return new URLSearchParams(entries).toString().replaceAll("%2C", ",");
}

/** Every name of a view without its value, to remove them all. */
export const withoutFilters = Object.fromEntries(
  [...kept, "after", "row"].map((name) => [name, undefined]),
);

/** Nothing for text that is no day. */
export function startOfDay(day: string | undefined, plusDays = 0): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "") ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + plusDays).getTime();
}

/** A day as the address and a date field have it. */
export function dayOf(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
