/** The token as it is sent: its fields, their form and the bytes that its signatures cover. */
import { Buffer } from "node:buffer";
import { decodeBase64, hasExactly, isJsonObject } from "../shared/json.ts";
import { parseFields, WalletFault } from "../shared/wallet.ts";

export const versions = ["ECv1", "ECv2"] as const;
export type Version = (typeof versions)[number];

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

/** The token names its version, but only an allowed one is accepted. */
export function readToken(text: string, allowed: readonly Version[]): Token | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { protocolVersion, signedMessage } = fields;
  if (typeof protocolVersion !== "string") return new WalletFault("wrong_fields");
  const version = versions.find((one) => one === protocolVersion && allowed.includes(one));
  if (version === undefined) return new WalletFault("unknown_version");
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
  if (!isJsonObject(value) || !hasExactly(value, ["signedKey", "signatures"])) {
    return new WalletFault("wrong_fields", "intermediateSigningKey");
  }
  const { signedKey, signatures } = value;
  if (typeof signedKey !== "string") return new WalletFault("malformed_field", "signedKey");
  const isList = Array.isArray(signatures) && signatures.length <= signaturesMax;
  const decoded = isList ? signatures.map(decodeBase64) : [];
  if (decoded.length === 0 || decoded.includes(undefined)) {
    return new WalletFault("malformed_field", "signatures");
  }
  return { signedKey, signatures: decoded.filter((one) => one !== undefined) };
}

/** The first of all signed texts, and the context of the key derivation. */
export const sender = "Google";

export function intermediateBytes(signedKey: string): Buffer {
  return frame([sender, "ECv2", signedKey]);
}

export function messageBytes(recipientId: string, version: Version, signedMessage: string): Buffer {
  return frame([sender, recipientId, version, signedMessage]);
}

/** Each text after its length in bytes, little-endian. */
function frame(texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(Buffer.byteLength(text, "utf8"));
      return [length, Buffer.from(text, "utf8")];
    }),
  );
}
