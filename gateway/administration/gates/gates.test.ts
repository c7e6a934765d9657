/** Checks that a gate has all required options, and that values fit into the message fields. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../values/problem.ts";
import type { GivenSettings } from "../settings.ts";
import { findTlsFault, readGate } from "./gate-settings.ts";

const needed: GivenSettings = {
  kind: "iso87_binary",
  host: "host.example:8583",
  terminal: "10000018",
  merchantCode: "TG1",
  nameAndPlace: "Shop",
  category: "5732",
  country: "840",
  acquirerId: "400001",
  descriptor: "SHOP",
};
const made = {
  kind: "iso87_binary" as const,
  settings: {
    host: "host.example",
    port: 8583,
    terminalId: "10000018",
    merchantCode: "TG1",
    nameAndPlace: "Shop",
    categoryCode: "5732",
    countryCode: "840",
    acquirerId: "400001",
    descriptor: "SHOP",
    worksWithoutCvv: false,
    partialReversal: true,
    partialCapture: true,
  },
};

test("a gate needs only its required settings, and the others have defaults", () => {
  assert.deepEqual(readGate(needed), made);
});

test("one error names all missing settings", () => {
  const { terminal: _, descriptor: __, ...others } = needed;

  assert.match(complaintOf(others), /^A gate also needs terminal, descriptor\.$/);
  assert.match(complaintOf({}), /^A gate also needs kind, host, terminal, .*descriptor\.$/);
});

test("a gate accepts all of its settings", () => {
  const read = readGate({
    ...needed,
    host: "[::1]:8584",
    withoutCvv: true,
    partialReversal: false,
    partialCapture: false,
    currencies: "USD,EUR",
    min: "1",
    max: "5000.00",
    fee: "1.2%+15",
    sandbox: true,
    recurrentInitiator: "MERCHANT",
    recurrentScenario: "REGULAR",
    zone: "Asia/Tokyo",
  });

  assert.deepEqual(read, {
    kind: "iso87_binary",
    settings: {
      ...made.settings,
      host: "::1",
      port: 8584,
      worksWithoutCvv: true,
      partialReversal: false,
      partialCapture: false,
      sandbox: true,
      currencies: ["USD", "EUR"],
      amountMin: "100",
      amountMax: "500000",
      fee: { percent: "1.2", fixed: "15" },
      recurrent: { initiator: "MERCHANT", scenario: "REGULAR" },
      zone: "Asia/Tokyo",
    },
  });
});

test("the number of a gate's addresses is limited", () => {
  const hosts = (count: number) =>
    Array.from({ length: count }, (_, at) => `host${at}.example:1`).join(",");

  assert.ok(!(readGate({ ...needed, host: hosts(16) }) instanceof Problem));
  assert.match(complaintOf({ ...needed, host: hosts(17) }), /^host has at most 16 addresses\.$/);
});

test("a gate has several addresses and connections, with TLS and its files", () => {
  const read = readGate({
    ...needed,
    host: "a.example:1,[::1]:2",
    connections: "4",
    signOn: "off",
    tls: "on",
    tlsRoots: "/ca.pem",
    tlsName: "host.example",
    tlsCertificate: "/c.pem",
    tlsKey: "/c.key",
  });

  assert.deepEqual(read, {
    kind: "iso87_binary",
    settings: {
      ...made.settings,
      host: "a.example",
      port: 1,
      otherAddresses: [{ host: "::1", port: 2 }],
      connections: 4,
      signOn: false,
      tls: true,
      tlsServerName: "host.example",
      tlsRootsFile: "/ca.pem",
      tlsCertificateFile: "/c.pem",
      tlsKeyFile: "/c.key",
    },
  });
  assert.ok(!(read instanceof Problem));
  const { otherAddresses: _, ...settings } = read.settings;
  const moved = readGate({ host: "b.example:3" }, read);
  assert.deepEqual(moved, {
    kind: read.kind,
    settings: { ...settings, host: "b.example", port: 3 },
  });
});

test("a new gate in production uses TLS, or plain TCP if the operator allows plain gates", () => {
  const tlsOf = (
    options: GivenSettings,
    environment: "staging" | "production",
    allow = "",
    known?: typeof made,
  ) => {
    const read = readGate({ ...needed, ...options }, known, {
      environment,
      allow,
      rehearsal: false,
    });
    return read instanceof Problem ? read.sentence : read.settings.tls;
  };

  assert.equal(tlsOf({}, "production"), true);
  assert.match(String(tlsOf({ tls: "off" }, "production")), /add plain-gates to GW_ALLOW/);
  assert.match(String(tlsOf({ tls: "off" }, "production", "", made)), /add plain-gates/);
  assert.equal(tlsOf({ tls: "off" }, "production", "local-audit, plain-gates"), false);
  assert.equal(tlsOf({}, "staging"), undefined);
});

test("TLS options need TLS, a certificate needs its key, and every file is read", async () => {
  const faultOf = async (changes: object, given: GivenSettings = {}) =>
    (await findTlsFault({ ...made.settings, ...changes }, given))?.sentence;

  assert.match((await faultOf({}, { tlsName: "host" })) ?? "", /of no use unless tls is on/);
  assert.match((await faultOf({ tls: true, tlsKeyFile: "/k" })) ?? "", /belong together/);
  assert.match((await faultOf({ tls: true, tlsRootsFile: "/no.pem" })) ?? "", /ENOENT.*no\.pem/);
  assert.equal(await faultOf({ tls: true }), undefined);
});

test("only given settings change, and optional ones can be removed", () => {
  const limited = { currencies: "USD", min: "100", fee: "1%", recurrentScenario: "REGULAR" };
  const known = readGate({ ...needed, ...limited });
  assert.ok(!(known instanceof Problem));

  const read = readGate({ terminal: "2", min: "none", recurrentInitiator: "MERCHANT" }, known);

  assert.deepEqual(read, {
    kind: "iso87_binary",
    settings: {
      ...made.settings,
      terminalId: "2",
      currencies: ["USD"],
      fee: { percent: "1" },
      recurrent: { scenario: "REGULAR", initiator: "MERCHANT" },
    },
  });
});

// biome-ignore format: a table
const wrong: readonly (readonly [options: GivenSettings, sentence: RegExp])[] = [
  [{ kind: "visa" },                          /^kind is one of sandbox, iso87_binary, iso93_ascii, not/],
  [{ host: "host.example" },                  /^host is an address and a port/],
  [{ host: "host.example:0" },                /^host is an address and a port/],
  [{ host: "host.example:70000" },            /^host is an address and a port/],
  [{ host: "host.example:1,host.example" },   /^host is an address and a port/],
  [{ connections: "0" },                      /^connections is a number from 1 to 32/],
  [{ connections: "33" },                     /^connections is a number from 1 to 32/],
  [{ tls: "maybe" },                          /^tls is on or off/],
  [{ tlsName: "a b" },                        /^tls-name is a host name/],
  [{ terminal: "123456789" },                 /^terminal is 1 to 8 printable characters/],
  [{ merchantCode: "" },                      /^merchant-code is 1 to 15 printable/],
  [{ nameAndPlace: "Gärtnerei" },             /^name-and-place is 1 to 40 printable/],
  [{ category: "573" },                       /^category is the four digits/],
  [{ country: "US" },                         /^country is the three digits/],
  [{ acquirerId: "A1" },                      /^acquirer-id is 1 to 11 digits/],
  [{ descriptor: "x".repeat(26) },            /^descriptor is 1 to 25 printable/],
  [{ zone: "Europe/Atlantis" },               /^zone is a time zone of the IANA list, like Europe/],
  [{ zone: "+01:00" },                        /^zone is a time zone of the IANA list/],
  [{ currencies: "EURO" },                    /^EURO is no currency/],
  [{ currencies: "USD", min: "1.001" },       /^1\.001 is no amount in USD/],
  [{ currencies: "USD", min: "2", max: "1" }, /^The smallest amount may not be larger/],
  [{ fee: "much" },                           /^much is no fee/],
  [{ recurrentInitiator: "ISSUER" },          /^recurrent-initiator is one of CARDHOLDER, MERCHANT/],
  [{ recurrentScenario: "OFTEN" },            /^recurrent-scenario is one of REGULAR, IRREGULAR/],
];

test("the error for an invalid value names its setting", () => {
  for (const [options, sentence] of wrong) {
    assert.match(complaintOf({ ...needed, ...options }), sentence);
  }
});

function complaintOf(options: GivenSettings, known?: Parameters<typeof readGate>[1]): string {
  const read = readGate(options, known);
  assert.ok(read instanceof Problem, JSON.stringify(options));
  return read.sentence;
}

test("the limits of a gate are amounts in its currencies, which have the same number of decimals", () => {
  const yen = readGate({ ...needed, currencies: "JPY", max: "5000" });
  assert.ok(!(yen instanceof Problem));
  assert.equal(yen.settings.amountMax, "5000");
  const message = /^A gate with min or max needs currencies, with the same number/;
  for (const currencies of ["all", "USD,JPY"]) {
    assert.match(complaintOf({ ...needed, currencies, max: "5000" }), message);
    assert.match(complaintOf({ currencies }, yen), message);
  }
  assert.match(complaintOf({ ...needed, max: "5000" }), message);
  assert.match(complaintOf({ ...needed, currencies: "JPY", max: "50.5" }), /^50\.5 is no amount/);
  assert.ok(!(readGate({ currencies: "all", max: "none" }, yen) instanceof Problem));
});

// biome-ignore format: a table
const ways: readonly (readonly [options: GivenSettings, production: RegExp | undefined, rehearsal: RegExp | undefined])[] = [
  [{},                                                    undefined,                 /^The gate does not lead to a sandbox/],
  [{ kind: "sandbox", host: "127.0.0.1:1" },              /leads to a sandbox/, undefined],
  [{ sandbox: true, host: "localhost:1" },                /leads to a sandbox/, undefined],
  [{ sandbox: true, host: "host.example:1" },             /leads to a sandbox/, /^The gate leads to another machine/],
  [{ sandbox: true, host: "127.0.0.1:1,host.example:1" }, /leads to a sandbox/, /^The gate leads to another machine/],
  [{ sandbox: true, host: "127.0.0.1.host.example:1" },   /leads to a sandbox/, /^The gate leads to another machine/],
];

test("production refuses a gate to a sandbox, and a rehearsal every other gate", () => {
  for (const [options, ...complaints] of ways) {
    for (const [index, complaint] of complaints.entries()) {
      const config = { environment: "production", allow: "", rehearsal: index === 1 } as const;
      const read = readGate({ ...needed, ...options }, undefined, config);
      const told = read instanceof Problem ? read.sentence : undefined;
      if (complaint === undefined) assert.equal(told, undefined);
      else assert.match(told ?? "", complaint);
    }
  }
});
