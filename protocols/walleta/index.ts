/**
 * The payment tokens of walleta, EC_v1 and RSA_v1, for both sides: the gateway opens them, the
 * sandbox bank mints them. Readers return a `WalletFault` for what they do not take and never
 * throw; clock, roots and keys are always the caller's. Not done here, because it needs a memory
 * or an order: transaction ids used before, and whether amount and currency are the order's.
 */
export { intermediateMarker, leafMarker, merchantIdentifierExtension } from "./identifiers.ts";
export type { MerchantKey } from "./merchant-key.ts";
export { distortToken, type Minting, mintToken } from "./mint-token.ts";
export { type Opened, openToken, type Trust } from "./open-token.ts";
export { expiryOf, type Payload, readPayload, writePayload } from "./payload.ts";
export type { Signer } from "./sign-content.ts";
export type { Version } from "./token.ts";
export { WalletFault, type WalletReason } from "./wallet-fault.ts";
