/** `gw callback secret`: what a merchant verifies the signatures of forms with, and a new one. */

import {
  oldSecretUntil,
  renewSecret,
  retireOldSecret,
  secretNames,
} from "../callbacks/webhook-secrets.ts";
import { asEndpointId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { asInstant, makePrintDate, systemClock } from "../values/time.ts";
import { inConfigured } from "./configured.ts";
import { complain, openVault } from "./installation.ts";
import { print } from "./print.ts";

type Options = { readonly renew?: boolean; readonly retire?: boolean; readonly json?: boolean };

export function printSecret(id: string, options: Options): Promise<void> {
  const { renew = false, retire = false, json = false } = options;
  return inConfigured(async ({ installation, config, configuration, administration }) => {
    const endpoint = configuration.endpoints.get(asEndpointId(id));
    if (endpoint === undefined) return complain(new Problem(`There is no endpoint ${id}.`));
    const now = systemClock.now();
    const renewed = renew ? renewSecret(endpoint.settings, now) : endpoint.settings;
    const settings = retire ? retireOldSecret(renewed) : renewed;
    if (renew || retire) {
      await administration.setEndpoint(endpoint.id, { settings, enabled: endpoint.enabled });
    }
    const { secretFor } = await openVault(installation);
    const [name = ""] = secretNames({ id: endpoint.id, settings }, now);
    const oldUntil = oldSecretUntil(settings) ?? 0;
    const printDate = makePrintDate(config.zone);
    const note = oldUntil > now ? { "old one until": printDate(asInstant(oldUntil)) } : {};
    print({ endpoint: id, secret: `whsec_${secretFor(name).toString("base64")}`, ...note }, json);
  });
}
