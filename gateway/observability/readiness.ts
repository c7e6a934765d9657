/**
 * Finds out whether a node can take payments. The check is sent through the queues of orders: if
 * these stall, the check does too, and its time limit reports it. A single failed cell or gate is
 * named, and the node stays ready for all other merchants.
 */
import type { Endpoint } from "../orders/merchant.ts";
import { findUnreadyGates } from "../orders/route.ts";
import type { GateId } from "../values/ids.ts";
import { messageOf } from "../values/problem.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly onHold?: string | undefined;
  /** The reasons why the node is not ready, by the name of the part. */
  readonly missing: Readonly<Record<string, string>>;
};

type Dependencies<Directory> = {
  /** The time limit of each check. */
  readonly timeoutMs: number;
  /**
   * The probes by cell. A probe resolves when the cell's queues of reads and of new orders advance.
   */
  readonly probes: () => ReadonlyMap<string, () => Promise<unknown>>;
  readonly endpoints: () => ReadonlyMap<unknown, Endpoint>;
  readonly isReady: (gate: GateId) => boolean;
  /** Returns the reason for the hold, if the installation is on hold. */
  readonly whyOnHold: () => string | undefined;
  /** Returns whether this node's key-encryption key seals the vault's keys. */
  readonly isSealedByOwn: () => Promise<boolean>;
  readonly loadDirectories: () => Promise<readonly Directory[]>;
  /** Returns the faults in the files of directory servers, by the servers' names. */
  readonly findFileFaults: (
    directories: readonly Directory[],
  ) => Promise<ReadonlyMap<string, string>>;
};

export function makeCheckReadiness<Directory>(
  dependencies: Dependencies<Directory>,
): () => Promise<Readiness> {
  const { timeoutMs, isReady, isSealedByOwn, loadDirectories, findFileFaults } = dependencies;
  let checking: Promise<Readiness> | undefined;
  // Concurrent callers share one check, because it costs a statement.
  return () => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  };

  async function check(): Promise<Readiness> {
    const probes = dependencies.probes();
    const stalled = await findStalledCells(probes);
    const directories = stalled.size === 0 ? await findDirectoryFaults() : new Map();
    const missing = new Map([...stalled, ...directories]);
    if (stalled.size === 0 && !(await areKeysOwn())) missing.set("key-encryption key", oldKey);
    const endpoints = [...dependencies.endpoints().values()];
    const unready = findUnreadyGates(endpoints, isReady);
    for (const gate of unready) missing.set(`gate ${gate}`, "not signed on");
    const canPay =
      unready.size === 0 ||
      endpoints.some((each) => each.enabled && each.gates.some(({ id }) => isReady(id)));
    const onHold = dependencies.whyOnHold();
    const works = stalled.size < probes.size && directories.size === 0 && canPay;
    return {
      ready: works && onHold === undefined,
      onHold,
      missing: Object.fromEntries(missing),
    };
  }

  async function findStalledCells(
    probes: ReturnType<Dependencies<Directory>["probes"]>,
  ): Promise<ReadonlyMap<string, string>> {
    const stalled = new Map<string, string>();
    const probed = [...probes].map(async ([name, probe]) => {
      const fault = await within(probe(), timeoutMs).catch(messageOf);
      // With a single cell, an operator need not know about cells.
      const shown = probes.size === 1 ? "database" : `cell ${name}`;
      if (typeof fault === "string") stalled.set(shown, fault);
    });
    await Promise.all(probed);
    return stalled;
  }

  /**
   * If the key does not seal them, payments continue with the keys in memory until the vault has a
   * new key.
   */
  async function areKeysOwn(): Promise<boolean> {
    return within(isSealedByOwn(), timeoutMs).catch(() => true);
  }

  async function findDirectoryFaults(): Promise<ReadonlyMap<string, string>> {
    const loaded = within(loadDirectories(), timeoutMs);
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
