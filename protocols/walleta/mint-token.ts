/**
 * Mints tokens as the wallet does, and invalid ones for tests: each part of `Minting` may be wrong,
 * the plaintext may be any text, and a token can be corrupted before or after it is signed.
 */
import { Buffer } from "node:buffer";
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  sign,
  X509Certificate,
} from "node:crypto";
import * as asn1 from "../shared/asn1.ts";
import { curve } from "../shared/wallet.ts";
import {
  ciphers,
  deriveKey,
  encrypt,
  hashMerchantIdentifier,
  hashPublicKey,
  type Version,
  wrapping,
} from "./encryption.ts";
import { signedContent } from "./open-token.ts";
import { identifiers, readPem } from "./verify-signature.ts";

export type Minting = {
  readonly version: Version;
  readonly signer: Signer;
  /** The recipient's key: EC P-256 for EC_v1, RSA for RSA_v1. */
  readonly recipientPublicKey: KeyObject;
  /** The identifier, whose SHA-256 is part of the key of EC_v1. RSA_v1 does not use it. */
  readonly merchantIdentifier: string;
  /** The signing time in milliseconds since 1970. It is written to the second. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
  /** The id as 64 hex digits, by default random. */
  readonly transactionId?: string;
  /** The application data as 64 hex digits. */
  readonly applicationData?: string;
  /** A private P-256 key for EC_v1, by default a new one. */
  readonly ephemeralKey?: KeyObject;
  /** Changes ciphertext and tag before they are signed, so that the signature stays valid. */
  readonly distort?: (encrypted: Buffer) => Buffer;
};

export type Signer = {
  /** The private key of the leaf: EC P-256 or RSA. */
  readonly privateKey: KeyObject;
  /** The leaf's certificate in PEM, with the leaf's marker. */
  readonly certificate: string;
  /**
   * The other certificates in PEM, in any order: the intermediate with its marker, and any others
   * to send.
   */
  readonly others: readonly string[];
};

/**
 * Mints a token. `plaintext` is the text of `writePayload`, or one that a test expects to be
 * refused.
 */
export function mintToken(plaintext: string, minting: Minting): string {
  const { version, random, recipientPublicKey, now, distort = (same) => same } = minting;
  const { key, contentKey } = makeKey(minting);
  const encrypted = distort(encrypt(contentKey, Buffer.from(plaintext, "utf8"), version));
  const publicKeyHash = hashPublicKey(recipientPublicKey);
  const { transactionId: id, applicationData: hash } = minting;
  const transactionId = id === undefined ? Buffer.from(random(32)) : Buffer.from(id, "hex");
  const applicationData = hash === undefined ? undefined : Buffer.from(hash, "hex");
  const token = { version, encrypted, key, publicKeyHash, transactionId, applicationData };
  const signature = writeSignature(signedContent(token), minting.signer, now);
  return JSON.stringify({
    version,
    data: encrypted.toString("base64"),
    signature: signature.toString("base64"),
    header: {
      [ciphers[version].keyField]: key.toString("base64"),
      publicKeyHash: publicKeyHash.toString("base64"),
      transactionId: transactionId.toString("hex"),
      ...(applicationData && { applicationData: applicationData.toString("hex") }),
    },
  });
}

/** Flips one bit of a signed token in the named part, which stays well formed. */
export function distortToken(
  token: string,
  part: "data" | "signature" | "transactionId" | "publicKeyHash",
): string {
  const fields = JSON.parse(token);
  const place = part in fields ? fields : fields.header;
  const encoding = part === "transactionId" ? "hex" : "base64";
  const bytes = Buffer.from(place[part], encoding);
  // A signature ends with the end-of-contents marks of indefinite lengths, which are zeros.
  const at = bytes.findLastIndex((byte) => byte !== 0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  place[part] = bytes.toString(encoding);
  return JSON.stringify(fields);
}

/** Makes the content key, and the form of it that the token contains. */
function makeKey(minting: Minting): { readonly key: Buffer; readonly contentKey: Uint8Array } {
  const { recipientPublicKey: publicKey, version } = minting;
  if (version === "RSA_v1") {
    const contentKey = minting.random(ciphers[version].keyBytes);
    return { key: publicEncrypt({ key: publicKey, ...wrapping }, contentKey), contentKey };
  }
  const privateKey =
    minting.ephemeralKey ?? generateKeyPairSync("ec", { namedCurve: curve }).privateKey;
  const hash = hashMerchantIdentifier(minting.merchantIdentifier);
  return {
    key: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    contentKey: deriveKey({ privateKey, publicKey }, hash),
  };
}

const { tags } = asn1;
const one = asn1.writeDer(tags.integer, Buffer.of(1));
const data = asn1.writeObjectIdentifier(identifiers.data);
const empty = asn1.writeDer(tags.null);
const sha256 = asn1.writeAlgorithm(identifiers.sha256, empty);

/** Writes CMS with detached content, with indefinite lengths where the wallet writes them. */
function writeSignature(content: Buffer, signer: Signer, now: number): Buffer {
  const pems = [signer.certificate, ...signer.others];
  const signedData = asn1.writeIndefinite(
    tags.sequence,
    one,
    asn1.writeSetOf(sha256),
    asn1.writeIndefinite(tags.sequence, data),
    asn1.writeIndefinite(tags.context0, ...pems.map((pem) => new X509Certificate(pem).raw)),
    asn1.writeSetOf(writeSigner(content, signer, now)),
  );
  return asn1.writeIndefinite(
    tags.sequence,
    asn1.writeObjectIdentifier(identifiers.signedData),
    asn1.writeIndefinite(tags.context0, signedData),
  );
}

function writeSigner(content: Buffer, signer: Signer, now: number): Buffer {
  const issuerAndSerial = readPem(signer.certificate)?.issuerAndSerial;
  if (issuerAndSerial === undefined) throw new Error("The signer's certificate cannot be read");
  const digest = createHash("sha256").update(content).digest();
  const attributes = asn1.writeSetOf(
    writeAttribute(identifiers.contentType, data),
    writeAttribute(identifiers.signingTime, asn1.writeTime(now)),
    writeAttribute(identifiers.messageDigest, asn1.writeDer(tags.octetString, digest)),
  );
  const isRsa = signer.privateKey.asymmetricKeyType === "rsa";
  return asn1.writeSequence(
    one,
    asn1.writeSequence(issuerAndSerial),
    sha256,
    // The attributes are signed as a SET and sent under another tag.
    Buffer.concat([Buffer.of(tags.context0), attributes.subarray(1)]),
    isRsa
      ? asn1.writeAlgorithm(identifiers.rsaSha256, empty)
      : asn1.writeAlgorithm(identifiers.ecdsaSha256),
    asn1.writeDer(tags.octetString, sign("sha256", attributes, signer.privateKey)),
  );
}

function writeAttribute(name: string, value: Buffer): Buffer {
  return asn1.writeSequence(asn1.writeObjectIdentifier(name), asn1.writeSetOf(value));
}
