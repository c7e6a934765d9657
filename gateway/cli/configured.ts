/** For commands that read the configuration and change it: both at hand, and the house closed. */
import { makeAdministration } from "../storage/administration.ts";
import { type Configuration, loadConfiguration } from "../storage/configuration.ts";
import { openVault } from "./demonstration.ts";
import { type House, inHouse } from "./house.ts";

export type Configured = Pick<House, "config" | "database"> & {
  readonly house: House;
  readonly configuration: Configuration;
  readonly administration: ReturnType<typeof makeAdministration>;
};

export function inConfigured(work: (configured: Configured) => Promise<void>): Promise<void> {
  return inHouse(async (house) => {
    const { openSecret } = await openVault(house);
    const { query } = house.database;
    const configuration = await loadConfiguration(query, openSecret);
    const administration = makeAdministration(query);
    await work({ ...house, house, configuration, administration });
  });
}
