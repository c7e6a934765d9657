/**
 * Whether a node can take payments. The check travels through the queues of orders: where these
 * stall, so does the check, and its bound in time reports it. One dead cell or gate is named, and
 * the node stays ready for all other merchants.
 */
import type { Gates } from "../acquirers/gates.ts";
import { findUnreadyGates } from "../orders/route.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { loadDirectories } from "../storage/configuration/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { messageOf } from "../values/problem.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly onHold?: string | undefined;
  /** What does not work, by name. */
  readonly missing: Readonly<Record<string, string>>;
};

type Dependencies = Pick<Resources, "config" | "database"> & {
  readonly engine: Pick<Engine, "probes">;
  readonly configuration: Pick<LiveConfiguration, "current">;
  readonly gates: Pick<Gates, "isReady">;
  readonly hold: Pick<LiveHold, "current">;
  readonly keys: Pick<Resources["keys"], "isSealedByOwn">;
};

export function makeCheckReadiness(dependencies: Dependencies): () => Promise<Readiness> {
  const { config, database, engine, configuration, gates, hold, keys } = dependencies;
  let checking: Promise<Readiness> | undefined;
  // Concurrent callers share one check: it costs a statement.
  return () => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  };

  async function check(): Promise<Readiness> {
    const probes = engine.probes();
    const stalled = await findStalledCells(probes);
    const directories = stalled.size === 0 ? await findDirectoryFaults() : new Map();
    const missing = new Map([...stalled, ...directories]);
    if (stalled.size === 0 && !(await areKeysOwn())) missing.set("key-encryption key", oldKey);
    const endpoints = [...configuration.current().endpoints.values()];
    const unready = findUnreadyGates(endpoints, gates.isReady);
    for (const gate of unready) missing.set(`gate ${gate}`, "not signed on");
    const canPay =
      unready.size === 0 ||
      endpoints.some((each) => each.enabled && each.gates.some(({ id }) => gates.isReady(id)));
    const onHold = hold.current()?.why;
    const works = stalled.size < probes.size && directories.size === 0 && canPay;
    return {
      ready: works && onHold === undefined,
      onHold,
      missing: Object.fromEntries(missing),
    };
  }

  async function findStalledCells(
    probes: ReturnType<Engine["probes"]>,
  ): Promise<ReadonlyMap<string, string>> {
    const stalled = new Map<string, string>();
    const probed = [...probes].map(async ([name, probe]) => {
      const fault = await within(probe(), config.readyTimeoutMs).catch(messageOf);
      // With a single cell, an operator need not know what a cell is.
      const shown = probes.size === 1 ? "database" : `cell ${name}`;
      if (typeof fault === "string") stalled.set(shown, fault);
    });
    await Promise.all(probed);
    return stalled;
  }

  /**
   * Whether this node's key-encryption key seals the vault's keys. If it does not, payments
   * continue with the keys in memory until the vault has a new key.
   */
  async function areKeysOwn(): Promise<boolean> {
    return within(keys.isSealedByOwn(), config.readyTimeoutMs).catch(() => true);
  }

  async function findDirectoryFaults(): Promise<ReadonlyMap<string, string>> {
    const loaded = within(loadDirectories(database.query), config.readyTimeoutMs);
    const faults = await findFileFaults(await loaded.catch(() => []));
    return new Map([...faults].map(([name, cause]) => [`directory ${name}`, cause]));
  }
}

const oldKey =
  "the vault's keys are sealed by the next key-encryption key: restart this node with that key";

function within<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const fail = () => reject(new Error(`no answer within ${limitMs / 1000} s`));
  const timer = setTimeout(fail, limitMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
