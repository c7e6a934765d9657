/**
 * Issues to merchants as walleta does: a certificate for the key of their request, which names the
 * merchant by the hash of his identifier. Nothing else of the request is taken over.
 */
import { createHash, createPublicKey, type KeyObject, webcrypto } from "node:crypto";
import { merchantIdentifierExtension } from "@tollgate/protocols/walleta";
import { Utf8String } from "asn1js";
import { CertificationRequest } from "pkijs";
import {
  certify,
  type Issued,
  type Purpose,
  writeCertificate,
} from "../certificates/certificate.ts";
import { MintFault } from "./members.ts";

export type CertificateWish = {
  /** PEM. */
  readonly request: string;
  readonly merchantIdentifier: string;
  readonly days: number;
  readonly nowMs: number;
};

const dayMs = 24 * 3_600_000;

export async function issueToMerchant(
  { request, merchantIdentifier, days, nowMs }: CertificateWish,
  issuer: Issued,
): Promise<string | MintFault> {
  const publicKey = await readRequest(request);
  if (publicKey instanceof MintFault) return publicKey;
  const use = findUse(publicKey);
  if (use === undefined) return new MintFault("The key must be one of P-256, or RSA of 2048 bits.");
  const spki = publicKey.export({ format: "der", type: "spki" });
  const key = await webcrypto.subtle.importKey("spki", spki, use.algorithm, true, ["verify"]);
  const hash = createHash("sha256").update(merchantIdentifier).digest("hex").toUpperCase();
  const wanted = {
    name: merchantIdentifier,
    purpose: use.purpose,
    // From yesterday on, for those whose clock is behind.
    validFrom: new Date(nowMs - dayMs),
    validUntil: new Date(nowMs + days * dayMs),
    marks: [{ id: merchantIdentifierExtension, value: new Utf8String({ value: hash }) }],
  };
  return writeCertificate({ certificate: await certify(wanted, key, issuer) });
}

/** The key, if whoever wrote the request has its private half. */
async function readRequest(pem: string): Promise<KeyObject | MintFault> {
  const [, base64] = pemForm.exec(pem) ?? [];
  if (base64 === undefined) return new MintFault("The body must be a certificate request in PEM.");
  try {
    const request = CertificationRequest.fromBER(Buffer.from(base64, "base64"));
    if (!(await request.verify())) return new MintFault("The request is not signed by its key.");
    const spki = request.subjectPublicKeyInfo.toSchema().toBER(false);
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch {
    return new MintFault("The certificate request cannot be read.");
  }
}

const pemForm =
  /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----/;

type Use = { readonly purpose: Purpose; readonly algorithm: EcOrRsa };
type EcOrRsa = webcrypto.EcKeyImportParams | webcrypto.RsaHashedImportParams;

/** What a token's content is encrypted with: by agreement on a key, or by wrapping one. */
function findUse({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): Use | undefined {
  if (details?.namedCurve === "prime256v1") {
    return { purpose: "key-agreement", algorithm: { name: "ECDSA", namedCurve: "P-256" } };
  }
  if (asymmetricKeyType !== "rsa" || (details?.modulusLength ?? 0) < 2048) return undefined;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return { purpose: "key-encipherment", algorithm };
}
