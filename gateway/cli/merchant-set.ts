/**
 * A merchant with the full set of endpoints that staging gives: one per currency and policy, and a
 * group. The demonstration merchant is one of these, and `gw merchant create` makes more.
 */
import { randomBytes } from "node:crypto";
import type { EndpointSettings } from "../orders/merchant.ts";
import { makeAdministration } from "../storage/administration.ts";
import { controlKeyContext } from "../storage/configuration.ts";
import type { Database } from "../storage/database.ts";
import type { EndpointId, GateId, MerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Vault } from "../vault/vault.ts";

type Policy = EndpointSettings["threeDSecure"];

type EndpointRow = {
  readonly name: string;
  readonly currency: string;
  readonly policy: Policy;
  readonly gate: keyof SandboxGates;
  readonly inGroup: boolean;
};

// biome-ignore format: a table
const endpointRows: readonly EndpointRow[] = [
  { name: "plain",        currency: "USD", policy: "off",           gate: "sandbox", inGroup: true },
  { name: "secure",       currency: "USD", policy: "when_possible", gate: "sandbox", inGroup: false },
  { name: "secureAlways", currency: "USD", policy: "always",        gate: "sandbox", inGroup: false },
  { name: "eur",          currency: "EUR", policy: "off",           gate: "sandbox", inGroup: true },
  { name: "jpy",          currency: "JPY", policy: "off",           gate: "sandbox", inGroup: true },
  { name: "secureGbp",    currency: "GBP", policy: "when_possible", gate: "sandbox", inGroup: true },
  { name: "binary",       currency: "USD", policy: "off",           gate: "binary",  inGroup: false },
];

/** The ways to the sandbox bank: one per dialect that it speaks. */
export type SandboxGates = { readonly sandbox: GateId; readonly binary: GateId | undefined };

export type MerchantSet = {
  readonly login: string;
  readonly controlKey: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
};

type Administration = ReturnType<typeof makeAdministration>;

export async function createMerchantSet(
  database: Database,
  vault: Vault,
  { login, gates }: { readonly login: string; readonly gates: SandboxGates },
): Promise<MerchantSet> {
  const controlKey = randomBytes(20).toString("hex");
  return database.transaction(async (query) => {
    const administration = makeAdministration(query);
    const merchantId = await administration.createMerchant({
      login,
      name: login,
      controlKey: vault.sealSecret(new Secret(controlKey), controlKeyContext(login)),
    });
    const endpoints = await createEndpoints(administration, merchantId, { gates, known: [] });
    const grouped = endpointRows.filter(({ inGroup }) => inGroup).map(({ name }) => name);
    const members = Object.entries(endpoints).filter(([name]) => grouped.includes(name));
    const group = await administration.createGroup({
      merchantId,
      name: "all",
      endpoints: members.map(([, id]) => id),
    });
    return { login, controlKey, endpoints, group };
  });
}

/** Those of the set that the merchant does not have and that there is a gate for, by name. */
export async function createEndpoints(
  administration: Administration,
  merchantId: MerchantId,
  { gates, known }: { readonly gates: SandboxGates; readonly known: readonly string[] },
): Promise<Readonly<Record<string, EndpointId>>> {
  const endpoints: Record<string, EndpointId> = {};
  for (const { name, currency, policy, gate } of endpointRows) {
    const gateId = gates[gate];
    if (gateId === undefined || known.includes(name)) continue;
    endpoints[name] = await administration.createEndpoint({
      merchantId,
      name,
      currency,
      gates: [{ gateId, rank: 1, weight: 1 }],
      settings: { threeDSecure: policy },
    });
  }
  return endpoints;
}
