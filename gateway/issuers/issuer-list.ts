/**
 * The issuers of a table, each once: a bank has hundreds of ranges that say the same of it, and
 * thousands of banks share the names of a few products.
 */
import type { Issuer } from "../orders/order.ts";

export type IssuerList = {
  /** 0 for none. */
  indexOf(issuer: Issuer | undefined): number;
  finish(): readonly (Issuer | undefined)[];
};

export function makeIssuerList(): IssuerList {
  const list: (Issuer | undefined)[] = [undefined];
  const indexes = new Map<string, number>();
  const texts = new Map<string, string>();
  let latest: Issuer | undefined;
  let latestIndex = 0;

  return {
    indexOf(issuer) {
      if (issuer === undefined) return 0;
      if (issuer !== latest) latestIndex = findIndex(issuer);
      latest = issuer;
      return latestIndex;
    },
    finish: () => list,
  };

  function findIndex(issuer: Issuer): number {
    const key = JSON.stringify(issuer);
    const found = indexes.get(key);
    if (found !== undefined) return found;
    indexes.set(key, list.length);
    return list.push(shareTexts(issuer)) - 1;
  }

  function shareTexts(issuer: Issuer): Issuer {
    return Object.fromEntries(Object.entries(issuer).map(([name, text]) => [name, share(text)]));
  }

  function share(text: string): string {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  }
}
