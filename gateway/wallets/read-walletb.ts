/** Payment data of walletb, encrypted or decrypted by the merchant himself. */
import { type Payload, readPayload, WalletFault } from "@tollgate/protocols/walletb";
import type { Merchant } from "../orders/merchant.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { Secret } from "../values/secret.ts";
import { canBeCarried, type OpenedWallet, refuse, rememberLongerMs } from "./opened-wallet.ts";
import { payloadRefusalOf, refusalOf } from "./refusals.ts";
import type { WalletKey, WalletRoots } from "./wallet-trust.ts";
import type { WalletWorker } from "./wallet-worker.ts";

export type WalletBQuestion = {
  readonly text: string;
  readonly isEncrypted: boolean;
  readonly merchant: Merchant;
  readonly keys: readonly WalletKey[];
  readonly roots: WalletRoots;
  readonly now: number;
  readonly walletWorker: WalletWorker;
};

export async function readWalletB(question: WalletBQuestion): Promise<OpenedWallet | Failure> {
  const payload = question.isEncrypted ? await open(question) : readOpen(question);
  if (payload instanceof Failure || "refusal" in payload) return payload;
  const { merchant } = question;
  const settings = merchant.settings.wallets?.walletb;
  const own = settings?.gatewayMerchantId ?? merchant.login;
  const isForGateway = question.isEncrypted && settings?.recipientId.startsWith("gateway:");
  const meant = payload.gatewayMerchantId ?? (isForGateway ? "" : own);
  if (meant !== own) return refuse("wallet_other_merchant");
  const { cryptogram } = payload;
  if (cryptogram !== undefined && !canBeCarried(cryptogram)) {
    return refuse("wallet_not_supported", "a cryptogram that is not 20 bytes");
  }
  return cardOf(payload);
}

type Read = Payload | ReturnType<typeof refuse>;

async function open(question: WalletBQuestion): Promise<Read | Failure> {
  const { text, merchant, keys, roots, now } = question;
  const settings = merchant.settings.wallets?.walletb;
  if (settings === undefined) return refuse("wallet_not_configured", "walletb: no recipient id");
  if (keys.length === 0) return refuse("wallet_not_configured", "walletb: no key");
  const rootKeys = roots.walletb();
  if (rootKeys.length === 0) return refuse("wallet_not_configured", "walletb: no root keys");
  const opened = await question.walletWorker.walletb(text, {
    now,
    rootKeys,
    recipientId: settings.recipientId,
    recipientKeys: keys.map(({ privateKey }) => privateKey),
    versions: settings.versions ?? ["ECv2"],
  });
  if (opened instanceof Failure) return opened;
  return "reason" in opened ? refusalOf(opened) : opened.payload;
}

function readOpen({ text, now }: WalletBQuestion): Read {
  const payload = readPayload(text, { now });
  if (!(payload instanceof WalletFault)) return payload;
  return payloadRefusalOf(payload, text, "paymentMethodDetails");
}

function cardOf(payload: Payload): OpenedWallet {
  const { pan, expirationMonth, expirationYear, cryptogram, eciIndicator: eci } = payload;
  return {
    card: {
      number: new CardNumber(pan),
      expiryMonth: String(expirationMonth).padStart(2, "0"),
      expiryYear: String(expirationYear).slice(-2),
      cvv: undefined,
    },
    holderName: undefined,
    proof: cryptogram === undefined ? undefined : { eci, cryptogram: new Secret(cryptogram) },
    marks: [{ id: payload.messageId, rememberUntil: payload.messageExpiration + rememberLongerMs }],
  };
}
