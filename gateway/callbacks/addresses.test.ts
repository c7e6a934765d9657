/**
 * The addresses that callbacks may use: every range, IPv4 inside IPv6, exceptions of an operator,
 * and DNS.
 */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import {
  type AddressOptions,
  makeAddressChecks,
  makeAddressRules,
  makeResolve,
  type Resolve,
  readAddressOptions,
} from "./addresses.ts";

const closed: AddressOptions = { ports: [], allowsLoopback: false, privateNetworks: [], names: [] };

// biome-ignore format: a table
const forbidden = [
  "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254",
  "168.63.129.16", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.51.100.7",
  "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "100.100.100.200",
  "::", "::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "2001:db8::1", "3fff::1",
  "100::1", "fd00:ec2::254", "fd20:ce::254", "64:ff9b:1::808:808", "64:ff9b:1:ffff::1",
  "4000::1", "5f00::1", "2001:2::1", "2001:10::1", "100:0:0:1::1", "0:0:0:1::7f00:1",
  "::ffff:0:0:7f00:1", "e000::1", "0:0:0:0:1:2:808:808", "64:ff9b:2::808:808",
  "4000::5efe:808:808",
];

// biome-ignore format: a table
const internal = [
  "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "172.16.0.1", "172.31.255.255",
  "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "fc00::1", "fdff::1",
];

// biome-ignore format: a table
const hidden: readonly (readonly [how: string, address: string])[] = [
  ["mapped",            "::ffff:127.0.0.1"],
  ["mapped, in groups", "::ffff:7f00:1"],
  ["mapped, private",   "::ffff:10.0.0.1"],
  ["mapped, metadata",  "::ffff:a9fe:a9fe"],
  ["written out",       "0:0:0:0:0:ffff:a9fe:a9fe"],
  ["compatible",        "::127.0.0.1"],
  ["compatible",        "::a00:1"],
  ["translated, SIIT",  "::ffff:0:127.0.0.1"],
  ["translated",        "64:ff9b::127.0.0.1"],
  ["translated",        "64:ff9b::a9fe:a9fe"],
  ["6to4",              "2002:7f00:1::"],
  ["6to4, private",     "2002:a00:1::1"],
  ["Teredo's client",   "2001:0:808:808:0:0:80ff:fffe"],
  ["Teredo's server",   "2001:0:7f00:1:0:0:f7f7:f7f7"],
  ["ISATAP",            "2a00::5efe:127.0.0.1"],
  ["ISATAP, unique",    "2a00::200:5efe:10.0.0.1"],
];

// biome-ignore format: a table
const open = [
  "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.1.1.1",
  "128.0.0.1", "169.253.1.1", "172.15.255.255", "172.32.0.1", "192.167.1.1", "198.17.1.1",
  "198.20.0.1", "223.255.255.254", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8", "2002:808:808::1",
];

test("no address that leads inside is called, however it is written", () => {
  const { findAddressFault, findUrlFault } = makeAddressRules(closed);

  const all = [...forbidden, ...internal, ...hidden.map(([, address]) => address)];
  for (const address of all) {
    assert.notEqual(findAddressFault(address, "shop.example"), undefined, address);
    if (!address.includes("%")) {
      const host = address.includes(":") ? `[${address}]` : address;
      assert.notEqual(findUrlFault(`http://${host}/told`), undefined, host);
    }
  }
  for (const address of open) {
    assert.equal(findAddressFault(address, "shop.example"), undefined, address);
  }
});

test("an address is judged the same again, however many others came between", () => {
  const { findUrlFault } = makeAddressRules(closed);
  const pairs = Array.from({ length: 700 }, (_, index) => `${index >> 8}.${index & 255}`);
  const judge = () =>
    pairs.map((pair) => [
      findUrlFault(`http://10.1.${pair}/`),
      findUrlFault(`http://8.8.${pair}/`),
    ]);

  const expected = pairs.map(() => ["it leads into a private network", undefined]);
  assert.deepEqual(judge(), expected);
  assert.deepEqual(judge(), expected);
});

test("other ways to write an address are the same address", () => {
  const { findUrlFault } = makeAddressRules(closed);

  // biome-ignore format: a table
  for (const host of [
    "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "127.0.0.1.", "[::ffff:127.0.0.1]",
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "metadata.google.internal",
    "１２７.0.0.1", "localhost..", "metadata", "shop", "a..b.example", "api.default.svc", "nas.lan",
    "router.home.arpa",
  ]) {
    assert.notEqual(findUrlFault(`http://${host}/`), undefined, host);
  }
});

