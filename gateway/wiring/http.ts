/** The edges wired together: the server, the merchant interface, health, and the staging page. */
import { randomUUIDv7 } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { AddressRules } from "../callbacks/addresses.ts";
import { type Config, signedUrlsOf } from "../config/config.ts";
import type { Cards } from "../engine/cards.ts";
import { makeFindReceipt } from "../engine/find.ts";
import { addHealthRoutes, type CheckReadiness } from "../http/availability.ts";
import { type Miss, type MissReply, makeServer } from "../http/server.ts";
import { AccessDenied } from "../merchant-api/oauth.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { makeTakeToken } from "../merchant-api/rate-limit.ts";
import { type Answered, addMerchantRoutes, type KeptRequest } from "../merchant-api/routes.ts";
import { contentTypeOf, formatFor, writeReply } from "../merchant-api/write-reply.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { WelcomeFacts } from "../staging/welcome-facts.ts";
import { addWelcomeRoutes } from "../staging/welcome-routes.ts";
import type { Configuration } from "../storage/configuration.ts";
import { type Database, isConnectionLoss } from "../storage/database.ts";
import { makeFindByReceipt } from "../storage/find-receipts.ts";
import type { LiveConfiguration } from "../storage/live-configuration.ts";
import { makeTakeNonce } from "../storage/oauth-nonces.ts";
import { makeKeepRequest } from "../storage/requests.ts";
import { Failure, type FailureCode, failures } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { type Clock, makePrintDate } from "../values/time.ts";
import { addCardholderPages } from "./cardholder-pages.ts";
import type { Engine } from "./engine.ts";
import type { BrowserAuthentication, ReceiptServices } from "./services.ts";
import type { Wallets } from "./wallets.ts";

export type HttpDependencies = {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly cards: Cards;
  readonly threeds: BrowserAuthentication;
  readonly wallets: Wallets;
  readonly callbackRules: AddressRules;
  readonly metrics: Metrics;
  readonly configuration: LiveConfiguration;
  readonly checkReadiness: CheckReadiness;
  /** In staging: what the page at `/` tells; without it there is no such page. */
  readonly welcome?: ((running: Running) => Promise<WelcomeFacts | undefined>) | undefined;
};

export type Running = {
  readonly configuration: Configuration;
  readonly missing: Readonly<Record<string, string>>;
};

