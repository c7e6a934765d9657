/** Signs a token's content: CMS without the content, with the indefinite lengths of the wallet. */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, sign, X509Certificate } from "node:crypto";
import { tags } from "./ber.ts";
import { readPem } from "./certificate.ts";
import * as der from "./der.ts";
import { identifiers } from "./identifiers.ts";

export type Signer = {
  /** EC P-256 or RSA; the leaf's. */
  readonly privateKey: KeyObject;
  /** PEM, with the leaf's marker. */
  readonly certificate: string;
  /** PEM of whatever else is sent along: the intermediate with its marker, in any order. */
  readonly others: readonly string[];
};

/** Throws when the signer's certificates are none. */
export function writeSignature(content: Buffer, signer: Signer, now: number): Buffer {
  const certificates = [signer.certificate, ...signer.others].map(
    (pem) => new X509Certificate(pem).raw,
  );
  const plainContent = der.identifier(identifiers.plainContent);
  const signed = der.writeIndefinite(
    tags.sequence,
    one,
    der.setOf(sha256),
    der.writeIndefinite(tags.sequence, plainContent),
    der.writeIndefinite(tags.context0, ...certificates),
    der.setOf(writeSigner(content, signer, now)),
  );
  return der.writeIndefinite(
    tags.sequence,
    der.identifier(identifiers.signedContent),
    der.writeIndefinite(tags.context0, signed),
  );
}

const one = der.write(tags.integer, Buffer.of(1));
const sha256 = der.algorithm(identifiers.sha256, "empty");

function writeSigner(content: Buffer, signer: Signer, now: number): Buffer {
  const issuerAndSerial = readPem(signer.certificate)?.issuerAndSerial;
  if (issuerAndSerial === undefined) throw new Error("The signer's certificate is none");
  const digest = createHash("sha256").update(content).digest();
  const attributes = der.setOf(
    attribute(identifiers.contentType, der.identifier(identifiers.plainContent)),
    attribute(identifiers.signingTime, der.moment(now)),
    attribute(identifiers.messageDigest, der.write(tags.octetString, digest)),
  );
  const isRsa = signer.privateKey.asymmetricKeyType === "rsa";
  return der.sequence(
    one,
    der.sequence(issuerAndSerial),
    sha256,
    // Signed as a SET, sent under another tag.
    Buffer.concat([Buffer.of(tags.context0), attributes.subarray(1)]),
    isRsa ? der.algorithm(identifiers.rsaSha256, "empty") : der.algorithm(identifiers.ecdsaSha256),
    der.write(tags.octetString, sign("sha256", attributes, signer.privateKey)),
  );
}

function attribute(name: string, value: Buffer): Buffer {
  return der.sequence(der.identifier(name), der.setOf(value));
}
