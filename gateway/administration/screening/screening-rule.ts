/**
 * A screening rule as operators write it, in fields and in a file for `gw apply`; the data that it
 * needs; and its scope: everywhere, one merchant or one endpoint.
 */
import type { RuleAction } from "../../orders/order.ts";
import { openIpCountries } from "../../screening/ip-countries.ts";
import type { ListScope } from "../../screening/lists.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import { findRule, rules } from "../../screening/rules/index.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { makeIssuerStore } from "../../storage/configuration/issuer-ranges.ts";
import { asEndpointId, type EndpointId, type MerchantId } from "../../values/ids.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { option } from "../field.ts";
import { loginsOf } from "../find.ts";
import { loadStaging } from "../installation/staging.ts";
import type { Session } from "../session.ts";

const actionWords: Readonly<Record<string, RuleAction>> = {
  block: "block",
  "3ds": "force_3ds",
  mark: "mark",
  allow: "allow",
};

export const actionNames = Object.keys(actionWords);

export const scopeFields = {
  merchant: option("merchant", "login", [
    "for this merchant alone; else for the whole gateway",
    "nur für diesen Händler; sonst für das ganze Gateway",
  ]),
  endpoint: option("endpoint", "id", ["for this endpoint alone", "nur für diesen Endpunkt"]),
};

export type NewRule = Omit<ConfiguredRule, "id">;

export function readRule(
  kind: string,
  parameters: Readonly<Record<string, string>>,
  { action, ...rest }: Omit<NewRule, "action" | "kind" | "parameters"> & { action: string },
): NewRule | Problem {
  const rule = findRule(kind);
  if (rule === undefined) {
    const kinds = rules.map((each) => each.kind).join(", ");
    return new Problem(`There is no rule ${kind}: the kinds are ${kinds}.`);
  }
  const bound = rule.bind(parameters);
  if (bound instanceof Problem) return new Problem(`${kind}: ${bound.sentence}`);
  const does = readAction(action);
  if (does instanceof Problem) return does;
  return { kind, parameters: inOrder(kind, parameters), action: does, ...rest };
}

/** Puts the parameters into the order in which the kind of rule declares them. */
export function inOrder(kind: string, parameters: NewRule["parameters"]): NewRule["parameters"] {
  const names = Object.keys(findRule(kind)?.parameters ?? parameters);
  const given = names.flatMap((name) => {
    const value = parameters[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function readAction(text: string): RuleAction | Problem {
  const found = Object.hasOwn(actionWords, text) ? actionWords[text] : undefined;
  return found ?? new Problem(`An action is one of ${actionNames.join(", ")}, not ${text}.`);
}

export function printAction(action: RuleAction): string {
  return Object.entries(actionWords).find(([, each]) => each === action)?.[0] ?? action;
}

export function printParameters(parameters: ConfiguredRule["parameters"]): string {
  const pairs = Object.entries(parameters).map((pair) => pair.join("="));
  return pairs.join(" ");
}

/** The scope of an endpoint is shown without its merchant. */
export function ruleScope({
  merchantId,
  endpointId,
}: Partial<Pick<ConfiguredRule, "merchantId" | "endpointId">>) {
  return { merchantId: endpointId === undefined ? merchantId : undefined, endpointId };
}

type GivenScope = {
  readonly merchant?: string | undefined;
  readonly endpoint?: string | undefined;
};

export function readScope(
  configuration: Configuration,
  { merchant = "", endpoint = "" }: GivenScope,
): ListScope | Problem {
  const scope = makeScopeOf(configuration)(merchant, endpoint);
  return scope instanceof Problem ? new Problem(`That is ${scope.sentence}.`) : scope;
}

/** An empty login or id does not limit the scope. A problem is a phrase like `no endpoint's id`. */
export function makeScopeOf({ merchants, endpoints }: Configuration) {
  const byLogin = new Map(merchants.map((merchant) => [merchant.login, merchant]));
  return (login: string, id: string): ListScope | Problem => {
    const merchant = byLogin.get(login);
    if (login !== "" && merchant === undefined) return new Problem("no merchant's login");
    if (id === "") return merchant === undefined ? {} : { merchantId: merchant.id };
    const endpoint = endpoints.get(asEndpointId(id));
    if (endpoint === undefined) return new Problem("no endpoint's id");
    if (merchant !== undefined && endpoint.merchant.id !== merchant.id) {
      return new Problem("an endpoint of another merchant");
    }
    return { merchantId: endpoint.merchant.id, endpointId: endpoint.id };
  };
}

type Scope = {
  readonly merchantId?: MerchantId | undefined;
  readonly endpointId?: EndpointId | undefined;
};

export function nameScopes({ merchants, endpoints }: Configuration) {
  const logins = loginsOf({ merchants });
  return ({ merchantId, endpointId }: Scope): string => {
    if (endpointId !== undefined) {
      const login = endpoints.get(endpointId)?.merchant.login ?? "";
      return `endpoint ${endpointId} of ${login}`;
    }
    return merchantId === undefined ? "everywhere" : `merchant ${logins.get(merchantId) ?? ""}`;
  };
}

type Dependencies = Pick<Session, "config" | "database" | "warn">;

export async function openCountries({ config, warn }: Pick<Session, "config" | "warn">) {
  const staging = await loadStaging(config);
  return openIpCountries({
    file: config.ipCountryFile,
    builtIn: staging?.sandboxData.networks ?? [],
    onError: (error) => warn(`The IP country file: ${messageOf(error)}.`),
  });
}

/** The returned function names the data that a rule lacks, or returns undefined. */
export async function makeFindMissing(session: Dependencies) {
  const countries = await openCountries(session);
  const { ranges } = await makeIssuerStore(session.database).count();
  const hasIssuers = ranges > 0 || session.config.environment === "staging";
  return ({ kind, parameters }: Pick<ConfiguredRule, "kind" | "parameters">) => {
    const judge = findRule(kind)?.bind(parameters);
    if (judge === undefined || judge instanceof Problem) return "not usable";
    if (judge.needs?.includes("ip") && !countries.hasData) {
      return "no data: set GW_IP_COUNTRY_FILE";
    }
    if (judge.needs?.includes("issuer") && !hasIssuers) return "no data: load the BIN table";
    return undefined;
  };
}
