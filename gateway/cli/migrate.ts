/** `gw migrate`: brings the schema up to date. Opening the house has done it. */
import { inHouse } from "./house.ts";

export function migrateHouse(): Promise<void> {
  return inHouse(async ({ vaultAdvice }) => {
    process.stdout.write("The database is up to date.\n");
    if (vaultAdvice !== undefined) process.stdout.write(`${vaultAdvice}\n`);
  });
}
