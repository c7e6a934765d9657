/** Payment data of walleta, encrypted or decrypted by the merchant himself. */
import { createHash } from "node:crypto";
import { expiryOf, type Payload, readPayload, WalletFault } from "@tollgate/protocols/walleta";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { Money } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import {
  canBeCarried,
  type Mark,
  type OpenedWallet,
  refuse,
  rememberLongerMs,
} from "./opened-wallet.ts";
import type { WalletBQuestion } from "./read-walletb.ts";
import { payloadRefusalOf, refusalOf } from "./refusals.ts";

export type WalletAQuestion = WalletBQuestion & {
  readonly amount: Money;
  readonly signingWindowMs: number;
  readonly signingWindowMaxMs: number;
  readonly allowSandboxSigner: boolean;
};

/** A payload without its token says nothing of its age: as long as a card lives is too long. */
const rememberMs = 90 * 86_400_000;

export async function readWalletA(question: WalletAQuestion): Promise<OpenedWallet | Failure> {
  const read = question.isEncrypted ? await open(question) : readOpen(question);
  if (read instanceof Failure || "refusal" in read) return read;
  const { payload, mark } = read;
  const { minor, currency } = question.amount;
  if (payload.currencyCode !== currency.numeric) return refuse("wallet_other_amount", "currency");
  if (BigInt(payload.transactionAmount) !== minor) return refuse("wallet_other_amount", "amount");
  if (payload.paymentDataType === "EMV") return refuse("wallet_not_supported", "EMV");
  const { year, month } = expiryOf(payload);
  const { onlinePaymentCryptogram: cryptogram, eciIndicator: eci } = payload;
  if (!canBeCarried(cryptogram)) {
    return refuse("wallet_not_supported", "a cryptogram that is not 20 bytes");
  }
  return {
    card: {
      number: new CardNumber(payload.applicationPrimaryAccountNumber),
      expiryMonth: String(month).padStart(2, "0"),
      expiryYear: String(year).slice(-2),
      cvv: undefined,
    },
    holderName: payload.cardholderName,
    proof: { eci, cryptogram: new Secret(cryptogram) },
    // The same payment may come opened by the merchant and as the wallet's token.
    marks: [markOf(cryptogram, question.now), ...(mark === undefined ? [] : [mark])],
  };
}

type Read = { readonly payload: Payload; readonly mark?: Mark } | ReturnType<typeof refuse>;

async function open(question: WalletAQuestion): Promise<Read | Failure> {
  const { text, keys, roots, now, signingWindowMs, allowSandboxSigner } = question;
  const merchantKeys = keys.flatMap(({ certificate, privateKey }) =>
    certificate === undefined ? [] : [{ certificate, privateKey, ...identifierOf(question) }],
  );
  if (merchantKeys.length === 0) return refuse("wallet_not_configured", "walleta: no certificate");
  if (roots.walleta().length === 0) return refuse("wallet_not_configured", "walleta: no root");
  const trust = { now, roots: roots.walleta(), merchantKeys, signingWindowMs, allowSandboxSigner };
  const opened = await question.walletWorker.walleta(text, trust);
  if (opened instanceof Failure) return opened;
  if ("reason" in opened) return refusalOf(opened);
  const { payload, transactionId, signingTime } = opened;
  // Not by the window of today: a longer one must not make forgotten tokens good again.
  const rememberUntil = signingTime + question.signingWindowMaxMs + rememberLongerMs;
  return { payload, mark: { id: transactionId, rememberUntil } };
}

function identifierOf({ merchant }: WalletAQuestion) {
  const settings = merchant.settings.wallets?.walleta;
  return settings === undefined ? {} : { merchantIdentifier: settings.merchantIdentifier };
}

function readOpen({ text }: WalletAQuestion): Read {
  const payload = readPayload(text);
  if (payload instanceof WalletFault) {
    return payloadRefusalOf(payload, text, "applicationPrimaryAccountNumber");
  }
  return { payload };
}

/** A cryptogram is used once, so it tells one payment from another. */
function markOf(cryptogram: string, now: number): Mark {
  const id = createHash("sha256").update(cryptogram, "base64").digest("hex");
  return { id, rememberUntil: now + rememberMs };
}
