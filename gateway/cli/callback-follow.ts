/**
 * `gw callback listen`; with `--gateway` it brings the demonstration merchant's callbacks from a
 * gateway in staging to a developer's machine that the gateway cannot reach. It asks again and
 * again, so it outlives a restart of the gateway and misses nothing.
 */

import { setTimeout as pause } from "node:timers/promises";
import { option, preset } from "../administration/field.ts";
import type { Output } from "../administration/session.ts";
import { Problem } from "../values/problem.ts";
import { performInstalled } from "./action-commands.ts";
import { greet, listenForCallbacks, printCallback, readFields } from "./callback-listen.ts";
import { untilStopSignal } from "./command.ts";
import {
  type CallbackKey,
  causeOf,
  type DemonstrationMerchant,
  type Forward,
  isHttpAddress,
  makeForward,
  openDemonstrationMerchant,
} from "./demonstration-merchant.ts";
import { installed, ownCommand } from "./machine-command.ts";

const askEveryMs = 300;
/** As the gateway waits. */
const answersWithinMs = 15_000;

const listenFields = {
  gateway: option("url", "url", [
    "take the demonstration merchant's callbacks from a gateway in staging, which need not " +
      "reach this machine",
    "die Callbacks des Demonstrationshändlers von einem Gateway in Staging holen, das diesen " +
      "Rechner nicht erreichen muss",
  ]),
  forwardTo: option("url", "url", [
    "with --gateway: send each callback on to this address",
    "mit --gateway: jeden Callback an diese Adresse weitersenden",
  ]),
  port: preset("whole", "port", "9099", [
    "where to listen, without --gateway",
    "wo gewartet wird, ohne --gateway",
  ]),
  answer: preset("whole", "status", "200", [
    "the HTTP status of every answer, without --gateway",
    "der HTTP-Status jeder Antwort, ohne --gateway",
  ]),
};
const listening = {
  name: "callback listen",
  does: [
    "receive and print callbacks on this machine, for development",
    "Callbacks auf diesem Rechner empfangen und ausgeben, für die Entwicklung",
  ],
  right: "see_orders",
  mode: "look",
  fields: listenFields,
} as const;
const listenHere = installed({ ...listening, perform: listenForCallbacks });

/** With `--gateway` it needs no installation: that gateway may be on another machine. */
export const listenCommands = [
  ownCommand({
    ...listening,
    run(given, terminal) {
      const { gateway, forwardTo } = given;
      if (gateway !== undefined) return followCallbacks(gateway, forwardTo, terminal.json);
      if (forwardTo === undefined) return performInstalled(listenHere, given, terminal);
      return new Problem("--forward-to needs --gateway, the address of a gateway in staging.");
    },
  }),
];

async function followCallbacks(
  gateway: string,
  forwardTo: string | undefined,
  json: boolean,
): Promise<Output> {
  if (forwardTo !== undefined && !isHttpAddress(forwardTo)) {
    return new Problem(`${forwardTo} is no address like http://localhost:3000/callback.`);
  }
  const merchant = await openDemonstrationMerchant(gateway);
  if (merchant instanceof Problem) return merchant;
  const forward = forwardTo === undefined ? undefined : makeForward(forwardTo, answersWithinMs);
  const target = forwardTo === undefined ? "are printed" : `go to ${forwardTo}`;
  const greeting = `Callbacks of ${merchant.login} at ${merchant.url} ${target}. Ctrl-C ends it.`;
  const take = (key: CallbackKey) => takeOne(merchant, key, { forward, to: forwardTo, json });
  const ended = new AbortController();
  const stopped = untilStopSignal().then(() => ended.abort());
  const problem = await Promise.race([
    stopped.then(() => undefined),
    follow(merchant, { take, signal: ended.signal, onOpen: () => greet(greeting, json) }),
  ]);
  ended.abort();
  return problem;
}

type Following = {
  readonly take: (key: CallbackKey) => Promise<Problem | undefined>;
  readonly signal: AbortSignal;
  /** From then on no callback is missed. */
  readonly onOpen: () => void;
};

/** Takes each callback once, in their order, until a problem comes that no waiting solves. */
async function follow(
  merchant: DemonstrationMerchant,
  { take, signal, onOpen }: Following,
): Promise<Problem | undefined> {
  let since = "";
  let taken: Set<string> | undefined;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const page = await merchant.listCallbacks(since);
      if (page instanceof Problem) return page;
      if (isAway) process.stderr.write("The gateway is back.\n");
      isAway = false;
      const names = new Set(page.callbacks.map(nameOf));
      if (taken === undefined) onOpen();
      taken ??= names;
      for (const key of page.callbacks.toReversed()) {
        const problem = taken.has(nameOf(key)) ? undefined : await take(key);
        if (problem !== undefined) return problem;
        taken.add(nameOf(key));
      }
      // The next page repeats a part of this one, and nothing older.
      taken = names;
      since = String(page.now);
    } catch (error) {
      if (!isAway)
        process.stderr.write(`The gateway is away: ${causeOf(error)}. Waiting for it.\n`);
      isAway = true;
    }
    await pause(askEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function nameOf({ order, sequence }: CallbackKey): string {
  return `${order}-${sequence}`;
}

type Taking = {
  readonly forward: Forward | undefined;
  readonly to: string | undefined;
  readonly json: boolean;
};

/** Throws while the gateway is away. */
async function takeOne(
  merchant: DemonstrationMerchant,
  key: CallbackKey,
  { forward, to, json }: Taking,
): Promise<Problem | undefined> {
  const request = await merchant.writeCallback(key, to);
  if (request instanceof Problem) return request;
  const outcome = await forward?.(request);
  const fields = readFields(request);
  printCallback({ ...request, fields, signer: merchant.login, outcome }, json);
  return undefined;
}
