/**
 * The payment tokens of walleta, EC_v1 and RSA_v1, for both sides: the gateway opens them, and the
 * sandbox bank mints them. Readers return a `WalletFault` for everything that they refuse and never
 * throw. The caller supplies clock, roots and keys. The caller also has to detect replayed
 * transaction ids and to compare amount and currency, because it has the storage and the order.
 */
export { WalletFault, type WalletReason } from "../shared/wallet.ts";
export type { MerchantKey, Version } from "./encryption.ts";
export { distortToken, type Minting, mintToken, type Signer } from "./mint-token.ts";
export { type Opened, openToken, type Trust } from "./open-token.ts";
export { expiryOf, type Payload, readPayload, writePayload } from "./payload.ts";
export { intermediateMarker, leafMarker, merchantIdentifierExtension } from "./verify-signature.ts";
