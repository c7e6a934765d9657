/**
 * Reads the filters of refused requests from the address of their screen, and the values that the
 * checksum debugger takes from a request.
 */
import { makeFilters, readListQuery } from "../orders/order-query.ts";
import { type InputOf, type OutputOf, useAnswer } from "../shell/call.ts";

type RequestsInput = InputOf<"GET /requests">;
type SentField = OutputOf<"GET /requests/:serial">["fields"][number];
export type Pasted = InputOf<"POST /checksum/try">["fields"];
type Name = keyof Pasted;

const names = ["search", "operation", "code", "endpoint", "merchant", "from", "until"] as const;

export const filters = makeFilters(names);

export function readRequestsQuery(query: URLSearchParams): RequestsInput {
  return readListQuery(query, ["operation", "code", "endpoint"]);
}

/**
 * Loads the operations of the merchant interface and which fields their checksums cover. The list
 * is empty until it is loaded.
 */
export function useFormulas() {
  const staleMs = Number.POSITIVE_INFINITY;
  return useAnswer("GET /checksum/operations", {}, { staleMs }).data?.operations ?? [];
}

export function hasControl(fields: readonly SentField[]): boolean {
  return fields.some(({ name, length }) => name === "control" && length > 0);
}

/**
 * Splits the text of a fault into the name of the field, with which the text begins, and the
 * description.
 */
export function splitFault(fault: string): readonly [field: string, what: string] {
  const [field = "", ...rest] = fault.split(": ");
  return [field, rest.join(": ")];
}

/**
 * Returns the fields that the checksum debugger asks for: those that the checksum covers, the
 * currency if an amount is among them, and the checksum itself.
 */
export function namesIn(formula: readonly string[]): readonly Name[] {
  const own = formula.filter((name): name is Name => name !== "{id}");
  const currency = own.includes("amount") && !own.includes("currency") ? ["currency" as const] : [];
  return [...own, ...currency, "control"];
}

/**
 * Reads the given fields from a text that the user has pasted, which is an encoded form or has one
 * field in each line. Other fields are discarded.
 */
export function readPasted(text: string, names: readonly Name[]): Pasted {
  const form = text.trim().replace(/\r?\n/g, "&");
  const body = form.includes("?") ? (form.split("?").at(-1) ?? "") : form;
  const sent = new URLSearchParams(body);
  const found = names.flatMap((name) => {
    const value = sent.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** Returns the fields that were filled in and that the formula of the checksum covers. */
export function filledIn(fields: Pasted, names: readonly Name[]): Pasted {
  const sent = names.flatMap((name) => (fields[name] ? [[name, fields[name]] as const] : []));
  return Object.fromEntries(sent);
}
