/** Builds the HTTP edges: merchant interface, cardholder's pages, receipts, health, staging. */
import type { FastifyInstance } from "fastify";
import type { AddressRules } from "../callbacks/addresses.ts";
import { type Config, signedUrlsOf } from "../config/config.ts";
import type { Cards } from "../engine/cards.ts";
import { makeFindReceipt } from "../engine/find.ts";
import { addHealthRoutes, type CheckReadiness, makeStorageGuard } from "../http/availability.ts";
import { makeRateLimit } from "../http/rate-limit.ts";
import { makeServer } from "../http/server.ts";
import type { IssuerRange } from "../issuers/issuers.ts";
import { signFor } from "../merchant-api/control.ts";
import { operations } from "../merchant-api/operations/index.ts";
import type { PipelineDependencies } from "../merchant-api/pipeline.ts";
import { addMerchantRoutes, makeAnswerError } from "../merchant-api/routes.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Order } from "../orders/order.ts";
import { addReceiptRoutes } from "../pages/cardholder/receipts.ts";
import { addCardholderRoutes } from "../pages/cardholder/routes.ts";
import { openTheme } from "../pages/operator-theme.ts";
import type { Configuration, LiveConfiguration } from "../storage/configuration.ts";
import { type Database, isConnectionLoss } from "../storage/database.ts";
import { makeFindByReceipt } from "../storage/find-orders.ts";
import { makeStoreRequest, makeTakeNonce } from "../storage/requests.ts";
import type { MerchantId } from "../values/ids.ts";
import { type Clock, makePrintDate } from "../values/time.ts";
import { browserReturnOf } from "../views/result.ts";
import type { Engine } from "./engine.ts";
import type { BrowserAuthentication, Services } from "./services.ts";
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
  readonly staging?: StagingParts | undefined;
};

/** What a node has in staging only. */
export type StagingParts = {
  /** The issuers of test cards. */
  readonly ranges: readonly IssuerRange[];
  addPages?(
    server: FastifyInstance,
    node: { readonly findState: () => Promise<NodeState>; readonly clock: Clock },
  ): void;
};

export type NodeState = {
  readonly configuration: Configuration;
  readonly missing: Readonly<Record<string, string>>;
};

const guarded = makeStorageGuard(isConnectionLoss);

export function makeHttpServer(dependencies: HttpDependencies): FastifyInstance {
  const { config, log, clock, metrics, configuration, staging, checkReadiness } = dependencies;
  const { pathWord, fieldWord, lineFeeds } = config;
  const wire = { fieldWord, lineFeeds };
  const services = servicesOf(dependencies);

  const server = makeServer({
    bodyBytesMax: config.bodyBytesMax,
    isSecure: config.baseUrl.startsWith("https://"),
    answerError: makeAnswerError({ pathWord, wire, log }),
  });
  addMerchantRoutes(server, {
    ...{ operations, pathWord, wire, services, clock, log, metrics },
    ...accessOf(dependencies),
    storeRequest: makeStoreRequest(dependencies.database.hot),
  });
  addPages(server, services, dependencies);
  addHealthRoutes(server, { checkReadiness, registry: metrics.registry });
  staging?.addPages?.(server, {
    findState: async () => ({
      ...{ configuration: configuration.current(), missing: await checkReadiness() },
    }),
    clock,
  });
  return server;
}

function servicesOf(dependencies: HttpDependencies): Services {
  const { config, engine, cards, threeds, wallets, callbackRules } = dependencies;
  return {
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
    threeds: {
      stepOf: threeds.stepOf,
      find: guarded(threeds.find),
      uploadMethod: guarded(threeds.uploadMethod),
      uploadChallenge: guarded(threeds.uploadChallenge),
      uploadPares: guarded(threeds.uploadPares),
    },
    wallets: { open: guarded(wallets.open) },
    findCallbackFault: callbackRules.findUrlFault,
    printDate: makePrintDate(config.zone),
  };
}

type Access = Pick<PipelineDependencies, "findEntryPoint" | "oauth" | "takeToken">;

function accessOf({ config, database, clock, configuration }: HttpDependencies): Access {
  const windowMs = config.oauthWindowMs;
  const takeNonce = makeTakeNonce(database.hot, { clock, windowMs });
  const limitOf = (perSecond: number) => makeRateLimit<MerchantId>({ perSecond }, clock);
  const transactions = limitOf(config.transactionsPerSecond);
  const queries = limitOf(config.questionsPerSecond);
  return {
    findEntryPoint(form, id) {
      const { endpointById, groupById } = configuration.current();
      return (form === "group" ? groupById : endpointById).get(id);
    },
    oauth: {
      ...{ windowMs, takeNonce: guarded(takeNonce) },
      baseUrls: (port) => signedUrlsOf(config, port),
    },
    takeToken: (isQuery, merchant) => (isQuery ? queries : transactions).take(merchant),
  };
}

/** The pages of 3-D Secure, the return to the shop, and receipts. */
function addPages(
  server: FastifyInstance,
  { threeds, printDate }: Services,
  { config, log, clock, configuration, database }: HttpDependencies,
): void {
  const { pathWord, pageLogoFile: logoFile } = config;
  const theme = openTheme({
    name: config.pageName,
    host: URL.parse(config.baseUrl)?.host ?? "",
    accent: config.pageAccent,
    logoFile,
    onBadLogo: (cause) => log("page.logo_unusable", { file: logoFile, cause }),
  });
  const returnOf = (order: Order) => {
    const { merchant } = configuration.getEndpoint(order.endpointId);
    const sign = (text: string) => signFor(merchant, text);
    return browserReturnOf(order, { sign, merchantName: merchant.name });
  };
  addCardholderRoutes(server, { pathWord, threeds, returnOf, theme });
  const findReceipt = makeFindReceipt({
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    findByReceipt: makeFindByReceipt(database.query),
  });
  const receipts = { find: guarded(findReceipt) };
  addReceiptRoutes(server, { pathWord, receipts, theme, printDate, clock });
}
