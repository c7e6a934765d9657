/** The traces of a request: its record by serial number, its line in the log, and its metrics. */
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { Failure, failures } from "../values/failure.ts";
import {
  asOrderId,
  type EndpointId,
  type MerchantId,
  type OrderId,
  type SerialNumber,
} from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import { AccessDenied } from "./oauth.ts";
import type { Operation, Reply, Version } from "./operation.ts";
import type { RequestOutcome } from "./pipeline.ts";

export type RequestRecord = {
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly serialNumber: SerialNumber;
  readonly orderId: OrderId | undefined;
  readonly operation: string;
  /** JSON. */
  readonly answer: string;
  readonly at: Instant;
};

export type RecordOptions = {
  readonly storeRequest: (record: RequestRecord) => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "requests" | "requestMs">;
};

export type HandledRequest = {
  readonly operation: Pick<Operation, "name" | "isQuery">;
  readonly version: Version;
  readonly serialNumber: SerialNumber;
  readonly outcome: RequestOutcome;
};

/** Called before the answer is sent, so that a merchant that has the answer can refer to it. */
export async function recordRequest(
  { operation, serialNumber, outcome }: HandledRequest,
  { storeRequest, clock, log }: RecordOptions,
): Promise<void> {
  const { answer, entryPoint, authenticated } = outcome;
  const endpoint = entryPoint?.endpoints[0];
  if (operation.isQuery === true || !authenticated || answer instanceof AccessDenied) return;
  if (entryPoint === undefined || endpoint === undefined) return;
  if (!needsRecord(answer, serialNumber)) return;
  const orderId = "orderId" in answer ? answer.orderId : undefined;
  await storeRequest({
    merchantId: entryPoint.merchant.id,
    endpointId: endpoint.id,
    serialNumber,
    orderId: orderId === undefined ? undefined : asOrderId(orderId),
    operation: operation.name,
    answer: JSON.stringify(summaryOf(answer)),
    at: clock.now(),
  }).catch((error) => log("request.unrecorded", { serial: serialNumber, err: error }));
}

/**
 * A new transaction carries the serial number of the request that began it; an unavailable database
 * cannot store this either.
 */
function needsRecord(answer: Reply | Failure, serialNumber: SerialNumber): boolean {
  if (answer instanceof Failure) return answer.code !== "storage_unavailable";
  return answer.describes?.transaction.serialNumber !== serialNumber;
}

function summaryOf(answer: Reply | Failure) {
  if (answer instanceof Failure) {
    const { code, number, message } = answer;
    return { type: failures[code].type, "error-code": String(number), "error-message": message };
  }
  // A repeat describes the transaction that the first request began.
  return { type: answer.type, describes: answer.describes?.transaction.serialNumber };
}

export function logAnswer(
  { operation: { name }, version, serialNumber, outcome }: HandledRequest,
  durationMs: number,
  { log, metrics }: Pick<RecordOptions, "log" | "metrics">,
): void {
  const { answer, entryPoint, faults } = outcome;
  const failed = answer instanceof Failure;
  const type = typeOf(answer);
  metrics.requests.inc({ operation: name, type, code: failed ? String(answer.number) : "" });
  metrics.requestMs.observe({ operation: name }, durationMs);
  const facts = {
    serial: serialNumber,
    order: "orderId" in answer ? answer.orderId : undefined,
    operation: name,
    version,
    entry: entryPoint?.id,
    type,
    ms: Math.round(durationMs * 10) / 10,
  };
  if (answer instanceof AccessDenied) {
    log("request.access_denied", { ...facts, check: answer.check });
  } else if (failed) {
    const causes = (faults ?? [answer]).map(({ message, cause }) => ({ message, cause }));
    log("request.refused", { ...facts, faults: causes });
  } else {
    log("request.answered", facts);
  }
}

function typeOf(answer: RequestOutcome["answer"]): string {
  if (answer instanceof AccessDenied) return "access-denied";
  return answer instanceof Failure ? failures[answer.code].type : answer.type;
}
