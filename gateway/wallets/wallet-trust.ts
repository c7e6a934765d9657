/** What the wallets' payment data is checked and opened with. */
import type { KeyObject } from "node:crypto";
import type { RootKey } from "@tollgate/protocols/walletb";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

export type Wallet = "walleta" | "walletb";

/** One generation of a merchant's key; two side by side while it is renewed. */
export type WalletKey = {
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly wallet: Wallet;
  readonly privateKey: KeyObject;
  /** walleta: the signed certificate, in PEM; nothing before it was handed in. */
  readonly certificate: string | undefined;
  readonly createdAt: Instant;
};

/** The roots that the wallets themselves sign under. */
export type WalletRoots = {
  /** PEM, one certificate each. */
  walleta(): readonly string[];
  walletb(): readonly RootKey[];
};
