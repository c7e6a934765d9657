/** Reads filters of refused requests from the URL, and a request's values for the debugger. */
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

/** The list of operations, with the fields that a checksum covers, is empty until it is loaded. */
export function useFormulas() {
  const staleMs = Number.POSITIVE_INFINITY;
  return useAnswer("GET /checksum/operations", {}, { staleMs }).data?.operations ?? [];
}

export function hasControl(fields: readonly SentField[]): boolean {
  return fields.some(({ name, length }) => name === "control" && length > 0);
}

/** The text of a fault begins with the name of the field. */
export function splitFault(fault: string): readonly [field: string, what: string] {
  const [field = "", ...rest] = fault.split(": ");
  return [field, rest.join(": ")];
}

/** A checksum that covers an amount needs the currency too, which its formula does not name. */
export function namesIn(formula: readonly string[]): readonly Name[] {
  const own = formula.filter((name): name is Name => name !== "{id}");
  const currency = own.includes("amount") && !own.includes("currency") ? ["currency" as const] : [];
  return [...own, ...currency, "control"];
}

/** The pasted text is an encoded form or has one field in each line. Other fields are discarded. */
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
