/**
 * The page at `/`. It shows the demonstration merchant's key to every visitor, so it exists in
 * staging only. Its facts are read for each visit: `demo.json`, which all nodes share, and the test
 * cards of the sandbox.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { HttpRoute } from "../http/router.ts";
import type { Installation } from "../installation/installation.ts";
import { pageHeaders } from "../pages/design.ts";
import { findEmbeddedUrl } from "../storage/embedded/embedded.ts";
import { namesOfServers } from "../storage/server/database-url.ts";
import type { NodeState } from "./parts.ts";
import {
  renderUnprepared,
  renderWelcome,
  type TestCard,
  type WelcomeFacts,
} from "./welcome-page.ts";

const sandboxAnswersWithinMs = 1_000;
const headers = pageHeaders();

/** There are no facts before there is a demonstration merchant. */
export function makeWelcomeRoute(findFacts: () => Promise<WelcomeFacts | undefined>): HttpRoute {
  return {
    method: "GET",
    path: "/",
    async answer() {
      const facts = await findFacts();
      const page = facts === undefined ? renderUnprepared() : renderWelcome(facts);
      return { status: 200, headers, body: page.text };
    },
  };
}

export function makeFindFacts(installation: Installation) {
  const { config } = installation;
  const database = describeDatabase(installation);

  return async ({ configuration, missing }: NodeState): Promise<WelcomeFacts | undefined> => {
    const demo = await readDemo(config);
    const merchant = configuration.merchants.find(({ login }) => login === demo?.merchant.login);
    if (demo === undefined || merchant === undefined) return undefined;
    const own = [...configuration.endpoints.values()].filter(
      (endpoint) => endpoint.merchant.id === merchant.id && endpoint.enabled,
    );
    const groups = configuration.groups.filter((group) => group.merchant.id === merchant.id);
    const cards = await findCards(demo.sandbox.url);
    return { ...demo, database, missing, cards, endpoints: own, groups };
  };
}

type Demo = Pick<WelcomeFacts, "baseUrl" | "merchant" | "sandbox"> & {
  /** The ids by name. */
  readonly endpoints: Readonly<Record<string, string>>;
};

/** Returns what the portal's sandbox screen shows. */
export async function findSandbox(config: Config) {
  const demo = await readDemo(config);
  return demo && { ...demo, pathWord: config.pathWord, sandboxUrl: demo.sandbox.url };
}

/** Returns undefined if the file is missing or being written. */
export async function readDemo({ dataDir }: Pick<Config, "dataDir">): Promise<Demo | undefined> {
  const file = join(resolve(dataDir), "demo.json");
  try {
    const { bank: sandbox, ...demo } = JSON.parse(await readFile(file, "utf8"));
    const { baseUrl, merchant, endpoints = {} }: Partial<Demo> = demo;
    if (baseUrl === undefined || merchant === undefined || sandbox === undefined) return undefined;
    return { baseUrl, merchant, sandbox, endpoints };
  } catch {
    return undefined;
  }
}

async function findCards(sandboxUrl: string): Promise<readonly TestCard[] | undefined> {
  try {
    const signal = AbortSignal.timeout(sandboxAnswersWithinMs);
    const answer = await fetch(`${sandboxUrl}/scenarios`, { signal });
    const cards: readonly TestCard[] = JSON.parse(await answer.text());
    return answer.ok ? cards : undefined;
  } catch {
    return undefined;
  }
}

/** Workers receive the embedded database's address as if it were an external one. */
function describeDatabase({ config, databaseUrl }: Installation): string {
  const folder = join(resolve(config.dataDir), "postgres");
  if (findEmbeddedUrl(folder) === databaseUrl) return "PostgreSQL, embedded, in the data folder";
  return `PostgreSQL at ${namesOfServers(databaseUrl)}`;
}
