/** What `POST /wallets/walleta` takes. Everything but the card and the payment has a default. */
import { X509Certificate } from "node:crypto";
import type { Version } from "@tollgate/protocols/walleta";
import {
  type CardOptions,
  cardMembers,
  eciIndicator,
  idForm,
  moment,
  paymentMembers,
} from "./card-members.ts";
import { type Members, type MintFault, oneOf, readMembers, text } from "./members.ts";

export type WalletAOptions = CardOptions & {
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly cardholderName?: string;
  /** The network's own, unless it is said. */
  readonly eciIndicator?: string;
  /** The one that the recipient's key is for, unless it is said. */
  readonly version?: Version;
  /** Those of the recipient that was certified last, unless they are said. */
  readonly certificate?: string;
  readonly merchantIdentifier?: string;
  /** 64 hex digits. */
  readonly transactionId?: string;
  /** Milliseconds since 1970. */
  readonly signingTime?: number;
  readonly defect?: WalletADefect;
};

export const walletAVersions: readonly Version[] = ["EC_v1", "RSA_v1"];

export const walletADefects = [
  "expired",
  "wrong-recipient",
  "tampered",
  "wrong-root",
  "other-merchant",
  "wrong-amount",
  "wrong-currency",
  "no-marker",
] as const;
export type WalletADefect = (typeof walletADefects)[number];

/** Who tokens are made for. */
export type WalletARecipient = {
  /** PEM. */
  readonly certificate: string;
  readonly merchantIdentifier: string;
};

export const merchantIdentifier = text(idForm, "1 to 255 visible characters");

// biome-ignore format: a table
const recipientMembers: Members<WalletARecipient> = {
  certificate: {
    takes: "a certificate in PEM",
    read: (value) => (typeof value === "string" && isCertificate(value) ? value : undefined),
  },
  merchantIdentifier,
};

// biome-ignore format: a table
const members: Members<WalletAOptions> = {
  ...cardMembers,
  ...paymentMembers,
  cardholderName: text(/^[^\p{Cc}\p{Cs}]{1,128}$/u, "a name of up to 128 characters"),
  eciIndicator,
  version: oneOf(walletAVersions),
  ...recipientMembers,
  transactionId: text(/^[0-9a-f]{64}$/i, "64 hex digits"),
  signingTime:   moment,
  defect:        oneOf(walletADefects),
};

const required = ["pan", "expirationYear", "expirationMonth", "amount", "currency"] as const;

export function readWalletAOptions(body: unknown): WalletAOptions | MintFault {
  return readMembers(body, members, required);
}

export function readWalletARecipient(body: unknown): WalletARecipient | MintFault {
  return readMembers(body, recipientMembers, ["certificate", "merchantIdentifier"]);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey !== undefined;
  } catch {
    return false;
  }
}
