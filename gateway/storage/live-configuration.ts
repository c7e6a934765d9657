/** The configuration as it is now: read once, and again whenever any node says that it changed. */
import type { Endpoint } from "../orders/merchant.ts";
import type { EndpointId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import { type Configuration, loadConfiguration } from "./configuration.ts";
import type { Query } from "./database.ts";

export type LiveConfiguration = {
  current(): Configuration;
  getEndpoint(id: EndpointId): Endpoint;
  /** Keeps the present one when the database cannot be read. */
  reload(): Promise<void>;
};

type Dependencies = {
  readonly query: Query;
  readonly openSecret: (sealed: Uint8Array, context: string) => Secret<string>;
  readonly onChange: (configuration: Configuration) => void;
  readonly onError: (error: unknown) => void;
};

export async function openConfiguration(dependencies: Dependencies): Promise<LiveConfiguration> {
  let configuration = await loadConfiguration(dependencies.query, dependencies.openSecret);
  return {
    current: () => configuration,
    getEndpoint(id) {
      const endpoint = configuration.endpoints.get(id);
      if (endpoint === undefined) throw new Error(`no endpoint ${id}`);
      return endpoint;
    },
    async reload() {
      try {
        configuration = await loadConfiguration(dependencies.query, dependencies.openSecret);
        dependencies.onChange(configuration);
      } catch (error) {
        dependencies.onError(error);
      }
    },
  };
}
