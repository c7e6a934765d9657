/** `gw migrate`: brings the schema up to date. Opening the house has done it. */
import { withInstallation } from "./installation.ts";

export function migrateInstallation(): Promise<void> {
  return withInstallation(async ({ vaultAdvice }) => {
    process.stdout.write("The database is up to date.\n");
    if (vaultAdvice !== undefined) process.stdout.write(`${vaultAdvice}\n`);
  });
}
