/**
 * The look-up of a callback's connection: what is checked is what is dialled. Names are asked for
 * without the system's own look-up where that can be done: it has few places, and a name server
 * that keeps silent would fill them for everybody.
 */
import { type LookupAddress, lookup, Resolver } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { AddressRules } from "./addresses.ts";

/** Every address of a name, of both kinds. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Every address of the answer must pass, and a name without an answer is not called. */
export function makeLookup(rules: AddressRules, resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, (error, found) => {
      const fault = error ?? findFault(found, hostname);
      const addresses = found.filter(({ family }) => !options.family || family === options.family);
      const [first] = addresses;
      if (fault !== undefined) done(fault, "");
      else if (first === undefined) done(new Error("it leads nowhere"), "");
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

  function findFault(addresses: readonly LookupAddress[], hostname: string): Error | undefined {
    for (const { address } of addresses) {
      const fault =
        isIP(address) === 0 ? "it leads nowhere" : rules.findAddressFault(address, hostname);
      if (fault !== undefined) return new Error(fault);
    }
    return undefined;
  }
}

/** As this machine does it, with its own list of hosts. */
export const askSystem: Resolve = (hostname, done) =>
  lookup(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));

const resolverLastsMs = 60_000;

/**
 * Names that the operator allows may be this machine's own; all others are the world's. Without
 * `servers` they are the machine's, read again from time to time: they change under a process that
 * runs for months.
 */
export function makeResolve(
  isOwnName: (hostname: string) => boolean,
  servers?: readonly string[],
): Resolve {
  let resolver = makeResolver(servers);
  let madeAt = performance.now();
  return (hostname, done) => {
    if (isOwnName(hostname)) return askSystem(hostname, done);
    if (performance.now() - madeAt > resolverLastsMs) {
      resolver = makeResolver(servers);
      madeAt = performance.now();
    }
    const found: LookupAddress[] = [];
    let trouble: Error | null = null;
    let open = 2;
    const take = (family: 4 | 6) => (error: Error | null, addresses: string[] | undefined) => {
      open -= 1;
      trouble ??= error;
      for (const address of addresses ?? []) found.push({ address, family });
      if (open === 0) done(found.length > 0 ? null : trouble, found);
    };
    resolver.resolve4(hostname, take(4));
    resolver.resolve6(hostname, take(6));
  };
}

function makeResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}
