/** What `POST /wallets/walletb` takes. Everything but the card has a default. */
import type { Version } from "@tollgate/protocols/walletb";
import {
  type CardOptions,
  cardMembers,
  eciIndicator,
  idForm,
  moment,
  paymentMembers,
} from "./card-members.ts";
import { type Members, type MintFault, oneOf, readMembers, text } from "./members.ts";
import { readPoint } from "./public-point.ts";

export type WalletBOptions = CardOptions & {
  /** Not in the token of this wallet; checked all the same. */
  readonly amount?: number;
  readonly currency?: string;
  /** `PAN_ONLY`, unless it is said. */
  readonly authMethod?: AuthMethod;
  /** Of `CRYPTOGRAM_3DS`: the network's own, unless it is said. */
  readonly eciIndicator?: string;
  /** `ECv2`, unless it is said. */
  readonly version?: Version;
  /** Those of the recipient that was named last, unless they are said. */
  readonly gatewayMerchantId?: string;
  readonly recipientId?: string;
  /** The point of 65 bytes, in base64. */
  readonly publicKey?: string;
  readonly messageId?: string;
  /** Milliseconds since 1970. */
  readonly messageExpiration?: number;
  readonly defect?: WalletBDefect;
};

export const authMethods = ["PAN_ONLY", "CRYPTOGRAM_3DS"] as const;
export type AuthMethod = (typeof authMethods)[number];

export const walletBVersions: readonly Version[] = ["ECv2", "ECv1"];

export const walletBDefects = [
  "expired",
  "expired-intermediate",
  "wrong-recipient",
  "tampered",
  "wrong-root",
  "other-merchant",
  "wrong-mac",
] as const;
export type WalletBDefect = (typeof walletBDefects)[number];

/** Who tokens are made for. */
export type WalletBRecipient = {
  readonly publicKey: string;
  readonly recipientId: string;
  readonly gatewayMerchantId?: string;
};

// biome-ignore format: a table
const recipientMembers: Members<WalletBRecipient> = {
  publicKey: {
    takes: "a point of P-256 in base64: 04, x and y, 65 bytes in all",
    read: (value) => (typeof value === "string" && readPoint(value) !== undefined ? value : undefined),
  },
  recipientId:       text(/^(?:merchant|gateway):[!-~]{1,100}$/, "merchant:<id> or gateway:<id>"),
  gatewayMerchantId: text(idForm, "1 to 255 visible characters"),
};

// biome-ignore format: a table
const members: Members<WalletBOptions> = {
  ...cardMembers,
  ...paymentMembers,
  authMethod: oneOf(authMethods),
  eciIndicator,
  version: oneOf(walletBVersions),
  ...recipientMembers,
  messageId:         text(idForm, "1 to 255 visible characters"),
  messageExpiration: moment,
  defect:            oneOf(walletBDefects),
};

export function readWalletBOptions(body: unknown): WalletBOptions | MintFault {
  return readMembers(body, members, ["pan", "expirationYear", "expirationMonth"]);
}

export function readWalletBRecipient(body: unknown): WalletBRecipient | MintFault {
  return readMembers(body, recipientMembers, ["publicKey", "recipientId"]);
}
