/**
 * `gw migrate`: the only way to change the schema in production. It shows what it will apply and
 * what that locks, and asks first.
 */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { Approve, Migration } from "../storage/migrate.ts";
import { Problem } from "../values/problem.ts";
import { complain, print } from "./command.ts";
import { openInstallation } from "./installation.ts";

type Options = {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

export function addMigrate(command: Command): void {
  command
    .option("--yes", "apply them without asking")
    .option("--dry-run", "show what would be applied, and change nothing")
    .option("--json", "as JSON")
    .action(run);
}

const isDryRun = new Problem("");

async function run({ yes = false, dryRun = false, json = false }: Options): Promise<void> {
  const shown: ReturnType<typeof planOf>[] = [];
  const approve: Approve = async (missing) => {
    const plan = missing.map(planOf);
    shown.push(...plan);
    if (!json && plan.length > 0) print(plan);
    if (dryRun) return isDryRun;
    return yes || plan.length === 0 || (await ask()) ? undefined : notApplied;
  };
  const report = (progress: string) => process.stderr.write(`${progress}\n`);
  const place = { environment: process.env, report, besideOthers: true, approve };
  const installation = await openInstallation(place);
  if (installation instanceof Problem && installation !== isDryRun) {
    complain(installation);
    return;
  }
  if (installation instanceof Problem) {
    if (json) print({ migrations: shown }, true);
    else print(`Nothing was changed: ${shown.length} to apply.`);
    return;
  }
  const { audit, cellsAway, vaultAdvice = [] } = installation;
  if (shown.length > 0) {
    const after = { migrations: shown.map(({ migration }) => migration) };
    await audit.write({ action: "migrate", subject: "schema", after });
  }
  await installation.close();
  if (cellsAway.length > 0) process.exitCode = 1;
  const sentences = cellsAway.length > 0 ? cellsAway.map(notUpdated) : [upToDate];
  if (json) print({ migrations: shown, cellsAway }, true);
  else print([...sentences, vaultAdvice].flat().join("\n"));
}

const upToDate = "The database is up to date.";

function notUpdated(cell: string): string {
  return `The cell ${cell} was not updated: make it reachable and run \`gw migrate\` again.`;
}

const notApplied = new Problem(
  "Nothing was changed. Answer yes, or give --yes, to apply these migrations.",
);

function planOf({ path, compatibleFrom, inTransaction, locks }: Migration) {
  const isCompatible = compatibleFrom !== undefined && compatibleFrom !== "no";
  return {
    migration: path,
    "in a transaction": inTransaction ? "yes" : "no",
    "older gateways": isCompatible ? `keep running from ${compatibleFrom} on` : "stop them first",
    locks,
  };
}

/** Without a terminal there is no one to ask. */
async function ask(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question("Apply them? (yes/no) ")).trim());
  } finally {
    terminal.close();
  }
}
