/**
 * Runs in its own thread, so that payments do not wait for receivers' DNS, certificates and
 * responses.
 */
import { workerData } from "node:worker_threads";
import { serveRequests } from "../worker-threads/worker-thread.ts";
import {
  type AddressOptions,
  closedOptions,
  makeAddressRules,
  makeResolve,
  resolveBySystem,
} from "./addresses.ts";
import type { CallbackRequest } from "./callback.ts";
import type { SendingOptions } from "./callback-worker.ts";
import { makeSend, type Send, type SendOutcome } from "./send.ts";

const { addresses, resolvesBySystem, proxy }: SendingOptions = workerData;
// Connections to addresses that one endpoint may use are not shared with the others.
const opened = makeSender(addresses);
const closed = makeSender(closedOptions(addresses));

serveRequests((message: CallbackRequest, done: (outcome: SendOutcome) => void) =>
  (message.isPrivate === true ? opened : closed)(message, done),
);

function makeSender(options: AddressOptions): Send {
  const rules = makeAddressRules(options);
  const resolve = resolvesBySystem ? resolveBySystem : makeResolve(rules.isNamed);
  return makeSend({ rules, resolve, proxy });
}
