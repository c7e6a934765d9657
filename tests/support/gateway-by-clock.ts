/**
 * A gateway in the test's own process that uses the test's clock, with settings under which it
 * never waits for real time.
 */
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Gateway, startGateway } from "@tollgate/gateway";
import { makeLog } from "@tollgate/gateway/log";
import { readReadiness } from "./readiness.ts";
import type { TestClock } from "./test-clock.ts";

/**
 * Settings for a clock that stands still: the gateway looks for work only when the test says so,
 * and an order waits for no link. Links are not tested by an echo, because an answer that is still
 * on its way when the clock jumps would count as missing. The database may be slow on a busy
 * machine.
 */
export const quiet = {
  GW_CLAIM_EVERY_S: "86400",
  GW_ACQUIRER_ECHO_AFTER_S: "864000",
  GW_PORTAL_INDEX_EVERY_S: "86400",
  GW_PORT: "0",
  GW_RESULTS_PORT: "0",
  GW_DATABASE_CONNECT_TIMEOUT_S: "60",
  GW_DATABASE_STATEMENT_TIMEOUT_S: "60",
  GW_DRAIN_S: "0",
  GW_LINK_WAIT_S: "0",
  GW_READY_TIMEOUT_S: "0.2",
  GW_NODE_NAME_WAIT_S: "0",
};

/**
 * Longer than the answer of a charge and that to the sign-off together, but short enough that the
 * orders' own deadlines do not pass while a busy machine stops a gateway.
 */
const stopsWithinMs = 60_000;

type Parts = Omit<Parameters<typeof startGateway>[0], "clock" | "readTime">;

/** Starts a gateway. The clock of its machine may be ahead of the database's. */
export function startByClock(clock: TestClock, parts: Parts, aheadMs = 0): Promise<Gateway> {
  const time = { clock: clock.ahead(aheadMs), readTime: async () => clock.now() };
  return startGateway({ ...parts, ...time });
}

/**
 * Stops a gateway while the clock moves on, because it waits for the bank's answers by that clock.
 */
export async function stopByClock(clock: TestClock, gateway: Gateway): Promise<void> {
  let ended = false;
  const stopping = gateway.stop().finally(() => {
    ended = true;
  });
  for (let leftMs = stopsWithinMs; !ended; leftMs -= 100) {
    clock.advance(100);
    // Timers that are still pending expire too, but no longer at once.
    await (leftMs > 0 ? setImmediate() : pause(20));
  }
  await stopping;
}

export function recordLog() {
  const logged: string[] = [];
  return { logged, log: makeLog("debug", { write: (line) => void logged.push(line) }) };
}

/** Waits until all links have signed on, except those that cannot. */
export async function untilDown(
  gateway: Gateway,
  down: readonly string[],
  meanwhile: () => void = () => undefined,
): Promise<void> {
  const wanted = down.map((name) => `gate ${name}`).sort();
  while (!isDeepStrictEqual((await missingIn(gateway)).sort(), wanted)) meanwhile();
}

async function missingIn({ port }: Gateway): Promise<string[]> {
  const { missing } = await readReadiness(`http://127.0.0.1:${port}`);
  // A test may hold the tables of orders locked while it waits for a link.
  return Object.keys(missing).filter((name) => name !== "database" && !name.startsWith("cell "));
}
