/**
 * A client that acts as the demonstration merchant of a gateway in staging. It uses HTTP only,
 * because `gw callback listen` and `gw certify` run without the gateway's database and keys.
 */
import { hash } from "node:crypto";
import { makeAddressRules, resolveBySystem } from "../callbacks/addresses.ts";
import type { CallbackRequest } from "../callbacks/callback.ts";
import { makeSend, type SendOutcome } from "../callbacks/send.ts";
import { messageOf, Problem } from "../values/problem.ts";

export type CallbackKey = { readonly order: string; readonly sequence: number };
type CallbackPage = { readonly now: number; readonly callbacks: readonly CallbackKey[] };
export type DemonstrationMerchant = Exclude<
  Awaited<ReturnType<typeof openDemonstrationMerchant>>,
  Problem
>;

const answersWithinMs = 10_000;

/** A gateway in staging shows the demonstration merchant's credentials in its documentation. */
export async function openDemonstrationMerchant(gateway: string) {
  if (!isHttpAddress(gateway))
    return new Problem(`${gateway} is no address like http://host:8080.`);
  const url = gateway.replace(/(?<!\/)\/+$/, "");
  const answer = await ask(`${url}/docs/demonstration.json`).catch(causeOf);
  if (typeof answer === "string") return new Problem(`No gateway answers at ${url}: ${answer}.`);
  if (answer.status === 404) {
    return new Problem(
      `The gateway at ${url} has no demonstration merchant: it is not in staging, ` +
        "or it was not started with npm start.",
    );
  }
  const values = await answer.json().catch(() => ({}));
  const given = values as Readonly<Record<string, string>>;
  const { LOGIN: login, CONTROL_KEY: controlKey, ENDPOINT, SECURE_ENDPOINT } = given;
  if (login === undefined || controlKey === undefined) {
    return new Problem(`What answers at ${url} is no gateway of this version.`);
  }
  const sign = (...parts: readonly string[]) => hash("sha1", parts.join("") + controlKey);

  return {
    url,
    login,
    refund,
    /**
     * Lists the callbacks from a few seconds before `since` on, so that none is missed, the latest
     * first. `since` is the value `now` of the previous answer, or empty.
     */
    listCallbacks: (since: string) =>
      read<CallbackPage>("/sandbox/callbacks", { since }, [login, since]),
    /** Writes a result's callback again. Its URL is `to` or, if `to` is empty, the order's own. */
    writeCallback: ({ order, sequence }: CallbackKey, to = "") =>
      read<CallbackRequest>(...([`/sandbox/callbacks/${order}/${sequence}`, { to }] as const), [
        login,
        order,
        String(sequence),
        to,
      ]),
    /** Charges a payment back, as the cardholder's issuer would. */
    chargeBack: (order: string) =>
      read<object>(`/sandbox/chargebacks/${order}`, {}, [login, "chargeback", order]),
  };

  /**
   * Requests a refund of the whole amount at each of the merchant's two endpoints in turn, because
   * only one has the order. Returns the cause of a refusal.
   */
  async function refund(own: string, order: string): Promise<string | undefined> {
    const ids = { login: login ?? "", client_orderid: own, orderid: order };
    const control = sign(...Object.values(ids));
    let cause = "";
    for (const endpoint of [ENDPOINT, SECURE_ENDPOINT]) {
      const body = new URLSearchParams({ ...ids, control });
      const sent = ask(`${url}/gw/api/v2/return/${endpoint}`, { method: "POST", body });
      const reply = await sent.then((answered) => answered.text()).catch(causeOf);
      const fields = new URLSearchParams(reply.replaceAll("\n", ""));
      if (fields.get("type") === "async-response") return undefined;
      cause = fields.get("error-message") ?? reply;
    }
    return cause;
  }

  /** Throws if the gateway is unreachable. */
  async function read<Content>(
    path: string,
    fields: Readonly<Record<string, string>>,
    signed: readonly string[],
  ): Promise<Content | Problem> {
    const control = sign(["callbacks", ...signed].join("/"));
    const body = new URLSearchParams({ login: login ?? "", ...fields, control });
    const response = await ask(url + path, { method: "POST", body });
    if (response.ok) return (await response.json()) as Content;
    if (response.status >= 500) throw new Error(`HTTP ${response.status}`);
    await response.arrayBuffer();
    return new Problem(
      response.status === 403
        ? `The gateway at ${url} has another control key now: start this command again.`
        : `The gateway at ${url} gives no callbacks to developers: it is of another version.`,
    );
  }
}

type Forward = (request: CallbackRequest) => Promise<SendOutcome>;

/**
 * Sends callbacks to `to` by the gateway's own code, so that the receiver gets the same bytes. Only
 * the query of a callback's URL is used, so that the gateway cannot redirect the request.
 */
export function makeForward(to: string, timeoutMs: number): Forward {
  const [address = ""] = to.split(/[?#]/);
  const names = [URL.parse(to)?.hostname ?? ""];
  const rules = makeAddressRules({ ports: [], allowsLoopback: true, privateNetworks: [], names });
  const send = makeSend({ rules, resolve: resolveBySystem });
  return (request) => {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    const url = address + (/\?.*$/s.exec(request.url)?.[0] ?? "");
    const cancel = send({ ...request, url, headers: callbackHeaders(request) }, resolve);
    const late = setTimeout(() => cancel?.(), timeoutMs);
    return promise.finally(() => clearTimeout(late));
  };
}

function callbackHeaders({ headers }: CallbackRequest): CallbackRequest["headers"] {
  const own = Object.entries(headers).filter(([name]) => /^(webhook-|content-type$)/.test(name));
  return Object.fromEntries(own);
}

export function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return messageOf(cause) || String(Object(cause).code);
}

function ask(url: string, options: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...options, signal: AbortSignal.timeout(answersWithinMs) });
}
