/**
 * A certificate request (PKCS #10) for a P-256 key: what a wallet wants to be handed so that it
 * issues a certificate. Few enough bytes to be written by hand.
 */
import { createPublicKey, type KeyObject, sign } from "node:crypto";

const commonName = "0603550403";
const ecdsaWithSha256 = "06082a8648ce3d040302";

export function makeCertificateRequest(privateKey: KeyObject, name: string): string {
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const wanted = sequence(
    Buffer.from("020100", "hex"),
    sequence(set(sequence(hex(commonName), utf8(name)))),
    publicKey,
    element(0xa0),
  );
  const signature = sign("sha256", wanted, privateKey);
  const bits = element(0x03, Buffer.from([0]), signature);
  const request = sequence(wanted, sequence(hex(ecdsaWithSha256)), bits);
  const lines = request.toString("base64").match(/.{1,64}/g) ?? [];
  const edge = (word: string) => `-----${word} CERTIFICATE REQUEST-----`;
  return [edge("BEGIN"), ...lines, edge("END"), ""].join("\n");
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(0x30, ...parts);
}

function set(...parts: readonly Buffer[]): Buffer {
  return element(0x31, ...parts);
}

function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, "hex");
}

/** Tag, length, content. */
function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
