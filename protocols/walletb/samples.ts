/** The published tokens, and a test wallet: root keys, recipients and payloads. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { readFileSync } from "node:fs";
import type { Minting, Payload, Trust, Version } from "./index.ts";

export const now = Date.parse("2026-11-15T08:00:00Z");
export const hourMs = 3_600_000;

export type Vector = {
  readonly vector: string;
  readonly rootKeys: object;
  readonly recipientId: string;
  readonly nowMs: number;
  readonly recipientPrivateKeys: readonly string[];
  readonly token: string;
  readonly expected: { readonly plaintext: string; readonly matchingPrivateKeyIndex: number };
  readonly intermediate: {
    readonly sharedSecretHex: string;
    readonly cipherKeyHex: string;
    readonly macKeyHex: string;
  };
};

export const vectors: Readonly<Record<Version, Vector>> = {
  ECv1: readVector("ecv1.json"),
  ECv2: readVector("ecv2.json"),
};

export function readPrivateKey(base64: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(base64, "base64"), format: "der", type: "pkcs8" });
}

export function makeKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
}

export const payload: Payload = {
  messageId: "AH2EjtfMnRL4SuVKBBBzLMzXXu_example",
  messageExpiration: now + hourMs,
  gatewayMerchantId: "merchant-one",
  pan: "4111111111111111",
  expirationMonth: 12,
  expirationYear: 2030,
  authMethod: "PAN_ONLY",
  assuranceDetails: { cardHolderAuthenticated: true, accountVerified: false },
};

export const networkToken: Payload = {
  ...payload,
  authMethod: "CRYPTOGRAM_3DS",
  cryptogram: "AgAAAAAABk4DWZ4C28yUQAAAAAA=",
  eciIndicator: "05",
};

export const rootKeys = { ECv1: makeKey(), ECv2: makeKey() };
export const intermediateKey = makeKey();
export const recipientKey = makeKey();

export const trust: Trust = {
  now,
  rootKeys: [
    { protocolVersion: "ECv1", key: createPublicKey(rootKeys.ECv1) },
    {
      protocolVersion: "ECv2",
      key: createPublicKey(rootKeys.ECv2),
      keyExpiration: now + 24 * hourMs,
    },
  ],
  recipientId: "gateway:tollgate",
  recipientKeys: [makeKey(), recipientKey],
  versions: ["ECv1", "ECv2"],
};

export function mintingOf(version: Version, changes: Partial<Minting> = {}): Minting {
  return {
    version,
    rootKey: rootKeys[version],
    intermediate: { privateKey: intermediateKey, keyExpiration: now + hourMs },
    recipientId: trust.recipientId,
    recipientPublicKey: createPublicKey(recipientKey),
    ...changes,
  };
}

function readVector(file: string): Vector {
  return JSON.parse(readFileSync(`${import.meta.dirname}/vectors/${file}`, "utf8"));
}