export function makeHttpServer(dependencies: HttpDependencies): FastifyInstance {
  const { config, log, clock, engine, cards, metrics, configuration } = dependencies;
  const threeds = guardThreeds(dependencies.threeds);
  const wire = { fieldWord: config.fieldWord, lineFeeds: config.lineFeeds };
  const gathered = { batchMax: 256, inFlightMax: 1 };
  const keepRequest = makeKeepRequest(dependencies.database.hot, gathered);
  const nonces = { ...gathered, clock, windowMs: config.oauthWindowMs };
  const takeNonce = makeTakeNonce(dependencies.database.hot, nonces);

  const server = makeServer({
    bodyBytesMax: config.bodyBytesMax,
    isSecure: config.baseUrl.startsWith("https://"),
    onMiss,
  });
  addMerchantRoutes(server, {
    operations,
    pathWord: config.pathWord,
    wire,
    services: {
      orders: {
        accept: guarded(engine.accept),
        findRepeat: guarded(engine.findRepeat),
        find: guarded(engine.find),
        followUp: guarded(engine.followUp),
        waitForResult: guarded(engine.waits.wait),
      },
      cards: {
        register: guarded(cards.register),
        find: guarded(cards.find),
        findCardData: guarded(cards.findCardData),
      },
      threeds,
      wallets: { open: guarded(dependencies.wallets.open) },
      findCallbackFault: dependencies.callbackRules.findUrlFault,
      printDate: makePrintDate(config.zone),
    },
    findEntryPoint(form, id) {
      const { endpointById, groupById } = configuration.current();
      return (form === "group" ? groupById : endpointById).get(id);
    },
    clock,
    oauth: {
      baseUrls: (port) => signedUrlsOf(config, port),
      windowMs: config.oauthWindowMs,
      takeNonce: guarded(takeNonce),
    },
    takeToken: makeTakeToken(config, clock),
    ...{ keep, onAnswered },
    onCrash: (error, serial) => log("request.failed", { serial, err: error }),
  });
  addCardholderPages(server, { ...dependencies, threeds, receipts: receiptsOf(dependencies) });
  const { welcome, checkReadiness } = dependencies;
  addHealthRoutes(server, { checkReadiness, registry: metrics.registry });
  if (welcome !== undefined) {
    const findFacts = async () =>
      welcome({ configuration: configuration.current(), missing: await checkReadiness() });
    addWelcomeRoutes(server, { findFacts, clock });
  }
  return server;

  async function keep({ operation, serialNumber, outcome, orderId, answer }: KeptRequest) {
    const { entryPoint } = outcome;
    const endpoint = entryPoint?.endpoints[0];
    if (entryPoint === undefined || endpoint === undefined) return;
    await keepRequest({
      merchantId: entryPoint.merchant.id,
      endpointId: endpoint.id,
      serialNumber,
      orderId,
      operation,
      answer,
      at: clock.now(),
    });
  }

  function onAnswered({ operation, version, serialNumber, outcome, durationMs }: Answered): void {
    const { answer, entryPoint, faults } = outcome;
    const failed = answer instanceof Failure;
    const type = typeOf(answer);
    metrics.requests.inc({ operation, type, code: failed ? String(answer.number) : "" });
    metrics.requestMs.observe({ operation }, durationMs);
    const facts = {
      serial: serialNumber,
      order: "orderId" in answer ? answer.orderId : undefined,
      operation,
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

  function onMiss({ status, path, accept, error }: Miss): MissReply {
    if (status === 500) log("request.failed", { path: path.split("?")[0], err: error });
    if (!path.startsWith(`/${config.pathWord}/api/`)) {
      return { contentType: "text/plain;charset=utf-8", body: `${missWords[status]}\n` };
    }
    const format = formatFor(accept);
    const failure = new Failure(missFailures[status], missWords[status]);
    const serial = asSerialNumber(randomUUIDv7());
    return {
      contentType: contentTypeOf(format),
      body: writeReply(failure, serial, format, wire),
    };
  }
}

function typeOf(answer: Answered["outcome"]["answer"]): string {
  if (answer instanceof AccessDenied) return "access-denied";
  return answer instanceof Failure ? failures[answer.code].type : answer.type;
}

function receiptsOf({ configuration, database }: HttpDependencies): ReceiptServices {
  const find = makeFindReceipt({
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    findByReceipt: makeFindByReceipt(database.query),
  });
  return { find: guarded(find) };
}

function guardThreeds(threeds: BrowserAuthentication): BrowserAuthentication {
  return {
    stepOf: threeds.stepOf,
    find: guarded(threeds.find),
    uploadMethod: guarded(threeds.uploadMethod),
    uploadChallenge: guarded(threeds.uploadChallenge),
    uploadPares: guarded(threeds.uploadPares),
  };
}

/** A database that is away is no fault of the request: it may be sent again, and 503 says so. */
function guarded<Given extends readonly unknown[], Result>(
  work: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result | Failure> {
  return async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      return new Failure("storage_unavailable", "", String(error));
    }
  };
}

// biome-ignore format: a table
const missWords: Readonly<Record<Miss["status"], string>> = {
  400: "the request cannot be read",
  404: "no such path",
  408: "the request took too long",
  413: "the body is too large",
  500: "",
};

// biome-ignore format: a table
const missFailures: Readonly<Record<Miss["status"], FailureCode>> = {
  400: "malformed_request",
  404: "malformed_request",
  408: "malformed_request",
  413: "malformed_request",
  500: "internal_failure",
};
