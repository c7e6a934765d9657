/**
 * `gw callback listen`; with `--gateway` it brings the demonstration merchant's callbacks from a
 * gateway in staging to a developer's machine that the gateway cannot reach. It asks again and
 * again, so it outlives a restart of the gateway and misses nothing.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Command, Option } from "commander";
import { Problem } from "../values/problem.ts";
import { greet, listenForCallbacks, printCallback, readFields } from "./callback-listen.ts";
import { makeRun, type Output, setOutput, untilStopSignal } from "./command.ts";
import {
  type CallbackKey,
  causeOf,
  type DemonstrationMerchant,
  type Forward,
  isHttpAddress,
  makeForward,
  openDemonstrationMerchant,
} from "./demonstration-merchant.ts";

const askEveryMs = 300;
/** As the gateway waits. */
const answersWithinMs = 15_000;

type ListenOptions = { readonly gateway?: string; readonly forwardTo?: string };

/** With `--gateway` it needs no installation: that gateway may be on another machine. */
export function addListen(callback: Command): void {
  const command = callback.command("listen");
  const receive = makeRun(command, listenForCallbacks);
  const run = (given: never[], json: boolean) => {
    const { gateway, forwardTo }: ListenOptions = given.at(-1) ?? {};
    if (gateway !== undefined) return followCallbacks(gateway, forwardTo, json);
    if (forwardTo === undefined) return receive(given, json);
    return new Problem("--forward-to needs --gateway, the address of a gateway in staging.");
  };
  command.description("receive and print callbacks on this machine, for development");
  // biome-ignore format: a table
  setOutput(command, run, [
    new Option("--gateway <url>", "take the demonstration merchant's callbacks from a gateway in staging, which need not reach this machine"),
    new Option("--forward-to <url>", "with --gateway: send each callback on to this address"),
    new Option("--port <port>", "where to listen, without --gateway").default("9099"),
    new Option("--answer <status>", "the HTTP status of every answer, without --gateway").default("200"),
  ]);
}

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
