/**
 * Finds the client that sent a request: an IPv4 address, or the IPv6 network of one household. Only
 * the entry that a proxy of the operator wrote counts, in the header (`X-Forwarded-For` or
 * `Forwarded`) that the operator names. All other entries, and the other header, are the client's
 * own.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { noSuchFile } from "./built-files.ts";
import type { HttpRequest, HttpRoute } from "./router.ts";

export type IsTrusted = (address: string) => boolean;
export type ProxyHeader = "x-forwarded-for" | "forwarded";

export function makeIsTrusted(networks: readonly string[]): IsTrusted {
  const trusted = new BlockList();
  for (const network of networks) {
    const [address = "", bits = ""] = network.split("/");
    trusted.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Returns the last entry that is no proxy; undefined if there is no header. */
export function clientNetworkOf(
  headers: IncomingHttpHeaders,
  isTrusted: IsTrusted = () => false,
  name: ProxyHeader = "x-forwarded-for",
): string | undefined {
  return networkOf(forwardedIn(headers, isTrusted, name));
}

type Asking = Pick<IncomingMessage, "headers" | "socket">;

/** Returns the proxy's address if the proxy names no client. */
export function clientAddressOf(request: Asking, isTrusted: IsTrusted, name: ProxyHeader): string {
  return findClientAddress(request, isTrusted, name) ?? connectedFrom(request);
}

/** Returns the address of the connection, or of the client that a proxy names. */
export function findClientAddress(
  request: Asking,
  isTrusted: IsTrusted,
  name: ProxyHeader,
): string | undefined {
  const address = connectedFrom(request);
  if (!isTrusted(address)) return address;
  const forwarded = forwardedIn(request.headers, isTrusted, name) ?? "";
  return isIP(forwarded) === 0 ? undefined : forwarded;
}

function connectedFrom({ socket }: Asking): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
}

function forwardedIn(headers: IncomingHttpHeaders, isTrusted: IsTrusted, name: ProxyHeader) {
  const header = headers[name];
  if (header === undefined) return undefined;
  // A quote that the client left open must not hide the proxy's entry: quotes are split too.
  const elements = [header].flat().join(",").split(",");
  const entries = elements.map((each) => addressIn(name === "forwarded" ? forOf(each) : each));
  return entries.findLast((entry) => isIP(entry) === 0 || !isTrusted(entry));
}

/** Finds the address and port in `for="[2001:db8::1]:443";proto=https` (RFC 7239). */
function forOf(element: string): string {
  return /(?:^|;)\s*for="?([^";]*)/i.exec(element)?.[1] ?? "";
}

function addressIn(entry: string): string {
  const withPort = /^\[(.+)\](:\d+)?$|^(\d+(?:\.\d+){3}):\d+$/.exec(entry.trim());
  return withPort?.[1] ?? withPort?.[3] ?? entry.trim();
}

export function networkOf(address = ""): string | undefined {
  const version4 = /^(?:::ffff:)?(\d+(?:\.\d+){3})$/i.exec(address)?.[1] ?? "";
  if (isIP(version4) === 4) return version4;
  if (isIP(address) !== 6) return undefined;
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = address.includes("::") ? 8 - head.length - tail.length : 0;
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

type Proxies = { readonly isTrusted: IsTrusted; readonly proxyHeader: ProxyHeader };

/**
 * An empty list permits all networks. Other clients get an empty reply, and their bodies are not
 * read. A proxy that names no client is refused even if its own address is in the networks, because
 * it could pass on anyone.
 */
export function onlyInside(
  routes: readonly HttpRoute[],
  networks: readonly string[],
  { isTrusted, proxyHeader }: Proxies,
): readonly HttpRoute[] {
  if (networks.length === 0) return routes;
  const isInside = makeIsTrusted(networks);
  const refusalFor = (request: HttpRequest) => {
    const client = findClientAddress(request, isTrusted, proxyHeader);
    if (client === undefined) return unnamedClient;
    return isInside(client) ? undefined : noSuchFile;
  };
  return routes.map((route) => ({
    ...route,
    answerEarly(request) {
      const refusal = refusalFor(request);
      return refusal === undefined ? route.answerEarly?.(request) : Promise.resolve(refusal);
    },
  }));
}

const unnamedClient = { ...noSuchFile, status: 403, body: "the proxy names no client\n" };
