/** What the two versions of a token differ in; all as the wallet spells it. */

export const versions = ["EC_v1", "RSA_v1"] as const;
export type Version = (typeof versions)[number];

// biome-ignore format: a table
export const ciphers = {
  EC_v1:  { name: "aes-256-gcm", keyBytes: 32 },
  RSA_v1: { name: "aes-128-gcm", keyBytes: 16 },
} as const satisfies Readonly<Record<Version, unknown>>;

export const curve = "prime256v1";
