/**
 * The paths of the operations and their synchronous variants, in every version, for endpoints and
 * for groups; and the answers to requests that no route takes.
 */
import { randomUUIDv7 } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { closeIfUnread, type ErrorReply, type RequestError } from "../http/server.ts";
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
  };

const otherMethods = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function addMerchantRoutes(server: FastifyInstance, options: RoutesOptions): void {
  const { pathWord, wire } = options;
  const operations = options.operations.flatMap((operation) =>
    operation.sync === true ? [operation, synchronousVariantOf(operation)] : [operation],
  );
  for (const operation of operations) {
    for (const version of versionsOf(operation)) {
      const answer = makeAnswer(operation, version, options);
      for (const form of ["endpoint", "group"] as const) {
        const id = form === "group" ? "group/:id" : ":id";
        const url = `/${pathWord}/api${pathIn(version, operation).replace("{id}", id)}`;
        server.post(url, (request, reply) => answer(form, request, reply));
        server.route({
          method: otherMethods,
          url,
          handler: (request, reply) => refuseMethod(request, reply, wire),
        });
      }
    }
  }
}

function makeAnswer(operation: Operation, version: Version, options: RoutesOptions) {
  const pipeline = makePipeline(operation, options, version);

  return async (form: Call["form"], request: FastifyRequest, reply: FastifyReply) => {
    const startedAt = performance.now();
    const serialNumber = asSerialNumber(randomUUIDv7());
    const call = callOf(form, request, serialNumber);
    const outcome = await pipeline(call).catch((error): RequestOutcome => {
      options.log("request.failed", { serial: serialNumber, err: error });
      return { answer: new Failure("internal_failure"), authenticated: false };
    });
    const handled = { operation, version, serialNumber, outcome };
    await recordRequest(handled, options);
    closeIfUnread(request, reply);
    send(outcome, serialNumber, request, reply);
    logAnswer(handled, performance.now() - startedAt, options);
    return reply;
  };

  function send(
    { answer, retryAfterSeconds = 1 }: RequestOutcome,
    serialNumber: SerialNumber,
    { headers }: FastifyRequest,
    reply: FastifyReply,
  ): void {
    reply.header("cache-control", "no-store");
    if (answer instanceof AccessDenied) {
      // The same page for every client, independent of its `Accept` header.
      reply.code(403).type("text/html;charset=utf-8");
      reply.header("content-security-policy", "default-src 'none'");
      reply.header("referrer-policy", "no-referrer").send(accessDeniedPage);
      return;
    }
    const format = formatFor(headers.accept);
    const status = answer instanceof Failure ? statusFor(answer) : 200;
    reply.code(status).type(contentTypes[format]);
    if (status === 503) reply.header("retry-after", "1");
    if (status === 429) reply.header("retry-after", String(retryAfterSeconds));
    reply.send(writeReply(answer, serialNumber, format, options.wire));
  }
}

function callOf(form: Call["form"], request: FastifyRequest, serialNumber: SerialNumber): Call {
  const { headers, body, raw } = request;
  return {
    id: idOf(request) ?? "",
    form,
    contentType: headers["content-type"],
    body: body instanceof Uint8Array ? body : new Uint8Array(),
    serialNumber,
    method: request.method,
    target: raw.url ?? "",
    port: raw.socket.localPort ?? 0,
    authorization: headers.authorization,
  };
}

function idOf({ params }: FastifyRequest): string | undefined {
  const hasId = typeof params === "object" && params !== null && "id" in params;
  return hasId ? String(params.id) : undefined;
}

/** False for endpoints and groups that do not exist: the request is refused with any body. */
export function makeWantsBody({ findEntryPoint }: Pick<RoutesOptions, "findEntryPoint">) {
  return (request: FastifyRequest): boolean => {
    const id = idOf(request);
    if (id === undefined || findEntryPoint("endpoint", id) !== undefined) return true;
    return findEntryPoint("group", id) !== undefined;
  };
}

/** Results and refusals are 200; the other statuses are about the gateway, not the request. */
function statusFor({ code }: Failure): number {
  if (code === "storage_unavailable") return 503;
  return code === "too_many_requests" ? 429 : 200;
}

function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  wire: WireOptions,
): FastifyReply {
  const { method, headers } = request;
  closeIfUnread(request, reply);
  const failure = new Failure("malformed_request", "only POST is allowed here");
  const { contentType, body } = writeFailure(failure, headers.accept, wire);
  reply.code(405).header("allow", "POST").header("cache-control", "no-store");
  return reply.type(contentType).send(method === "HEAD" ? "" : body);
}

function writeFailure(failure: Failure, accept: string | undefined, wire: WireOptions): ErrorReply {
  const format = formatFor(accept);
  const body = writeReply(failure, asSerialNumber(randomUUIDv7()), format, wire);
  return { contentType: contentTypes[format], body };
}

// biome-ignore format: a table
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
    if (status === 500) log("request.failed", { path: path.split("?")[0], err: error });
    const text = errorTexts[status];
    if (!path.startsWith(`/${pathWord}/api/`)) {
      return { contentType: "text/plain;charset=utf-8", body: `${text}\n` };
    }
    return writeFailure(new Failure(errorCodes[status] ?? "malformed_request", text), accept, wire);
  };
}
