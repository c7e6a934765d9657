/**
 * `gw migrate` is the only way to change the database schema in production. It shows the migrations
 * and the locks that they take, and asks for confirmation.
 */

import { flag } from "../administration/field.ts";
import { userName } from "../config/config.ts";
import { openInstallation } from "../installation/installation.ts";
import { markUsed } from "../storage/people/users.ts";
import type { Approve, Migration } from "../storage/schema/migrate.ts";
import { Problem } from "../values/problem.ts";
import { print } from "./command.ts";
import { ownCommand } from "./machine-command.ts";
import { admitTo } from "./rights.ts";
import { ask, exitCodes } from "./terminal.ts";

export const migrateCommands = [
  ownCommand({
    name: "migrate",
    right: "run",
    mode: "change",
    fields: {
      yes: flag(["apply them without asking"]),
      dryRun: flag(["show what would be applied, and change nothing"]),
    },
    async run({ yes, dryRun }, { json, reason }) {
      const shown: ReturnType<typeof planOf>[] = [];
      const approve: Approve = async (missing) => {
        const plan = missing.map(planOf);
        shown.push(...plan);
        if (!json && plan.length > 0)
          print(isNewDatabase(missing) ? plan.map(leaveOutNodes) : plan);
        if (dryRun) return isDryRun;
        return yes || plan.length === 0 || (await ask("Apply them?")) ? undefined : notApplied;
      };
      const report = (progress: string) => process.stderr.write(`${progress}\n`);
      const place = { environment: process.env, report, besideOthers: true, approve };
      const installation = await openInstallation({ ...place, admit: admitTo("migrate") });
      if (installation === isDryRun) {
        return json ? { migrations: shown } : `Nothing was changed: ${shown.length} to apply.`;
      }
      if (installation instanceof Problem) return installation;
      const { auditAs, unreachableCells, vaultAdvice = [], database, actor } = installation;
      await markUsed(database.query, actor.who, userName());
      if (shown.length > 0) {
        const after = {
          migrations: shown.map(({ migration }) => migration),
          cellsAway: unreachableCells,
        };
        const audit = auditAs(reason === undefined ? {} : { why: reason });
        await audit.write({ action: "migrate", subject: "schema", after });
      }
      await installation.close();
      if (unreachableCells.length > 0) process.exitCode = exitCodes.findings;
      const sentences = unreachableCells.length > 0 ? unreachableCells.map(notUpdated) : [upToDate];
      return json
        ? { migrations: shown, cellsAway: unreachableCells }
        : [...sentences, vaultAdvice].flat().join("\n");
    },
  }),
];

const isDryRun = new Problem("");

const upToDate = "The database is up to date.";

function notUpdated(cell: string): string {
  return `The cell ${cell} was not updated: make it reachable and run \`gw migrate\` again.`;
}

const notApplied = new Problem(
  "Nothing was changed. Answer yes, or give --yes, to apply these migrations.",
);

/** For a new database the plan omits the running nodes, because there cannot be any. */
function isNewDatabase(missing: readonly Migration[]): boolean {
  return missing.some(({ path }) => path === "schema/main.sql");
}

function leaveOutNodes({ "running nodes": _, ...plan }: ReturnType<typeof planOf>) {
  return plan;
}

function planOf({ path, compatibleFrom, inTransaction, locks }: Migration) {
  const isCompatible = compatibleFrom !== undefined && compatibleFrom !== "no";
  return {
    migration: path,
    "in a transaction": inTransaction ? "yes" : "no",
    "running nodes": isCompatible
      ? `may keep running if they know migration ${compatibleFrom}`
      : "must be stopped",
    locks,
  };
}
