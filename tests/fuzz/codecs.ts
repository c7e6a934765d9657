/**
 * Readers of forms, OAuth headers, ISO 8583 and EMV 3-D Secure messages. They must not throw, and a
 * reader that accepts must have read what the sender wrote: another reader, or the codec's own
 * writer, agrees.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import * as emv3ds from "@tollgate/protocols/emv3ds";
import { FormFault, parseForm, writeForm } from "@tollgate/protocols/form";
import * as iso8583 from "@tollgate/protocols/iso8583";
import * as oauth1 from "@tollgate/protocols/oauth1";
import fc from "fast-check";
import * as emvSamples from "../../protocols/emv3ds/testing.ts";
import { samples, specifications } from "../../protocols/iso8583/testing.ts";
import { changed, changedMembers } from "./changed.ts";
import type { Target } from "./target.ts";

const bytesOf = (text: string) => Buffer.from(text, "latin1");

const form: Target = {
  name: "form",
  inputs: changed([
    "a=1&b=2",
    "name=J%C3%BCrgen+B&amount=10.15&name=x",
    "a=%E2%82%AC&=&b",
    "%61=%31&a=2&&%C2=%FE%FF",
  ]),
  check(input) {
    const bytes = bytesOf(input);
    const read = parseForm(bytes);
    if (read instanceof FormFault) return read.reason;
    const again = parseForm(Buffer.from(writeForm(read.pairs)));
    assert.deepEqual(again, read);
    // That reader does not count a question mark at the start as a part of the query.
    if (!input.startsWith("?")) {
      // That reader takes a text, so other bytes are escaped as a merchant would write them.
      const text = input.replace(/[\x80-\xff]/g, (byte) => escape(byte));
      assert.deepEqual(read.pairs, [...new URLSearchParams(text)]);
    }
    return "accepted";
  },
};

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const request = {
  method: "POST",
  url: "https://gateway.example/gw/api/v4/sale/17?x=1",
  parameters: [["amount", "10.15"]] as const,
};
const header = oauth1.signRequest(request, {
  consumerKey: "demo",
  nonce: "n-1",
  timestamp: 1_794_648_662,
  privateKey,
});
assert.ok(typeof header === "string");
const original = oauth1.parseOAuthHeader(header);

const oauth: Target = {
  name: "oauth-header",
  inputs: changed([header, `${header}, realm="a \\" b"`], ["oauth_nonce", "OAuth ", '="', "%2"]),
  check(input) {
    const read = oauth1.parseOAuthHeader(input);
    if (read instanceof oauth1.OAuthFault) return read.reason;
    const base = oauth1.makeBaseString(request, read.parameters);
    if (base instanceof oauth1.OAuthFault) return base.reason;
    if (!oauth1.verify(base, read.signature, publicKey)) return "wrong signature";
    // Parameters are sorted before they are signed, so their order is not a change.
    const sorted = { ...read, parameters: [...read.parameters].sort() };
    assert.ok(!(original instanceof oauth1.OAuthFault));
    assert.deepEqual(sorted, { ...original, parameters: [...original.parameters].sort() });
    return "accepted";
  },
};

const iso: readonly Target[] = Object.entries(specifications).map(([spec, specification]) => ({
  name: spec,
  inputs: changed(
    samples.good
      .filter((sample) => sample.spec === spec)
      .map(({ hex }) => Buffer.from(hex, "hex").toString("latin1"))
      .flatMap((text) => [text, ...withEmptySecondBitmap(text)]),
    [
      ...["\u00ff\u00ff", "999", "0200", "FFFFFFFFFFFFFFFF", "\u0080\u0000"],
      // Fields of length 0, and digits that are not digits.
      ...["00", "000", "\u0000\u0000", "\u001f", "\u00fa", "\u000d"],
    ],
  ),
  check(input) {
    const message = iso8583.decode(specification, bytesOf(input));
    if (message instanceof iso8583.DecodeFault) return message.reason;
    const described = iso8583.describe(message, specification);
    const { mti = "", ...fields } = described;
    iso8583.dumpMasked(specification, { mti, fields });
    const { 2: pan = "" } = message.fields;
    if (pan.length >= 13) assert.ok(!JSON.stringify(described).includes(pan), "a card number");
    const written = encodeOrRefuse(() => iso8583.encode(specification, message));
    if (written === undefined) return "accepted, tolerated";
    assert.deepEqual(iso8583.decode(specification, written), message);
    return "accepted";
  },
}));

/**
 * Adds a legal but useless empty bitmap. One of the results is right for a layout: after two or
 * four bytes, as text or bytes.
 */
function withEmptySecondBitmap(text: string): readonly string[] {
  return [2, 4].flatMap((at) => {
    const [mti, first, bits] = [text.slice(0, at), text.charCodeAt(at), text.slice(at + 1)];
    const digit = (Number.parseInt(text.charAt(at), 16) | 8).toString(16).toUpperCase();
    return [
      mti + String.fromCharCode(first | 0x80) + insert(bits, 7, "\u0000".repeat(8)),
      mti + digit + insert(bits, 15, "0".repeat(16)),
    ];
  });
}

