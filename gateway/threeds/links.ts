/**
 * The addresses that we give to browsers and issuers. Each names an order and carries a token that
 * only we can make, so that nobody can find another's payment by counting.
 */
import type { OrderId } from "../values/ids.ts";

/**
 * What a link is for. Whoever runs the issuer's method in a frame of our own page gets a token that
 * opens nothing; the others are seen by the cardholder's bank, which knows him.
 */
type Purpose = "redirect" | "method" | "method-frame" | "challenge" | "pares";

export type Links = {
  to(purpose: Purpose, order: OrderId): string;
  /** What comes back unchanged with a PaRes. */
  mdOf(order: OrderId): string;
  isMd(order: OrderId, md: string): boolean;
  isOurs(order: OrderId, token: string): boolean;
};

export type LinkDependencies = {
  /** The public address, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly pathWord: string;
  /** Keyed, so that nobody else can make it; the same text gives the same token. */
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
};

export function makeLinks({ baseUrl, pathWord, tokenOf, isToken }: LinkDependencies): Links {
  return {
    to(purpose, order) {
      const token = tokenOf(purpose === "method-frame" ? `frame/${order}` : `link/${order}`);
      return `${baseUrl()}/${pathWord}/form/${purpose}/${order}/${token}`;
    },
    mdOf: (order) => tokenOf(`md/${order}`),
    isMd: (order, md) => isToken(`md/${order}`, md),
    isOurs: (order, token) => isToken(`link/${order}`, token),
  };
}
