/**
 * Shows the configuration that the node has in memory, without the values of keys and secrets. A
 * merchant's user sees only their own merchant, and not the gates behind its endpoints.
 */
import { hash } from "node:crypto";
import type { Endpoint, Merchant, OAuthKey } from "../orders/merchant.ts";
import { asEndpointId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { AdministrationOptions } from "./administration.ts";
import type { Handlers } from "./api.ts";
import type { EndpointLine, MerchantView, RouteView, RuleView } from "./configuration-routes.ts";
import { isOperator } from "./orders.ts";
import type { Configured, GateHealthView, PortalGate, PortalRule } from "./reads.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";

type WalletKeyView = MerchantView["walletKeys"][number];
type WalletKeyRow = Pick<WalletKeyView, "id" | "wallet" | "createdAt"> & {
  readonly certificate: string | null;
  readonly expiresAt: string | null;
};

export type ConfigurationOptions = Pick<AdministrationOptions, "loadActions"> & {
  readonly configured: () => Configured;
  readonly findControlKeyUse: (
    id: MerchantId,
  ) => Promise<{ readonly set: string | null; readonly oldUsed: string | null }>;
  readonly listWalletKeys: (id: MerchantId) => Promise<readonly WalletKeyRow[]>;
  readonly ruleKinds: readonly string[];
};

export type GateOptions = Pick<ConfigurationOptions, "configured" | "loadActions"> & {
  readonly gateHealth: () => ReadonlyMap<string, GateHealthView>;
  /** Returns the gates that a sale would use now, by the function that also routes real orders. */
  readonly routesOf: (endpoint: Endpoint, amount: string) => readonly RouteView[] | Problem;
};

/** A gate that this node has not started has no links, and nothing is known of it. */
const noHealth: GateHealthView = {
  up: 0,
  wanted: 0,
  health: "healthy",
  why: "",
  sent: 0,
  failed: 0,
};

export function configurationHandlers(options: ConfigurationOptions) {
  const { configured, loadActions } = options;
  const isOwn = ({ id }: Merchant, { merchantId }: Caller) => (merchantId ?? id) === id;

  return {
    async "GET /merchants"({ search = "", after = "", limit = 50 }, caller) {
      const { merchants, endpoints } = configured();
      const wanted = search.toLowerCase();
      const isWanted = ({ login, name }: Merchant) =>
        login > after && `${login} ${name}`.toLowerCase().includes(wanted);
      const found = merchants.filter((each) => isOwn(each, caller) && isWanted(each));
      const { page, next } = pageOf(found.toSorted(byLogin), limit, ({ login }) => login);
      const byMerchant = Map.groupBy(endpoints.values(), ({ merchant }) => merchant.id);
      const view = (each: Merchant) => viewMerchant(each, byMerchant.get(each.id) ?? []);
      return { merchants: page.map(view), ...next };
    },

    async "GET /merchants/:login"({ login }, caller) {
      const { merchants, endpoints, groups, screeningRules } = configured();
      const merchant = merchants.find((each) => each.login === login);
      if (merchant === undefined || !isOwn(merchant, caller)) return notFound;
      const own = [...endpoints.values()].filter((each) => each.merchant.id === merchant.id);
      const rules = screeningRules.map((rule) => viewRule(rule, configured()));
      return {
        line: viewMerchant(merchant, own),
        settings: (await loadActions()).settingsOf.merchant(merchant),
        endpoints: own.map((each) => viewEndpoint(each, caller)),
        groups: groups
          .filter((group) => group.merchant.id === merchant.id)
          .map(({ id, name, enabled, endpoints: members }) => ({
            id,
            name,
            enabled,
            endpoints: members.map((each) => viewEndpoint(each, caller)),
          })),
        controlKey: viewKeyUse(merchant, await options.findControlKeyUse(merchant.id)),
        oauthKeys: merchant.oauthKeys.map(viewOAuthKey),
        wallets: viewWallets(merchant),
        walletKeys: (await options.listWalletKeys(merchant.id)).map(viewWalletKey),
        rules: rules.filter((rule) => rule.merchant === login),
      };
    },

    async "GET /endpoints/:endpoint"({ endpoint: id }, caller) {
      const endpoint = configured().endpoints.get(asEndpointId(id));
      if (endpoint === undefined || !isOwn(endpoint.merchant, caller)) return notFound;
      const line = viewEndpoint(endpoint, caller);
      return { line, settings: (await loadActions()).settingsOf.endpoint(endpoint) };
    },

    async "GET /rules"({ after = "0", limit = 50 }, caller) {
      const isSeen = ({ id, merchant }: RuleView) =>
        Number(id) > Number(after) && (isOperator(caller) || merchant === caller.account.merchant);
      const seen = configured().screeningRules.map((rule) => viewRule(rule, configured()));
      const sorted = seen
        .filter(isSeen)
        .toSorted((one, other) => Number(one.id) - Number(other.id));
      const { page, next } = pageOf(sorted, limit, ({ id }) => id);
      return { rules: page, kinds: options.ruleKinds, ...next };
    },
  } satisfies Partial<Handlers>;
}

function viewWalletKey(key: WalletKeyRow): WalletKeyView {
  const { id, wallet, createdAt, certificate, expiresAt } = key;
  return {
    id,
    wallet,
    createdAt,
    certificate: wallet === "walletb" ? "none" : certificate ? "present" : "missing",
    ...(expiresAt !== null && { expiresAt }),
  };
}

export function gateHandlers({ configured, loadActions, gateHealth, routesOf }: GateOptions) {
  return {
    async "GET /gates"() {
      return { gates: [...configured().gates.values()].map(viewGate) };
    },

    async "GET /gates/:gate"({ gate: name }, caller) {
      const gate = [...configured().gates.values()].find((each) => each.name === name);
      if (gate === undefined) return notFound;
      const endpoints = usersOf(gate).map((each) => viewEndpoint(each, caller));
      const settings = (await loadActions()).settingsOf.gate(gate);
      return { line: viewGate(gate), settings, endpoints, hasZoneKey: gate.zoneKey !== undefined };
    },

    async "GET /routing"({ endpoint: id, amount }) {
      const endpoint = configured().endpoints.get(asEndpointId(id));
      if (endpoint === undefined) return notFound;
      const routes = routesOf(endpoint, amount);
      if (routes instanceof Problem) {
        return new PortalRefusal(400, "invalid_amount", routes.sentence);
      }
      return { routes };
    },
  } satisfies Partial<Handlers>;

  function usersOf({ id }: PortalGate): readonly Endpoint[] {
    const { endpoints } = configured();
    return [...endpoints.values()].filter(({ gates }) => gates.some((each) => each.id === id));
  }

  function viewGate(gate: PortalGate) {
    const { id, name, kind, settings } = gate;
    return {
      id,
      name,
      kind,
      host: `${settings.host}:${settings.port}`,
      ...(gateHealth().get(name) ?? noHealth),
      tls: settings.tls === true,
      currencies: settings.currencies ?? [],
      isSandbox: settings.sandbox === true || kind === "sandbox",
      endpoints: usersOf(gate).length,
    };
  }
}

/** If more rows follow, also returns the last row's key, after which the next page begins. */
function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string) {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next: last && { next: keyOf(last) } };
}

