/** What a token consists of and what its two versions differ in; all as the wallet spells it. */

export const versions = ["ECv1", "ECv2"] as const;
export type Version = (typeof versions)[number];

/** The first of all signed texts, and the context of the key derivation. */
export const sender = "Google";

// biome-ignore format: a table
export const versionRules = {
  ECv1: { keyBytes: 16, cipher: "aes-128-ctr" },
  ECv2: { keyBytes: 32, cipher: "aes-256-ctr" },
} as const satisfies Readonly<Record<Version, unknown>>;

export const curve = "prime256v1";
export const pointBytes = 65;