test("only http and https, the usual ports and no passwords", () => {
  const { findUrlFault } = makeAddressRules({ ...closed, ports: [9443] });

  // biome-ignore format: a table
  const verdicts: readonly (readonly [url: string, passes: boolean])[] = [
    ["http://shop.example/",            true],
    ["https://shop.example/told?a=b",   true],
    ["https://shop.example:443/",       true],
    ["http://shop.example:8080/",       true],
    ["https://shop.example:8443/",      true],
    ["https://shop.example:9443/",      true],
    ["https://shop.example:22/",        false],
    ["http://shop.example:443/",        true],
    ["https://shop.example:25/",        false],
    ["https://me:it@shop.example/",     false],
    ["https://me@shop.example/",        false],
    ["https://@shop.example/",          false],
    ["https://:@shop.example/",         false],
    ["https:@shop.example/",            false],
    ["https://shop.example/a@b?c@d",    true],
    ["ftp://shop.example/",             false],
    ["file:///etc/passwd",              false],
    ["gopher://shop.example/",          false],
    ["//shop.example/",                 false],
    ["shop",                            false],
    ["",                                false],
  ];
  for (const [url, passes] of verdicts) assert.equal(findUrlFault(url) === undefined, passes, url);
});

test("private networks open by range, what is forbidden by exact name only", () => {
  const rules = makeAddressRules({
    ...closed,
    privateNetworks: ["10.1.0.0/16", "fd12::/16", "127.0.0.0/8"],
    names: ["hooks.internal", "127.0.0.2", "shop.LOCAL."],
  });

  assert.equal(rules.findAddressFault("10.1.2.3", "shop.example"), undefined);
  assert.equal(rules.findAddressFault("::ffff:10.1.2.3", "shop.example"), undefined);
  assert.equal(rules.findAddressFault("fd12::1", "shop.example"), undefined);
  assert.notEqual(rules.findAddressFault("10.2.0.1", "shop.example"), undefined);
  assert.notEqual(rules.findAddressFault("fd13::1", "shop.example"), undefined);
  assert.notEqual(rules.findAddressFault("127.0.0.1", "shop.example"), undefined);
  assert.equal(rules.findAddressFault("127.0.0.2", "shop.example"), undefined);
  assert.equal(rules.findAddressFault("169.254.1.1", "hooks.internal"), undefined);
  assert.notEqual(rules.findAddressFault("169.254.1.1", "x.hooks.internal"), undefined);
  assert.equal(rules.findUrlFault("https://hooks.internal/"), undefined);
  assert.equal(rules.findUrlFault("https://shop.local/"), undefined);
  assert.notEqual(rules.findUrlFault("https://other.internal/"), undefined);
  assert.notEqual(rules.findUrlFault("https://hooks.internal:22/"), undefined);
});

test("staging opens all of this machine at any port, and nothing else", () => {
  const { findUrlFault, findAddressFault } = makeAddressRules({ ...closed, allowsLoopback: true });

  for (const host of ["localhost:5000", "127.0.0.1:1", "127.9.9.9", "[::1]:3000", "a.localhost"]) {
    assert.equal(findUrlFault(`http://${host}/`), undefined, host);
  }
  assert.equal(findAddressFault("::1", "localhost"), undefined);
  assert.equal(findAddressFault("::ffff:127.0.0.1", "localhost"), undefined);
  for (const address of ["10.0.0.1", "169.254.169.254", "0.0.0.0", "::", "fe80::1"]) {
    assert.notEqual(findAddressFault(address, "shop.example"), undefined, address);
  }
});

test("the lists of the settings are separated by commas, and only staging opens this machine", () => {
  const settings = {
    callbackPorts: "9443, 9000",
    callbackPrivateNetworks: "10.1.0.0/16",
    callbackNames: " hooks.internal,,shop.local ",
  };

  const production = readAddressOptions({ ...settings, environment: "production" });
  assert.deepEqual(production, {
    ports: [9443, 9000],
    allowsLoopback: false,
    privateNetworks: ["10.1.0.0/16"],
    names: ["hooks.internal", "shop.local"],
  });
  assert.equal(readAddressOptions({ ...settings, environment: "staging" }).allowsLoopback, true);
  const none = { callbackPorts: "", callbackPrivateNetworks: "", callbackNames: "" };
  assert.deepEqual(readAddressOptions({ ...none, environment: "production" }), closed);
});

