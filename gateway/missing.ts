/** What keeps a node from being ready. Part of what `main.ts` wires. */
import type { Gates } from "./acquirers/gates.ts";
import { isReadyOf } from "./doers.ts";
import type { FindMissing } from "./http/health.ts";
import { findMissingGates } from "./orders/route.ts";
import type { Database } from "./storage/database.ts";
import type { LiveConfiguration } from "./storage/live-configuration.ts";

export function makeFindMissing(
  { query }: Database,
  configuration: LiveConfiguration,
  gates: Gates,
): FindMissing {
  return async () => {
    const missing: Record<string, string> = {};
    await query("select 1").catch((error) => {
      missing["database"] = error.message;
    });
    const endpoints = configuration.current().endpoints.values();
    const isReady = isReadyOf({ findAcquirer: gates.find });
    for (const gate of findMissingGates(endpoints, isReady)) {
      missing[`gate ${gate}`] = "not signed on";
    }
    return missing;
  };
}
