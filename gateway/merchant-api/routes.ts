/**
 * The routes of the operations and their synchronous variants, in every version, for endpoints and
 * groups, with log and metrics. The file also answers requests that no route accepts.
 */
import { randomUUIDv7 } from "node:crypto";
import { makeRounds, type UntilRound } from "../http/rounds.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import type { ErrorReply, RequestError } from "../http/server.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { Failure, type FailureCode, failures } from "../values/failure.ts";
import {
  asOrderId,
  asSerialNumber,
  type EndpointId,
  type MerchantId,
  type OrderId,
  type SerialNumber,
} from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import { AccessDenied, accessDeniedPage } from "./control.ts";
import {
  type Operation,
  pathIn,
  placesOf,
  type Reply,
  type Version,
  versionsOf,
} from "./operation.ts";
import {
  type Call,
  makePipeline,
  type PipelineDependencies,
  type RequestOutcome,
} from "./pipeline.ts";
import { isRefused, type RefusedOutcome, type RefusedRequests } from "./refused-requests.ts";
import {
  contentTypes,
  formatFor,
  synchronousVariantOf,
  type WireOptions,
  writeReply,
} from "./reply.ts";

export type RoutesOptions = PipelineDependencies &
  RecordOptions & {
    readonly operations: readonly Operation[];
    readonly pathWord: string;
    readonly wire: WireOptions;
    readonly keepRefused: RefusedRequests["keep"];
    readonly isBusy: () => boolean;
    readonly addressOf: (request: HttpRequest) => string;
  };

/** A busy gateway processes requests that change something in rounds. Polls do not wait for one. */
const roundGapMs = 12;

export function merchantRoutes(options: RoutesOptions): readonly HttpRoute[] {
  const { pathWord, wire } = options;
  const inRounds = { ...options, untilRound: makeRounds(roundGapMs, options.isBusy) };
  const operations = options.operations.flatMap((operation) =>
    operation.sync === true ? [operation, synchronousVariantOf(operation)] : [operation],
  );
  return operations.flatMap((operation) =>
    versionsOf(operation).flatMap((version) => {
      const makeRoute = makeRouteOf(operation, version, inRounds);
      return placesOf(operation).flatMap((form): readonly HttpRoute[] => {
        const id = form === "group" ? "group/:id" : ":id";
        const path = `/${pathWord}/api${pathIn(version, operation).replace("{id}", id)}`;
        const refuse = async (request: HttpRequest) => refuseMethod(request, wire);
        return [makeRoute(form, path), { method: "*", path, answerEarly: refuse, answer: refuse }];
      });
    }),
  );
}

type RouteOptions = RoutesOptions & { readonly untilRound: UntilRound };

function makeRouteOf(operation: Operation, version: Version, options: RouteOptions) {
  const { findEntryPoint, wire, untilRound } = options;
  const pipeline = makePipeline(operation, options, version);

  return (form: Call["form"], path: string): HttpRoute => ({
    method: "POST",
    path,
    // No such endpoint or group exists. The request is refused with any body.
    answerEarly: (request) => (isKnown(idOf(request)) ? undefined : answer(form, request)),
    answer: (request) => answer(form, request),
  });

  function isKnown(id: string): boolean {
    const isEndpoint = findEntryPoint("endpoint", id) !== undefined;
    return isEndpoint || findEntryPoint("group", id) !== undefined;
  }

  async function answer(form: Call["form"], request: HttpRequest): Promise<HttpReply> {
    const startedAt = performance.now();
    if (operation.isQuery !== true) await untilRound();
    const serialNumber = asSerialNumber(randomUUIDv7());
    const call = callOf(form, request, serialNumber);
    const outcome = await tryPipeline(call);
    const handled = { operation, version, serialNumber, outcome };
    await recordRequest(handled, options);
    logAnswer(handled, performance.now() - startedAt, options);
    if (isRefused(outcome)) keep(call, outcome, request);
    return replyOf(outcome, serialNumber, request.headers.accept, wire);
  }

  function keep(call: Call, outcome: RefusedOutcome, request: HttpRequest): void {
    const { services, clock, keepRefused, addressOf } = options;
    const from = addressOf(request);
    keepRefused({ operation, version, call, outcome, services, at: clock.now(), from });
  }

  async function tryPipeline(call: Call): Promise<RequestOutcome> {
    try {
      return await pipeline(call);
    } catch (error) {
      options.log("request.failed", { serial: call.serialNumber, err: error });
      return { answer: new Failure("internal_failure"), authenticated: false };
    }
  }
}

