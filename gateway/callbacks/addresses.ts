/**
 * Decides which addresses callbacks may use, because a merchant must not make the gateway call
 * hosts that only the gateway can reach. The URL is checked when the order is accepted and at each
 * attempt. A host's addresses are checked in the connection's own DNS look-up, so that the
 * connection uses the checked address.
 */
import { type LookupAddress, lookup, Resolver } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import type { Endpoint } from "../orders/merchant.ts";

export type AddressRules = ReturnType<typeof makeAddressRules>;

export type AddressOptions = {
  readonly ports: readonly number[];
  /** Every port and every address of this machine is permitted, as in staging. */
  readonly allowsLoopback: boolean;
  /** CIDR blocks that may be called. */
  readonly privateNetworks: readonly string[];
  /** Names or addresses that may be called, even in forbidden ranges. */
  readonly names: readonly string[];
};

export type AddressSettings = {
  readonly environment: string;
  readonly callbackPorts: string;
  readonly callbackPrivateNetworks: string;
  readonly callbackNames: string;
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Networks = readonly [Address, number][];

const defaultPorts = [80, 443, 8080, 8443];
/** The limit on cached results of `findHostFault`. */
const checkedMax = 1_000;

const forbidden = parseNetworks([
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "168.63.129.16/32",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "::/128",
  "::1/128",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
  "2001:db8::/32",
  "3fff::/20",
  "100::/64",
  "64:ff9b:1::/48",
  "2001:2::/48",
  "2001:10::/28",
  // Metadata services of clouds outside the ranges above.
  "100.100.100.200/32",
  "fd00:ec2::254/128",
  "fd20:ce::254/128",
]);

const internal = parseNetworks([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "fc00::/7",
]);

const loopback = parseNetworks(["127.0.0.0/8", "::1/128"]);
const globalUnicast = parseNetworks(["2000::/3"]);
/** Ranges with an IPv4 address in the last 32 bits: compatible, mapped, translated. */
const withIPv4Tail = parseNetworks(["::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"]);
/** Names that only resolve inside a network. */
const localName =
  /^[^.]*$|\.\.|\.(?:localhost|internal|intranet|local|lan|home|corp|svc|home\.arpa)?$/;

export function readAddressOptions(settings: AddressSettings): AddressOptions {
  return {
    ports: listOf(settings.callbackPorts).map(Number),
    allowsLoopback: settings.environment === "staging",
    privateNetworks: listOf(settings.callbackPrivateNetworks),
    names: listOf(settings.callbackNames),
  };
}

export function closedOptions(options: AddressOptions): AddressOptions {
  return { ...options, privateNetworks: [], names: [] };
}

export function makeAddressRules(options: AddressOptions) {
  const opened = parseNetworks(options.privateNetworks);
  const names = new Set(options.names.map(bare));
  const ports = new Set([...defaultPorts, ...options.ports]);
  const checked = new Map<string, string | undefined>();
  return { findUrlFault, findAddressFault, isNamed };

  function isNamed(hostname: string): boolean {
    return names.has(bare(hostname));
  }

  function findUrlFault(text: string, url = URL.parse(text)): string | undefined {
    if (url === null || !/^https?:$/.test(url.protocol)) return "not an http(s) address";
    const hasCredentials = url.username !== "" || url.password !== "";
    if (hasCredentials || /^[^:]*:[/\\]*[^/\\?#]*@/.test(text)) {
      return "it carries a name or a password";
    }
    const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
    if (!options.allowsLoopback && !ports.has(port)) return `port ${port} is not allowed`;
    const host = bare(url.hostname);
    if (isIP(host) !== 0) return findHostFault(host);
    if (!localName.test(host) || options.allowsLoopback || isNamed(host)) return undefined;
    return "it is no public name";
  }

  /** Results are cached: a check takes as long as writing a message, and is repeated all day. */
  function findHostFault(address: string): string | undefined {
    if (!checked.has(address)) {
      if (checked.size >= checkedMax) checked.clear();
      checked.set(address, findAddressFault(address, address));
    }
    return checked.get(address);
  }

  function findAddressFault(text: string, hostname: string): string | undefined {
    const [plain = ""] = text.split("%");
    if (isNamed(hostname) || names.has(plain)) return undefined;
    const address = ipaddr.parse(plain);
    if (options.allowsLoopback && isIn(loopback, address)) return undefined;
    const embedded = embeddedIn(address);
    const isOnlyIPv6 =
      address instanceof ipaddr.IPv6 && (embedded.length === 0 || isIsatap(address));
    if (isOnlyIPv6 && !isIn(globalUnicast, address) && !isIn(internal, address)) return neverCalled;
    for (const each of [address, ...embedded]) {
      if (options.allowsLoopback && isIn(loopback, each)) continue;
      if (isIn(forbidden, each)) return neverCalled;
      if (isIn(internal, each) && !isIn(opened, each)) return "it leads into a private network";
    }
    return undefined;
  }
}

export type AddressChecks = ReturnType<typeof makeAddressChecks>;

export function makeAddressChecks(settings: AddressSettings) {
  const options = readAddressOptions(settings);
  const opened = makeAddressRules(options);
  const closed = makeAddressRules(closedOptions(options));
  return {
    /** Returns why an address of a request is refused. All endpoints of a group must permit it. */
    findAddressFault(
      url: string,
      use: "return" | "callback",
      endpoints: readonly Pick<Endpoint, "settings">[],
    ): string | undefined {
      const isPlain = settings.environment === "production" && URL.parse(url)?.protocol === "http:";
      const isTaken = endpoints.every(({ settings: own }) => own.plainAddresses === true);
      if (isPlain && !isTaken) return "https:// is needed";
      if (use === "return") return undefined;
      const isOpened = endpoints.every(({ settings: own }) => own.privateCallbacks === true);
      return (isOpened ? opened : closed).findUrlFault(url);
    },
  };
}

const neverCalled = "it leads to an address that is never called";

/** Removes the brackets of an IPv6 address, and the final dot of a fully qualified name. */
function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, "");
}

