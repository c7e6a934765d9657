/** Nodes on a database of the test file's own, which has no directory server when a test begins. */
import { after, before, beforeEach } from "node:test";
import { TestClock } from "../../acquirers/iso8583-host/testing/test-clock.ts";
import {
  loadDirectories,
  makeDirectoryAdministration,
  makeRangeStore,
} from "../../storage/configuration/directories.ts";
import type { Audit } from "../../storage/people/audit.ts";
import type { Database } from "../../storage/server/database.ts";
import { startDatabase } from "../../storage/testing/database-for-tests.ts";
import type { RangeStore } from "../card-ranges.ts";
import { startNodes } from "./nodes.ts";

type More = { readonly wrap?: (store: RangeStore) => RangeStore };

/** Called once by a test file, at its top. */
export function useDatabase() {
  let database: Database;
  let audit: Audit;
  let stop = async (): Promise<void> => undefined;
  before(async () => {
    ({ database, audit, stop } = await startDatabase());
  });
  after(() => stop());
  beforeEach(async () => {
    const { remove } = makeDirectoryAdministration(audit, database.query);
    for (const { name } of await loadDirectories(database.query)) await remove(name);
  });

  return {
    administration: () => makeDirectoryAdministration(audit, database.query),

    async start(
      t: Parameters<typeof startNodes>[0],
      names: readonly string[] = ["a"],
      more: More = {},
    ) {
      const clock = new TestClock();
      const load = () => loadDirectories(database.query);
      const { put } = makeDirectoryAdministration(audit, database.query);
      const stored = { put, load, store: makeRangeStore(database, clock) };
      return { clock, ...stored, ...(await startNodes(t, { stored, clock, names, ...more })) };
    },
  };
}
