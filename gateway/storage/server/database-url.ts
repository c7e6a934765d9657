/**
 * The address of a database, which may name several servers of which one accepts writes:
 * `postgres://user:password@host1:5432,host2:5432/name`. It is split into an address for each
 * server, because the driver accepts only one server.
 */
import { isIP } from "node:net";
import { Problem } from "../../values/problem.ts";

export type Server = {
  /** The server's name in messages, without user and password. */
  readonly name: string;
  readonly url: string;
};

const form = /^(postgres|postgresql):\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

export function parseDatabaseUrl(address: string): readonly Server[] | Problem {
  const [, scheme, user, places = "", path = "", query = ""] = form.exec(address) ?? [];
  if (scheme === undefined) return problem("it is not of the form postgres://user:password@host");
  if (user === undefined && `${path}${query}`.includes("@")) {
    return problem("characters such as / and ? in user and password must be percent-encoded");
  }
  const parameters = new URLSearchParams(query);
  const fault = findParameterFault(parameters);
  if (fault !== undefined) return problem(fault);

  const named = (parameters.get("host") ?? "").split(",").map(encodeHost);
  const hosts = parameters.has("host") ? named : places.split(",");
  const ports = (parameters.get("port") ?? "").split(",");
  if (parameters.has("host") && places !== "") return problem("it names its hosts twice");
  if (ports.length > 1 && ports.length !== hosts.length) {
    return problem("it does not have one port, or a port for each host");
  }
  for (const name of ["host", "port", "target_session_attrs"]) parameters.delete(name);
  const rest = parameters.size === 0 ? "" : `?${parameters}`;
  const credentials = user === undefined ? "" : `${user}@`;
  const servers: Server[] = [];
  for (const [at, text] of hosts.entries()) {
    const host = withPort(text, ports[ports.length > 1 ? at : 0] ?? "");
    const hostFault = findHostFault(host, hosts.length > 1);
    if (hostFault !== undefined) return problem(hostFault);
    const url = `postgres://${credentials}${host}${path || "/"}${rest}`;
    servers.push({ name: nameOf(host), url });
  }
  return servers;
}

/** Returns the host of each server, and whether the driver connects to it by TLS. */
export function listLinks(url: string): readonly { host: string; isEncrypted: boolean }[] {
  const servers = parseDatabaseUrl(url);
  if (servers instanceof Problem) return [];
  return servers.map((server) => {
    const { hostname, searchParams } = new URL(server.url);
    const host = decodeURIComponent(hostname).replace(/^\[|\]$/g, "");
    const isOff = searchParams.get("sslmode") === "disable" || searchParams.get("ssl") === "0";
    const isAsked = [...searchParams.keys()].some((name) => name.startsWith("ssl"));
    return { host, isEncrypted: isAsked && !isOff };
  });
}

export function namesOfServers(url: string): string {
  const servers = parseDatabaseUrl(url);
  return servers instanceof Problem ? "" : servers.map(({ name }) => name).join(", ");
}

function problem(cause: string): Problem {
  return new Problem(`GW_DATABASE_URL cannot be used: ${cause}.`);
}

function findParameterFault(parameters: URLSearchParams): string | undefined {
  const wanted = parameters.get("target_session_attrs") ?? "read-write";
  if (wanted !== "read-write" && wanted !== "primary") {
    return "the gateway writes, so target_session_attrs must be read-write, or absent";
  }
  // `statement_timeout` is refused: the server could cancel a commit that is stored but not
  // replicated (decision 0036).
  return parameters.has("statement_timeout")
    ? "set GW_DATABASE_STATEMENT_TIMEOUT_S instead of its statement_timeout"
    : undefined;
}

/** The slashes of a socket folder are encoded, because only an address's path may have them. */
function encodeHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : encodeURIComponent(host);
}

function withPort(host: string, port: string): string {
  return port === "" || /:\d*$/.test(host.replace(/^\[[^\]]*\]/, "")) ? host : `${host}:${port}`;
}

/** Returns what is wrong with a host. A single empty host is valid: the driver has a default. */
function findHostFault(text: string, isOneOfSeveral: boolean): string | undefined {
  const [, literal, plain = "", port] = /^(?:\[(.*)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? [];
  if (port !== undefined && !/^\d{1,5}$/.test(port)) return `the port of ${nameOf(text)} is wrong`;
  if (literal !== undefined) {
    return isIP(literal) === 6 ? undefined : `[${literal}] is not an IPv6 address`;
  }
  if (plain === "" && (isOneOfSeveral || text !== "")) return "a host is missing";
  if (!/^([\w.~-]|%[0-9a-f]{2})*$/i.test(plain)) return `the host ${plain} is misspelt`;
  return undefined;
}

function nameOf(host: string): string {
  try {
    return decodeURIComponent(host) || "localhost";
  } catch {
    return host;
  }
}