function listOf(text: string): readonly string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter(Boolean);
}

function parseNetworks(networks: readonly string[]): Networks {
  return networks.map((network) => ipaddr.parseCIDR(network));
}

function isIn(networks: Networks, address: Address): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

/** Returns the IPv4 addresses inside an IPv6 address, each of which must be permitted too. */
function embeddedIn(address: Address): readonly ipaddr.IPv4[] {
  if (address instanceof ipaddr.IPv4) return [];
  const bytes = address.toByteArray();
  if (isIn(withIPv4Tail, address) || isIsatap(address)) return [ipv4At(bytes, 12)];
  const [first, second] = address.parts;
  // These are 6to4, and Teredo with its server and its client, which is inverted.
  if (first === 0x2002) return [ipv4At(bytes, 2)];
  if (first !== 0x2001 || second !== 0) return [];
  const inverted = bytes.map((byte) => byte ^ 0xff);
  return [ipv4At(bytes, 4), ipv4At(inverted, 12)];
}

function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] ?? 0) % 0x200 === 0 && parts[5] === 0x5efe;
}

function ipv4At(bytes: readonly number[], start: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes.slice(start, start + 4));
}

export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Makes a look-up that refuses a host with a forbidden address or without any address. */
export function makeLookup(rules: AddressRules, resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, (error, found) => {
      const fault = error ?? findFault(found, hostname);
      const addresses = found.filter(({ family }) => !options.family || family === options.family);
      const [first] = addresses;
      if (fault !== undefined) done(fault, "");
      else if (first === undefined) done(new Error(noAddress), "");
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

  function findFault(addresses: readonly LookupAddress[], hostname: string): Error | undefined {
    for (const { address } of addresses) {
      const isAddress = isIP(address) !== 0;
      const fault = isAddress ? rules.findAddressFault(address, hostname) : noAddress;
      if (fault !== undefined) return new Error(fault);
    }
    return undefined;
  }
}

const noAddress = "DNS returned no address";

export const resolveBySystem: Resolve = (hostname, done) =>
  lookup(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));

const resolverLastsMs = 60_000;

/**
 * Resolves names by DNS, because a silent DNS server would occupy the few threads of the system's
 * look-up for all hosts. Only names that the operator allows use the system. Without `servers`, the
 * machine's are read every minute: they change under a process that runs for months.
 */
export function makeResolve(
  isNamed: (hostname: string) => boolean,
  servers?: readonly string[],
): Resolve {
  let resolver = makeResolver(servers);
  let madeAt = performance.now();
  return (hostname, done) => {
    if (isNamed(hostname)) return resolveBySystem(hostname, done);
    if (performance.now() - madeAt > resolverLastsMs) {
      resolver = makeResolver(servers);
      madeAt = performance.now();
    }
    const found: LookupAddress[] = [];
    let firstError: NodeJS.ErrnoException | null = null;
    let pending = 2;
    const take =
      (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[] | undefined) => {
        pending -= 1;
        firstError ??= error;
        for (const address of addresses ?? []) found.push({ address, family });
        if (pending > 0) return;
        done(found.length > 0 || firstError === null ? null : explain(firstError, hostname), found);
      };
    resolver.resolve4(hostname, take(4));
    resolver.resolve6(hostname, take(6));
  };
}

/** Tells an operator who has the name in the hosts file that this file was not read. */
function explain(error: NodeJS.ErrnoException, hostname: string): Error {
  if (error.code !== "ENOTFOUND" && error.code !== "ENODATA") return error;
  return new Error(`no name server has an address of ${hostname} (${error.code})`);
}

function makeResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}
