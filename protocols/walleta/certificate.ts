/** A certificate with what Node does not tell of it: its extensions, and its names as bytes. */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { type Element, readBer, readIdentifier, tags } from "./ber.ts";
import { identifiers } from "./identifiers.ts";

export type Certificate = {
  readonly x509: X509Certificate;
  /** The encoded issuer, then the encoded serial number: what a signature names its signer by. */
  readonly issuerAndSerial: Buffer;
  readonly commonNames: readonly string[];
  /** What each extension holds, by its identifier. */
  readonly extensions: ReadonlyMap<string, Buffer>;
};

export function readPem(pem: string): Certificate | undefined {
  try {
    return readCertificate(new X509Certificate(pem).raw);
  } catch {
    return undefined;
  }
}

export function readCertificate(der: Buffer): Certificate | undefined {
  const [body, , signature] = readBer(der)?.children ?? [];
  // A signature is whole bytes; unused bits would make two encodings of one certificate.
  if (body === undefined || signature?.content[0] !== 0) return undefined;
  const parts = body.children.filter(({ tag }) => tag !== tags.context0);
  const [serial, , issuer, , subject] = parts;
  const extensions = readExtensions(parts.find(({ tag }) => tag === tags.context3));
  if (serial === undefined || issuer === undefined || extensions === undefined) return undefined;
  const x509 = readX509(der);
  if (x509 === undefined) return undefined;
  const issuerAndSerial = Buffer.concat([issuer.encoded, serial.encoded]);
  return { x509, issuerAndSerial, commonNames: readCommonNames(subject), extensions };
}

function readExtensions(element: Element | undefined): ReadonlyMap<string, Buffer> | undefined {
  const list = element?.children[0]?.children ?? [];
  const extensions = new Map<string, Buffer>();
  for (const { children } of list) {
    const name = readIdentifier(children[0]);
    const value = children.at(-1);
    if (name === undefined || value?.tag !== tags.octetString) return undefined;
    extensions.set(name, value.content);
  }
  return extensions;
}

function readCommonNames(subject: Element | undefined): readonly string[] {
  const attributes = subject?.children.flatMap(({ children }) => children) ?? [];
  return attributes
    .filter(({ children: [type] }) => readIdentifier(type) === identifiers.commonName)
    .map(({ children: [, value] }) => value?.content.toString("utf8") ?? "");
}

function readX509(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
