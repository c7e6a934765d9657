/**
 * Staging adds to the gateway the sandbox, the demonstration merchant, the page at `/` and the
 * issuers of test cards. Only `administration/installation/staging.ts` loads this folder, and only
 * where GW_ENV is staging.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request as askPlainly } from "node:http";
import { request as askSecurely } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { demonstrationLogin } from "../administration/merchants/merchant-set.ts";
import { baseUrlOf, type Config } from "../config/config.ts";
import type { Installation } from "../installation/installation.ts";
import { Problem } from "../values/problem.ts";
import { callbackFeedRoutes } from "./callback-feed.ts";
import {
  type Demonstration,
  makeDemonstration,
  makeDemonstrationKey,
  preparePageWallets,
  preparePortal,
  prepareWallets,
  putSandboxDirectory,
  putSandboxGates,
  readDocumentValues,
  type SandboxAddress,
  writeDemoFile,
} from "./demonstration.ts";
import { firstSale, makeRequests, makeSecureSale, writeCommand } from "./example-sale.ts";
import type { StagingParts } from "./parts.ts";
import { backToPortal, sandboxHandlers } from "./sandbox-portal.ts";
import { sandboxNetworks, sandboxRanges } from "./sandbox-ranges.ts";
import { makeWalletSheet } from "./wallet-sheet.ts";
import { findSandbox, makeFindFacts, makeWelcomeRoute, readDemo } from "./welcome.ts";

/** Plays the cardholder, for `gw pay --pass`. */
export async function passAuthentication(address: string): Promise<void> {
  await (await import("./cardholder.ts")).passAuthentication(address);
}

/** The issuers of test cards, and the networks of documents. */
export const sandboxData = { ranges: sandboxRanges, networks: sandboxNetworks };

/** Makes the parts that a node only has in staging. */
export function makeStagingParts(installation: Installation): StagingParts {
  const { config } = installation;
  const findFacts = makeFindFacts(installation);
  const sheet = makeWalletSheet(async () => (await readDemo(config))?.sandbox.url);
  return {
    ...sandboxData,
    documentValues: () => readDocumentValues(installation.config),
    walletSheet: sheet.walletSheet,
    portal: (reads) => sandboxHandlers({ reads, findSandbox: () => findSandbox(config) }),
    routes: (node) => [
      makeWelcomeRoute(async () => findFacts(await node.findState())),
      ...callbackFeedRoutes(node),
      ...sheet.routes,
      backToPortal,
    ],
  };
}

/** Starts the sandbox and prepares the demonstration merchant for its ports, which may change. */
export async function startSandbox(installation: Installation, report: (progress: string) => void) {
  report("Starting the sandbox …");
  const started = await startProgram(installation.config);
  if (started instanceof Problem) return started;
  const { address, stop } = started;
  const prepared = await prepare(installation, address).catch(async (error) => {
    await stop();
    throw error;
  });
  if (prepared instanceof Problem) {
    await stop();
    return prepared;
  }
  return {
    stop,
    /** Writes `demo.json`, and prints addresses, credentials and a sale that can be pasted. */
    async announce(
      { port, adminPort }: Ports,
      startedAt: number,
      processes: number,
    ): Promise<void> {
      const { config } = installation;
      const shown = { ...prepared, baseUrl: baseUrlOf(config, port), sandbox: address };
      const demoFile = await writeDemoFile(installation, shown);
      await preparePageWallets(installation, demonstrationLogin, shown);
      const isSecure = adminPort === "" && config.tlsCertificateFile !== "";
      await untilReady(isSecure ? askSecurely : askPlainly, adminPort || port);
      printBanner({ ...shown, demoFile, config, startedAt, processes });
    },
  };
}

async function prepare(installation: Installation, address: SandboxAddress) {
  const set = await makeDemonstration(installation, await putSandboxGates(installation, address));
  await putSandboxDirectory(installation, address);
  const wallets = await prepareWallets(installation, demonstrationLogin, address.url);
  const portal = await preparePortal(installation, demonstrationLogin);
  return (await makeDemonstrationKey(installation)) ?? { set, wallets, portal };
}

