/**
 * A node among others: its name, and whether the installation is on hold (decision 0050). While it
 * is, the node answers the status of orders, refuses everything else with 503, connects to no
 * acquirer, and claims nothing.
 */
import type { Gates } from "../acquirers/gates.ts";
import { nodeNamesOf } from "../config/config.ts";
import { findLatestBackup } from "../storage/backup/backups.ts";
import { type LiveHold, openHold } from "../storage/backup/installation-hold.ts";
import type { Configuration } from "../storage/configuration/configuration.ts";
import type { Audit } from "../storage/people/audit.ts";
import { countWatchedEntries } from "../storage/schema/examine.ts";
import { type Presence, takePresence } from "../storage/server/presence.ts";
import type { Resources } from "./resources.ts";

/** How often a node tests the connection that holds its name. */
const presenceCheckMs = 2_000;

export function joinNodes({ config, database, log }: Resources): Promise<Presence> {
  return takePresence(database, {
    names: nodeNamesOf(config),
    waitMs: config.nodeNameWaitMs,
    checkMs: presenceCheckMs,
    onLost: (error) => log("node.presence_lost", { error: error.message }),
    onRenamed: (renamed) => log("node.renamed", renamed),
  });
}

export function openNodeHold({ database, log }: Resources, audit: Audit): Promise<LiveHold> {
  return openHold({
    database,
    audit,
    onUnknown: (cause) => log("node.server_unknown", { cause }),
    onChange: (held) => (held ? log("node.on_hold", { why: held.why }) : log("node.released", {})),
  });
}

/** No link signs on while on hold. Links that are up stay: orders in flight need them. */
export function makeUpdateGates(gates: Gates, hold: LiveHold) {
  return ({ gates: wanted }: Pick<Configuration, "gates">): void => {
    if (hold.current() === undefined || gates.list().length > 0) gates.update(wanted.values());
  };
}

/** What `/metrics` shows of backups, the audit and the hold. */
export function holdFigures({ database }: Resources, hold: LiveHold) {
  return {
    /** A database that is away has no figure, and keeps none of the others from being shown. */
    async backupAgeS(): Promise<number> {
      const latest = await findLatestBackup(database.query).catch(() => undefined);
      return latest?.ageS ?? Number.NaN;
    },
    auditEntries: () => countWatchedEntries(database.query).catch(() => new Map()),
    onHold: () => (hold.current() === undefined ? 0 : 1),
  };
}