function insert(text: string, at: number, part: string): string {
  return text.slice(0, at) + part + text.slice(at);
}

const macKey = { algorithm: "cmac", bytes: 8, key: "0123456789ABCDEF0123456789ABCDEF" } as const;
const authenticator = iso8583.makeAuthenticator(iso8583.iso87Ascii);
authenticator.use([macKey]);
const approved = { mti: "0210", fields: { 4: "000000001015", 11: "000017", 39: "00" } };
const declined = { mti: "0210", fields: { 4: "000000001015", 11: "000018", 39: "05" } };

const mac: Target = {
  name: "iso8583-mac",
  inputs: changed([approved, declined].map((each) => authenticator.write(each).toString("latin1"))),
  check(input) {
    const read = authenticator.read(bytesOf(input));
    if (read instanceof iso8583.DecodeFault) return read.reason;
    const { 64: _, ...fields } = read.fields;
    const genuine = fields[39] === "00" ? approved : declined;
    assert.deepEqual({ mti: read.mti, fields }, genuine, "a forged message is accepted");
    return "accepted";
  },
};

const framings = Object.keys(iso8583.framings) as readonly iso8583.Framing[];

/** A stream must be read alike in one piece and byte by byte. */
const framing: Target = {
  name: "iso8583-framing",
  inputs: changed(
    framings.map((name) => iso8583.frame(name, bytesOf("0800 an echo")).toString("latin1")),
  ),
  check(input) {
    const stream = bytesOf(input.slice(0, 2_000));
    for (const name of framings) {
      const whole = framesOf(name, [stream]);
      const single = Array.from(stream, (_, at) => stream.subarray(at, at + 1));
      assert.deepEqual(framesOf(name, single), whole, name);
    }
    return "read";
  },
};

function framesOf(name: iso8583.Framing, chunks: readonly Buffer[]): readonly string[] {
  const reader = new iso8583.FrameReader(name, { payloadBytesMax: 4_096 });
  const frames: string[] = [];
  for (const chunk of chunks) {
    const read = reader.push(chunk);
    const isFault = read instanceof iso8583.FrameFault;
    for (const each of isFault ? read.framesBefore : read) frames.push(each.toString("hex"));
    if (isFault) return [...frames, read.reason];
  }
  return frames;
}

const zone = { cipher: "aes", key: "000102030405060708090A0B0C0D0E0F" } as const;
const wrapped = "00112233445566778899AABBCCDDEEFF";
const block = iso8583.wrapBlock(wrapped, zone, {
  usage: "M6",
  cipher: "aes",
  random: (bytes) => Buffer.alloc(bytes, 7),
});

const keyBlock: Target = {
  name: "key-block",
  inputs: changed([block], ["D0144", "B0080", "M3"]),
  check(input) {
    const read = iso8583.unwrapKey(input, zone);
    if (read instanceof iso8583.KeyFault) return read.reason;
    // A cryptogram has no authentication of its own; its check value is compared by the caller.
    if (read.usage === undefined) return "accepted, cryptogram";
    assert.equal(read.key, wrapped, "a forged key is accepted");
    return "accepted";
  },
};

const versions = emv3ds.protocolVersions;
const emvMessages = versions.flatMap((version) => [
  emvSamples.makeAreq(version),
  emvSamples.makeAres(version),
  emvSamples.makeRreq(version),
  emvSamples.makeCres(version),
]);
const emvTexts = emvMessages.map((message) => JSON.stringify(message));
const types = ["AReq", "ARes", "RReq", "CRes", "PRes", "Erro"] as const;

const emv: Target = {
  name: "emv3ds",
  inputs: fc.oneof(
    changedMembers(emvTexts),
    changed(emvTexts, [
      ...types.map((type) => `"${type}"`),
      '"2.1.0"',
      '"2.3.1"',
      '"transStatus":"Y",',
      "\\u005f",
    ]),
  ),
  check(input) {
    emv3ds.decodeMethodData(input);
    emv3ds.decodeFormValue(input);
    const message = emv3ds.readMessage(input, { types });
    if (message instanceof emv3ds.MessageFault) return message.code;
    assert.deepEqual(message, JSON.parse(input), "another message was read than was sent");
    emv3ds.writeMessage(message);
    return "accepted";
  },
};

export const codecTargets: readonly Target[] = [
  ...[form, oauth, ...iso, mac, framing, keyBlock, emv],
];

/** The writer refuses what it would never write by an assertion, and by no other error. */
function encodeOrRefuse<Written>(encode: () => Written): Written | undefined {
  try {
    return encode();
  } catch (error) {
    if (error instanceof assert.AssertionError) return undefined;
    throw error;
  }
}
