/**
 * Certificates of walleta: the signers of tokens, and the merchants that tokens are encrypted for.
 * The root's key is discarded once it has signed; the intermediate's is kept, because it issues to
 * merchants.
 */
import { createPrivateKey, createPublicKey, hash, KeyObject } from "node:crypto";
import {
  intermediateMarker,
  leafMarker,
  merchantIdentifierExtension,
  type Signer,
  type Version,
} from "@tollgate/protocols/walleta";
import { Null, Utf8String } from "asn1js";
import { CertificationRequest } from "pkijs";
import {
  certify,
  type Issued,
  issue,
  keyAlgorithms,
  makeKeys,
  readIssued,
  writeCertificate,
} from "../certificates/certificate.ts";
import { type Chain, issueChain, makeValidity, openChain } from "../certificates/chains.ts";
import { BadRequest } from "../http.ts";

const root = "walleta-root.pem";
const intermediate = "walleta-intermediate.pem";
const intermediateKey = "walleta-intermediate.key";

const leaf = {
  file: "walleta-leaf.pem",
  issuer: intermediate,
  keyFile: "walleta-leaf.key",
  purpose: "signing",
  name: "ecc-smp-broker-sign_UC4-SANDBOX",
  extensions: [{ id: leafMarker, value: new Null() }],
} as const;

const chain: Chain = {
  keyKind: "ec",
  readableBy: "everyone",
  // Tokens may have a signing time in the past.
  backdatedDays: 731,
  certificates: [
    { file: root, issuer: root, purpose: "authority", name: "Tollgate Sandbox Walleta Root CA" },
    {
      file: intermediate,
      issuer: root,
      purpose: "authority",
      name: "Tollgate Sandbox Walleta Intermediate CA",
      keyFile: intermediateKey,
      extensions: [{ id: intermediateMarker, value: new Null() }],
    },
    leaf,
  ],
};

/**
 * The signer of a token: of the sandbox's chain, of a root that nothing trusts, or without the
 * marker of a signer.
 */
export type SignerKind = "own" | "foreign" | "unmarked";

export type WalletASigners = Awaited<ReturnType<typeof openWalletASigners>>;

/**
 * Opens the signers. Only the own EC signer is stored, and the others are issued when a token first
 * needs them.
 */
export async function openWalletASigners(folder: string, nowMs: number) {
  const files = await openChain(folder, chain, nowMs);
  const read = (file: string) => files.get(file) ?? "";
  const readMerchantIssuer = () => readIssued(read(intermediate), read(intermediateKey));
  const own: Signer = {
    privateKey: createPrivateKey(read(leaf.keyFile)),
    certificate: read(leaf.file),
    others: [read(intermediate)],
  };
  const signers = new Map([["own EC_v1", Promise.resolve(own)]]);

  function find(kind: SignerKind, version: Version, nowMs: number): Promise<Signer> {
    const name = `${kind} ${version}`;
    const signer = signers.get(name) ?? issueSigner(kind, version, nowMs);
    signers.set(name, signer);
    return signer;
  }

  async function issueSigner(kind: SignerKind, version: Version, nowMs: number): Promise<Signer> {
    const foreign = kind === "foreign" ? await issueChain(chain, nowMs) : undefined;
    const issuer = foreign?.get(intermediate) ?? readMerchantIssuer();
    const isRsa = version === "RSA_v1";
    const request = {
      ...leaf,
      ...makeValidity(chain, nowMs),
      name: isRsa ? "rsa-smp-broker-sign_UC4-SANDBOX" : leaf.name,
      extensions: kind === "unmarked" ? [] : leaf.extensions,
      keys: await makeKeys(isRsa ? "rsa" : "ec"),
    };
    const issued = await issue(request, issuer);
    return {
      privateKey: KeyObject.from(issued.keys.privateKey),
      certificate: writeCertificate(issued),
      others: [writeCertificate(issuer)],
    };
  }
  return {
    find,
    readMerchantIssuer,
    /** The authorities that issue merchants' certificates. */
    authorities: [read(root), read(intermediate)],
  };
}

const dayMs = 24 * 3_600_000;

type MerchantRequest = {
  /** A PKCS #10 request in PEM. Only its key is used. */
  readonly request: string;
  readonly merchantIdentifier: string;
  readonly days: number;
  /** Identifies the merchant in TLS, and decrypts nothing. */
  readonly isIdentity: boolean;
  readonly nowMs: number;
};

/** The certificate, in PEM, which names the merchant by the hash of the identifier. */
export async function certifyMerchant(
  { request, merchantIdentifier, days, isIdentity, nowMs }: MerchantRequest,
  issuer: Issued,
): Promise<string | BadRequest> {
  const publicKey = await readRequest(request);
  if (publicKey instanceof BadRequest) return publicKey;
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  const isEc = asymmetricKeyDetails?.namedCurve === "prime256v1";
  const modulusLength = asymmetricKeyDetails?.modulusLength ?? 0;
  if (!isEc && (asymmetricKeyType !== "rsa" || modulusLength < 2048)) {
    return new BadRequest("The key must be one of P-256, or RSA of 2048 bits.");
  }
  const value = hash("sha256", merchantIdentifier).toUpperCase();
  const wanted = {
    name: merchantIdentifier,
    purpose: isIdentity ? "signing" : isEc ? "key-agreement" : "key-encipherment",
    // The validity begins yesterday, for machines whose clock is behind.
    validFrom: new Date(nowMs - dayMs),
    validUntil: new Date(nowMs + days * dayMs),
    extensions: [{ id: merchantIdentifierExtension, value: new Utf8String({ value }) }],
  } as const;
  const key = publicKey.toCryptoKey(keyAlgorithms[isEc ? "ec" : "rsa"], true, ["verify"]);
  return writeCertificate({ certificate: await certify(wanted, key, issuer) });
}

const pemForm =
  /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----/;

/** Returns the key of the request, whose signature proves possession of the private key. */
async function readRequest(pem: string): Promise<KeyObject | BadRequest> {
  const [, base64] = pemForm.exec(pem) ?? [];
  if (base64 === undefined) return new BadRequest("The body must be a certificate request in PEM.");
  try {
    const request = CertificationRequest.fromBER(Buffer.from(base64, "base64"));
    if (!(await request.verify())) return new BadRequest("The request is not signed by its key.");
    const spki = request.subjectPublicKeyInfo.toSchema().toBER(false);
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch {
    return new BadRequest("The certificate request cannot be read.");
  }
}
