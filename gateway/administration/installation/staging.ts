/** The only import of the folder `staging`; `operation/production.test.ts` checks that. */
import type { Config } from "../../config/config.ts";

export async function loadStaging({ environment }: Pick<Config, "environment">) {
  return environment === "staging" ? import("../../staging/staging.ts") : undefined;
}
