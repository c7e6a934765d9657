/** What keeps a node from being ready: the database, files of directory servers, gates. */
import type { Gates } from "../acquirers/gates.ts";
import type { CheckReadiness } from "../http/availability.ts";
import { findUnreadyGates } from "../orders/route.ts";
import type { LiveConfiguration } from "../storage/configuration.ts";
import type { Database } from "../storage/database.ts";
import { loadDirectories } from "../storage/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";

export function makeCheckReadiness(
  { query }: Database,
  configuration: LiveConfiguration,
  gates: Gates,
): CheckReadiness {
  return async () => {
    const missing: Record<string, string> = {};
    const directories = await loadDirectories(query).catch((error) => {
      missing["database"] = error.message;
      return [];
    });
    for (const [name, cause] of await findFileFaults(directories)) {
      missing[`directory ${name}`] = cause;
    }
    const endpoints = configuration.current().endpoints.values();
    for (const gate of findUnreadyGates(endpoints, gates.isReady)) {
      missing[`gate ${gate}`] = "not signed on";
    }
    return missing;
  };
}