function byLogin(one: Merchant, other: Merchant): number {
  return one.login < other.login ? -1 : 1;
}

function viewMerchant({ login, name, enabled, cell }: Merchant, own: readonly Endpoint[]) {
  const currencies = [...new Set(own.map(({ currency }) => currency))].sort();
  return { login, name, enabled, cell, endpoints: own.length, currencies };
}

function viewEndpoint(endpoint: Endpoint, caller: Caller): EndpointLine {
  const { id, name, merchant, currency, enabled, settings, gates } = endpoint;
  return {
    id,
    name,
    merchant: merchant.login,
    currency,
    enabled,
    threeds: settings.threeDSecure,
    gates: isOperator(caller)
      ? gates.map(({ name: gate, rank, weight }) => ({ name: gate, rank, weight }))
      : [],
  };
}

function viewRule(rule: PortalRule, { merchants, endpoints }: Configured): RuleView {
  const { id, kind, parameters, action, enabled, merchantId, endpointId } = rule;
  const merchant =
    endpointId === undefined
      ? merchants.find((each) => each.id === merchantId)
      : endpoints.get(endpointId)?.merchant;
  return {
    id,
    kind,
    parameters,
    action,
    enabled,
    ...(merchant && { merchant: merchant.login }),
    ...(endpointId !== undefined && { endpoint: endpointId }),
  };
}

type KeyUse = Awaited<ReturnType<ConfigurationOptions["findControlKeyUse"]>>;

function viewKeyUse({ oldControlKey }: Merchant, { set, oldUsed }: KeyUse) {
  return {
    ...(set !== null && { setAt: set }),
    ...(oldControlKey && { oldLastUsed: oldUsed ?? "never" }),
  };
}

function viewOAuthKey({ id, name, publicKey }: OAuthKey) {
  const sha256 = hash("sha256", publicKey.export({ format: "der", type: "spki" }));
  return { id, name, bits: publicKey.asymmetricKeyDetails?.modulusLength ?? 0, sha256 };
}

/** Names the settings of a merchant's wallets as the fields of the action `wallet set`. */
function viewWallets({ settings: { wallets: { walleta, walletb } = {} } }: Merchant) {
  return {
    ...(walleta && { "walleta-merchant": walleta.merchantIdentifier }),
    ...(walleta?.country && { "walleta-country": walleta.country }),
    ...(walletb && { "walletb-recipient": walletb.recipientId }),
    ...(walletb?.gatewayMerchantId && { "walletb-merchant": walletb.gatewayMerchantId }),
  };
}
