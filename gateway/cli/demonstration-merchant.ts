/**
 * A client that acts as the demonstration merchant of a gateway in staging. The client uses HTTP
 * only, because `gw callback listen` and `gw certify` run on a developer's machine without the
 * gateway's database and keys.
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

/**
 * Reads the demonstration merchant's credentials from the documentation that a gateway in staging
 * serves. Returns functions that act as this merchant.
 */
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
     * Lists the merchant's callbacks, the latest first: those since the moment `since`, and some
     * from shortly before it. `since` is the time `now` of an earlier list.
     */
    listCallbacks: (since: string) =>
      read<CallbackPage>("/sandbox/callbacks", { since }, [login, since]),
    /**
     * Returns the callback that the gateway would send now for a result. The callback is addressed
     * to the URL `to`, or to the order's own callback URL if `to` is empty.
     */
    writeCallback: ({ order, sequence }: CallbackKey, to = "") =>
      read<CallbackRequest>(...([`/sandbox/callbacks/${order}/${sequence}`, { to }] as const), [
        login,
        order,
        String(sequence),
        to,
      ]),
    /** Makes the sandbox charge a payment back, as the cardholder's issuer would. */
    chargeBack: (order: string) =>
      read<object>(`/sandbox/chargebacks/${order}`, {}, [login, "chargeback", order]),
  };

  /**
   * Requests a refund of an order's whole amount, first at one endpoint of the merchant and then at
   * the other, because only one of them has the order. Returns undefined if an endpoint accepts the
   * refund, and otherwise the cause of the refusal.
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

  /**
   * Sends a signed request to the gateway's sandbox and returns its answer. Throws if the gateway
   * is unreachable.
   */
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
 * Returns a function that sends callbacks to the address `to`. The function uses the gateway's own
 * code for sending, so that the receiver gets the same bytes. Only the query is taken from a
 * callback's URL, so that the gateway cannot redirect the request to another address.
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
