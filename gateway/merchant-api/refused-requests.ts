/**
 * Stores refused requests for the portal after they are answered. Anyone can cause as many as they
 * like, so everything is limited: the number for each merchant and each client's network, in
 * memory, and per second. Requests above a limit are counted and not stored.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeRateLimit } from "../http/bounds.ts";
import { Failure, type FailureCode } from "../values/failure.ts";
import type { MerchantId, SerialNumber } from "../values/ids.ts";
import { type Clock, hours, type Instant, later } from "../values/time.ts";
import { AccessDenied } from "./control.ts";
import type { RefusedCall, RefusedDocument } from "./describe-refused.ts";
import type { RequestOutcome } from "./pipeline.ts";

export type RefusedRow = {
  readonly merchantId: MerchantId;
  readonly serialNumber: SerialNumber;
  readonly at: Instant;
  readonly entryId: string;
  readonly operation: string;
  readonly version: string;
  readonly code: string;
  /** Whether the merchant has signed the request. Anyone can send unsigned ones. */
  readonly authenticated: boolean;
  readonly from: string;
  readonly clientOrderId: string;
  readonly document: RefusedDocument;
};

export type RefusedBatch = {
  readonly rows: readonly RefusedRow[];
  readonly dropped: ReadonlyMap<MerchantId, number>;
};

type Options = {
  readonly clock: Pick<Clock, "now">;
  readonly describe: (refused: RefusedCall) => RefusedDocument;
  readonly store: {
    write(batch: RefusedBatch): Promise<void>;
    deleteOld(before: Instant): Promise<unknown>;
  };
  readonly keepsAny: boolean;
  readonly keepDays: number;
  readonly onDropped: () => void;
  readonly onFailed: (serialNumber: SerialNumber, error: unknown) => void;
};

/** Enough for a developer's tries: the limit on a client's network at a merchant. */
const perNetwork = { perSecond: 0.5, burst: 20 };
const perMerchant = { perSecond: 5, burst: 40 };
const [waitingMax, waitingBytesMax, bodyBytesMax] = [60, 2_000_000, 100_000];
/** The rest of the queue is for signed requests, which a flood of unsigned ones cannot displace. */
const unsignedShare = 2 / 3;
const writtenMax = 20;
const deleteEveryMs = hours(1);

/** Failures that concern the gateway or its load, and not the request. */
const others: readonly FailureCode[] = [
  ...(["storage_unavailable", "internal_failure", "too_many_requests"] as const),
];

export type RefusedRequests = ReturnType<typeof makeRefusedRequests>;

export function makeRefusedRequests(options: Options) {
  const { clock, describe, store, keepsAny, keepDays, onDropped, onFailed } = options;
  const networks = makeRateLimit<string>(perNetwork, clock);
  const merchants = makeRateLimit<string>(perMerchant, clock);
  const waiting: RefusedCall[] = [];
  let waitingBytes = 0;
  let dropped = new Map<MerchantId, number>();
  let deletedAt = 0;
  return { keep, flush, run };

  function keep({ call, ...refused }: RefusedCall): void {
    if (!keepsAny) return;
    const { answer, entryPoint, authenticated } = refused.outcome;
    if (answer instanceof Failure && others.includes(answer.code)) return;
    const { id } = entryPoint.merchant;
    const { length } = call.body;
    const share = authenticated ? 1 : unsignedShare;
    const hasRoom =
      waiting.length < waitingMax * share && waitingBytes + length <= waitingBytesMax * share;
    const isTaken =
      length <= bodyBytesMax &&
      hasRoom &&
      networks.take(`${id}/${authenticated}/${refused.from}`) === 0 &&
      merchants.take(`${id}/${authenticated}`) === 0;
    if (!isTaken) {
      dropped.set(id, (dropped.get(id) ?? 0) + 1);
      onDropped();
      return;
    }
    waitingBytes += length;
    waiting.push({ ...refused, call: { ...call, body: Uint8Array.from(call.body) } });
  }

  /** Payments are processed between two requests. A request that cannot be described is dropped. */
  async function flush(): Promise<void> {
    if (waiting.length === 0 && dropped.size === 0) return;
    const [taken, lost] = [waiting.splice(0, writtenMax), dropped];
    dropped = new Map();
    const rows: RefusedRow[] = [];
    for (const refused of taken) {
      waitingBytes -= refused.call.body.length;
      try {
        rows.push(rowOf(refused, describe(refused)));
      } catch (error) {
        onFailed(refused.call.serialNumber, error);
      }
      await nextTurn();
    }
    await store.write({ rows, dropped: lost });
  }

  /** Writes the waiting requests, and deletes those that were stored long enough. */
  async function run(): Promise<void> {
    await flush();
    const now = clock.now();
    if (now - deletedAt < deleteEveryMs) return;
    deletedAt = now;
    await store.deleteOld(later(now, -hours(24 * keepDays)));
  }
}

function rowOf(refused: RefusedCall, document: RefusedDocument): RefusedRow {
  const { call, outcome, operation, version, at, from } = refused;
  const { answer, entryPoint, authenticated } = outcome;
  const named = ["client_orderid", "client-order-id", "client-orderid"];
  const clientOrder = document.fields.find(({ name }) => named.includes(name));
  return {
    merchantId: entryPoint.merchant.id,
    serialNumber: call.serialNumber,
    at,
    entryId: entryPoint.id,
    operation: operation.name,
    version,
    authenticated,
    from,
    code: answer instanceof Failure ? answer.code : "access_denied",
    clientOrderId: clientOrder?.value ?? "",
    document,
  };
}

export type RefusedOutcome = RefusedCall["outcome"];

export function isRefused(outcome: RequestOutcome): outcome is RefusedOutcome {
  const { answer, entryPoint } = outcome;
  return (answer instanceof Failure || answer instanceof AccessDenied) && entryPoint !== undefined;
}
