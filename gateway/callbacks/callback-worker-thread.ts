/**
 * Runs in its own thread, so that payments do not wait for receivers' DNS, certificates and
 * responses.
 */
import { workerData } from "node:worker_threads";
import { serveRequests } from "../worker-threads/worker-thread.ts";
import type { CallbackRequest } from "./callback.ts";
import { makeSenders, type SendingOptions, type SendOutcome } from "./send.ts";

const options: SendingOptions = workerData;
const { opened, closed } = makeSenders(options);

serveRequests((message: CallbackRequest, done: (outcome: SendOutcome) => void) =>
  (message.isPrivate === true ? opened : closed)(message, done),
);
