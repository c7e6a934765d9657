/** From one of our root keys to the message, through the intermediate key where there is one. */
import type { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { readPublicKey } from "./public-key.ts";
import type { SignedKey, Token } from "./read-token.ts";
import { type RootKey, readMoment } from "./root-keys.ts";
import { intermediateBytes, isSignedBy, messageBytes } from "./signed-bytes.ts";
import type { Version } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, parseFields } from "./wallet-json.ts";

type Signed = { readonly bytes: Buffer; readonly signatures: readonly Buffer[] };
type Roots = { readonly now: number; readonly rootKeys: readonly RootKey[] };

/** Nothing when all is well. */
export function verifyToken(
  token: Token,
  trust: Roots & { readonly recipientId: string },
): WalletFault | undefined {
  const { version, signedMessage, signature } = token;
  const bytes = messageBytes(trust.recipientId, version, signedMessage);
  if (token.version === "ECv1") {
    const refused = verifyByRoot({ bytes, signatures: [signature] }, "ECv1", trust);
    // One signature stands for everything here, so a foreign root and a change look the same.
    return refused?.reason === "untrusted_root" ? new WalletFault("bad_signature") : refused;
  }
  const key = verifyIntermediate(token.intermediate, trust);
  if (key instanceof WalletFault) return key;
  return isSignedBy(key, bytes, signature) ? undefined : new WalletFault("bad_signature");
}

function verifyIntermediate(
  { signedKey, signatures }: SignedKey,
  trust: Roots,
): KeyObject | WalletFault {
  const refused = verifyByRoot({ bytes: intermediateBytes(signedKey), signatures }, "ECv2", trust);
  if (refused !== undefined) return refused;
  const fields = parseFields(signedKey);
  if (fields instanceof WalletFault) return new WalletFault("malformed_field", "signedKey");
  const keyExpiration = readMoment(fields["keyExpiration"]);
  if (keyExpiration === undefined) return new WalletFault("malformed_field", "keyExpiration");
  if (keyExpiration <= trust.now) return new WalletFault("expired_intermediate_key");
  const der = decodeBase64(fields["keyValue"]);
  const key = der && readPublicKey(der);
  return key ?? new WalletFault("malformed_field", "keyValue");
}

/** Any living root and any of the signatures may match. */
function verifyByRoot(signed: Signed, version: Version, trust: Roots): WalletFault | undefined {
  const fitting = trust.rootKeys.filter(
    ({ protocolVersion, key, keyExpiration }) =>
      protocolVersion === version &&
      key.type === "public" &&
      (version === "ECv1" || keyExpiration !== undefined),
  );
  const lives = ({ keyExpiration }: RootKey) =>
    keyExpiration === undefined || keyExpiration > trust.now;
  const hasSigned = ({ key }: RootKey) =>
    signed.signatures.some((signature) => isSignedBy(key, signed.bytes, signature));
  if (fitting.filter(lives).some(hasSigned)) return undefined;
  return new WalletFault(fitting.some(hasSigned) ? "expired_root_key" : "untrusted_root");
}
