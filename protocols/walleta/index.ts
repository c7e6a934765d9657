/**
 * The payment tokens of walleta, EC_v1 and RSA_v1, for both sides: the gateway opens them, the
 * sandbox bank mints them. Readers return a `WalletFault` for all that they refuse and never
 * throw; the caller supplies clock, roots and keys. Left to the caller, which has the storage and
 * the order: replayed transaction ids, and the comparison of amount and currency.
 */
export { WalletFault, type WalletReason } from "../shared/wallet.ts";
export type { MerchantKey, Version } from "./encryption.ts";
export { distortToken, type Minting, mintToken, type Signer } from "./mint-token.ts";
export { type Opened, openToken, type Trust } from "./open-token.ts";
export { expiryOf, type Payload, readPayload, writePayload } from "./payload.ts";
export { intermediateMarker, leafMarker, merchantIdentifierExtension } from "./verify-signature.ts";
