/**
 * The payment tokens of walletb, ECv2 and ECv1, for both sides: the gateway opens them, and the
 * sandbox bank mints them. Readers return a `WalletFault` for everything that they refuse and never
 * throw. The caller supplies clock, root keys and recipient. The caller also has to detect replayed
 * message ids and to check the merchant of a `gatewayMerchantId`, because it has the storage and
 * the order.
 */
export { WalletFault, type WalletReason } from "../shared/wallet.ts";
export { type RootKey, readPoint, readRootKeys, type Version, writeRootKeys } from "./keys.ts";
export * from "./mint-token.ts";
export { decryptToken, type Opened, openToken, type Trust } from "./open-token.ts";
export { type Payload, readNetworkToken, readPayload, writePayload } from "./payload.ts";
