/**
 * `gw start`, which is `npm start`: everything with one command. The database, the sandbox bank and
 * the demonstration merchant in staging, the gateway, and a page of text that says how to pay.
 */
import { join, resolve } from "node:path";
import { baseUrlOf } from "../config/config.ts";
import { type Gateway, startGateway } from "../main.ts";
import { makeLog, openLogFile } from "../observability/log.ts";
import { startBankProcess } from "../staging/bank-process.ts";
import { printBanner } from "../staging/banner.ts";
import {
  demonstrationLogin,
  makeDemonstration,
  putSandboxDirectory,
  putSandboxGates,
  writeDemoFile,
} from "../staging/demonstration.ts";
import { makeDemonstrationKey } from "../staging/demonstration-key.ts";
import { prepareWallets } from "../staging/demonstration-wallets.ts";
import { makeWelcome } from "../staging/welcome-facts-source.ts";
import { Problem } from "../values/problem.ts";
import { complain, type Installation, openInstallation } from "./installation.ts";
import { refuseInProduction } from "./production.ts";
import { rotate } from "./rotate.ts";
import { untilToldToStop } from "./signals.ts";
import { explainListening } from "./start-problems.ts";
import { startWorkers } from "./workers.ts";

export async function start(): Promise<void> {
  const startedAt = Number(process.env["TOLLGATE_STARTED_AT"] ?? Date.now());
  const report = (progress: string) => process.stdout.write(`${progress}\n`);
  report("Starting PostgreSQL …");
  const installation = await openInstallation({
    environment: process.env,
    report,
    besideOthers: false,
  });
  if (installation instanceof Problem) return complain(installation);
  try {
    if (installation.config.environment === "staging")
      await startStaging(installation, report, startedAt);
    else await startProduction(installation, report);
  } finally {
    await installation.close();
  }
}

async function startStaging(
  installation: Installation,
  report: (progress: string) => void,
  startedAt: number,
): Promise<void> {
  report("Starting the sandbox bank …");
  const bank = await startBankProcess(installation.config);
  if (bank instanceof Problem) return complain(bank);
  try {
    const gates = await putSandboxGates(installation, bank.address);
    await putSandboxDirectory(installation, bank.address);
    const set = await makeDemonstration(installation, gates);
    const wallets = await prepareWallets(installation, demonstrationLogin, bank.address.url);
    const unreadable = await makeDemonstrationKey(installation);
    if (unreadable !== undefined) return complain(unreadable);
    await run(installation, report, async (gateway) => {
      const baseUrl = baseUrlOf(installation.config, gateway.port);
      const demoFile = await writeDemoFile(installation, {
        baseUrl,
        set,
        bank: bank.address,
        wallets,
      });
      await untilReady(gateway.port);
      printBanner({
        baseUrl,
        set,
        bank: bank.address,
        demoFile,
        config: installation.config,
        startedAt,
      });
    });
  } finally {
    await bank.stop();
  }
}

async function startProduction(
  installation: Installation,
  report: (progress: string) => void,
): Promise<void> {
  const refused = await refuseInProduction(installation);
  if (refused !== undefined) return complain(refused);
  await run(installation, report, async (gateway) => {
    report(`Tollgate listens on ${baseUrlOf(installation.config, gateway.port)}`);
  });
}

async function run(
  installation: Installation,
  report: (progress: string) => void,
  onListening: (gateway: Pick<Gateway, "port">) => Promise<void>,
): Promise<void> {
  const told = untilToldToStop();
  report("Starting the gateway …");
  const gateway = await startNodes(installation);
  if (gateway instanceof Problem) return complain(gateway);
  await onListening(gateway);
  await told;
  report("Stopping: finishing the orders in hand …");
  await gateway.stop();
}

async function startNodes(
  installation: Installation,
): Promise<{ readonly port: number; stop(): Promise<void> } | Problem> {
  const { config } = installation;
  if (config.workers > 1) return startWorkers(installation);
  const destination = openLogFile(await rotate(join(resolve(config.dataDir), "gateway.log")));
  try {
    const log = makeLog(config.logLevel, destination);
    const gateway = await startGateway({
      ...installation,
      log,
      welcome: makeWelcome(installation),
    });
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
