/** What the portal shows of the configuration, and the actions that change it. */
import type { Gates } from "../acquirers/gates.ts";
import type { PortalActions } from "../administration/portal-requests.ts";
import type { Opened } from "../administration/session.ts";
import { baseUrlOf } from "../config/config.ts";
import type { PaymentLink } from "../orders/payment-link.ts";
import type { MerchantView, RouteView } from "../portal-api/configuration-routes.ts";
import { rules } from "../screening/rules/index.ts";
import { screen } from "../screening/screen.ts";
import { type ListedWalletKey, listWalletKeys } from "../storage/cards/wallets.ts";
import {
  findControlKeyUse,
  type LiveConfiguration,
} from "../storage/configuration/configuration.ts";
import { routeLinks } from "../storage/orders/payment-links.ts";
import { findReconciliation, listReconciliations } from "../storage/portal/reconciliations.ts";
import { asEndpointId, asOrderId, type MerchantId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import type { Resources } from "./resources.ts";

type WalletKeyView = MerchantView["walletKeys"][number];
type Endpoint = ReturnType<LiveConfiguration["getEndpoint"]>;

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly gates: Gates;
  readonly opened?: Opened | undefined;
  readonly ports: () => { readonly port: number };
};

/** So many orders show how gates of one rank share them. */
const drawn = 1_000;

export function openPortalConfiguration(dependencies: Dependencies) {
  const { config, cells, configuration, gates, vault, database, vaultDatabase } = dependencies;
  const { current } = configuration;
  let actions: Promise<PortalActions> | undefined;
  const loadActions = () => {
    actions ??= makeActions(dependencies.opened);
    return actions;
  };
  const noLinks = { up: 0, wanted: 0 };
  const publicUrl = () => baseUrlOf(config, dependencies.ports().port);
  return {
    loadActions,
    documentsUrl: () => `${publicUrl()}/docs/`,
    reload: configuration.reload,
    configured: current,
    settingsOf: {
      merchant: async (merchant: Endpoint["merchant"]) => (await loadSettings()).merchant(merchant),
      endpoint: async (endpoint: Endpoint) => (await loadSettings()).endpoint(endpoint),
      async gate(id: string) {
        const gate = [...current().gates.values()].find((each) => each.id === id);
        return gate === undefined ? {} : (await loadSettings()).gate(gate);
      },
    },
    connectionsOf: (gate: string) => gates.connections().get(gate) ?? noLinks,
    findControlKeyUse: (id: MerchantId) => findControlKeyUse(database.query, id),
    listWalletKeys: async (id: MerchantId) =>
      (await listWalletKeys(vaultDatabase.query, id)).map(viewWalletKey),
    ruleKinds: rules.map(({ kind }) => kind),
    links: routeLinks(cells),
    linkUrlOf: (link: PaymentLink) => `${publicUrl()}/pay/${vault.linkTokenOf(link)}`,
    reconciliations: {
      list: (filter: Parameters<typeof listReconciliations>[1]) =>
        listReconciliations(database.query, filter),
      find: (day: Parameters<typeof findReconciliation>[1]) =>
        findReconciliation(database.query, day),
    },
    routesOf,
  };

  /** The same function decides it for orders. */
  function routesOf(endpointId: string, text: string): readonly RouteView[] | Problem | undefined {
    const endpoint = current().endpoints.get(asEndpointId(endpointId));
    if (endpoint === undefined) return undefined;
    const amount = parseAmount(text, getCurrency(endpoint.currency));
    if (amount === undefined) return new Problem(`${text} is no amount in ${endpoint.currency}.`);
    const ready = endpoint.gates.map(({ id }) => id).filter(gates.isReady);
    const conditions = { endpoint, readyGates: new Set(ready) };
    const counts = new Map<string, number>();
    for (let at = 0; at < drawn; at += 1) {
      const transaction = { kind: "sale", amount } as const;
      const order = { id: asOrderId(String(10 ** 9 + at)), purchase: {}, transaction };
      const event = screen(order, conditions);
      const gate = "gate" in event ? event.gate : undefined;
      const name = endpoint.gates.find(({ id }) => id === gate?.id)?.name;
      const why = gate?.choice ?? ("reason" in event ? event.reason.code : "");
      const key = JSON.stringify({ outcome: event.kind, why, ...(name && { gate: name }) });
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts].map(([key, count]) => ({ ...JSON.parse(key), share: count / drawn }));
  }
}

/** How forms and screens write settings. */
async function loadSettings() {
  return (await import("../administration/configuration-file.ts")).settingsOf;
}

/** The actions use the connections of the login that started the node, as `gw` does. */
async function makeActions(opened: Opened | undefined): Promise<PortalActions> {
  if (opened === undefined) throw new Error("this node was started without an installation");
  const { makePortalActions } = await import("../administration/portal-requests.ts");
  return makePortalActions(opened);
}

function viewWalletKey(key: ListedWalletKey): WalletKeyView {
  const { id, wallet, createdAt, certificate, expiresAt } = key;
  return {
    id,
    wallet,
    createdAt,
    certificate: wallet === "walletb" ? "none" : certificate ? "present" : "missing",
    ...(expiresAt !== null && { expiresAt }),
  };
}
