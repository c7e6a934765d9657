/** Builds callbacks: address rules, message text, delivery. */
import { setTimeout as delay } from "node:timers/promises";
import {
  type AddressOptions,
  type AddressRules,
  makeAddressRules,
} from "../callbacks/addresses.ts";
import type { Callback } from "../callbacks/callback.ts";
import { startCallbackWorker } from "../callbacks/callback-worker.ts";
import { makeDeliver } from "../callbacks/deliver.ts";
import { askSystem, makeResolve } from "../callbacks/look-up.ts";
import { type Message, makeMessage } from "../callbacks/make-message.ts";
import { makeSend, type Send } from "../callbacks/send.ts";
import { secretNames } from "../callbacks/webhook-secrets.ts";
import type { Config } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { signFor } from "../merchant-api/control.ts";
import type { Step } from "../orders/advance.ts";
import type { Order } from "../orders/order.ts";
import { transactionsOf } from "../orders/transactions.ts";
import { makeCallbackStore } from "../storage/callbacks.ts";
import { deleteEndedCallbacks } from "../storage/callbacks-retention.ts";
import type { LiveConfiguration } from "../storage/configuration.ts";
import { makeFindOrders } from "../storage/find-orders.ts";
import { later, systemClock } from "../values/time.ts";
import { printResult } from "../views/result.ts";
import type { Resources } from "./resources.ts";

type Dependencies = Resources & {
  readonly node: string;
  readonly configuration: LiveConfiguration;
};

/** How long tries that are under way when a node stops may still take. */
const graceMaxMs = 2_000;
/** And writing down what became of them. */
const releaseMs = 2_000;
const dayMs = 86_400_000;
/** In one statement, so that none takes long. */
const deletedMax = 500;
const gathered = { batchMax: 256, inFlightMax: 1 };
/** For timers that must not keep a stopping node alive. */
const unref = { ref: false };

export type Callbacks = ReturnType<typeof makeCallbacks>;

export function makeCallbacks(dependencies: Dependencies) {
  const { config, clock, log, metrics, database, node } = dependencies;
  const rules = makeAddressRules(addressOptions(config));
  const leaseMs = callbackLeaseMs(config);
  const { send, stop: callOff } = makeSender(dependencies, rules);
  const { byId } = makeFindOrders(database.hot, gathered);
  const deliver = makeDeliver({
    store: makeCallbackStore({ query: database.hot, node, findOrder: byId }, gathered),
    ...{ send, callOff, clock, messageOf: makeMessageOf(dependencies) },
    ...{ leaseMs, tryMs: config.callbackTimeoutMs },
    retry: { gapsMs: config.callbackRetryGapsMs, random: Math.random },
    onAttempt({ orderId, sequence, tries }, { status, failure, durationMs }, verdict) {
      const outcome = status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
      metrics.callbackMs.observe({ outcome }, durationMs);
      const facts = { order: orderId, sequence, status, failure, ms: durationMs };
      const ended = "ended" in verdict ? verdict.ended : undefined;
      const isUsual = ended === "delivered" && tries === 0;
      // The database has every attempt, so the usual case is logged at level debug only.
      if (isUsual) log("callback.delivered", facts);
      else if (ended === undefined || ended === "delivered") log("callback.attempted", facts);
      else log("callback.ended", { ...facts, ended });
    },
    onTrouble: ({ orderId, sequence }, error) =>
      log("callback.failed", { err: error, order: orderId, sequence }),
  });
  return {
    rules,
    /** Sends the callback that a committed step owes. */
    tell({ order, callback, at }: Step): void {
      if (callback === undefined) return;
      const key = { merchantId: order.merchantId, orderId: order.id };
      // As its row has it, however long the database took to write that.
      const leaseUntil = later(at, leaseMs);
      deliver.start({ ...callback, ...key, tries: 0, begunAt: at, leaseUntil }, order);
    },
    claimDue: deliver.claimDue,
    idle: deliver.idle,
    /** Deletes some of the callbacks that were kept for long enough; answers how many. */
    async deleteOld(): Promise<number> {
      if (config.callbackKeepDays === 0) return 0;
      const before = later(clock.now(), -config.callbackKeepDays * dayMs);
      return deleteEndedCallbacks(database.hot, { before, most: deletedMax });
    },
    /** The remaining callbacks are due for the next node that looks. */
    async stop(): Promise<void> {
      const graceMs = Math.min(graceMaxMs, config.drainMs);
      // A database that is away must not hold us up: the leases run out.
      await Promise.race([deliver.stop(graceMs), delay(graceMs + releaseMs, undefined, unref)]);
      callOff();
    },
  };
}

/** The worker thread reads the system clock; with another clock, the node's own thread sends. */
function makeSender({ config, clock, log }: Dependencies, rules: AddressRules): Send {
  const asksSystem = config.environment === "staging";
  const proxy = config.callbackProxy === "" ? undefined : config.callbackProxy;
  const shared = { timeoutMs: config.callbackTimeoutMs, proxy };
  if (clock !== systemClock) {
    const resolve = asksSystem ? askSystem : makeResolve(rules.isNamed);
    return makeSend({ ...shared, rules, clock, resolve });
  }
  return startCallbackWorker(
    { ...shared, asksSystem, addresses: addressOptions(config) },
    { clock, onLost: (cause) => log("callback.worker_lost", { cause }) },
  );
}

/** Nothing when the order no longer knows the transaction. */
function makeMessageOf({ clock, vault, configuration }: Dependencies) {
  return (callback: Callback, order: Order): Message | undefined => {
    const transaction = transactionsOf(order).find(
      ({ serialNumber }) => serialNumber === callback.serialNumber,
    );
    if (transaction === undefined) return undefined;
    const endpoint = configuration.getEndpoint(order.endpointId);
    const { merchant, settings } = endpoint;
    const now = clock.now();
    const sign = (text: string) => signFor(merchant, text);
    return makeMessage(callback, {
      fields: printResult(order, { sign, transaction }),
      method: settings.callbackMethod ?? "GET",
      secrets: () => secretNames(endpoint, now).map(vault.secretFor),
      timestamp: Math.floor(now / 1000),
    });
  };
}

/** As long as a node may be silent with a callback; a try that hangs must be over long before. */
export function callbackLeaseMs({ callbackTimeoutMs }: Config): number {
  return 4 * callbackTimeoutMs;
}

/** In staging all of this machine may be called, at any port. */
function addressOptions(config: Config): AddressOptions {
  return {
    ports: partsOf(config.callbackPorts).map(Number),
    allowsLoopback: config.environment === "staging",
    privateNetworks: partsOf(config.callbackPrivateNetworks),
    names: partsOf(config.callbackNames),
  };
}
