/**
 * Loads the folder `staging`. No other file imports it, which `operation/production.test.ts`
 * checks.
 */
import type { Config } from "../../config/config.ts";

export async function loadStaging({ environment }: Pick<Config, "environment">) {
  return environment === "staging" ? import("../../staging/staging.ts") : undefined;
}
