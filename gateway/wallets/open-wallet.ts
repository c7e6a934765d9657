/**
 * Opens a wallet's payment data before its order is written: what is in it is all that the order
 * has of a card. Whatever is wrong with it becomes the order's reason to be declined.
 */
import type { CardData } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type {
  Authentication,
  CardFacts,
  Reason,
  WalletPayment,
  WalletType,
} from "../orders/order.ts";
import { isExpired, isLuhnValid } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import { asInstant, type Clock } from "../values/time.ts";
import { type Mark, type OpenedWallet, refuse, type WalletCard } from "./opened-wallet.ts";
import { readWalletA } from "./read-walleta.ts";
import { readWalletB } from "./read-walletb.ts";
import type { Wallet, WalletKey, WalletRoots } from "./wallet-trust.ts";
import type { WalletWorker } from "./wallet-worker.ts";

export type WalletRequest = {
  readonly type: WalletType;
  /** The JSON text, as the wallet or the merchant has written it. */
  readonly text: Secret<string>;
  readonly endpoint: Endpoint;
  readonly amount: Money;
  readonly holderName: string | undefined;
  /** All that makes two requests the same: a repeat may carry the same payment data. */
  readonly requestFingerprint: Secret<string>;
};

export type WalletResult = {
  readonly wallet: WalletPayment;
  /** Nothing when it was refused. */
  readonly paid:
    | {
        readonly facts: Omit<CardFacts, "cardId" | "hashId">;
        readonly cardData: CardData;
        /** Without the cryptogram, which is in hand and written nowhere. */
        readonly authentication: Authentication | undefined;
        /** The order did not come to be: the payment data may be used for another. */
        release(): Promise<void>;
      }
    | undefined;
};

type Dependencies = {
  readonly clock: Clock;
  readonly keysOf: (merchant: MerchantId, wallet: Wallet) => readonly WalletKey[];
  readonly roots: WalletRoots;
  readonly walletWorker: WalletWorker;
  readonly signingWindowMs: number;
  /** What an operator may make of it at most. */
  readonly signingWindowMaxMs: number;
  readonly allowSandboxSigner: boolean;
  readonly digest: (requestFingerprint: Secret<string>) => Uint8Array;
  /** Whether no other request has brought it. */
  readonly takeMessage: (message: TakenMessage) => Promise<boolean>;
  /** Free for others, unless the same request has come more than once and still has it. */
  readonly letGoOfMessage: (message: TakenMessage) => Promise<void>;
  readonly onRefused: (asked: WalletRequest, refusal: Reason) => void;
  readonly eciOf: (card: CardData) => string | undefined;
};

export type TakenMessage = {
  readonly merchantId: MerchantId;
  readonly wallet: Wallet;
  readonly marks: readonly Mark[];
  readonly digest: Uint8Array;
};

/** A failure when it could not be opened for now: nothing has happened. */
export type OpenWallet = (asked: WalletRequest) => Promise<WalletResult | Failure>;

export function makeOpenWallet(dependencies: Dependencies): OpenWallet {
  return async (asked) => {
    const { type } = asked;
    const opened = await open(asked);
    if (opened instanceof Failure) return opened;
    const checked = "refusal" in opened ? opened : await check(asked, opened);
    if ("refusal" in checked) {
      dependencies.onRefused(asked, checked.refusal);
      return { wallet: { type, refusal: checked.refusal }, paid: undefined };
    }
    const { proof } = checked;
    const device = proof === undefined ? {} : { isDevice: true as const };
    return { wallet: { type, ...device }, paid: paidWith(asked, checked) };
  };

  async function open(asked: WalletRequest): Promise<OpenedWallet | Failure> {
    const { type, text, endpoint, amount } = asked;
    const wallet = walletOf(type);
    const question = {
      text: text.reveal(),
      isEncrypted: type.endsWith("_encrypted"),
      merchant: endpoint.merchant,
      keys: dependencies.keysOf(endpoint.merchant.id, wallet),
      roots: dependencies.roots,
      now: dependencies.clock.now(),
      walletWorker: dependencies.walletWorker,
    };
    if (wallet === "walletb") return readWalletB(question);
    const { signingWindowMs, signingWindowMaxMs, allowSandboxSigner } = dependencies;
    const signing = { signingWindowMs, signingWindowMaxMs, allowSandboxSigner };
    return readWalletA({ ...question, ...signing, amount });
  }

  async function check(asked: WalletRequest, opened: WalletCard): Promise<OpenedWallet> {
    const { number, expiryMonth, expiryYear } = opened.card;
    if (!isLuhnValid(number.reveal())) return refuse("wallet_bad_card", "check digit");
    if (isExpired(expiryMonth, expiryYear, asInstant(dependencies.clock.now()))) {
      return refuse("wallet_bad_card", "expired");
    }
    const isFirst = await dependencies.takeMessage(messageOf(asked, opened));
    return isFirst ? opened : refuse("wallet_replayed");
  }

  function messageOf({ endpoint, type, requestFingerprint }: WalletRequest, { marks }: WalletCard) {
    const digest = dependencies.digest(requestFingerprint);
    return { merchantId: endpoint.merchant.id, wallet: walletOf(type), digest, marks };
  }

  function paidWith(asked: WalletRequest, opened: WalletCard): WalletResult["paid"] {
    const { holderName } = asked;
    const { card, proof } = opened;
    const { number, expiryMonth, expiryYear } = card;
    return {
      facts: {
        bin: number.bin,
        lastFour: number.lastFour,
        network: number.network,
        holderName: holderName ?? opened.holderName ?? "",
        expiryMonth,
        expiryYear: `20${expiryYear}`,
      },
      cardData: proof === undefined ? card : { ...card, cryptogram: proof.cryptogram },
      authentication: proof && { eci: proof.eci ?? dependencies.eciOf(card) },
      release: () => dependencies.letGoOfMessage(messageOf(asked, opened)),
    };
  }
}

function walletOf(type: WalletType): Wallet {
  return type.startsWith("walleta") ? "walleta" : "walletb";
}
