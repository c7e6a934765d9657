/**
 * A merchant with the full set of endpoints that staging gives: one per currency and policy, and a
 * group. The demonstration merchant is one of these, and `gw merchant create` makes more.
 */
import { randomBytes } from "node:crypto";
import type { EndpointSettings } from "../orders/merchant.ts";
import { makeAdministration } from "../storage/administration.ts";
import { controlKeyContext } from "../storage/configuration.ts";
import type { Database } from "../storage/database.ts";
import type { EndpointId, GateId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Vault } from "../vault/vault.ts";

type Policy = EndpointSettings["threeDSecure"];

// biome-ignore format: a table
const endpointRows: readonly { name: string; currency: string; policy: Policy; inGroup: boolean }[] = [
  { name: "plain",        currency: "USD", policy: "off",           inGroup: true },
  { name: "secure",       currency: "USD", policy: "when_possible", inGroup: false },
  { name: "secureAlways", currency: "USD", policy: "always",        inGroup: false },
  { name: "eur",          currency: "EUR", policy: "off",           inGroup: true },
  { name: "jpy",          currency: "JPY", policy: "off",           inGroup: true },
  { name: "secureGbp",    currency: "GBP", policy: "when_possible", inGroup: true },
];

export type MerchantSet = {
  readonly login: string;
  readonly controlKey: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
};

export async function createMerchantSet(
  database: Database,
  vault: Vault,
  { login, gateId }: { readonly login: string; readonly gateId: GateId },
): Promise<MerchantSet> {
  const controlKey = randomBytes(20).toString("hex");
  return database.transaction(async (query) => {
    const administration = makeAdministration(query);
    const merchantId = await administration.createMerchant({
      login,
      name: login,
      controlKey: vault.sealSecret(new Secret(controlKey), controlKeyContext(login)),
    });
    const endpoints: Record<string, EndpointId> = {};
    const members: EndpointId[] = [];
    for (const { name, currency, policy, inGroup } of endpointRows) {
      const settings = { threeDSecure: policy };
      const id = await administration.createEndpoint({
        merchantId,
        name,
        currency,
        gateId,
        settings,
      });
      endpoints[name] = id;
      if (inGroup) members.push(id);
    }
    const group = await administration.createGroup({ merchantId, name: "all", endpoints: members });
    return { login, controlKey, endpoints, group };
  });
}
