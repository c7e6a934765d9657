/**
 * From pairs on the wire to the values an operation asks for, in the order of checks that the
 * interface decisions give: first what authentication needs, then everything else.
 */
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { type AnyField, Fault } from "./fields.ts";
import type { ControlTerm, Operation } from "./operation.ts";

export type Sent = ReadonlyMap<string, string>;
export type NamedField = readonly [name: string, field: AnyField];

/** The fields of an operation, those first that must be readable before its checksum can be. */
export function splitFields({ request, control }: Operation): {
  readonly signed: readonly NamedField[];
  readonly others: readonly NamedField[];
} {
  const terms = new Set(control.map(fieldOf));
  const hasAmount = control.some((term) => typeof term !== "string");
  const isSigned = ([name]: NamedField) =>
    terms.has(name) || name === "control" || (hasAmount && name === "currency");
  const fields = Object.entries(request);
  return {
    signed: fields.filter(isSigned),
    others: fields.filter((field) => !isSigned(field)),
  };
}

function fieldOf(term: ControlTerm): string {
  if (typeof term === "string") return term;
  return "minorUnitsOf" in term ? term.minorUnitsOf : term.moneyIfSent;
}

/** Trimmed; empty counts as absent; any field sent twice is refused, known or not. */
export function collect(pairs: readonly (readonly [string, string])[]): Sent | Failure {
  const sent = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (sent.has(name)) return new Failure("malformed_request", "a field was sent twice");
    sent.set(name, value.trim());
  }
  return sent;
}

/** Puts the values where the handler will find them; answers what is wrong, in document order. */
export function readFields(
  fields: readonly NamedField[],
  sent: Sent,
  entryPoint: EntryPoint,
  values: Record<string, unknown>,
): readonly Failure[] {
  const faults: Failure[] = [];
  for (const [name, field] of fields) {
    const text = sent.get(name);
    if (text === undefined || text === "") {
      const needed = field.necessity === "mandatory" && !isWaived(name, entryPoint);
      if (needed) faults.push(new Failure("missing_parameter", name));
      continue;
    }
    const value = field.read(text);
    if (value instanceof Fault) {
      faults.push(new Failure("invalid_parameter", `${name}: ${value.sentence}`));
    } else {
      values[name] = value;
    }
  }
  return faults;
}

/** A group asks for a field as soon as one of its endpoints does. */
function isWaived(name: string, { endpoints }: EntryPoint): boolean {
  return endpoints.every(({ settings }) => settings.optionalFields?.includes(name) === true);
}
