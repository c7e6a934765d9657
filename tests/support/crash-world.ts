/**
 * A world for crash tests: nodes as processes that can be killed, with proxies with traps between
 * them and the other programs.
 */
import {
  findFreePort,
  type ResultsBalancer,
  startResultsBalancer,
} from "./bank/results-balancer.ts";
import { startTrapProxy, type TrapProxy } from "./bank/trap-proxy.ts";
import { atEnd, type Test } from "./clean-up.ts";
import { type GatewayProgram, untilUp } from "./gateway-process.ts";
import type { BankPlace } from "./installation.ts";
import {
  bankInProcess,
  furnishPlace,
  makePlace,
  type Place,
  type PlaceOptions,
  startLinesTo,
} from "./place.ts";
import { extendProgram, startProgram } from "./programs.ts";

export type Node = GatewayProgram & {
  /** The port of the node's own results server, behind the address that all nodes share. */
  readonly resultsPort: number;
};
export type CrashWorld = Awaited<ReturnType<typeof startCrashWorld>>;

type Settings = Readonly<Record<string, string>>;
type Options<Own extends BankPlace> = PlaceOptions<Own> & { readonly settings?: Settings };
/** Options of the world. By default it has a bank in this process. */
export type CrashOptions = Partial<Options<BankPlace>>;

/**
 * Nodes look for work often. Answers may take as long as a busy machine needs, but no longer: a
 * host that does not know a charge must say so twice, with the timeout in between.
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

/** Settings of a node whose orders another node claims when their lease is over. */
export const shortLease = { GW_ACQUIRER_ANSWER_TIMEOUT_S: "5", GW_LEASE_SLACK_S: "3" };

export function startCrashWorld(t: Test, options: CrashOptions = {}) {
  return startCrashWorldOn(t, { startBank: bankInProcess(t), ...options });
}

export async function startCrashWorldOn<Own extends BankPlace>(t: Test, options: Options<Own>) {
  const place = await makePlace(t, options);
  const { address, ...lines } = await startLinesTo(t, place.bank, startTrapProxy);
  const database = await startTrapProxy(socketOf(place.databaseUrl));
  atEnd(t, () => database.close());
  const results = await startResultsBalancer(t);
  const { set, installation } = await furnishPlace(t, place, { address });
  // Each node opens the installation itself.
  await installation.close();
  const nodes: Node[] = [];

  return {
    ...place,
    set,
    /** The proxies between the nodes and the database, the bank's host and its directory server. */
    proxies: { database, ...lines },
    /** The balancer between the directory server and the nodes. */
    results,
    nodes,
    /** Starts a node. `gw` may be that of another version. */
    async startNode(settings: Settings = {}, gw = "gateway/cli/gw.ts"): Promise<Node> {
      const own = await settingsOfNode(place, results);
      const program = startProgram([gw, "serve"], {
        ...own,
        GW_DATABASE_URL: throughProxy(place.databaseUrl, database),
        ...options.settings,
        ...settings,
      });
      atEnd(t, () => program.kill());
      const resultsPort = Number(own.GW_RESULTS_PORT);
      const node = extendProgram(await untilUp(program, "serve"), { resultsPort });
      nodes.push(node);
      return node;
    },
  };
}

/** Returns the settings of one more node, which then takes results from the directory server. */
export async function settingsOfNode({ dataDir, databaseUrl }: Place, results: ResultsBalancer) {
  const resultsPort = await findFreePort();
  results.add(resultsPort);
  return {
    GW_DATABASE_URL: databaseUrl,
    GW_DATA_DIR: dataDir,
    GW_PORT: "0",
    GW_RESULTS_PORT: String(resultsPort),
    GW_RESULTS_URL: results.url,
    GW_LOG_LEVEL: "debug",
    ...crashTimes,
  };
}

function socketOf(databaseUrl: string): { readonly path: string } {
  const { hostname, port } = new URL(databaseUrl);
  return { path: `${decodeURIComponent(hostname)}/.s.PGSQL.${port}` };
}

function throughProxy(databaseUrl: string, { port }: TrapProxy): string {
  const url = new URL(databaseUrl);
  return databaseUrl.replace(`@${url.host}/`, `@127.0.0.1:${port}/`);
}
