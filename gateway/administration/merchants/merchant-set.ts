/**
 * A merchant with the endpoints that staging offers, one for each currency and 3-D Secure policy,
 * and a group. The demonstration merchant has this set. `gw merchant create` can make more of them.
 */
import { randomUUID } from "node:crypto";
import type { Merchant } from "../../orders/merchant.ts";
import {
  type Administration,
  makeAdministration,
} from "../../storage/configuration/administration.ts";
import {
  type Configuration,
  controlKeyContext,
  loadGates,
} from "../../storage/configuration/configuration.ts";
import { loadDirectories } from "../../storage/configuration/directories.ts";
import type { Audit } from "../../storage/people/audit.ts";
import { addScreeningRule } from "../../storage/screening/screening-rules.ts";
import type { Database } from "../../storage/server/database.ts";
import type { EndpointId, GateId, MerchantId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import type { Vault } from "../../vault/vault.ts";
import { endpointsOf } from "../find.ts";

export const sandboxGate = "sandbox";
export const binaryGate = "sandbox-binary";
export const iso93Gate = "sandbox-iso93";
export const demonstrationLogin = "demo";
export const demonstrationShop = "Demonstration Shop";

const endpointRows = [
  { name: "plain", currency: "USD", policy: "off", gate: "sandbox", inGroup: true },
  { name: "secure", currency: "USD", policy: "when_possible", gate: "sandbox", inGroup: false },
  { name: "secureAlways", currency: "USD", policy: "always", gate: "sandbox", inGroup: false },
  { name: "eur", currency: "EUR", policy: "off", gate: "sandbox", inGroup: true },
  { name: "jpy", currency: "JPY", policy: "off", gate: "sandbox", inGroup: true },
  { name: "secureGbp", currency: "GBP", policy: "when_possible", gate: "sandbox", inGroup: true },
  { name: "binary", currency: "USD", policy: "off", gate: "binary", inGroup: false },
  {
    name: "secureBinary",
    currency: "USD",
    policy: "when_possible",
    gate: "binary",
    inGroup: false,
  },
  { name: "iso93", currency: "USD", policy: "off", gate: "iso93", inGroup: false },
  { name: "secure93", currency: "USD", policy: "when_possible", gate: "iso93", inGroup: false },
] as const;

export type SandboxGates = { readonly sandbox: GateId } & {
  readonly [Name in "binary" | "iso93"]?: GateId | undefined;
};

export type MerchantSet = {
  readonly login: string;
  readonly controlKey: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
};

/** Returns undefined before the first start in staging, which creates the sandbox gates. */
export async function findSandboxGates({ query }: Database): Promise<SandboxGates | undefined> {
  const gates = new Map((await loadGates(query)).map(({ name, id }) => [name, id]));
  const sandbox = gates.get(sandboxGate);
  return sandbox && { sandbox, binary: gates.get(binaryGate), iso93: gates.get(iso93Gate) };
}

type NewMerchantSet = {
  readonly login: string;
  readonly cell: string;
  /** If undefined, the merchant gets no endpoints. */
  readonly gates?: SandboxGates;
  /** If undefined, the merchant gets the endpoints of all currencies. */
  readonly currencies?: readonly string[] | undefined;
  /** If true, the merchant gets the rules against card testing. */
  readonly isScreened?: boolean;
  /** If undefined, the endpoints have no payment page. */
  readonly shopName?: string | undefined;
  readonly payouts?: boolean;
  /** The sites that may show the payment page and hosted fields in frames. */
  readonly embedOrigins?: readonly string[];
};

/**
 * Rules against card testing. They count tries for each card, BIN and IP address, and the share of
 * declines. Honest payments may share a BIN or an address, so many tries from there demand 3-D
 * Secure.
 */
// biome-ignore format: a table
export const cardTestingRules = [
  { kind: "velocity", action: "block",     parameters: { per: "card", count: "10",  window: "1h" } },
  { kind: "velocity", action: "force_3ds", parameters: { per: "bin",  count: "100", window: "10m" } },
  { kind: "velocity", action: "force_3ds", parameters: { per: "ip",   count: "30",  window: "1h" } },
  { kind: "declines", action: "block",     parameters: { per: "bin",  count: "20",  window: "1h", share: "80" } },
  { kind: "declines", action: "block",     parameters: { per: "ip",   count: "10",  window: "1h", share: "80" } },
] as const;

/**
 * Without a directory server, a rule that forces 3-D Secure would decline every payment that it
 * matches, so these rules then only mark the payment.
 */
export async function addCardTestingRules(audit: Audit, merchantId: MerchantId): Promise<void> {
  const directories = await audit.change(loadDirectories);
  const scope = { merchantId, endpointId: undefined, enabled: true };
  for (const rule of cardTestingRules) {
    const isMarked = rule.action === "force_3ds" && directories.length === 0;
    await addScreeningRule(audit, { ...rule, ...(isMarked && { action: "mark" }), ...scope });
  }
}

export async function createMerchantSet(
  audit: Audit,
  vault: Vault,
  { login, gates, cell, isScreened = false, ...settings }: NewMerchantSet,
): Promise<MerchantSet> {
  const controlKey = makeControlKey();
  return audit.together(async (inside) => {
    const administration = makeAdministration(inside);
    const sealed = vault.sealSecret(new Secret(controlKey), controlKeyContext(login));
    const merchantId = await administration.createMerchant(login, sealed, cell);
    if (isScreened) await addCardTestingRules(inside, merchantId);
    if (gates === undefined) return { login, controlKey, endpoints: {}, group: "" };
    const chosen = { ...settings, gates, known: [] };
    const endpoints = await createEndpoints(administration, merchantId, chosen);
    const grouped = endpointRows.filter(({ inGroup }) => inGroup);
    const members = grouped.flatMap(({ name }) => endpoints[name] ?? []);
    const isGrouped = members.length > 0;
    const group = isGrouped ? await administration.createGroup(merchantId, "all", members) : "";
    return { login, controlKey, endpoints, group };
  });
}

type EndpointsToCreate = Pick<
  NewMerchantSet,
  "currencies" | "shopName" | "payouts" | "embedOrigins"
> & {
  readonly gates: SandboxGates;
  readonly known: readonly string[];
};

export function makeControlKey(): string {
  return randomUUID().toUpperCase();
}

/** Creates the endpoints of the set that the merchant lacks, if their gates exist. */
export async function createEndpoints(
  administration: Administration,
  merchantId: MerchantId,
  { gates, currencies, known, shopName, payouts, embedOrigins }: EndpointsToCreate,
): Promise<Readonly<Record<string, EndpointId>>> {
  const endpoints: Record<string, EndpointId> = {};
  for (const { name, currency, policy, gate } of endpointRows) {
    const gateId = gates[gate];
    const isAccepted = currencies?.includes(currency) ?? true;
    if (gateId === undefined || known.includes(name) || !isAccepted) continue;
    endpoints[name] = await administration.createEndpoint({
      merchantId,
      name,
      currency,
      gates: [{ gateId, rank: 1, weight: 1 }],
      settings: {
        threeDSecure: policy,
        ...(shopName && { shopName, profiles: "on" }),
        ...(payouts && { payouts }),
        ...(embedOrigins && { embedOrigins, hostedFields: true }),
      },
    });
  }
  return endpoints;
}

/** The control key is in plain text, for the operator who gives it to the merchant. */
export function merchantSetOf(configuration: Configuration, merchant: Merchant): MerchantSet {
  const { id, login, controlKey } = merchant;
  const own = endpointsOf(merchant, configuration);
  return {
    login,
    controlKey: controlKey.reveal(),
    endpoints: Object.fromEntries(own.map((endpoint) => [endpoint.name, endpoint.id])),
    group: configuration.groups.find((group) => group.merchant.id === id)?.id ?? "",
  };
}
