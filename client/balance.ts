/**
 * Asks what the operator owes the merchant, or what an endpoint contributes to that: a balance for
 * each currency. The reply is a JSON array, and a refusal is a form like any other.
 */
import { type CallOptions, Refused } from "./call.ts";
import { type Ask, unreachable } from "./report.ts";
import { readReply } from "./send.ts";
import type { Pair } from "./web.ts";

/** Amounts are decimals. */
export type Balance = {
  readonly name: string;
  readonly currency: string;
  readonly amount: string;
  readonly "online-balance-live-amount": string;
  /** Payouts that are not final: their money may have left. */
  readonly "amount-buffer-hold": string;
  readonly "total-short-term-hold-amount": string;
  readonly "total-rolling-reserve-amount": string;
  /** Only of an endpoint: the same as `amount`. */
  readonly "balance-amount"?: string;
};

export type BalanceRequest = {
  /** The id of an endpoint; without it, the balances are the merchant's. */
  readonly endpoint?: string;
  /** The currency of the only balance that is wanted. */
  readonly "balance-name"?: string;
};

export type GetBalance = (
  request?: BalanceRequest,
  options?: CallOptions,
) => Promise<readonly Balance[]>;

type Options = { readonly url: string; readonly login: string; readonly fieldWord: string };

export function makeGetBalance(ask: Ask, { url, login, fieldWord }: Options): GetBalance {
  return async ({ endpoint, "balance-name": name } = {}, { signal } = {}) => {
    const place = endpoint === undefined ? `merchant/${encodeURIComponent(login)}` : endpoint;
    const pairs: readonly Pair[] = name === undefined ? [] : [["balance-name", name]];
    const response = await ask(`${url}/${place}`, pairs, { verb: "POST", signal });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const balances = readArray(new TextDecoder().decode(bytes));
    if (balances !== undefined) return balances;
    const reply = readReply({ httpStatus: response.status, bytes }, fieldWord);
    throw reply instanceof Refused ? reply : unreachable("an answer that is no balance", 200);
  };
}

/** The gateway writes every field of a balance. */
function readArray(text: string): readonly Balance[] | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? (read as readonly Balance[]) : undefined;
  } catch {
    return undefined;
  }
}
