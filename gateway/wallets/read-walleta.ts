/** Payment data of walleta, encrypted or decrypted by the merchant himself. */
import { createHash } from "node:crypto";
import { expiryOf, type Payload, readPayload, WalletFault } from "@tollgate/protocols/walleta";
import { CardNumber } from "../values/card-number.ts";
import type { Money } from "../values/money.ts";
import { type Mark, type OpenedWallet, refuse } from "./opened-wallet.ts";
import type { WalletBQuestion } from "./read-walletb.ts";
import { payloadRefusalOf, refusalOf } from "./refusals.ts";

export type WalletAQuestion = WalletBQuestion & {
  readonly amount: Money;
  readonly signingWindowMs: number;
  readonly allowSandboxSigner: boolean;
};

/** A payload without its token says nothing of its age: as long as a card lives is too long. */
const rememberMs = 90 * 86_400_000;

export async function readWalletA(question: WalletAQuestion): Promise<OpenedWallet> {
  const read = question.isEncrypted ? await open(question) : readOpen(question);
  if ("refusal" in read) return read;
  const { payload, marks } = read;
  const { minor, currency } = question.amount;
  const isSame =
    payload.currencyCode === currency.numeric && BigInt(payload.transactionAmount) === minor;
  if (!isSame) return refuse("wallet_other_amount");
  if (payload.paymentDataType === "EMV") return refuse("wallet_not_supported", "EMV");
  const { year, month } = expiryOf(payload);
  const { onlinePaymentCryptogram: value, eciIndicator: eci } = payload;
  return {
    card: {
      number: new CardNumber(payload.applicationPrimaryAccountNumber),
      expiryMonth: String(month).padStart(2, "0"),
      expiryYear: String(year).slice(-2),
      cvv: undefined,
    },
    holderName: payload.cardholderName,
    proof: { eci, value },
    marks,
  };
}

type Read =
  | { readonly payload: Payload; readonly marks: readonly Mark[] }
  | ReturnType<typeof refuse>;

async function open(question: WalletAQuestion): Promise<Read> {
  const { text, keys, roots, now, signingWindowMs, allowSandboxSigner } = question;
  const merchantKeys = keys.flatMap(({ certificate, privateKey }) =>
    certificate === undefined ? [] : [{ certificate, privateKey, ...identifierOf(question) }],
  );
  if (merchantKeys.length === 0) return refuse("wallet_not_configured", "walleta: no certificate");
  if (roots.walleta().length === 0) return refuse("wallet_not_configured", "walleta: no root");
  const trust = { now, roots: roots.walleta(), merchantKeys, signingWindowMs, allowSandboxSigner };
  const opened = await question.openApart.walleta(text, trust);
  if ("reason" in opened) return refusalOf(opened);
  const { payload, transactionId, signingTime } = opened;
  const rememberUntil = signingTime + 2 * signingWindowMs;
  return { payload, marks: [{ id: transactionId, rememberUntil }] };
}

function identifierOf({ merchant }: WalletAQuestion) {
  const settings = merchant.settings.wallets?.walleta;
  return settings === undefined ? {} : { merchantIdentifier: settings.merchantIdentifier };
}

/** Its cryptogram is used once, so it tells one payment from another. */
function readOpen({ text, now }: WalletAQuestion): Read {
  const payload = readPayload(text);
  if (payload instanceof WalletFault) {
    return payloadRefusalOf(payload, text, "applicationPrimaryAccountNumber");
  }
  const unique =
    payload.paymentDataType === "EMV" ? payload.emvData : payload.onlinePaymentCryptogram;
  const id = createHash("sha256").update(unique).digest("hex");
  return { payload, marks: [{ id, rememberUntil: now + rememberMs }] };
}
