/** Message authentication codes against published vectors, and over messages of each layout. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import {
  checkValueOf,
  DecodeFault,
  type IsoMessage,
  iso87Ascii,
  iso87Bitmapped,
  iso93Ascii,
  type MacAlgorithm,
  type MacKey,
  makeAuthenticator,
  makeMac,
} from "./index.ts";

const isoKey = "0123456789ABCDEFFEDCBA9876543210";
const icaoKey = "7962D9ECE03D1ACD4C76089DCE131543";
const icaoData = "72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2";
const nist = "2B7E151628AED2A6ABF7158809CF4F3C";
const nist192 = "8E73B0F7DA0E6452C810F32B809079E562F8EAD2522C6B7B";
const nist256 = "603DEB1015CA71BE2B73AEF0857D77811F352C073B6108D72D9810A30914DFF4";
const blocks =
  "6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E51" +
  "30C81C46A35CE411E5FBC1191A0A52EFF69F2445DF4F9B17AD2B417BE66C3710";
const hex = (text: string) => Buffer.from(text, "latin1").toString("hex");

// biome-ignore format: a table
const vectors: readonly (readonly [source: string, MacAlgorithm, key: string, data: string, mac: string])[] = [
  ["ISO 9797-1 annex, padding 1",        "retail",    isoKey,  hex("Now is the time for all "),  "A1C72E74EA3FA9B6"],
  ["ISO 9797-1 annex, padding 2",        "retail_80", isoKey,  hex("Now is the time for all "),  "E9086230CA3BE796"],
  ["ISO 9797-1 annex, part of a block",  "retail",    isoKey,  hex("Now is the time for it"),    "2E2B1428CC78254F"],
  ["ISO 9797-1 annex, part of a block",  "retail_80", isoKey,  hex("Now is the time for it"),    "5A692CE64F40"],
  ["ICAO 9303 part 11, appendix D.3",    "retail_80", icaoKey, icaoData,                         "5F1448EEA8AD90A7"],
  ["RFC 4493, example 1",                "cmac",      nist,    "",                               "BB1D6929E95937287FA37D129B756746"],
  ["RFC 4493, example 2",                "cmac",      nist,    blocks.slice(0, 32),              "070A16B46B4D4144F79BDD9DD04A287C"],
  ["RFC 4493, example 3",                "cmac",      nist,    blocks.slice(0, 80),              "DFA66747DE9AE63030CA32611497C827"],
  ["RFC 4493, example 4",                "cmac",      nist,    blocks,                           "51F0BEBF7E3B9D92FC49741779363CFE"],
  ["NIST SP 800-38B, AES-192, 40 bytes", "cmac",      nist192, blocks.slice(0, 80),              "8A1DE5BE2EB31AAD089A82E6EE908B0E"],
  ["NIST SP 800-38B, AES-256, 64 bytes", "cmac",      nist256, blocks,                           "E1992190549F6ED5696A2C056C315410"],
];

test("codes equal those of the published vectors", () => {
  for (const [source, algorithm, key, data, mac] of vectors) {
    const made = makeMac(algorithm, key)(Buffer.from(data, "hex")).toString("hex").toUpperCase();
    assert.equal(made.slice(0, mac.length), mac, source);
  }
});

// biome-ignore format: a table
const checkValues: readonly (readonly [MacAlgorithm, key: string, checkValue: string])[] = [
  ["retail", isoKey,                             "08D7B4"],
  ["retail", "0123456789ABCDEF0123456789ABCDEF", "D5D44F"], // as of single DES
  ["cmac",   nist,                               "7AD386"],
];

test("a check value identifies its key", () => {
  for (const [algorithm, key, checkValue] of checkValues) {
    assert.equal(checkValueOf(algorithm, key), checkValue);
  }
});

test("a key of another length is refused without showing it", () => {
  for (const [algorithm, key] of [
    ["retail", nist192],
    ["cmac", `${nist}00`],
    ["cmac", "xy"],
  ] as const) {
    assert.throws(
      () => makeMac(algorithm, key),
      /^AssertionError.*: a key for (retail|cmac) has another length$/,
    );
  }
});

const keys: readonly MacKey[] = [
  { algorithm: "retail", bytes: 8, key: isoKey },
  { algorithm: "retail_80", bytes: 4, key: icaoKey },
  { algorithm: "cmac", bytes: 8, key: nist },
];

for (const specification of [iso87Ascii, iso87Bitmapped, iso93Ascii]) {
  const layout = specification === iso93Ascii ? "1993" : specification.mti;
  // A field above 64 moves the code to field 128.
  const fields = { 11: "000777", 39: layout === "1993" ? "000" : "00" };
  const own: readonly IsoMessage[] = [
    { mti: "0210", fields: { 4: "000000001015", ...fields, 49: "978" } },
    { mti: "0210", fields: { 4: "000000001015", ...fields, 100: "400001" } },
  ];

  test(`a code covers every byte before its field, ${layout}`, () => {
    for (const key of keys) {
      const authenticator = makeAuthenticator(specification);
      authenticator.use([key]);
      for (const message of own) {
        const payload = authenticator.write(message);
        const read = authenticator.read(payload);
        assert.ok(!(read instanceof DecodeFault));
        const field = Object.keys(message.fields).some((each) => Number(each) > 64) ? 128 : 64;
        assert.deepEqual(Object.keys(read.fields).at(-1), String(field));
        assert.equal(read.fields[field]?.endsWith("00000000"), key.bytes === 4);
        for (let at = 0; at < payload.length - 8; at++) {
          const forged = Buffer.from(payload);
          forged[at] = (forged[at] ?? 0) ^ 1;
          assert.ok(authenticator.read(forged) instanceof DecodeFault, `byte ${at}`);
        }
      }
    }
  });

  test(`a message without a code, or under another key, is not believed, ${layout}`, () => {
    const [message = assert.fail()] = own;
    const [first, second, third] = keys.map((key) => {
      const authenticator = makeAuthenticator(specification);
      authenticator.use([key]);
      return authenticator;
    });
    const plain = makeAuthenticator(specification);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);

    assert.deepEqual(first.read(plain.write(message)), new DecodeFault(64, "mac_missing"));
    assert.deepEqual(first.read(second.write(message)), new DecodeFault(64, "mac_wrong"));
    assert.deepEqual(third.read(first.write(message)), new DecodeFault(64, "mac_wrong"));
    assert.ok(!(plain.read(first.write(message)) instanceof DecodeFault));
  });

  test(`both keys verify while they are exchanged, and the first one writes, ${layout}`, () => {
    const [message = assert.fail()] = own;
    const [older = assert.fail(), newer = assert.fail()] = keys;
    const [host, gateway] = [makeAuthenticator(specification), makeAuthenticator(specification)];
    host.use([older]);
    gateway.use([newer, older]);

    assert.ok(!(gateway.read(host.write(message)) instanceof DecodeFault));
    assert.ok(host.read(gateway.write(message)) instanceof DecodeFault);
    host.use([newer]);
    assert.ok(!(host.read(gateway.write(message)) instanceof DecodeFault));
    gateway.use([newer]);
    host.use([older]);
    assert.deepEqual(gateway.read(host.write(message)), new DecodeFault(64, "mac_wrong"));
  });
}

for (const specification of [iso87Ascii, iso93Ascii]) {
  test(`spaces after the code are ignored, ${specification.mti}`, () => {
    const authenticator = makeAuthenticator(specification);
    authenticator.use(keys);
    const payload = authenticator.write({ mti: "0210", fields: { 11: "000777" } });

    const read = authenticator.read(Buffer.concat([payload, Buffer.from("   ")]));

    assert.ok(!(read instanceof DecodeFault));
    assert.deepEqual(read, authenticator.read(payload));
  });
}

test("exempt types have no code, and need none", () => {
  const authenticator = makeAuthenticator(iso87Ascii, (mti) => mti.startsWith("08"));
  authenticator.use(keys);
  const network = { mti: "0800", fields: { 11: "000001", 70: "301" } };

  assert.deepEqual(authenticator.read(authenticator.write(network)), network);
});
