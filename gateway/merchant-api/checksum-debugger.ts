/**
 * The checksum debugger over the keys in memory, and what a wrong checksum is tried with: the
 * merchant's other ids, and keys of other merchants.
 */
import type { EntryPoint, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import { findMistakes } from "./checksum-mistakes.ts";
import type { ControlTerm, Operation } from "./operation.ts";
import { signedParts } from "./signed-parts.ts";

/** Keys of other merchants that a wrong checksum is tried with. */
const otherKeysMax = 500;

export type KnownKeys = {
  readonly merchants: readonly Merchant[];
  /** Endpoints by the number in the path. */
  readonly endpointById: ReadonlyMap<string, EntryPoint>;
  readonly groupById: ReadonlyMap<string, EntryPoint>;
};

/** The ids of the merchant's other endpoints and groups. */
export function otherIdsOf(
  { endpointById, groupById }: KnownKeys,
  { id, merchant }: EntryPoint,
): readonly string[] {
  const all = [...groupById.values(), ...endpointById.values()];
  const own = all.filter((each) => each.merchant.id === merchant.id && each.id !== id);
  return own.map((each) => each.id);
}

export function otherKeysOf(
  { merchants }: KnownKeys,
  { merchant }: EntryPoint,
): readonly Secret<string>[] {
  const others = merchants.filter(({ id }) => id !== merchant.id);
  return others.slice(0, otherKeysMax).map(({ controlKey }) => controlKey);
}

type PastedRequest = {
  readonly endpoint: string;
  readonly operation: string;
  readonly fields: ReadonlyMap<string, string>;
};

/**
 * The debugger tries the merchant's own keys alone: it must not reveal whose key made a checksum.
 */
export function makeChecksumDebugger(
  operations: readonly Pick<Operation, "name" | "control">[],
  known: () => KnownKeys,
) {
  const signed = operations.filter(({ control }) => control.length > 0);
  return {
    operations: signed.map(({ name, control }) => ({ name, formula: control.flatMap(namesOf) })),
    /** Returns undefined for an endpoint or operation that is not this merchant's. */
    attempt({ endpoint, operation: name, fields }: PastedRequest, merchantId?: MerchantId) {
      const { endpointById, groupById } = known();
      const entryPoint = endpointById.get(endpoint) ?? groupById.get(endpoint);
      const operation = signed.find((each) => each.name === name);
      if (entryPoint === undefined || operation === undefined) return undefined;
      if (merchantId !== undefined && entryPoint.merchant.id !== merchantId) return undefined;
      const sent = new Map([...fields].map(([field, value]) => [field, value.trim()]));
      const terms = operation.control;
      const others = { otherIds: otherIdsOf(known(), entryPoint), otherKeys: [] };
      const mistakes = findMistakes({ terms, sent, raw: fields, entryPoint, ...others });
      return {
        parts: signedParts(terms, sent, entryPoint),
        matches: mistakes === undefined,
        mistakes: mistakes ?? [],
      };
    },
  };
}

function namesOf(term: ControlTerm): readonly string[] {
  if (typeof term === "string") return [term === "{id?}" ? "{id}" : term];
  return "minorUnitsOf" in term ? [term.minorUnitsOf] : [term.moneyIfSent, "currency"];
}
