/**
 * Finds what the page at `/` tells, anew for each visit: the demonstration merchant in `demo.json`,
 * its test cards at the bank, its orders in the database. Every node reads the same file, so it
 * does not matter which of several processes a browser reaches.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Installation } from "../cli/installation.ts";
import { findEmbeddedUrl } from "../storage/embedded.ts";
import { makeFindLatest } from "../storage/latest-orders.ts";
import { makePrintDate } from "../values/time.ts";
import { type OrderLine, printOrderLine } from "../views/status.ts";
import type { Running } from "../wiring/http.ts";
import type { TestCard, WelcomeFacts } from "./welcome-facts.ts";

export type FindWelcome = (running: Running) => Promise<WelcomeFacts | undefined>;

const ordersShown = 20;
const bankAnswersWithinMs = 1_000;

/** Nothing in production, where there is no such page. */
export function makeWelcome(installation: Installation): FindWelcome | undefined {
  const { config } = installation;
  if (config.environment !== "staging") return undefined;
  const database = describeDatabase(installation);
  const findOrders = makeFindOrders(installation);

  return async ({ configuration, missing }) => {
    const demo = await readDemo(join(resolve(config.dataDir), "demo.json"));
    const merchant = configuration.merchants.find(({ login }) => login === demo?.merchant.login);
    if (demo === undefined || merchant === undefined) return undefined;
    const own = [...configuration.endpoints.values()].filter(
      (endpoint) => endpoint.merchant.id === merchant.id && endpoint.enabled,
    );
    const groups = configuration.groups.filter((group) => group.merchant.id === merchant.id);
    const [cards, orders] = await Promise.all([findCards(demo.bank.url), findOrders(merchant.id)]);
    return {
      baseUrl: demo.baseUrl,
      pathWord: config.pathWord,
      merchant: demo.merchant,
      bank: demo.bank,
      database,
      missing,
      endpoints: own.map(({ id, name, currency, settings }) => ({
        id,
        name,
        currency,
        threeDSecure: settings.threeDSecure,
      })),
      groups: groups.map(({ id, name, endpoints }) => ({
        id,
        name,
        endpoints: endpoints.map((endpoint) => endpoint.name),
      })),
      cards,
      orders,
    };
  };
}

type Demo = Pick<WelcomeFacts, "baseUrl" | "merchant" | "bank">;

/** Nothing also while the file is being written. */
async function readDemo(file: string): Promise<Demo | undefined> {
  try {
    const { baseUrl, merchant, bank }: Partial<Demo> = JSON.parse(await readFile(file, "utf8"));
    if (baseUrl === undefined || merchant === undefined || bank === undefined) return undefined;
    return { baseUrl, merchant, bank };
  } catch {
    return undefined;
  }
}

async function findCards(bankUrl: string): Promise<readonly TestCard[] | undefined> {
  try {
    const signal = AbortSignal.timeout(bankAnswersWithinMs);
    const answer = await fetch(`${bankUrl}/scenarios`, { signal });
    const cards: readonly TestCard[] = JSON.parse(await answer.text());
    return answer.ok ? cards : undefined;
  } catch {
    return undefined;
  }
}

/** A database that is away is told as missing; the rest of the page stands. */
function makeFindOrders({ config, databases }: Installation) {
  const findLatest = makeFindLatest(databases.node.query);
  const printDate = makePrintDate(config.zone);
  return async (merchant: Parameters<typeof findLatest>[0]): Promise<readonly OrderLine[]> => {
    const orders = await findLatest(merchant, ordersShown).catch(() => []);
    return orders.map((order) => printOrderLine(order, printDate));
  };
}

/** Workers are given the embedded database's address as if it were somebody's own. */
function describeDatabase({ config, databaseUrl }: Installation): string {
  const folder = join(resolve(config.dataDir), "postgres");
  if (findEmbeddedUrl(folder) === databaseUrl) return "PostgreSQL, embedded, in the data folder";
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${decodeURIComponent(host)}${pathname}`;
}
