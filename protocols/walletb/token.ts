/** The outside of a token: its fields and their form, nothing of it believed yet. */
import type { Buffer } from "node:buffer";
import { type Version, versions } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, type Fields, hasExactly, isFields, parseFields } from "./wallet-json.ts";

export type Token = {
  readonly signedMessage: string;
  readonly signature: Buffer;
} & ({ readonly version: "ECv1" } | { readonly version: "ECv2"; readonly intermediate: SignedKey });

export type SignedKey = { readonly signedKey: string; readonly signatures: readonly Buffer[] };

// biome-ignore format: a table
const tokenFields: Readonly<Record<Version, readonly string[]>> = {
  ECv1: ["protocolVersion", "signature", "signedMessage"],
  ECv2: ["protocolVersion", "signature", "signedMessage", "intermediateSigningKey"],
};

const signaturesMax = 8;

/** The token says which rules it follows, but only those that are allowed count. */
export function readToken(text: string, allowed: readonly Version[]): Token | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { protocolVersion, signedMessage } = fields;
  if (typeof protocolVersion !== "string") return new WalletFault("wrong_fields");
  const version = versions.find((one) => one === protocolVersion);
  if (version === undefined || !allowed.includes(version)) {
    return new WalletFault("unknown_version");
  }
  if (!hasExactly(fields, tokenFields[version])) return new WalletFault("wrong_fields");
  if (typeof signedMessage !== "string") return new WalletFault("malformed_field", "signedMessage");
  const signature = decodeBase64(fields["signature"]);
  if (signature === undefined) return new WalletFault("malformed_field", "signature");
  if (version === "ECv1") return { version, signedMessage, signature };
  const intermediate = readSignedKey(fields["intermediateSigningKey"]);
  if (intermediate instanceof WalletFault) return intermediate;
  return { version, signedMessage, signature, intermediate };
}

function readSignedKey(value: unknown): SignedKey | WalletFault {
  if (!isFields(value) || !hasExactly(value, ["signedKey", "signatures"])) {
    return new WalletFault("wrong_fields", "intermediateSigningKey");
  }
  const { signedKey } = value;
  if (typeof signedKey !== "string") return new WalletFault("malformed_field", "signedKey");
  const signatures = readSignatures(value);
  if (signatures === undefined) return new WalletFault("malformed_field", "signatures");
  return { signedKey, signatures };
}

function readSignatures({ signatures }: Fields): readonly Buffer[] | undefined {
  if (!Array.isArray(signatures) || signatures.length > signaturesMax) return undefined;
  const decoded = signatures.map(decodeBase64).filter((one) => one !== undefined);
  return decoded.length === signatures.length && decoded.length > 0 ? decoded : undefined;
}
