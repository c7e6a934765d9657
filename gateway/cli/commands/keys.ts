/** The vault's keys. */
import type { Command } from "commander";

export function addKeyCommands(program: Command): void {
  const key = program.command("key").description("the vault's keys, and the key that seals them");
  key
    .command("list")
    .description("list the vault's keys, with the cards under each")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../key.ts")).listVaultKeys(options));
  key
    .command("rotate")
    .description("seal all cards and secrets with new keys while payments go on, destroy the old")
    .option("--anew", "new keys also when an earlier rotation has left some behind")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../key-rotate.ts")).rotateVaultKeys(options));
  key
    .command("rewrap")
    .description("seal the vault's keys with another key-encryption key (GW_NEW_MASTER_KEY_…)")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../key.ts")).rewrap(options));
  key
    .command("make [file]")
    .description("make a key-encryption key, or a custodian's part: into a file, or print it")
    .option("--json", "as JSON")
    .action(async (file, options) => (await import("../key.ts")).makeKey(file, options));
  key
    .command("split <file1> <file2>")
    .description("make a new key-encryption key in two parts, one for each custodian")
    .option("--json", "as JSON")
    .action(async (first, second, options) =>
      (await import("../key.ts")).splitKey([first, second], options),
    );
  key
    .command("check [file]")
    .description("print a check value, of a file's key or of the settings', to compare keys by")
    .option("--json", "as JSON")
    .action(async (file, options) => (await import("../key.ts")).checkKey(file, options));
}
