/**
 * The payment tokens of walletb, ECv2 and ECv1, for both sides: the gateway opens them, the
 * sandbox bank mints them. Readers return a `WalletFault` for what they do not take and never
 * throw; clock, trusted keys and recipient are always the caller's. Not done here, because it
 * needs a memory or an order: message ids used before, and whose `gatewayMerchantId` it is.
 */
export {
  distortToken,
  type Intermediate,
  type Minting,
  mintToken,
  type SignedMessage,
} from "./mint-token.ts";
export { type Decrypted, decryptToken, type Opened, openToken, type Trust } from "./open-token.ts";
export { type Payload, readPayload, writePayload } from "./payload.ts";
export { type RootKey, readRootKeys, writeRootKeys } from "./root-keys.ts";
export type { Version } from "./token.ts";
export { WalletFault, type WalletReason } from "./wallet-fault.ts";
