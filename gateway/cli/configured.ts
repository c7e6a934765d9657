/** For commands that read the configuration and change it: both at hand, and the house closed. */

import { makeAdministration } from "../storage/administration.ts";
import { type Configuration, loadConfiguration } from "../storage/configuration.ts";
import { type Installation, openVault, withInstallation } from "./installation.ts";

export type Configured = Pick<Installation, "config" | "database"> & {
  readonly installation: Installation;
  readonly configuration: Configuration;
  readonly administration: ReturnType<typeof makeAdministration>;
};

export function inConfigured(work: (configured: Configured) => Promise<void>): Promise<void> {
  return withInstallation(async (installation) => {
    const { openSecret } = await openVault(installation);
    const { query } = installation.database;
    const configuration = await loadConfiguration(query, openSecret);
    const administration = makeAdministration(query);
    await work({ ...installation, installation, configuration, administration });
  });
}
