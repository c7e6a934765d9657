/** Where a list entry or a screening rule counts: everywhere, at a merchant, or at an endpoint. */
import { Option } from "commander";
import type { ListScope } from "../screening/lists.ts";
import type { Configuration } from "../storage/configuration.ts";
import { asEndpointId, type EndpointId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";

export const scopeOptions: readonly Option[] = [
  new Option("--merchant <login>", "for this merchant alone; else for the whole gateway"),
  new Option("--endpoint <id>", "for this endpoint alone"),
];

/** Either text may be empty. A problem is the end of a sentence. */
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
  const logins = new Map(merchants.map(({ id, login }) => [id, login]));
  return ({ merchantId, endpointId }: Scope): string => {
    if (endpointId !== undefined) {
      const login = endpoints.get(endpointId)?.merchant.login ?? "";
      return `endpoint ${endpointId} of ${login}`;
    }
    return merchantId === undefined ? "everywhere" : `merchant ${logins.get(merchantId) ?? ""}`;
  };
}
