/**
 * A whole world for a test: a real database, the sandbox bank and the gateway, all over sockets,
 * with a clock that the test moves. Nothing in it waits for real time: `settle` does what is due.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-world-"));
  const clock = new TestClock();
  const logged: string[] = [];
  const log = makeLog("debug", { write: (line) => void logged.push(line) });
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
  const environment = {
    GW_DATA_DIR: dataDir,
    GW_DATABASE_URL: await makeDatabase(),
    ...quiet,
    ...settings,
  };
  const house = await open(environment);
  const gateId = await putSandboxGate(house, { url: bank.url, host: bank.hostAddress });
  const set = await makeDemonstration(house, gateId);
  let gateway = await start();
  t.after(async () => {
    await gateway.stop();
    await house.close();
    await bank.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

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
  };

  /** The gateway ends with orders in hand, and another one starts on the same database. */
  async function restart(): Promise<void> {
    await gateway.stop();
    gateway = await start();
  }

  async function start(): Promise<Gateway> {
    const started = await startGateway({ ...house, log, clock });
    await untilReady(started, bank);
    return started;
  }
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
