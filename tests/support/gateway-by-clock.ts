/**
 * A gateway in the test's own process that goes by the test's clock, with settings under which
 * nothing in it waits for real time.
 */
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Gateway, startGateway } from "@tollgate/gateway";
import { makeLog } from "@tollgate/gateway/log";
import { readReadiness } from "./readiness.ts";
import type { TestClock } from "./test-clock.ts";

/**
 * Work is looked for only when the test says so, and an order waits for no link, because the clock
 * that would end the wait stands still. And no link is tested by an echo: one whose answer
 * is still on its way when the clock jumps would count as unanswered. The database may take its
 * time on a busy machine.
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
 * More than the answer of a charge and the one to the sign-off may take together, and no more: the
 * orders' own deadlines must not pass because a busy machine is slow to stop a gateway.
 */
const stopsWithinMs = 60_000;

type Parts = Omit<Parameters<typeof startGateway>[0], "clock" | "readTime">;

/** The clock of its machine may be ahead of the database's. */
export function startByClock(clock: TestClock, parts: Parts, aheadMs = 0): Promise<Gateway> {
  const time = { clock: clock.ahead(aheadMs), readTime: async () => clock.now() };
  return startGateway({ ...parts, ...time });
}

/** The clock goes on while a gateway stops, because it waits for the bank's answers by it. */
export async function stopByClock(clock: TestClock, gateway: Gateway): Promise<void> {
  let ended = false;
  const stopping = gateway.stop().finally(() => {
    ended = true;
  });
  for (let leftMs = stopsWithinMs; !ended; leftMs -= 100) {
    clock.advance(100);
    // What still waits by the clock ends too, but no longer at once.
    await (leftMs > 0 ? setImmediate() : pause(20));
  }
  await stopping;
}

export function recordLog() {
  const logged: string[] = [];
  return { logged, log: makeLog("debug", { write: (line) => void logged.push(line) }) };
}

/** Links sign on by themselves; a world begins when all have but those that cannot. */
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
  // A test may hold the tables of orders locked, and wait for a link meanwhile.
  return Object.keys(missing).filter((name) => name !== "database" && !name.startsWith("cell "));
}
