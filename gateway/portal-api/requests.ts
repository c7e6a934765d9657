/**
 * Refused requests for the portal, and the checksum debugger. The mistake in a request's checksum
 * was stored when the request arrived, so showing it needs no key. Only users who may see the
 * merchant's key can check values that the merchant has not sent (decision 0062).
 */
import { makeRateLimit } from "../http/bounds.ts";
import { type FailureCode, failures } from "../values/failure.ts";
import { isSerialNumber, type MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { Api, Handlers } from "./api.ts";
import { type Configured, loginOf, merchantFor, type Window } from "./reads.ts";
import type { ChecksumView, RefusalDetail } from "./request-routes.ts";
import { notFound, PortalRefusal } from "./route.ts";

type Asked = Api["GET /requests"]["input"];
export type RefusedQuery = Omit<Asked, "merchant" | "after" | "limit"> & {
  readonly merchantId: MerchantId | undefined;
  readonly after: RefusalKey | undefined;
  readonly limit: number;
};
export type RefusalKey = { readonly at: number; readonly serial: string };

export type StoredRefusal = {
  readonly merchantId: MerchantId;
  readonly at: number;
  readonly serial: string;
  readonly entryId: string;
  readonly operation: string;
  readonly version: string;
  readonly code: string;
  readonly authenticated: boolean;
  readonly from: string;
  readonly clientOrderId: string;
};

export type StoredRefusalDetail = StoredRefusal & {
  readonly document: Pick<RefusalDetail, "fields" | "faults" | "check" | "base"> &
    Partial<Pick<ChecksumView, "parts" | "mistakes">>;
};

type PastedRequest = {
  readonly endpoint: string;
  readonly operation: string;
  readonly fields: ReadonlyMap<string, string>;
};

export type RequestOptions = {
  readonly configured: () => Configured;
  readonly now: () => Instant;
  readonly requests: {
    /** If a search gives up before its page is full, `end` is the last examined request's key. */
    list(query: RefusedQuery): Promise<Window<StoredRefusal, RefusalKey>>;
    find(serial: string, merchant?: MerchantId): Promise<StoredRefusalDetail | undefined>;
    countDropped(merchant?: MerchantId): Promise<number>;
  };
  readonly checksums: {
    readonly operations: readonly { readonly name: string; readonly formula: readonly string[] }[];
    /** Returns undefined if the merchant does not have the endpoint or operation. */
    attempt(pasted: PastedRequest, merchant?: MerchantId): ChecksumView | undefined;
  };
};

/** The limit on checksums that a user tries: enough for a person, far too low to guess a key. */
const tries = { perSecond: 0.2, burst: 20 };

export function requestHandlers({ configured, requests, checksums, now }: RequestOptions) {
  const limit = makeRateLimit<string>(tries, { now });
  return {
    async "GET /requests"({ merchant, after, limit: most = 50, search, ...filters }, caller) {
      const merchantId = merchantFor(caller, configured(), merchant);
      if (merchantId === null) return { requests: [], dropped: 0 };
      const [{ rows, end }, dropped] = await Promise.all([
        requests.list({
          ...filters,
          merchantId,
          limit: most,
          search: search?.trim() || undefined,
          after: after === undefined ? undefined : readCursor(after),
        }),
        requests.countDropped(merchantId),
      ]);
      const last = rows.length === most ? rows.at(-1) : end;
      return {
        requests: rows.map((each) => viewLine(each, configured())),
        dropped,
        ...(last && { next: `${last.at}_${last.serial}` }),
        ...(end && { searchedTo: end.at }),
      };
    },

    async "GET /requests/:serial"({ serial }, caller) {
      const found = await requests.find(serial, caller.merchantId);
      if (found === undefined) return notFound;
      const { parts, mistakes, ...document } = found.document;
      const checksum = parts && {
        parts,
        mistakes: mistakes ?? [],
        matches: mistakes === undefined,
      };
      return { line: viewLine(found, configured()), ...document, ...(checksum && { checksum }) };
    },

    async "GET /checksum/operations"() {
      return { operations: checksums.operations };
    },

    async "POST /checksum/try"({ endpoint, operation, fields }, caller) {
      if (limit.take(caller.account.id) > 0) return tooMany;
      const given = Object.entries(fields).filter((pair): pair is [string, string] => !!pair[1]);
      const pasted = { endpoint, operation, fields: new Map(given) };
      return checksums.attempt(pasted, caller.merchantId) ?? notFound;
    },
  } satisfies Partial<Handlers>;
}

const tooMany = new PortalRefusal(
  429,
  "too_many_requests",
  "That was a lot of tries. Wait a few seconds and try again.",
);

function viewLine(stored: StoredRefusal, configured: Configured): RefusalDetail["line"] {
  const { merchantId, entryId, clientOrderId, authenticated, code, ...rest } = stored;
  return {
    serial: rest.serial,
    at: rest.at,
    operation: rest.operation,
    version: rest.version,
    code,
    from: rest.from,
    endpoint: entryId,
    clientOrder: clientOrderId,
    merchant: loginOf(configured, merchantId),
    error: wordOf(code),
    isSigned: authenticated,
  };
}

function wordOf(code: string): string {
  const isCode = (text: string): text is FailureCode => Object.hasOwn(failures, text);
  return isCode(code) ? failures[code].word : "ACCESS_DENIED";
}

function readCursor(text: string) {
  const [at = "", serial = ""] = text.split("_");
  const isCursor = /^\d{1,14}(\.\d{1,6})?$/.test(at) && isSerialNumber(serial);
  return isCursor ? { at: Number(at), serial } : { at: 0, serial: firstSerial };
}

const firstSerial = "00000000-0000-0000-0000-000000000000";
