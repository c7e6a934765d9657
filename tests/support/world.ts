/**
 * A whole world for a test: a real database, the sandbox bank and the gateway, all over sockets,
 * with a clock that the test moves. Nothing in it waits for real time: `settle` does what is due.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { makeClient } from "@tollgate/client";
import { type Gateway, startGateway } from "@tollgate/gateway";
import {
  createMerchantSet,
  makeDemonstration,
  openVault,
  putSandboxGate,
} from "@tollgate/gateway/demonstration";
import { StartProblem } from "@tollgate/gateway/embedded";
import { type House, openHouse } from "@tollgate/gateway/house";
import { makeLog } from "@tollgate/gateway/log";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import { makeDatabase } from "./database-server.ts";
import { makeMerchant } from "./merchant.ts";
import { TestClock } from "./test-clock.ts";

export type Test = { after(clean: () => unknown): void };
export type World = Awaited<ReturnType<typeof startWorld>>;

/** Work is looked for only when the test says so. */
const quiet = { GW_CLAIM_EVERY_S: "86400", GW_PORT: "0", GW_DRAIN_S: "0" };

export async function startWorld(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const cleanUp = lastFirst(t);
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-world-"));
  await chmod(dataDir, 0o711);
  cleanUp(() => rm(dataDir, { recursive: true, force: true }));
  const clock = new TestClock();
  const logged: string[] = [];
  const log = makeLog("debug", { write: (line) => void logged.push(line) });
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
  cleanUp(() => bank.stop());
  const environment = {
    GW_DATA_DIR: dataDir,
    GW_DATABASE_URL: await makeDatabase(),
    ...quiet,
    ...settings,
  };
  const house = await open(environment);
  cleanUp(() => house.close());
  const gateId = await putSandboxGate(house, { url: bank.url, host: bank.hostAddress });
  const set = await makeDemonstration(house, gateId);
  let gateway = await start();
  cleanUp(() => end(gateway));

  return {
    bank,
    clock,
    house,
    set,
    dataDir,
    logged,
    get gateway() {
      return gateway;
    },
    merchant: () => makeMerchant({ set, baseUrl: () => gateway.url, makeClient }),
    /** Another merchant with endpoints of its own. */
    async stranger() {
      const made = { login: "stranger", gateId };
      const other = await createMerchantSet(house.database, await openVault(house), made);
      await restart();
      return makeMerchant({ set: other, baseUrl: () => gateway.url, makeClient });
    },
    settle: () => gateway.settle(),
    /** Moves the clock and does what is due by then. */
    async pass(durationMs: number) {
      clock.advance(durationMs);
      await gateway.settle();
    },
    restart,
    /** Another node on the same database. */
    async otherNode(nodeName: string): Promise<Gateway> {
      const other = await start({ ...house.config, nodeName });
      cleanUp(() => end(other));
      return other;
    },
  };

  /** The gateway ends with orders in hand, and another one starts on the same database. */
  async function restart(): Promise<void> {
    await end(gateway);
    gateway = await start();
  }

  /** A link that still waits for an answer is given up by the clock, so the clock must go on. */
  async function end(ending: Gateway): Promise<void> {
    let ended = false;
    const stopping = ending.stop().finally(() => {
      ended = true;
    });
    while (!ended) {
      clock.advance(100);
      await setImmediate();
    }
    await stopping;
  }

  async function start(config = house.config): Promise<Gateway> {
    const started = await startGateway({ ...house, config, log, clock });
    await untilReady(started, bank);
    return started;
  }
}

/** What was made last is cleaned up first, also when the making broke off. */
function lastFirst(t: Test): (clean: () => Promise<void>) => void {
  const cleanings: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const clean of cleanings.toReversed()) await clean();
  });
  return (clean) => void cleanings.push(clean);
}

async function open(environment: Readonly<Record<string, string>>): Promise<House> {
  const house = await openHouse({ environment, report: () => undefined, besideOthers: false });
  if (house instanceof StartProblem) throw new Error(house.sentence);
  return house;
}

/** The link signs on by itself; a world begins when it has. */
async function untilReady({ port }: Gateway, bank: Bank): Promise<void> {
  if (bank.switches().hostDown || bank.switches().refuseSignOn) return;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
    if (answer.ok) return;
  }
}
