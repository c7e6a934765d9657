/**
 * Where callbacks may go. A merchant names the address, so it is the gateway that must not be made
 * to speak to what only the gateway can reach. The same rules judge an address when an order is
 * accepted and when it is dialled; what a name leads to is judged at the dial alone.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

export type AddressRules = {
  /** Nothing: it may be called. */
  findUrlFault(text: string, parsed?: URL | null): string | undefined;
  /** Of one address that a name leads to. */
  findAddressFault(address: string, hostname: string): string | undefined;
  /** The operator allows it by name. */
  isNamed(hostname: string): boolean;
};

export type AddressOptions = {
  /** Ports besides those of the list below; empty allows none. */
  readonly ports: readonly number[];
  /** Staging: every port, and all of this machine. */
  readonly allowsLoopback: boolean;
  /** Private networks that may be called, as CIDR. */
  readonly privateNetworks: readonly string[];
  /** Names or addresses that may be called whatever they are. */
  readonly names: readonly string[];
};

const usualPorts = [80, 443, 8080, 8443];

// biome-ignore format: a table
const forbidden = makeList([
  "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
  "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24",
  "::/128", "::1/128", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32", "3fff::/20",
  "100::/64", "64:ff9b:1::/48", "2001:2::/48", "2001:10::/28",
  // Where clouds tell machines about themselves, as far as no range above has it.
  "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128",
]);

// biome-ignore format: a table
const internal = makeList([
  "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "fc00::/7",
]);

const loopback = makeList(["127.0.0.0/8", "::1/128"]);
/** All that is given out to the world so far; what lies elsewhere is nobody's or somebody's own. */
const worldwide = makeList(["2000::/3"]);
/** Names that mean something only where we are. */
const localName =
  /^([^.]*|.*\.(localhost|internal|intranet|local|lan|home|corp|svc|home\.arpa|)|.*\.\..*)$/;

export function makeAddressRules(options: AddressOptions): AddressRules {
  const opened = makeList(options.privateNetworks);
  const names = new Set(options.names.map(bare));
  const ports = new Set([...usualPorts, ...options.ports]);
  return { findUrlFault, findAddressFault, isNamed };

  function isNamed(hostname: string): boolean {
    return names.has(bare(hostname));
  }

  function findUrlFault(text: string, url = URL.parse(text)): string | undefined {
    if (url === null || !/^https?:$/.test(url.protocol)) return "not an http(s) address";
    const isNamedIn = url.username !== "" || url.password !== "";
    if (isNamedIn || /^[^:]*:[/\\]*[^/\\?#]*@/.test(text)) return "it carries a name or a password";
    const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
    if (!options.allowsLoopback && !ports.has(port)) return `port ${port} is not allowed`;
    const host = bare(url.hostname);
    if (isIP(host) !== 0) return findAddressFault(host, host);
    if (!localName.test(host) || options.allowsLoopback || isNamed(host)) return undefined;
    return "it is no public name";
  }

  function findAddressFault(dialled: string, hostname: string): string | undefined {
    const [address = ""] = dialled.split("%");
    if (isNamed(hostname) || names.has(address)) return undefined;
    if (options.allowsLoopback && holds(loopback, address)) return undefined;
    const hidden = hiddenIn(address);
    const isBare = hidden.length === 0 || isIsatap(groupsOf(address));
    if (isIP(address) === 6 && isBare && !isGivenOut(address)) return never;
    // An address may carry another one inside: all of them must pass.
    for (const each of [address, ...hidden]) {
      if (options.allowsLoopback && holds(loopback, each)) continue;
      if (holds(forbidden, each)) return never;
      if (holds(internal, each) && !holds(opened, each)) return "it leads into a private network";
    }
    return undefined;
  }
}

const never = "it leads to an address that is never called";

function isGivenOut(address: string): boolean {
  return holds(worldwide, address) || holds(internal, address);
}

/** Without brackets and without the dot of a whole name. */
function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, "");
}

function makeList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits = ""] = network.split("/");
    list.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

function holds(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** IPv4 inside IPv6: mapped, compatible, translated, 6to4, Teredo and ISATAP. */
function hiddenIn(address: string): readonly string[] {
  if (isIPv4(address)) return [];
  const groups = groupsOf(address);
  const [first = 0, second = 0] = groups;
  const low = v4From(groups[6], groups[7]);
  // Compatible, mapped, translated as ::ffff:0:a.b.c.d, and as 64:ff9b::a.b.c.d.
  const prefix = groups.slice(0, 6).join(":");
  if (/^(0:0:0:0:0:0|0:0:0:0:0:65535|0:0:0:0:65535:0|100:65435:0:0:0:0)$/.test(prefix))
    return [low];
  if (isIsatap(groups)) return [low];
  if (first === 0x2002) return [v4From(second, groups[2])];
  if (first === 0x2001 && second === 0) {
    const client = v4From((groups[6] ?? 0) ^ 0xffff, (groups[7] ?? 0) ^ 0xffff);
    return [v4From(groups[2], groups[3]), client];
  }
  return [];
}

function isIsatap(groups: readonly number[]): boolean {
  return (groups[4] ?? 0) % 0x200 === 0 && groups[5] === 0x5efe;
}

function v4From(high = 0, low = 0): string {
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

/** The eight groups of an address that is known to be one. */
function groupsOf(address: string): readonly number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, head = address, ...bytes] = dotted ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  const tail =
    dotted === null ? "" : `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const [left = "", right] = `${head}${tail}`.split("::");
  const read = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  if (right === undefined) return read(left);
  const [before, after] = [read(left), read(right)];
  return [...before, ...new Array(8 - before.length - after.length).fill(0), ...after];
}
