/**
 * The paths of the operations and their synchronous variants, in every version, for endpoints and
 * for groups; and the answers to requests that no route takes.
 */
import { randomUUIDv7 } from "node:crypto";
import { makeRounds, type UntilRound } from "../http/rounds.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import type { ErrorReply, RequestError } from "../http/server.ts";
import { Failure, type FailureCode } from "../values/failure.ts";
import { asSerialNumber, type SerialNumber } from "../values/ids.ts";
import { AccessDenied, accessDeniedPage } from "./oauth.ts";
import { type Operation, pathIn, type Version, versionsOf } from "./operation.ts";
import {
  type Call,
  makePipeline,
  type PipelineDependencies,
  type RequestOutcome,
} from "./pipeline.ts";
import { logAnswer, type RecordOptions, recordRequest } from "./record.ts";
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
    /** Keeps refused requests for the portal. */
    readonly keepRefused: RefusedRequests["keep"];
    readonly isBusy: () => boolean;
    /** The client's own. */
    readonly addressOf: (request: HttpRequest) => string;
  };

/** A busy gateway handles requests that change something in rounds; polls would only wait. */
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
      return (["endpoint", "group"] as const).flatMap((form): readonly HttpRoute[] => {
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
    // An endpoint or a group that does not exist: the request is refused with any body.
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

function replyOf(
  { answer, retryAfterSeconds = 1 }: RequestOutcome,
  serialNumber: SerialNumber,
  accept: string | undefined,
  wire: WireOptions,
): HttpReply {
  // The same page for every client, independent of its `Accept` header.
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

function refuseMethod({ headers }: HttpRequest, wire: WireOptions): HttpReply {
  const failure = new Failure("malformed_request", "only POST is allowed here");
  const { contentType, body } = writeFailure(failure, headers.accept, wire);
  const known = { "content-type": contentType, "cache-control": "no-store", "allow": "POST" };
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

/** A refusal on the paths of the merchant interface, plain text on all others. */
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

/** The path of a page up to the token that opens it; the order's id may stay. */
const tokenPath = /^(\/pay\/(?:\d+\.)?|\/[^/]+\/(?:form\/[^/]+\/[^/]+|view-receipt\/[^/]+)\/).*$/s;

function cutToken(path: string): string {
  return (path.split("?")[0] ?? "").replace(tokenPath, "$1…");
}
