/**
 * Runs in a thread of its own: strangers' addresses, certificates and answers are dealt with here,
 * and no payment waits for them. What is answered in one turn goes back together: to wake somebody
 * costs more than to tell him.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../values/time.ts";
import { makeAddressRules } from "./addresses.ts";
import type { SendingOptions } from "./callback-worker.ts";
import { type Plain, packAnswer, unpackQuestions } from "./callback-worker-messages.ts";
import { askSystem, makeResolve } from "./look-up.ts";
import { makeSend } from "./send.ts";

const { addresses, asksSystem, timeoutMs, proxy }: SendingOptions = workerData;
const rules = makeAddressRules(addresses);
const resolve = asksSystem ? askSystem : makeResolve(rules.isNamed);
const { send } = makeSend({ rules, resolve, timeoutMs, proxy, clock: systemClock });

let answers: Plain[] = [];

parentPort?.on("message", async (words: readonly Plain[]) => {
  for (const [id, message] of unpackQuestions(words)) {
    void send(message).then((attempt) => answer(packAnswer(id, attempt)));
  }
});

function answer(words: readonly Plain[]): void {
  if (answers.length === 0) setImmediate(tell);
  answers.push(...words);
}

function tell(): void {
  parentPort?.postMessage(answers);
  answers = [];
}
