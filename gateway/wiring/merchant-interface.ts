/** Builds the merchant interface: authentication, limits, and the record of refused requests. */
import { signedUrlsOf } from "../config/config.ts";
import { makeSummary } from "../http/bounds.ts";
import type { Clients } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import { balanceRoutes } from "../merchant-api/balance.ts";
import { otherIdsOf, otherKeysOf } from "../merchant-api/checksum-mistakes.ts";
import { describeRefused } from "../merchant-api/describe-refused.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { makeTakeToken } from "../merchant-api/pipeline.ts";
import { makeRefusedRequests, type RefusedRequests } from "../merchant-api/refused-requests.ts";
import { reportRoutes } from "../merchant-api/report.ts";
import { merchantRoutes } from "../merchant-api/routes.ts";
import { lookedThrough } from "../portal-api/reads.ts";
import { routeStoreRequest, routeTakeNonce } from "../storage/cells/routed-stores.ts";
import { makeNoteOldControlKey } from "../storage/configuration/configuration.ts";
import { makeRefusedStore } from "../storage/portal/refused-requests.ts";
import type { NodeContext } from "./node-context.ts";
import type { EdgeServices } from "./services.ts";

type Parts = Pick<Clients, "addressOf"> & {
  readonly services: EdgeServices;
  readonly refused: Pick<RefusedRequests, "keep">;
};

export function merchantInterface(
  { config, clock, cells, database, log, metrics, isBusy, configuration }: NodeContext,
  { services, refused, addressOf }: Parts,
): readonly HttpRoute[] {
  const { oauthWindowMs: windowMs, acceptRetryMs: retryMs } = config;
  const shared = {
    pathWord: config.pathWord,
    wire: config,
    clock,
    log,
    metrics,
    oauth: {
      windowMs,
      takeNonce: services.querying(routeTakeNonce(cells, { clock, windowMs, retryMs })),
      baseUrls: (port: number) => signedUrlsOf(config, port),
      noteOldKey: makeNoteOldControlKey(database.query, clock, (error) =>
        log("request.old_key_unnoted", { err: error }),
      ),
    },
    takeToken: makeTakeToken(
      { transactions: config.transactionsPerSecond, queries: config.questionsPerSecond },
      clock,
    ),
  };
  const { current } = configuration;
  return [
    ...merchantRoutes({
      ...shared,
      operations,
      services,
      isBusy,
      addressOf,
      keepRefused: refused.keep,
      storeRequest: routeStoreRequest(cells, { retryMs }),
      findEntryPoint: configuration.findEntryPoint,
    }),
    ...balanceRoutes({
      ...shared,
      findBalances: services.findBalances,
      merchants: () => current().merchants,
      endpointById: () => current().endpointById,
    }),
    ...reportRoutes({
      ...shared,
      zone: config.zone,
      historyKeepMonths: config.historyKeepMonths,
      openReport: services.openReport,
      merchants: () => current().merchants,
      isEndpointOf: (id, merchant) => current().endpointById.get(id)?.merchant.id === merchant,
    }),
  ];
}

/** Keeps refused requests for the portal, with masked card numbers and secrets. */
export function keepRefusedRequests(context: NodeContext) {
  const { config, clock, log, metrics, cells } = context;
  const { current } = context.configuration;
  const { refusedRequestsMax: countMax, refusedRequestsKeepDays: keepDays } = config;
  const store = makeRefusedStore(cells, { countMax, lookedThrough, now: clock.now });
  const summary = makeSummary(clock, (_, count) => log("request.refusals_dropped", { count }));
  const refused = makeRefusedRequests({
    clock,
    store,
    keepsAny: countMax > 0,
    keepDays,
    describe: (each) =>
      describeRefused(each, {
        idsOf: (entryPoint) => otherIdsOf(current(), entryPoint),
        otherKeys: (entryPoint) => otherKeysOf(current(), entryPoint),
        baseUrlOf: (port) => signedUrlsOf(config, port)[0] ?? "",
      }),
    onDropped() {
      metrics.refusalsDropped.inc();
      summary.add("");
    },
    onFailed: (serial, error) => log("request.refusal_undescribed", { serial, err: error }),
  });
  return { ...refused, store };
}
