/**
 * Puts the operations and their synchronous twins on their paths, in every version that they have,
 * for endpoints and for groups.
 * Every request gets a serial number, is logged with it, and, when it asked for a transaction, is
 * kept by it.
 */
import { randomUUIDv7 } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure, failures } from "../values/failure.ts";
import { asOrderId, asSerialNumber, type OrderId, type SerialNumber } from "../values/ids.ts";
import { AccessDenied, accessDeniedPage } from "./oauth.ts";
import { type Operation, pathIn, type Reply, type Version, versionsOf } from "./operation.ts";
import { type Call, makePipeline, type Outcome, type PipelineDependencies } from "./pipeline.ts";
import { synchronousVariantOf } from "./wait.ts";
import { contentTypeOf, formatFor, type WireOptions, writeReply } from "./write-reply.ts";

export type RoutesOptions = PipelineDependencies & {
  readonly operations: readonly Operation[];
  readonly pathWord: string;
  readonly wire: WireOptions;
  readonly keep: (asked: KeptRequest) => Promise<void>;
  readonly onAnswered: (answered: Answered) => void;
  readonly onCrash: (error: unknown, serialNumber: SerialNumber) => void;
};

export type KeptRequest = {
  readonly operation: string;
  readonly serialNumber: SerialNumber;
  readonly outcome: Outcome;
  readonly orderId: OrderId | undefined;
  readonly answer: string;
};

export type Answered = {
  readonly operation: string;
  readonly version: Version;
  readonly serialNumber: SerialNumber;
  readonly outcome: Outcome;
  readonly durationMs: number;
};

const otherMethods = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function addMerchantRoutes(server: FastifyInstance, options: RoutesOptions): void {
  for (const { operation, version } of options.operations.flatMap(withTwin).flatMap(inVersions)) {
    const answer = makeAnswer(operation, version, options);
    for (const form of ["endpoint", "group"] as const) {
      const url = pathOf(options.pathWord, pathIn(version, operation), form);
      server.route({
        method: "POST",
        url,
        handler: (request, reply) => answer(form, request, reply),
      });
      server.route({
        method: otherMethods,
        url,
        handler: (request, reply) => refuseMethod(request, reply, options.wire),
      });
    }
  }
}

function withTwin(operation: Operation): readonly Operation[] {
  return operation.sync ? [operation, synchronousVariantOf(operation)] : [operation];
}

function inVersions(operation: Operation) {
  return versionsOf(operation).map((version) => ({ operation, version }));
}

export function pathOf(word: string, path: string, form: Call["form"]): string {
  return `/${word}/api${path.replace("{id}", form === "group" ? "group/:id" : ":id")}`;
}

function makeAnswer(operation: Operation, version: Version, options: RoutesOptions) {
  const pipeline = makePipeline(operation, options, version);
  const { wire } = options;

  return async (form: Call["form"], request: FastifyRequest, reply: FastifyReply) => {
    const startedAt = performance.now();
    const serialNumber = asSerialNumber(randomUUIDv7());
    const call = callOf(form, request, serialNumber);
    const outcome: Outcome = await pipeline(call).catch((error) => {
      options.onCrash(error, serialNumber);
      return { answer: new Failure("internal_failure"), authenticated: false };
    });
    await keep(outcome, serialNumber);

    const { answer } = outcome;
    if (answer instanceof AccessDenied) sendDenial(reply);
    else sendAnswer(answer, request, reply, { serialNumber, ...outcome });

    const durationMs = performance.now() - startedAt;
    options.onAnswered({ operation: operation.name, version, serialNumber, outcome, durationMs });
    return reply;
  };

  function sendAnswer(
    answer: Reply | Failure,
    request: FastifyRequest,
    reply: FastifyReply,
    { serialNumber, retryAfterSeconds = 1 }: Pick<Outcome, "retryAfterSeconds"> & Numbered,
  ): void {
    const status = answer instanceof Failure ? statusFor(answer) : 200;
    const format = formatFor(request.headers.accept);
    reply.code(status).header("cache-control", "no-store").type(contentTypeOf(format));
    if (status === 503) reply.header("retry-after", "1");
    if (status === 429) reply.header("retry-after", String(retryAfterSeconds));
    reply.send(writeReply(answer, serialNumber, format, wire));
  }

  /** A request is kept before it is answered, so that whoever has the answer can ask about it. */
  async function keep(outcome: Outcome, serialNumber: SerialNumber): Promise<void> {
    const { answer } = outcome;
    if (!operation.kept || !outcome.authenticated || answer instanceof AccessDenied) return;
    if (!(answer instanceof Failure) && answer.stored === true) return;
    // The database that could not store the order cannot store this either.
    if (answer instanceof Failure && answer.code === "storage_unavailable") return;
    const orderId = answer instanceof Failure ? undefined : orderIdOf(answer);
    const kept = { operation: operation.name, serialNumber, outcome, orderId };
    const summary = answer instanceof Failure ? refusal(answer) : summaryOf(answer);
    await options.keep({ ...kept, answer: JSON.stringify(summary) }).catch((error) => {
      options.onCrash(error, serialNumber);
    });
  }
}

type Numbered = { readonly serialNumber: SerialNumber };

/** A page in every case, whatever the request would like to have: it is the same for all. */
function sendDenial(reply: FastifyReply): void {
  reply.code(403).header("cache-control", "no-store").type("text/html;charset=utf-8");
  reply.header("content-security-policy", "default-src 'none'");
  reply.header("referrer-policy", "no-referrer").send(accessDeniedPage);
}

/** A repeat describes the transaction that the first of its kind began. */
function summaryOf({ type, describes }: Reply) {
  return { type, describes: describes?.transaction.serialNumber };
}

function callOf(form: Call["form"], request: FastifyRequest, serialNumber: SerialNumber): Call {
  const { params, headers, body, raw } = request;
  const id = typeof params === "object" && params !== null && "id" in params ? params.id : "";
  return {
    id: String(id),
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

function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  wire: WireOptions,
): FastifyReply {
  const format = formatFor(request.headers.accept);
  const failure = new Failure("malformed_request", "only POST is allowed here");
  const body = writeReply(failure, asSerialNumber(randomUUIDv7()), format, wire);
  reply.code(405).header("allow", "POST").header("cache-control", "no-store");
  return reply.type(contentTypeOf(format)).send(request.method === "HEAD" ? "" : body);
}

function orderIdOf({ orderId }: Reply): OrderId | undefined {
  return orderId === undefined ? undefined : asOrderId(orderId);
}

function refusal(failure: Failure) {
  const { type } = failures[failure.code];
  return { type, "error-code": String(failure.number), "error-message": failure.message };
}

/** Business results and refusals are 200; these two are about the gateway, not the request. */
function statusFor({ code }: Failure): number {
  if (code === "storage_unavailable") return 503;
  return code === "too_many_requests" ? 429 : 200;
}
