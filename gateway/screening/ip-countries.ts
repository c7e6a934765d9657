/**
 * The countries of IP addresses, from the operator's MaxMind database (MMDB) or CSV file, which is
 * read again when it changes. If a new file cannot be used, the node keeps the data of the old one.
 */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Reader } from "mmdb-lib";
import { readRecords } from "../values/csv-records.ts";
import { findAlpha2 } from "../values/iso-codes.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { startRangeTable } from "../values/range-table.ts";
import { openReloadable } from "../values/reloadable.ts";

type FindCountry = (address: string) => string | undefined;

type CountryFile = {
  /** Modification time, size and inode. If one of them changes, the node reads the file again. */
  readonly stamp: string;
  readonly find: FindCountry;
  readonly problem?: string;
};

export type IpCountryFile = {
  /** The path; empty if the operator has no file of countries. */
  readonly file: string;
  readonly builtIn?: readonly (readonly [network: string, country: string])[];
  readonly onError: (error: unknown) => void;
};

const unknown: FindCountry = () => undefined;

export async function openIpCountries({ file, builtIn = [], onError }: IpCountryFile) {
  const findBuiltIn = await makeFind(rowsOf(builtIn));
  const { current, reload } = await openReloadable<CountryFile>({
    read: async (present) => {
      if (file === "") return { stamp: "", find: unknown };
      const stamp = await stampOf(file);
      if (stamp === present?.stamp) return present;
      try {
        return { stamp, find: await readCountryFile(file) };
      } catch (error) {
        onError(error);
        // The stamp of an unusable file is stored, so that the node reports the file only once.
        return { stamp, find: present?.find ?? unknown, problem: messageOf(error) };
      }
    },
    onError,
  });
  return {
    reload,
    find: (address: string) => current().find(address) ?? findBuiltIn(address),
    get hasData() {
      return current().find !== unknown || builtIn.length > 0;
    },
    /** Why the newest file could not be used; undefined if that file is in use. */
    get problem() {
      return current().problem;
    },
  };
}

