/** What the portal reads of refused requests, and the checksum debugger over the keys in memory. */
import { findMistakes } from "../merchant-api/checksum-mistakes.ts";
import type { ControlTerm } from "../merchant-api/operation.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { signedParts } from "../merchant-api/signed-parts.ts";
import { lookedThrough } from "../portal-api/reads.ts";
import type { RefusalKey, RequestOptions } from "../portal-api/requests.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { countDropped, findRefusal, findRefused } from "../storage/portal/refused-requests.ts";
import type { MerchantId } from "../values/ids.ts";
import { joinPages } from "./portal-reads.ts";
import type { RefusedJob } from "./refused-requests.ts";
import type { Resources } from "./resources.ts";

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly refused: RefusedJob;
};

export function openRequests(
  dependencies: Dependencies,
): Pick<RequestOptions, "requests" | "checksums"> {
  return { requests: openReads(dependencies), checksums: openChecksums(dependencies) };
}

function openReads({ cells, clock }: Resources): RequestOptions["requests"] {
  const queries = cells.stores(({ node }) => node.aside);
  return {
    async list(asked) {
      const { merchantId, limit } = asked;
      if (merchantId !== undefined) {
        return queries.call(merchantId, (query) => findRefused(query, asked, lookedThrough));
      }
      const windows = await queries.each((query) => findRefused(query, asked, lookedThrough));
      return joinPages(windows, limit, ({ at, serial }) => ({ at, serial }), byAge);
    },
    find: (serial, merchantId) => queries.search((query) => findRefusal(query, serial, merchantId)),
    async countDropped(merchantId) {
      const now = clock.now();
      if (merchantId !== undefined) {
        return queries.call(merchantId, (query) => countDropped(query, merchantId, now));
      }
      const counts = await queries.each((query) => countDropped(query, undefined, now));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** As the pages of one cell are sorted. */
function byAge(one: RefusalKey, other: RefusalKey): number {
  return other.at - one.at || (one.serial < other.serial ? 1 : -1);
}

/** With the merchant's own keys alone: whose key made a checksum is no one else's concern. */
function openChecksums({ configuration, refused }: Dependencies): RequestOptions["checksums"] {
  const signed = operations.filter(({ control }) => control.length > 0);
  return {
    operations: signed.map(({ name, control }) => ({ name, formula: control.flatMap(namesOf) })),
    attempt({ endpoint, operation: name, fields }, merchantId?: MerchantId) {
      const { endpointById, groupById } = configuration.current();
      const entryPoint = endpointById.get(endpoint) ?? groupById.get(endpoint);
      const operation = signed.find((each) => each.name === name);
      if (entryPoint === undefined || operation === undefined) return undefined;
      if (merchantId !== undefined && entryPoint.merchant.id !== merchantId) return undefined;
      const sent = new Map([...fields].map(([field, value]) => [field, value.trim()]));
      const terms = operation.control;
      const others = { otherIds: refused.idsOf(entryPoint), otherKeys: [] };
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
