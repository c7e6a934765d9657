/**
 * The payment tokens of walletb, ECv2 and ECv1, for both sides: the gateway opens them, the
 * sandbox bank mints them. Readers return a `WalletFault` for all that they refuse and never
 * throw; the caller supplies clock, root keys and recipient. Left to the caller, which has the
 * storage and the order: replayed message ids, and the merchant of a `gatewayMerchantId`.
 */
export { WalletFault, type WalletReason } from "../shared/wallet.ts";
export { type RootKey, readPoint, readRootKeys, type Version, writeRootKeys } from "./keys.ts";
export * from "./mint-token.ts";
export { decryptToken, type Opened, openToken, type Trust } from "./open-token.ts";
export { type Payload, readPayload, writePayload } from "./payload.ts";
