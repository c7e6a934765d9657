/**
 * The callback URLs of endpoints: the results that each gets, and the macros in its query, which
 * fields of the callback replace. A macro cannot change the host, the path or the number of
 * parameters: only values may contain one, and every value is percent-encoded.
 */
import type { FindEndpointUrls } from "../orders/advance.ts";
import type { CallbackUrl, Endpoint } from "../orders/merchant.ts";
import { disputeTypes } from "../orders/transactions.ts";
import type { EndpointId } from "../values/ids.ts";
import { type ResultFields, resultNames } from "../views/result.ts";
import { foundStatusOf, makeStatusReader, wireTypes } from "../views/status.ts";

export const callbackUrlsMax = 10;
const charactersMax = 1_024;
export const callbackTypes = ["all", ...wireTypes, ...disputeTypes] as const;
export const callbackStatuses = ["approved", "declined", "filtered", "error"] as const;

/** Each URL is called once, even if several entries name it. */
export function makeFindEndpointUrls(
  findEndpoint: (id: EndpointId) => Pick<Endpoint, "settings"> | undefined,
): FindEndpointUrls {
  return (found) => {
    const { settings } = findEndpoint(found.order.endpointId) ?? {};
    const { callbackUrls = [] } = settings ?? {};
    if (settings === undefined || callbackUrls.length === 0) return [];
    const type = makeStatusReader(found, { settings })("transaction-type");
    const status = foundStatusOf(found);
    const wanted = callbackUrls.filter(
      (each) => (each.type === "all" || each.type === type) && (each.status ?? status) === status,
    );
    return [...new Set(wanted.map(({ url }) => url))];
  };
}

const macros = /\$!?\{([^}]*)\}/g;
const macroBegins = /\$!?\{/;

/**
 * Returns the URL with each macro as `${field}` and its address in one spelling, so that two
 * spellings are not called as two URLs; or the fault of the URL.
 */
export function readMacros(
  text: string,
  { fieldWord }: { readonly fieldWord: string },
): { readonly url: string } | { readonly fault: string } {
  if (text.length > charactersMax) return { fault: `it has more than ${charactersMax} characters` };
  if (/[\s\\\p{Cc}\p{Cs}]/u.test(text)) {
    return { fault: "it has a space or a character that no address has" };
  }
  const [, address = "", query = "", rest = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  const parameters = query.split("&");
  const others = [address, ...parameters.map((each) => each.split("=", 1)[0] ?? ""), rest];
  if (others.some((each) => macroBegins.test(each))) {
    return { fault: "a macro can only be in the value of a query parameter" };
  }
  let unknown: string | undefined;
  const read = query.replace(macros, (macro, name: string) => {
    const field = macro.startsWith("$!") ? fieldInCapitals(name, fieldWord) : fieldNamed(name);
    unknown ??= field === undefined ? macro : undefined;
    return `\${${field}}`;
  });
  // An opening brace without a closing one is not a macro.
  unknown ??= macroBegins.exec(read.replace(macros, ""))?.[0];
  if (unknown !== undefined) return { fault: `there is no macro ${unknown}` };
  return { url: (URL.parse(address)?.href ?? address) + read + rest };
}

/** Hyphens and underscores are the same in macros. */
const fields = new Map([...resultNames].map((name) => [name.replaceAll("-", "_"), name]));

function fieldNamed(name: string): string | undefined {
  return fields.get(name.replaceAll("-", "_"));
}

function fieldInCapitals(name: string, fieldWord: string): string | undefined {
  const plain = name.toLowerCase();
  if (name !== name.toUpperCase()) return undefined;
  if (plain === `${fieldWord}_order_id`) return "orderid";
  return plain === "merchant_order_id" ? "client_orderid" : fieldNamed(plain);
}

export function hasMacros(url: string): boolean {
  return macroBegins.test(url);
}

export function fillMacros(url: string, result: ResultFields): string {
  const values = new Map(result);
  return url.replace(macros, (_, name: string) =>
    encodeURIComponent((values.get(name) ?? "").toWellFormed()),
  );
}

export function isSameEntry(one: CallbackUrl, other: CallbackUrl): boolean {
  return one.url === other.url && one.type === other.type && one.status === other.status;
}
