/**
 * IP addresses and networks as strings of bits: a network holds an address when its bits are the
 * beginning of the address's. IPv4 addresses that are written as IPv6 are IPv4 addresses here.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Problem } from "../values/problem.ts";

type IpNetwork = {
  /** In the one form in which it is stored and shown. */
  readonly text: string;
  /** `4` or `6`, then the network's own bits. */
  readonly bits: string;
};

/** A shorter prefix would name a large part of the internet: a slip of the pen. */
const prefixMin = { ipv4: 8, ipv6: 16 } as const;

const octets = Array.from({ length: 256 }, (_, octet) => octet.toString(2).padStart(8, "0"));

/** Returns undefined for a text that is no address. */
export function bitsOf(address: string): string | undefined {
  const parsed = parse(address);
  return parsed && printBits(parsed);
}

/** The one way to write it. */
export function normalise(address: string): string | undefined {
  return parse(address)?.toString();
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // The package also reads octal and shortened forms, which no two programs read alike.
  return isIP(address) === 0 || address.includes("%") ? undefined : ipaddr.process(address);
}

/** An address alone is a network of one. */
export function parseNetwork(given: string): IpNetwork | Problem {
  const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(given.trim()) ?? [];
  const parsed = parse(address);
  if (parsed === undefined) {
    return new Problem("not an IP address or network like 192.0.2.0/24 or 2001:db8::/32");
  }
  const writtenBits = isIP(address) === 6 ? 128 : 32;
  const size = parsed.toByteArray().length * 8;
  const prefix = Number(length ?? writtenBits) - (writtenBits - size);
  if (prefix < prefixMin[parsed.kind()] || prefix > size) {
    const { [parsed.kind()]: min } = prefixMin;
    return new Problem(`its prefix has ${min} to ${size} bits`);
  }
  const bits = printBits(parsed);
  if (bits.includes("1", prefix + 1)) return new Problem("bits are set after the prefix");
  return {
    text: prefix === size ? parsed.toString() : `${parsed.toString()}/${prefix}`,
    bits: bits.slice(0, prefix + 1),
  };
}

function printBits(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const bytes = address.toByteArray();
  return `${bytes.length === 4 ? "4" : "6"}${bytes.map((byte) => octets[byte]).join("")}`;
}
