/** Tokens of walleta, genuine unless a defect is asked for; then wrong in that one thing. */
import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import {
  distortToken,
  type Minting,
  mintToken,
  type Payload,
  type Version,
  writePayload,
} from "@tollgate/protocols/walleta";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { eciFor } from "../issuer/networks.ts";
import { MintFault } from "./members.ts";
import type { WalletADefect, WalletAOptions, WalletARecipient } from "./walleta-options.ts";
import { findRecipient } from "./walleta-recipient.ts";
import type { SignerKind, WalletASigners } from "./walleta-signers.ts";

export type WalletAMint = {
  readonly signers: WalletASigners;
  readonly recipient: WalletARecipient | undefined;
  readonly authenticationValues: AuthenticationValues;
  readonly nowMs: number;
};

const tooOldMs = 24 * 3_600_000;

export async function mintWalletA(
  options: WalletAOptions,
  mint: WalletAMint,
): Promise<string | MintFault> {
  const recipient = findRecipient(options, mint.recipient);
  if (recipient instanceof MintFault) return recipient;
  const { version, publicKey: recipientPublicKey, merchantIdentifier } = recipient;
  const { defect, transactionId } = options;
  if (defect === "other-merchant" && version === "RSA_v1") {
    return new MintFault("Tokens of RSA_v1 do not depend on the merchant's identifier.");
  }
  const genuine: Draft = {
    payload: makePayload(options, mint.authenticationValues),
    signerKind: "own",
    minting: {
      version,
      recipientPublicKey,
      merchantIdentifier,
      now: options.signingTime ?? mint.nowMs,
      random: randomBytes,
      ...(transactionId === undefined ? {} : { transactionId }),
    },
  };
  const draft = defect === undefined ? genuine : walletADefectTable[defect].spoil(genuine);
  const signer = await mint.signers.find(draft.signerKind, version, mint.nowMs);
  const token = mintToken(writePayload(draft.payload), { ...draft.minting, signer });
  return draft.change === undefined ? token : draft.change(token);
}

type Draft = {
  readonly payload: Payload;
  readonly signerKind: SignerKind;
  readonly minting: Omit<Minting, "signer">;
  /** After the token was signed. */
  readonly change?: (token: string) => string;
};

type Defect = { readonly what: string; readonly spoil: (draft: Draft) => Draft };

export const walletADefectTable: Readonly<Record<WalletADefect, Defect>> = {
  "expired": {
    what: "signed a day earlier",
    spoil: (draft) => changeMinting(draft, { now: draft.minting.now - tooOldMs }),
  },
  "wrong-recipient": {
    what: "made for the key of somebody else",
    spoil: (draft) =>
      changeMinting(draft, { recipientPublicKey: makePublicKey(draft.minting.version) }),
  },
  "tampered": {
    what: "changed after it was signed",
    spoil: (draft) => ({ ...draft, change: (token) => distortToken(token, "data") }),
  },
  "wrong-root": {
    what: "signed under another root certificate of the same name",
    spoil: (draft) => ({ ...draft, signerKind: "foreign" }),
  },
  "other-merchant": {
    what: "made for another merchant identifier",
    spoil: (draft) => changeMinting(draft, { merchantIdentifier: "merchant.somebody-else" }),
  },
  "wrong-amount": {
    what: "genuine, but one minor unit more",
    spoil: (draft) =>
      changePayload(draft, { transactionAmount: draft.payload.transactionAmount + 1 }),
  },
  "wrong-currency": {
    what: "genuine, but in another currency",
    spoil: (draft) =>
      changePayload(draft, { currencyCode: draft.payload.currencyCode === "978" ? "840" : "978" }),
  },
  "no-marker": {
    what: "the signer's certificate lacks its mark",
    spoil: (draft) => ({ ...draft, signerKind: "unmarked" }),
  },
};

function changeMinting(draft: Draft, change: Partial<Draft["minting"]>): Draft {
  return { ...draft, minting: { ...draft.minting, ...change } };
}

function changePayload(
  draft: Draft,
  change: Partial<Pick<Payload, "transactionAmount" | "currencyCode">>,
): Draft {
  return { ...draft, payload: { ...draft.payload, ...change } };
}

function makePublicKey(version: Version): KeyObject {
  return version === "EC_v1"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey
    : generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
}

function makePayload(options: WalletAOptions, values: AuthenticationValues): Payload {
  const { pan, cardholderName, eciIndicator = writeEci(pan) } = options;
  return {
    applicationPrimaryAccountNumber: pan,
    applicationExpirationDate: writeLastDay(options),
    currencyCode: options.currency,
    transactionAmount: options.amount,
    ...(cardholderName === undefined ? {} : { cardholderName }),
    deviceManufacturerIdentifier: "050110030273",
    paymentDataType: "3DSecure",
    onlinePaymentCryptogram: values.make(pan),
    ...(eciIndicator === undefined ? {} : { eciIndicator }),
  };
}

/** YYMMDD: the last day of the month. */
function writeLastDay({ expirationYear, expirationMonth }: WalletAOptions): string {
  const day = new Date(Date.UTC(expirationYear, expirationMonth, 0));
  return day.toISOString().slice(2, 10).replaceAll("-", "");
}

/** One digit in this wallet, and none from the networks that count from 02. */
function writeEci(card: string): string | undefined {
  const eci = eciFor(card, "Y");
  return eci === "02" ? undefined : eci.slice(-1);
}