// biome-ignore format: a table
const addressCases = [
  ["staging",    "return",   "http://shop.example/",  [{}],                                   undefined],
  ["production", "return",   "https://shop.example/", [{}],                                   undefined],
  ["production", "return",   "http://shop.example/",  [{}],                                   "https:// is needed"],
  ["production", "callback", "HTTP:shop.example",     [{}],                                   "https:// is needed"],
  ["production", "callback", "http://shop.example/",  [{ plainAddresses: true }],             undefined],
  ["production", "return",   "http://shop.example/",  [{ plainAddresses: true }, {}],         "https:// is needed"],
  ["production", "callback", "https://10.1.0.1/",     [{}],                                   "it leads into a private network"],
  ["production", "callback", "https://10.1.0.1/",     [{ privateCallbacks: true }],           undefined],
  ["production", "callback", "https://10.1.0.1/",     [{ privateCallbacks: true }, {}],       "it leads into a private network"],
  ["production", "callback", "https://10.2.0.1/",     [{ privateCallbacks: true }],           "it leads into a private network"],
  ["staging",    "callback", "https://10.1.0.1/",     [{}],                                   "it leads into a private network"],
] as const;

for (const [environment, use, url, given, fault] of addressCases) {
  test(`${environment}: ${url} as ${use} address with ${JSON.stringify(given)}`, () => {
    const opened = { callbackPorts: "", callbackPrivateNetworks: "10.1.0.0/16", callbackNames: "" };
    const { findAddressFault } = makeAddressChecks({ ...opened, environment });
    const endpoints = given.map((own) => ({ settings: { threeDSecure: "off" as const, ...own } }));

    assert.equal(findAddressFault(url, use, endpoints), fault);
  });
}

const typeA = 1;
const noSuchName = 3;

test("a name's addresses of both kinds are found", async (t) => {
  const resolve = await makeResolveAt(t, { "shop.example": { v4: [8, 8, 4, 4], v6: true } });

  const found = await ask(resolve, "shop.example");
  assert.deepEqual(found.map(({ address }) => address).sort(), ["2606:4700::1", "8.8.4.4"]);
  assert.deepEqual(found.map(({ family }) => family).sort(), [4, 6]);
});

test("a name with one kind only is found, and one with none is not", async (t) => {
  const resolve = await makeResolveAt(t, { "shop.example": { v4: [8, 8, 4, 4], v6: false } });

  const found = await ask(resolve, "shop.example");
  assert.deepEqual(found, [{ address: "8.8.4.4", family: 4 }]);
  await assert.rejects(ask(resolve, "nobody.example"), /no name server .*ENOTFOUND/);
});

test("a name that the operator allows is looked up as this machine does it", async (t) => {
  const resolve = await makeResolveAt(t, {});

  const found = await ask(resolve, "localhost");
  assert.ok(found.some(({ address }) => address === "127.0.0.1" || address === "::1"));
});

function ask(resolve: Resolve, hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((found, failed) => {
    resolve(hostname, (error, addresses) => (error === null ? found(addresses) : failed(error)));
  });
}

type Zone = Readonly<Record<string, { readonly v4: readonly number[]; readonly v6: boolean }>>;

/** Starts a DNS server that answers requests for one name, as every resolver sends them. */
async function makeResolveAt(t: TestContext, zone: Zone): Promise<Resolve> {
  const server = createSocket("udp4");
  server.on("message", (question, { port, address }) => {
    server.send(answerTo(question, zone), port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const servers = [`127.0.0.1:${server.address().port}`];
  return makeResolve((hostname) => hostname === "localhost", servers);
}

function answerTo(question: Buffer, zone: Zone): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  const asked = question.subarray(12, at + 5);
  const known = zone[labels.join(".").toLowerCase()];
  const addresses = known === undefined ? [] : addressesOf(known, question.readUInt16BE(at + 1));
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 + (known === undefined ? noSuchName : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  return Buffer.concat([head, asked, ...addresses]);
}

/**
 * Makes the answers. They refer to the name in the question, with class internet and a life of one
 * minute.
 */
function addressesOf({ v4, v6 }: Zone[string], type: number): readonly Buffer[] {
  const six = Buffer.from("26064700000000000000000000000001", "hex");
  const bytes = type === typeA ? Buffer.from(v4) : v6 ? six : undefined;
  if (bytes === undefined) return [];
  const fixed = Buffer.from("c00c000000010000003c0000", "hex");
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(bytes.length, 10);
  return [Buffer.concat([fixed, bytes])];
}
