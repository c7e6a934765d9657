/**
 * `POST …/v2/get-balance/merchant/{login}` and `…/v2/get-balance/{id}`: what the merchant is owed,
 * or what its endpoint contributes to that, as a JSON array with a balance for each currency. The
 * reply is no form, so that this is no row of the operations. The consumer key names the merchant.
 */
import { randomUUIDv7 } from "node:crypto";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import type { EntryPoint, Merchant } from "../orders/merchant.ts";
import { type BalanceOwner, type MerchantBalance, printBalance } from "../report/statement.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { line, optional } from "./fields.ts";
import type { Sent } from "./operation.ts";
import { type RequestOutcome, readBody } from "./pipeline.ts";
import { contentTypes } from "./reply.ts";
import { findSigner, type Refused, readValues } from "./report.ts";
import { logAnswer, type RoutesOptions, refuseMethod, replyOf } from "./routes.ts";

export type BalanceRouteOptions = Pick<
  RoutesOptions,
  "pathWord" | "wire" | "clock" | "log" | "metrics" | "oauth" | "takeToken"
> & {
  readonly findBalances: (owner: BalanceOwner) => Promise<readonly MerchantBalance[] | Failure>;
  readonly merchants: () => readonly Merchant[];
  readonly endpointById: () => ReadonlyMap<string, EntryPoint>;
};

/** After the word of the operator. */
export const balancePath = "/api/v2/get-balance";
const name = "get-balance";

export const balanceFields = {
  "balance-name": optional(line(64, "only this balance; a balance has the name of its currency")),
};

type Balances = { readonly balances: readonly object[] };

export function balanceRoutes(options: BalanceRouteOptions): readonly HttpRoute[] {
  const { wire, merchants, endpointById, findBalances } = options;
  const path = `/${options.pathWord}${balancePath}`;
  const refuse = async (request: HttpRequest) => refuseMethod(request, wire);
  return [`${path}/merchant/:login`, `${path}/:id`].flatMap((each, at): readonly HttpRoute[] => [
    { method: "POST", path: each, answer: (request) => answer(request, at === 1) },
    { method: "*", path: each, answerEarly: refuse, answer: refuse },
  ]);

  async function answer(request: HttpRequest, isOfEndpoint: boolean): Promise<HttpReply> {
    const startedAt = performance.now();
    const serialNumber = asSerialNumber(randomUUIDv7());
    const found = await read(request, isOfEndpoint);
    const outcome: RequestOutcome =
      "balances" in found ? answered : { authenticated: false, ...found };
    const handled = { operation: { name }, version: "v2" as const, serialNumber, outcome };
    logAnswer(handled, performance.now() - startedAt, options);
    if ("balances" in found) return { ...reply, body: JSON.stringify(found.balances) };
    return replyOf(outcome, serialNumber, request.headers.accept, wire);
  }

  /** Checks in the order of every request. */
  async function read(request: HttpRequest, isOfEndpoint: boolean): Promise<Balances | Refused> {
    const { headers, body, params } = request;
    const read = readBody({ contentType: headers["content-type"], body });
    if (read instanceof Failure) return { answer: read };
    const endpoint = isOfEndpoint ? endpointById().get(params[0] ?? "") : undefined;
    if (isOfEndpoint && endpoint === undefined) return { answer: new Failure("unknown_endpoint") };
    const owner = endpoint?.merchant.login ?? params[0];
    const findMerchant = (login: string) =>
      login === owner ? merchants().find((each) => each.login === login) : undefined;
    const merchant = await findSigner(request, { pairs: read.pairs, findMerchant }, options);
    return "answer" in merchant ? merchant : list(merchant, endpoint, read.sent);
  }

  async function list(merchant: Merchant, endpoint: EntryPoint | undefined, sent: Sent) {
    if (merchant.settings.balance !== true) {
      return { answer: new Failure("not_supported_by_gate", "balance") };
    }
    const values = readValues(balanceFields, sent);
    if (values instanceof Failure) return { answer: values };
    const ofEndpoint = endpoint && { endpointId: endpoint.id };
    const found = await findBalances({ merchantId: merchant.id, ...ofEndpoint });
    if (found instanceof Failure) return { answer: found };
    const { "balance-name": wanted } = values;
    const named = found.filter(({ currency }) => (wanted ?? currency) === currency);
    const balances = named.map(printBalance);
    if (endpoint === undefined) return { balances };
    return { balances: balances.map((each) => ({ ...each, "balance-amount": each.amount })) };
  }
}

const answered: RequestOutcome = { answer: { type: name, fields: [] }, authenticated: true };
const reply = {
  status: 200,
  headers: { "content-type": contentTypes.json, "cache-control": "no-store" },
};
