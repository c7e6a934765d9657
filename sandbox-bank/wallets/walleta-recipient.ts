/** Who a token of walleta is made for: a key, and the identifier that goes into its secret. */
import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { merchantIdentifierExtension, type Version } from "@tollgate/protocols/walleta";
import { Certificate } from "pkijs";
import { MintFault } from "./members.ts";
import type { WalletAOptions, WalletARecipient } from "./walleta-options.ts";

export const defaultMerchantIdentifier = "merchant.sandbox";

export type FoundRecipient = {
  readonly publicKey: KeyObject;
  readonly merchantIdentifier: string;
  readonly version: Version;
};

export function findRecipient(
  options: WalletAOptions,
  known: WalletARecipient | undefined,
): FoundRecipient | MintFault {
  const pem = options.certificate ?? known?.certificate;
  if (pem === undefined) {
    const remedy = 'get a certificate at /wallets/walleta/certificate, or give a "certificate"';
    return new MintFault(`Nobody is known as the recipient: ${remedy}.`);
  }
  const certificate = new X509Certificate(pem);
  const { publicKey } = certificate;
  const fitting = findVersion(publicKey);
  if (fitting === undefined) return new MintFault("The certificate's key fits no version.");
  const { version = fitting } = options;
  if (version !== fitting) {
    return new MintFault(`The recipient's key is for ${fitting}, not for ${version}.`);
  }
  const merchantIdentifier = options.merchantIdentifier ?? identify(certificate, known);
  if (merchantIdentifier === undefined) {
    return new MintFault(
      'The certificate names a merchant by hash only: give "merchantIdentifier".',
    );
  }
  return { publicKey, merchantIdentifier, version };
}

function findVersion(key: KeyObject): Version | undefined {
  if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return "EC_v1";
  return key.asymmetricKeyType === "rsa" ? "RSA_v1" : undefined;
}

/** The certificate holds only a hash, so that a name has to be guessed from those that we know. */
function identify(
  certificate: X509Certificate,
  known: WalletARecipient | undefined,
): string | undefined {
  const names = [known?.merchantIdentifier ?? [], defaultMerchantIdentifier].flat();
  const hash = findHash(certificate);
  return hash === undefined ? names[0] : names.find((name) => hashOf(name) === hash);
}

function findHash({ raw }: X509Certificate): string | undefined {
  const extension = Certificate.fromBER(Uint8Array.from(raw)).extensions?.find(
    ({ extnID }) => extnID === merchantIdentifierExtension,
  );
  if (extension === undefined) return undefined;
  const value = Buffer.from(extension.extnValue.valueBlock.valueHexView);
  return value.toString("latin1").slice(-64).toLowerCase();
}

function hashOf(merchantIdentifier: string): string {
  return createHash("sha256").update(merchantIdentifier).digest("hex");
}
