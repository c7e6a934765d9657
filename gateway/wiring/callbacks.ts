/** Builds the delivery of callbacks. */
import { makeAddressChecks, readAddressOptions } from "../callbacks/addresses.ts";
import type { Callback } from "../callbacks/callback.ts";
import { startCallbackWorker } from "../callbacks/callback-worker.ts";
import { makeDelivery } from "../callbacks/deliver.ts";
import { makeBuildMessage, makeRewrite } from "../callbacks/message.ts";
import { signFor } from "../merchant-api/control.ts";
import type { DeliveryFilter } from "../portal-api/reads.ts";
import { findCallbacks } from "../storage/callbacks/callback-journal.ts";
import { routeCallbacks } from "../storage/cells/routed-stores.ts";
import { makeFindOrders } from "../storage/orders/find-orders.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Resources } from "./resources.ts";

const gathered = { batchMax: 256, inFlightMax: 1 };

export type Callbacks = ReturnType<typeof makeCallbacks>;

export function makeCallbacks(resources: Resources) {
  const { config, clock, log, metrics, cells, vault, node, hold } = resources;
  const { getEndpoint } = resources.configuration;
  const { secretFor } = vault;
  const addresses = readAddressOptions(config);
  const timeoutMs = config.callbackTimeoutMs;
  const orders = cells.stores(({ node: { hot } }) => makeFindOrders(hot, gathered));
  const findOrder = (key: Pick<Callback, "merchantId" | "orderId">) =>
    orders.call(key.merchantId, ({ byId }) => byId(key));
  const buildMessage = makeBuildMessage({ clock, getEndpoint, secretFor, sign: signFor });
  const delivery = makeDelivery({
    store: routeCallbacks(cells, { node, findOrder }, gathered),
    worker: startCallbackWorker(
      {
        addresses,
        resolvesBySystem: config.environment === "staging",
        proxy: config.callbackProxy === "" ? undefined : config.callbackProxy,
      },
      { clock, timeoutMs, onLost: (cause) => log("callback.worker_lost", { cause }) },
    ),
    buildMessage,
    clock,
    timeoutMs,
    drainMs: config.drainMs,
    keepDays: config.callbackKeepDays,
    log,
    retry: { gapsMs: config.callbackRetryGapsMs, random: Math.random },
    observe: (outcome, durationMs) => metrics.callbackMs.observe({ outcome }, durationMs),
  });
  const journals = cells.stores(({ node: { query } }) => query);
  /** The latest first. */
  const find = (filter: OwnFilter, most: number) =>
    journals.call(filter.merchantId, (query) => findCallbacks(query, filter, most));
  return {
    ...delivery,
    claimDue: hold.unless(() => clock.certain().then(delivery.claimDue), 0),
    ...makeAddressChecks(config),
    find,
    findOrder,
    write: makeRewrite({
      find: async (key: OwnFilter & Required<Pick<DeliveryFilter, "orderId" | "sequence">>) =>
        (await find(key, 1))[0],
      findOrder: (merchantId, orderId) => findOrder({ merchantId, orderId }),
      buildMessage,
    }),
  };
}

/** Of one merchant. */
type OwnFilter = DeliveryFilter & { readonly merchantId: MerchantId };
