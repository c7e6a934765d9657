/** Writes a small country database in the MaxMind format (MMDB 2.0) for tests. */
import { bitsOf } from "../ip-countries.ts";

type Node = [left: Node | string | undefined, right: Node | string | undefined];

const recordBytes = 3;

export function makeCountryDatabase(networks: Readonly<Record<string, string>>): Buffer {
  const root: Node = [undefined, undefined];
  for (const [network, country] of Object.entries(networks)) insert(root, network, country);
  const nodes = flatten(root);
  const countries = [...new Set(Object.values(networks))];
  const places = new Map<string, number>();
  let data = Buffer.alloc(0);
  for (const country of countries) {
    places.set(country, data.length);
    data = Buffer.concat([data, map({ country: map({ iso_code: text(country) }) })]);
  }
  const recordOf = (side: Node[number]): number => {
    if (side === undefined) return nodes.length;
    if (typeof side !== "string") return nodes.indexOf(side);
    return nodes.length + 16 + (places.get(side) ?? 0);
  };
  const tree = Buffer.alloc(nodes.length * recordBytes * 2);
  nodes.forEach((node, at) => {
    node.forEach((side, right) => {
      tree.writeUIntBE(recordOf(side), (at * 2 + right) * recordBytes, recordBytes);
    });
  });
  const metadata = map({
    binary_format_major_version: uint(5, 2),
    binary_format_minor_version: uint(5, 0),
    build_epoch: uint(9, 1_800_000_000),
    database_type: text("Test-Country"),
    description: map({ en: text("test") }),
    ip_version: uint(5, 4),
    languages: Buffer.from([0x00, 0x04]),
    node_count: uint(6, nodes.length),
    record_size: uint(5, recordBytes * 8),
  });
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from("MaxMind.com")]);
  return Buffer.concat([tree, Buffer.alloc(16), data, marker, metadata]);
}

function insert(root: Node, network: string, country: string): void {
  const [address = "", length = "32"] = network.split("/");
  const bits = (bitsOf(address) ?? "").slice(1, Number(length) + 1);
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const side = bit === "0" ? 0 : 1;
    const next = node[side];
    const inner: Node = typeof next === "object" ? next : [undefined, undefined];
    node[side] = inner;
    node = inner;
  }
  node[bits.endsWith("0") ? 0 : 1] = country;
}

function flatten(root: Node): readonly Node[] {
  const nodes: Node[] = [root];
  for (const node of nodes) {
    for (const side of node) if (typeof side === "object") nodes.push(side);
  }
  return nodes;
}

/** The length is in one control byte, which can state up to 28. All lengths here are shorter. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
}

function map(pairs: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(pairs);
  const control = Buffer.from([(7 << 5) | entries.length]);
  return Buffer.concat([control, ...entries.flatMap(([key, value]) => [text(key), value])]);
}

function uint(type: 5 | 6 | 9, value: number): Buffer {
  const bytes = Buffer.alloc(type === 5 ? 2 : 4);
  bytes.writeUIntBE(value, 0, bytes.length);
  const control = type === 9 ? [bytes.length, type - 7] : [(type << 5) | bytes.length];
  return Buffer.concat([Buffer.from(control), bytes]);
}
