/** The installation itself: run it, look at it. */
import type { Command } from "commander";

export function addInstallationCommands(program: Command): void {
  program
    .command("start")
    .description("everything with one command: database, sandbox bank (staging), gateway")
    .action(async () => (await import("../start.ts")).start());

  program
    .command("serve")
    .description("one gateway node: the merchant interface and the work behind it")
    .action(async () => (await import("../serve.ts")).serve());

  program
    .command("config")
    .description("print every setting with its value, where that comes from, and what it means")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../config.ts")).printConfig(options));

  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .action(async () => (await import("../migrate.ts")).migrateInstallation());

  program
    .command("doctor")
    .description("look for what is wrong with this installation")
    .action(async () => (await import("../doctor.ts")).examine());
}
