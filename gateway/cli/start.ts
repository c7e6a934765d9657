/**
 * `gw start`, which is `npm start`: everything with one command. The database, the sandbox bank and
 * the demonstration merchant in staging, the gateway, and a page of text that says how to pay.
 */
import { join, resolve } from "node:path";
import { baseUrlOf } from "../config.ts";
import { makeLog, openLogFile } from "../log/log.ts";
import { type Gateway, startGateway } from "../main.ts";
import { StartProblem } from "../storage/embedded.ts";
import { startBankProcess } from "./bank-process.ts";
import { printBanner } from "./banner.ts";
import {
  demonstrationLogin,
  makeDemonstration,
  putSandboxDirectory,
  putSandboxGates,
  writeDemoFile,
} from "./demonstration.ts";
import { makeDemonstrationKey } from "./demonstration-key.ts";
import { prepareWallets } from "./demonstration-wallets.ts";
import { complain, type House, openHouse } from "./house.ts";
import { refuseInProduction } from "./production.ts";
import { rotate } from "./rotate.ts";
import { untilToldToStop } from "./signals.ts";
import { explainListening } from "./start-problems.ts";
import { makeWelcome } from "./welcome.ts";
import { startWorkers } from "./workers.ts";

export async function start(): Promise<void> {
  const startedAt = Number(process.env["TOLLGATE_STARTED_AT"] ?? Date.now());
  const report = (progress: string) => process.stdout.write(`${progress}\n`);
  report("Starting PostgreSQL …");
  const house = await openHouse({ environment: process.env, report, besideOthers: false });
  if (house instanceof StartProblem) return complain(house);
  try {
    if (house.config.environment === "staging") await startStaging(house, report, startedAt);
    else await startProduction(house, report);
  } finally {
    await house.close();
  }
}

async function startStaging(
  house: House,
  report: (progress: string) => void,
  startedAt: number,
): Promise<void> {
  report("Starting the sandbox bank …");
  const bank = await startBankProcess(house.config);
  if (bank instanceof StartProblem) return complain(bank);
  try {
    const gates = await putSandboxGates(house, bank.address);
    await putSandboxDirectory(house, bank.address);
    const set = await makeDemonstration(house, gates);
    const wallets = await prepareWallets(house, demonstrationLogin, bank.address.url);
    const unreadable = await makeDemonstrationKey(house);
    if (unreadable !== undefined) return complain(unreadable);
    await run(house, report, async (gateway) => {
      const baseUrl = baseUrlOf(house.config, gateway.port);
      const demoFile = await writeDemoFile(house, { baseUrl, set, bank: bank.address, wallets });
      await untilReady(gateway.port);
      printBanner({ baseUrl, set, bank: bank.address, demoFile, config: house.config, startedAt });
    });
  } finally {
    await bank.stop();
  }
}

async function startProduction(house: House, report: (progress: string) => void): Promise<void> {
  const refused = await refuseInProduction(house);
  if (refused !== undefined) return complain(refused);
  await run(house, report, async (gateway) => {
    report(`Tollgate listens on ${baseUrlOf(house.config, gateway.port)}`);
  });
}

async function run(
  house: House,
  report: (progress: string) => void,
  onListening: (gateway: Pick<Gateway, "port">) => Promise<void>,
): Promise<void> {
  const told = untilToldToStop();
  report("Starting the gateway …");
  const gateway = await startNodes(house);
  if (gateway instanceof StartProblem) return complain(gateway);
  await onListening(gateway);
  await told;
  report("Stopping: finishing the orders in hand …");
  await gateway.stop();
}

async function startNodes(
  house: House,
): Promise<{ readonly port: number; stop(): Promise<void> } | StartProblem> {
  const { config } = house;
  if (config.workers > 1) return startWorkers(house);
  const destination = openLogFile(await rotate(join(resolve(config.dataDir), "gateway.log")));
  try {
    const log = makeLog(config.logLevel, destination);
    const gateway = await startGateway({ ...house, log, welcome: makeWelcome(house) });
    return {
      port: gateway.port,
      async stop() {
        await gateway.stop();
        destination.flushSync();
      },
    };
  } catch (error) {
    return explainListening(error, config);
  }
}

/** The first payment should not meet a link that is still signing on. */
async function untilReady(port: number): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  while (Date.now() < giveUpAt) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