export function replyOf(
  { answer, retryAfterSeconds = 1 }: RequestOutcome,
  serialNumber: SerialNumber,
  accept: string | undefined,
  wire: WireOptions,
): HttpReply {
  // Every client gets the same page, independent of its `Accept` header.
  if (answer instanceof AccessDenied) return accessDenied;
  const format = formatFor(accept);
  const body = writeReply(answer, serialNumber, format, wire);
  const status = answer instanceof Failure ? statusFor(answer) : 200;
  if (status === 200) return { status, headers: headersOf[format], body };
  const later = { "retry-after": String(status === 429 ? retryAfterSeconds : 1) };
  return { status, headers: { ...headersOf[format], ...later }, body };
}

const headersOf = {
  form: { "content-type": contentTypes.form, "cache-control": "no-store" },
  json: { "content-type": contentTypes.json, "cache-control": "no-store" },
} as const;

const accessDenied: HttpReply = {
  status: 403,
  headers: {
    "content-type": "text/html;charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
  },
  body: accessDeniedPage,
};

function callOf(form: Call["form"], request: HttpRequest, serialNumber: SerialNumber): Call {
  const { method, url, headers, body, socket } = request;
  return {
    id: idOf(request),
    form,
    contentType: headers["content-type"],
    body,
    serialNumber,
    method,
    target: url,
    port: socket.localPort ?? 0,
    authorization: headers.authorization,
  };
}

function idOf({ params: [id = ""] }: HttpRequest): string {
  return id;
}

/** Results and refusals are 200; the other statuses are about the gateway, not the request. */
function statusFor({ code }: Failure): number {
  if (code === "storage_unavailable") return 503;
  return code === "too_many_requests" ? 429 : 200;
}

export function refuseMethod(
  { headers }: HttpRequest,
  wire: WireOptions,
  allow: "GET" | "POST" = "POST",
): HttpReply {
  const failure = new Failure("malformed_request", `only ${allow} is allowed here`);
  const { contentType, body } = writeFailure(failure, headers.accept, wire);
  const known = { "content-type": contentType, "cache-control": "no-store", allow };
  return { status: 405, headers: known, body };
}

function writeFailure(failure: Failure, accept: string | undefined, wire: WireOptions): ErrorReply {
  const format = formatFor(accept);
  const body = writeReply(failure, asSerialNumber(randomUUIDv7()), format, wire);
  return { contentType: contentTypes[format], body };
}

const errorTexts: Readonly<Record<RequestError["status"], string>> = {
  400: "the request cannot be read",
  404: "no such path",
  408: "the request took too long",
  413: "the body is too large",
  500: "",
  503: "",
};

const errorCodes: Partial<Record<RequestError["status"], FailureCode>> = {
  500: "internal_failure",
  503: "storage_unavailable",
};

/** Answers paths of the merchant interface like an operation, and all others in plain text. */
type ErrorOptions = Pick<RoutesOptions, "pathWord" | "wire" | "log">;

export function makeAnswerError({ pathWord, wire, log }: ErrorOptions) {
  return ({ status, path, accept, error }: RequestError): ErrorReply => {
    if (status === 500) log("request.failed", { path: cutToken(path), err: error });
    const text = errorTexts[status];
    if (!path.startsWith(`/${pathWord}/api/`)) {
      return { contentType: "text/plain;charset=utf-8", body: `${text}\n` };
    }
    return writeFailure(new Failure(errorCodes[status] ?? "malformed_request", text), accept, wire);
  };
}

/** The token at the end of a path opens a page, so it is cut off for the log. */
const tokenPath = /^(\/pay\/(?:\d+\.)?|\/[^/]+\/(?:form\/[^/]+\/[^/]+|view-receipt\/[^/]+)\/).*$/s;

function cutToken(path: string): string {
  return (path.split("?")[0] ?? "").replace(tokenPath, "$1…");
}

export type RequestRecord = {
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly serialNumber: SerialNumber;
  readonly orderId: OrderId | undefined;
  readonly operation: string;
  readonly answer: string;
  readonly at: Instant;
};

type RecordOptions = {
  readonly storeRequest: (record: RequestRecord) => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "requests" | "requestMs">;
};

type HandledRequest = {
  readonly operation: Pick<Operation, "name" | "isQuery">;
  readonly version: Version;
  readonly serialNumber: SerialNumber;
  readonly outcome: RequestOutcome;
};

/** Called before the answer, so that a merchant with the answer can refer to the request. */
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
 * A new transaction has its request's serial number, so that request needs no record. Neither does
 * one that was refused because the database is unavailable.
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
