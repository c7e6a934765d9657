/** Tokens of walletb, genuine unless a defect is asked for; then wrong in that one thing. */
import { randomUUID } from "node:crypto";
import {
  distortToken,
  type Minting,
  mintToken,
  type Payload,
  type SignedMessage,
  writePayload,
} from "@tollgate/protocols/walletb";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { eciFor } from "../issuer/networks.ts";
import { MintFault } from "./members.ts";
import { readPoint } from "./public-point.ts";
import { makePrivateKey, type WalletBIdentity } from "./walletb-identity.ts";
import type { WalletBDefect, WalletBOptions, WalletBRecipient } from "./walletb-options.ts";

export type WalletBMint = {
  readonly identity: WalletBIdentity;
  readonly recipient: WalletBRecipient | undefined;
  readonly authenticationValues: AuthenticationValues;
  readonly nowMs: number;
};

const messageLifeMs = 3_600_000;
const intermediateLifeMs = 30 * 24 * 3_600_000;
const justOverMs = 60_000;

export function mintWalletB(options: WalletBOptions, mint: WalletBMint): string | MintFault {
  const recipient = findRecipient(options, mint.recipient);
  if (recipient instanceof MintFault) return recipient;
  const { version = "ECv2", defect } = options;
  if (defect === "expired-intermediate" && version === "ECv1") {
    return new MintFault("Tokens of ECv1 have no intermediate key that could be expired.");
  }
  const { rootKey, intermediateKey: privateKey } = mint.identity;
  const keyExpiration = mint.nowMs + intermediateLifeMs;
  const { recipientId, recipientPublicKey } = recipient;
  const genuine: Draft = {
    payload: makePayload(options, recipient.gatewayMerchantId, mint),
    minting: {
      version,
      rootKey,
      intermediate: { privateKey, keyExpiration },
      recipientId,
      recipientPublicKey,
    },
  };
  const draft =
    defect === undefined ? genuine : walletBDefectTable[defect].spoil(genuine, mint.nowMs);
  const token = mintToken(writePayload(draft.payload, version), draft.minting);
  return draft.change === undefined ? token : draft.change(token);
}

type Draft = {
  readonly payload: Payload;
  readonly minting: Minting;
  /** After the token was signed. */
  readonly change?: (token: string) => string;
};

type Defect = {
  readonly what: string;
  readonly spoil: (draft: Draft, nowMs: number) => Draft;
};

export const walletBDefectTable: Readonly<Record<WalletBDefect, Defect>> = {
  "expired": {
    what: "the message expired a minute ago",
    spoil: ({ payload, minting }, nowMs) => ({
      payload: { ...payload, messageExpiration: nowMs - justOverMs },
      minting,
    }),
  },
  "expired-intermediate": {
    what: "the intermediate key expired a minute ago",
    spoil: ({ payload, minting }, nowMs) => {
      const intermediate = { ...minting.intermediate, keyExpiration: nowMs - justOverMs };
      return { payload, minting: { ...minting, intermediate } };
    },
  },
  "wrong-recipient": {
    what: "signed for another recipient id",
    spoil: ({ payload, minting }) => {
      return { payload, minting: { ...minting, recipientId: "merchant:somebody-else" } };
    },
  },
  "tampered": {
    what: "changed after it was signed",
    spoil: (draft) => ({ ...draft, change: (token) => distortToken(token, "signedMessage") }),
  },
  "wrong-root": {
    what: "signed under another root key",
    spoil: ({ payload, minting }) => {
      return { payload, minting: { ...minting, rootKey: makePrivateKey() } };
    },
  },
  "other-merchant": {
    what: "genuine, but the gateway's merchant is another one",
    spoil: ({ payload, minting }) => {
      return { payload: { ...payload, gatewayMerchantId: "somebody-else" }, minting };
    },
  },
  "wrong-mac": {
    what: "the tag is wrong, and signed so",
    spoil: ({ payload, minting }) => ({ payload, minting: { ...minting, distort: distortTag } }),
  },
};

function distortTag(message: SignedMessage): SignedMessage {
  const tag = Buffer.from(message.tag, "base64");
  tag[0] = (tag[0] ?? 0) ^ 1;
  return { ...message, tag: tag.toString("base64") };
}

function findRecipient(options: WalletBOptions, known: WalletBRecipient | undefined) {
  const { recipientId = known?.recipientId, publicKey = known?.publicKey } = options;
  const recipientPublicKey = publicKey === undefined ? undefined : readPoint(publicKey);
  if (recipientId === undefined || recipientPublicKey === undefined) {
    const remedy = 'name one at /wallets/walletb/recipient, or give "recipientId" and "publicKey"';
    return new MintFault(`Nobody is known as the recipient: ${remedy}.`);
  }
  const gatewayMerchantId = options.gatewayMerchantId ?? known?.gatewayMerchantId;
  return { recipientId, recipientPublicKey, gatewayMerchantId };
}

function makePayload(
  options: WalletBOptions,
  gatewayMerchantId: string | undefined,
  { authenticationValues, nowMs }: WalletBMint,
): Payload {
  const { pan, expirationMonth, expirationYear, authMethod = "PAN_ONLY" } = options;
  const proof = {
    cryptogram: authenticationValues.make(pan),
    eciIndicator: options.eciIndicator ?? writeEci(pan),
  };
  return {
    messageId: options.messageId ?? randomUUID(),
    messageExpiration: options.messageExpiration ?? nowMs + messageLifeMs,
    ...(gatewayMerchantId === undefined ? {} : { gatewayMerchantId }),
    pan,
    expirationMonth,
    expirationYear,
    authMethod,
    ...(authMethod === "PAN_ONLY" ? {} : proof),
    assuranceDetails: {
      cardHolderAuthenticated: authMethod === "CRYPTOGRAM_3DS",
      accountVerified: true,
    },
  };
}

/** The networks that count from 02 leave it empty in this wallet. */
function writeEci(card: string): string {
  const eci = eciFor(card, "Y");
  return eci === "02" ? "" : eci;
}
