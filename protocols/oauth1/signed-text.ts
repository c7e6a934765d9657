/**
 * The text that is signed, the base string of RFC 5849, section 3.4.1: method, address without
 * query, and every parameter of the header, the query and the body, in an order that does not
 * depend on the sender.
 */
import { OAuthFault } from "./oauth-fault.ts";
import { decodeQueryPart, encodePercent } from "./percent.ts";

export type Parameter = readonly [name: string, value: string];

export type OAuthRequest = {
  readonly method: string;
  /** Absolute, as the sender called it; its query is part of what is signed. */
  readonly url: string;
  /** Of the body, when it is a form; decoded. */
  readonly parameters: readonly Parameter[];
};

/** `own` are the header's parameters, without the realm and the signature. */
export function makeSignedText(
  { method, url, parameters }: OAuthRequest,
  own: readonly Parameter[],
): string | OAuthFault {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) {
    return new OAuthFault("malformed_url");
  }
  const query = parseQuery(address.search);
  if (query instanceof OAuthFault) return query;

  const others = [...query, ...parameters];
  const ownNames = new Set([...own.map(([name]) => name), signatureName]);
  if (others.some(([name]) => ownNames.has(name))) return new OAuthFault("parameter_in_two_places");
  // The parser has lower-cased scheme and host, and dropped the port that the scheme implies.
  const place = `${address.protocol}//${address.host}${address.pathname}`;
  const parts = [method.toUpperCase(), place, normalizeParameters([...others, ...own])];
  return parts.map(encodePercent).join("&");
}

export const signatureName = "oauth_signature";

/**
 * Sorted by encoded name, then by encoded value; a name that comes twice stays twice. Encoded text
 * is ASCII and holds no control character, so a pair sorts as one text with one between the two.
 */
export function normalizeParameters(parameters: readonly Parameter[]): string {
  const pairs = parameters.map(
    ([name, value]) => `${encodePercent(name)}${lowest}${encodePercent(value)}`,
  );
  return pairs.sort().join("&").replaceAll(lowest, "=");
}

const lowest = "\u0000";

function parseQuery(search: string): readonly Parameter[] | OAuthFault {
  const parameters: Parameter[] = [];
  for (const part of search.slice(1).split("&")) {
    if (part === "") continue;
    const [name = "", ...rest] = part.split("=");
    const pair = [decodeQueryPart(name), decodeQueryPart(rest.join("="))] as const;
    if (pair[0] === undefined || pair[1] === undefined) return new OAuthFault("malformed_query");
    parameters.push([pair[0], pair[1]]);
  }
  return parameters;
}
