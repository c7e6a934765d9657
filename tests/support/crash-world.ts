/**
 * A world for crash tests: database, bank and gateway nodes over sockets, the nodes as processes
 * that can be killed.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BankAddress } from "@tollgate/gateway/demonstration";
import type { MerchantSet } from "@tollgate/gateway/merchant-set";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import {
  findFreePort,
  type ResultsBalancer,
  startResultsBalancer,
} from "./bank/results-balancer.ts";
import { startTrapProxy, type TrapProxy } from "./bank/trap-proxy.ts";
import { atEnd, type Test } from "./clean-up.ts";
import { copyInstallation, furnish, openFor } from "./installation.ts";
import { extendProgram, type Program, startProgram } from "./programs.ts";
import { until } from "./until.ts";

export type Node = Program & {
  readonly url: string;
  /** Where it takes results of challenges itself, behind the address that all nodes share. */
  readonly resultsPort: number;
  untilReady(): Promise<void>;
};
export type CrashWorld = Awaited<ReturnType<typeof startCrashWorld>>;

type BankPlace = {
  readonly url: string;
  readonly hostAddress: string;
  readonly binaryHostAddress: string;
  readonly iso93HostAddress: string;
  readonly directoryUrl: string;
};
export type CrashOptions = {
  /** Another database than the test run's, for tests that kill its server. */
  readonly databaseUrl?: string;
  /** A bank of the test's own; without it, one in this process. */
  readonly startBank?: (dataDir: string) => Promise<BankPlace>;
  readonly settings?: Readonly<Record<string, string>>;
};

/**
 * Work is looked for often. Answers may take as long as a busy machine needs, but no longer: a host
 * that does not know a charge must say so twice, and the timeout lies between.
 */
// biome-ignore format: a table
export const crashTimes = {
  GW_ACQUIRER_ANSWER_TIMEOUT_S: "10",
  GW_LEASE_SLACK_S:             "30",
  GW_DIRECTORY_TIMEOUT_S:       "30",
  GW_RESULT_WAIT_S:             "120",
  GW_ACCEPT_RETRY_S:            "2",
  GW_CLAIM_EVERY_S:             "0.2",
  GW_REVERSAL_RETRY_GAPS_S:     "0.2,0.5,1",
};

/** For a node whose orders another one takes over when their lease is over. */
export const shortLease = { GW_ACQUIRER_ANSWER_TIMEOUT_S: "5", GW_LEASE_SLACK_S: "3" };

export async function startCrashWorld(t: Test, options: CrashOptions = {}) {
  const cleanUp = (clean: () => Promise<unknown>) => atEnd(t, clean);
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-crash-"));
  await chmod(dataDir, 0o711);
  cleanUp(() => rm(dataDir, { recursive: true, force: true }));
  const databaseUrl = options.databaseUrl ?? (await copyInstallation(dataDir));
  const bank = await (options.startBank ?? startOwnBank)(dataDir);
  const proxies = await startProxies(databaseUrl, bank);
  cleanUp(() => Promise.all(Object.values(proxies).map((proxy) => proxy.close())));
  const results = await startResultsBalancer();
  cleanUp(() => results.close());
  const set = await makeInstallation({ dataDir, databaseUrl }, addressThrough(proxies, bank));
  const nodes: Node[] = [];
  cleanUp(() => Promise.all(nodes.map((node) => node.kill())));

  return {
    dataDir,
    databaseUrl,
    set,
    /** Between the nodes and the database, the bank's host and its directory server. */
    proxies,
    /** Between the directory server and the nodes. */
    results,
    nodes,
    bank,
    /** `gw` may be that of another version. */
    async startNode(
      settings: Readonly<Record<string, string>> = {},
      gw = "gateway/cli/gw.ts",
    ): Promise<Node> {
      const node = await startNode(results, gw, {
        GW_DATABASE_URL: throughProxy(databaseUrl, proxies.database),
        GW_DATA_DIR: dataDir,
        ...options.settings,
        ...settings,
      });
      nodes.push(node);
      return node;
    },
  };

  async function startOwnBank(): Promise<Bank> {
    const own = await startBank({ httpPort: 0, hostPort: 0, dataDir });
    cleanUp(() => own.stop());
    return own;
  }
}

async function startNode(
  results: ResultsBalancer,
  gw: string,
  settings: Readonly<Record<string, string>>,
): Promise<Node> {
  const resultsPort = await findFreePort();
  results.add(resultsPort);
  const program = startProgram([gw, "serve"], {
    GW_PORT: "0",
    GW_RESULTS_PORT: String(resultsPort),
    GW_RESULTS_URL: results.url,
    GW_LOG_LEVEL: "debug",
    ...crashTimes,
    ...settings,
  });
  const url = await until("the gateway listens", () => {
    if (!program.isRunning) throw new Error(`The gateway did not start:\n${program.output}`);
    return /^Listening on (\S+) as/m.exec(program.output)?.[1];
  });
  async function isReady(): Promise<true | undefined> {
    if (!program.isRunning)
      throw new Error(`The gateway has ended:\n${program.output.slice(-4000)}`);
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    const { missing } = ((await answer?.json()) ?? {}) as { readonly missing?: object };
    return missing !== undefined && Object.keys(missing).length === 0 ? true : undefined;
  }
  const untilReady = async () => void (await until("the gateway is ready", isReady));
  return extendProgram(program, { url, resultsPort, untilReady });
}

async function makeInstallation(
  place: { readonly dataDir: string; readonly databaseUrl: string },
  bank: BankAddress,
): Promise<MerchantSet> {
  const installation = await openFor({
    GW_DATA_DIR: place.dataDir,
    GW_DATABASE_URL: place.databaseUrl,
  });
  try {
    return (await furnish(installation, bank)).set;
  } finally {
    await installation.close();
  }
}

async function startProxies(databaseUrl: string, { hostAddress, directoryUrl }: BankPlace) {
  const { hostname, port } = new URL(databaseUrl);
  const folder = decodeURIComponent(hostname);
  return {
    database: await startTrapProxy({ path: `${folder}/.s.PGSQL.${port}` }),
    acquirer: await startTrapProxy(placeOf(`tcp://${hostAddress}`)),
    directory: await startTrapProxy(placeOf(directoryUrl)),
  };
}

function placeOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** The bank as the gateway is told to reach it. */
function addressThrough(
  proxies: Readonly<Record<"acquirer" | "directory", TrapProxy>>,
  { url, binaryHostAddress, iso93HostAddress }: BankPlace,
): BankAddress {
  return {
    url,
    host: `127.0.0.1:${proxies.acquirer.port}`,
    binaryHost: binaryHostAddress,
    iso93Host: iso93HostAddress,
    directory: `https://127.0.0.1:${proxies.directory.port}`,
  };
}

function throughProxy(databaseUrl: string, { port }: TrapProxy): string {
  const url = new URL(databaseUrl);
  return databaseUrl.replace(`@${url.host}/`, `@127.0.0.1:${port}/`);
}
