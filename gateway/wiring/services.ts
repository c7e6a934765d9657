/**
 * The functions of engine, vault and wallets that HTTP routes call. All fail while the storage is
 * unavailable. Those that change data also fail while the installation is on hold.
 */
import type { Callbacks } from "../callbacks/callbacks.ts";
import { makeStorageGuard } from "../http/server.ts";
import type { Order } from "../orders/order.ts";
import { makeOpenReport } from "../report/open-report.ts";
import { makeTransactionReport } from "../report/report.ts";
import { makeFindBegun, makeTakeReport } from "../storage/orders/begun-transactions.ts";
import { unpackBegun } from "../storage/orders/order-row.ts";
import { makeStatements } from "../storage/portal/statements.ts";
import { isUnavailable } from "../storage/server/faults.ts";
import type { ThreeDs } from "../threeds/threeds.ts";
import { makePrintDate } from "../values/time.ts";
import type { Wallets } from "../wallets/wallets.ts";
import type { Engine } from "./engine.ts";
import { makeFieldsAndTries } from "./hosted-fields.ts";
import type { NodeContext } from "./node-context.ts";

/** Sets no limit on concurrent calls: `GW_IN_FLIGHT_MAX` limits the requests that make them. */
export const guarded = makeStorageGuard(isUnavailable);

type Parts = {
  readonly engine: Engine;
  readonly threeds: ThreeDs;
  readonly wallets: Pick<Wallets, "open">;
  readonly callbacks: Pick<Callbacks, "findAddressFault" | "send">;
};

export type EdgeServices = ReturnType<typeof makeServices>;

export function makeServices(context: NodeContext, parts: Parts) {
  const { config, configuration, hold, database, log } = context;
  const { engine, wallets, callbacks } = parts;
  const { cards, profiles, paymentPages: pages } = engine;
  const { refusing } = hold;
  const querying = makeStorageGuard(isUnavailable, config.queriesInFlightMax);
  const settingsOf = ({ endpointId }: Order) => configuration.getEndpoint(endpointId).settings;
  const printDate = makePrintDate(config.zone);
  const { fieldWord } = config;
  const threeds = parts.threeds.makeBrowserAuthentication(engine.reports);
  const { stream } = makeReport(context, engine);
  const { fields, tries } = makeFieldsAndTries(context);
  return {
    /** Wraps functions. At most `GW_QUERIES_IN_FLIGHT_MAX` of them run at a time. */
    querying,
    orders: {
      accept: guarded(refusing(engine.accept)),
      findRepeat: querying(engine.findRepeat),
      find: querying(engine.find),
      followUp: guarded(refusing(engine.followUp)),
      waitForResult: guarded(engine.waits.waitForResult),
    },
    cards: {
      register: querying(refusing(cards.register)),
      findRegistered: querying(cards.findRegistered),
      find: querying(cards.find),
      findProfile: querying(cards.findProfile),
      findCardData: querying(cards.findCardData),
      remove: querying(refusing(cards.remove)),
    },
    profiles: {
      findCreated: guarded(profiles.findCreated),
      create: guarded(refusing(profiles.create)),
      adopt: guarded(refusing(profiles.adopt)),
      change: guarded(refusing(profiles.change)),
    },
    threeds: {
      stepOf: threeds.stepOf,
      pathOf: threeds.pathOf,
      find: querying(threeds.find),
      uploadMethod: querying(refusing(threeds.uploadMethod)),
      uploadChallenge: querying(refusing(threeds.uploadChallenge)),
      uploadPares: querying(refusing(threeds.uploadPares)),
    },
    paymentPages: {
      termsOf: pages.termsOf,
      urlOf: pages.urlOf,
      tokenOf: pages.tokenOf,
      findFaults: pages.findFaults,
      find: querying(pages.find),
      pay: guarded(refusing(pages.pay)),
    },
    wallets: { open: querying(refusing(wallets.open)) },
    hostedFields: {
      issueTicket: querying(refusing(fields.issueTicket)),
      isTicket: querying(refusing(fields.isTicket)),
      discard: querying(fields.discard),
      tokenize: querying(refusing(fields.tokenize)),
      open: querying(refusing(fields.open)),
    },
    pageTries: {
      look: querying(tries.look),
      check: querying(tries.check),
      admit: querying(tries.admit),
    },
    findAddressFault: callbacks.findAddressFault,
    sendCallback: callbacks.send,
    settingsOf,
    printDate,
    fieldWord,
    streamReport: stream,
    findBalances: querying(makeStatements(context.cells, database.query).findBalances),
    openReport: makeOpenReport({
      stream,
      takeReport: querying(makeTakeReport(database)),
      log,
    }),
  };
}

function makeReport({ config, configuration, cells }: NodeContext, { runner }: Engine) {
  return makeTransactionReport({
    findBegun: makeFindBegun(cells),
    unpack: unpackBegun,
    settingsOf: (endpoint) => configuration.getEndpoint(endpoint).settings,
    zone: config.zone,
    fieldWord: config.fieldWord,
    countInFlight: () => runner.count,
  });
}