async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs}/${size}/${ino}`;
  } catch {
    return "missing";
  }
}

async function readCountryFile(file: string): Promise<FindCountry> {
  return file.toLowerCase().endsWith(".csv")
    ? makeFind(readRows(readRecords(createReadStream(file))))
    : openDatabase(await readFile(file));
}

/** The most records in the cache. Decoding a record takes longer than finding it. */
const recordsMax = 10_000;

function openDatabase(bytes: Buffer): FindCountry {
  const records = new Map<string | number, unknown>();
  const cache = {
    get: (key: string | number) => records.get(key),
    set(key: string | number, record: unknown) {
      if (records.size < recordsMax) records.set(key, record);
    },
  };
  const reader = new Reader(bytes, { cache });
  const { searchTreeSize, ipVersion } = reader.metadata;
  const separator = bytes.subarray(searchTreeSize, searchTreeSize + 16);
  if (separator.length < 16 || separator.some((byte) => byte !== 0)) {
    throw new Error("the search tree does not end where the file says");
  }
  const find = (address: string) => countryIn(reader.get(address));
  // Looks up some addresses, so that a damaged file fails now and not during a payment.
  for (const address of ["1.1.1.1", "8.8.8.8", "81.2.69.142", "192.0.2.1"]) find(address);
  return (address) => {
    const plain = normalise(address);
    if (plain === undefined || (plain.includes(":") && ipVersion === 4)) return undefined;
    try {
      return find(plain);
    } catch {
      return undefined;
    }
  };
}

/** Providers name the field for the country differently. */
function countryIn(found: unknown): string | undefined {
  const record = Object(found);
  const codes = [record.country, record.registered_country].map((each) =>
    typeof each === "string" ? each : each?.iso_code,
  );
  const code = codes.find((each) => typeof each === "string") ?? record.country_code;
  return typeof code === "string" ? findAlpha2(code.toUpperCase()) : undefined;
}

type CountryRow = {
  readonly line: number;
  readonly network: string;
  readonly country: string;
};

async function* rowsOf(rows: Required<IpCountryFile>["builtIn"]): AsyncGenerator<CountryRow> {
  for (const [network, country] of rows) yield { line: 0, network, country };
}

async function* readRows(records: ReturnType<typeof readRecords>): AsyncGenerator<CountryRow> {
  let places: readonly [number, number] | undefined;
  for await (const { line, cells } of records) {
    if (cells === undefined) throw new Error(`line ${line}: the quotes do not match`);
    if (places === undefined) {
      const names = cells.map((cell) => cell.trim().toLowerCase());
      places = [names.indexOf("network"), names.indexOf("country")];
      if (places.includes(-1)) throw new Error("line 1: the columns are network and country");
    } else {
      const [network = "", country = ""] = places.map((place) => cells[place]);
      yield { line, network, country };
    }
  }
}

/**
 * How many decimal digits hold an address. Of an IPv6 address, only the upper 64 bits are stored,
 * because no provider's network has a longer prefix. Those of public addresses fit into 19 digits.
 */
const digitsOf = { 4: 10, 6: 19 } as const;

async function makeFind(rows: AsyncIterable<CountryRow>): Promise<FindCountry> {
  const builders = { 4: startRangeTable(digitsOf[4]), 6: startRangeTable(digitsOf[6]) };
  const last = { 4: 0n, 6: 0n };
  for await (const { line, network: text, country: code } of rows) {
    const country = findAlpha2(code.trim().toUpperCase());
    const network = parseNetwork(text);
    if (network instanceof Problem) throw new Error(`line ${line}: ${network.sentence}`);
    if (country === undefined) throw new Error(`line ${line}: not a country code of ISO 3166-1`);
    const version = network.bits.startsWith("4") ? 4 : 6;
    const [first, end] = [numberOf(network.bits, "0"), numberOf(network.bits, "1")];
    if (first < last[version]) throw new Error(`line ${line}: the networks are not sorted`);
    last[version] = first;
    if (end < 10n ** BigInt(digitsOf[version])) {
      builders[version].add({ first, last: end, value: { country } });
    }
  }
  const tables = { 4: builders[4].finish(), 6: builders[6].finish() };
  return (address) => {
    const bits = bitsOf(address);
    if (bits === undefined) return undefined;
    const version = bits.startsWith("4") ? 4 : 6;
    const digits = String(numberOf(bits, "0")).padStart(digitsOf[version], "0");
    return digits.length > digitsOf[version]
      ? undefined
      : tables[version].find(digits)?.["country"];
  };
}

function numberOf(bits: string, fill: "0" | "1"): bigint {
  const size = bits.startsWith("4") ? 32 : 64;
  return BigInt(`0b${bits.slice(1, size + 1).padEnd(size, fill)}`);
}

/** The common first bits of the network's addresses. IPv4 addresses may be in IPv6 notation. */
type IpNetwork = {
  /** The network's normal form, which is stored and shown. */
  readonly text: string;
  /** The digit 4 or 6 for the IP version, then the bits of the prefix. */
  readonly bits: string;
};

/**
 * The shortest prefix of a network on a list. A shorter one is probably a typing mistake, because
 * it would cover a large part of the internet.
 */
const prefixMin = { ipv4: 8, ipv6: 16 } as const;

const octets = Array.from({ length: 256 }, (_, octet) => octet.toString(2).padStart(8, "0"));

export function bitsOf(address: string): string | undefined {
  const parsed = parse(address);
  return parsed && printBits(parsed);
}

function normalise(address: string): string | undefined {
  return parse(address)?.toString();
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Octal and shortened notations are refused, because programs read them differently.
  return isIP(address) === 0 || address.includes("%") ? undefined : ipaddr.process(address);
}

/** A single address is a network of one address. */
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