/** Waits for the links, because the first payment should not meet one that is still signing on. */
async function untilReady(ask: typeof askPlainly, port: number): Promise<void> {
  // The certificate is for the gateway's public name.
  const target = { host: "127.0.0.1", port, path: "/health/ready", rejectUnauthorized: false };
  const giveUpAt = Date.now() + 10_000;
  while (Date.now() < giveUpAt) {
    const asked = once(ask(target).end(), "response").then(([answer]) => json(answer));
    // Waits even for gates that a node does not need to be ready.
    const { missing } = ((await asked.catch(() => undefined)) ?? {}) as { missing?: object };
    if (missing !== undefined && Object.keys(missing).length === 0) return;
    await pause(50);
  }
}

type Ports = { readonly port: number; readonly adminPort: number | "" };

type Banner = Demonstration & {
  readonly demoFile: string;
  readonly config: Config;
  readonly startedAt: number;
  readonly processes: number;
};

function printBanner({ baseUrl, set, sandbox, portal, demoFile, config, ...given }: Banner): void {
  const { startedAt, processes } = given;
  const logins = Object.values(portal ?? {}).map(({ login, password }) => `${login} ${password}`);
  const shop = { baseUrl, pathWord: config.pathWord, merchant: set };
  // A new order id at each start, so that the pasted command begins a new order.
  const clientOrderId = `example-${Math.floor(startedAt / 1000)}`;
  const sale = { ...firstSale, endpoint: set.endpoints["plain"] ?? "", clientOrderId };
  const requests = makeRequests(shop, sale);
  const secureSale = makeSecureSale(
    baseUrl,
    set.endpoints["secure"] ?? "",
    `secure-${clientOrderId}`,
  );
  const secure = makeRequests(shop, secureSale);
  const endpoints = Object.entries(set.endpoints).map(([name, id]) => `${name} ${id}`);
  process.stdout.write(`
Tollgate is up after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.

  Gateway        ${baseUrl}/
  Documentation  ${baseUrl}/docs/
  Portal         ${baseUrl}/portal/   (${logins.join(", ")})
  Sandbox        ${sandbox.url}   (ISO 8583 host at ${sandbox.host})
  Credentials    ${demoFile}
  Log            ${config.dataDir}/gateway.log
  Processes      ${processes} (GW_WORKERS)

  Merchant login ${set.login}
  Control key    ${set.controlKey}
  Endpoints      ${endpoints.join(", ")}, group ${set.group}

Pay ${sale.amount} ${sale.currency} with a test card (paste it as it is):

${writeCommand(requests.sale)}

Then ask for its status:

${writeCommand(requests.status)}

The same with 3-D Secure:

${writeCommand(secure.sale)}

Open the \`redirect-to\` of its status in a browser; the code is 1234:

${writeCommand(secure.status, "application/json")}

Ctrl-C stops everything.
`);
}

const sandboxProgram = join(import.meta.dirname, "../../sandbox-bank/main.ts");

/**
 * Starts the sandbox as a child process in its own process group. Ctrl-C only reaches the
 * gateway, which can then finish its orders. The child ends with the gateway, because it follows
 * its standard input.
 */
async function startProgram(config: Config) {
  const child = spawn(process.execPath, [sandboxProgram], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      GW_BANK_PORT: String(config.bankPort),
      GW_BANK_HOST_PORT: String(config.bankHostPort),
      GW_BANK_BINARY_HOST_PORT: String(config.bankBinaryHostPort),
      GW_BANK_ISO93_HOST_PORT: String(config.bankIso93HostPort),
      GW_BANK_DIRECTORY_PORT: String(config.bankDirectoryPort),
      GW_DATA_DIR: config.dataDir,
      GW_BANK_FOLLOW_STDIN: "1",
    },
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-2000);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"bank":"ready"')) continue;
    // Later output is not read and must not fill the pipe.
    child.stdout.resume();
    const { url: loopback, host, binaryHost, iso93Host, directory } = JSON.parse(line);
    const url: string = loopback.replace("127.0.0.1", "localhost");
    const address: SandboxAddress = { url, host, binaryHost, iso93Host, directory };
    return { address, stop: () => stopProcess(child) };
  }
  return new Problem(
    `The sandbox did not start: ${errors.trim()} ` +
      "Set GW_BANK_PORT, GW_BANK_HOST_PORT, GW_BANK_BINARY_HOST_PORT, GW_BANK_ISO93_HOST_PORT " +
      "and GW_BANK_DIRECTORY_PORT to free ports (0 takes any).",
  );
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
