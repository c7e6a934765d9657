/**
 * Runs in a thread of its own: payments do not wait for receivers' DNS, certificates and responses.
 */
import { workerData } from "node:worker_threads";
import { serveRequests } from "../worker-threads/worker-thread.ts";
import { makeAddressRules, makeResolve, resolveBySystem } from "./addresses.ts";
import type { SendingOptions } from "./callback-worker.ts";
import { makeSend } from "./send.ts";

const { addresses, resolvesBySystem, proxy }: SendingOptions = workerData;
const rules = makeAddressRules(addresses);
const resolve = resolvesBySystem ? resolveBySystem : makeResolve(rules.isNamed);

serveRequests(makeSend({ rules, resolve, proxy }));
