/**
 * Opens a wallet's payment data before the order is written, because it contains the order's card.
 * If the payment data is refused, the order is declined for that reason.
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
import type { Clock } from "../values/time.ts";
import {
  type ReplayId,
  readNetworkToken,
  readWalletA,
  readWalletB,
  refuse,
  type TokenTrust,
  type WalletCard,
  type WalletRefusal,
} from "./payment-data.ts";
import type { Wallet, WalletKey } from "./wallet-trust.ts";

type WalletRequest = {
  readonly type: WalletType;
  /** The JSON text as the wallet or the merchant has written it. */
  readonly text: Secret<string>;
  readonly endpoint: Endpoint;
  readonly amount: Money;
  readonly holderName: string | undefined;
  /**
   * The request's fingerprint. A request with the same one is a repeat and may bring the same
   * payment data.
   */
  readonly requestFingerprint: Secret<string>;
};

type WalletResult = {
  readonly wallet: WalletPayment;
  /** The card; absent if the payment data is refused. */
  readonly paid:
    | {
        readonly facts: Omit<CardFacts, "cardId" | "hashId">;
        readonly cardData: CardData;
        /** The authentication without the cryptogram, which is in `cardData` and never stored. */
        readonly authentication: Authentication | undefined;
        /** Releases the payment data for another request, because this one began no order. */
        release(): Promise<void>;
      }
    | undefined;
};

export type OpeningDependencies = {
  readonly clock: Clock;
  readonly keysOf: (merchant: MerchantId, wallet: Wallet) => readonly WalletKey[];
  readonly trust: TokenTrust;
  readonly digest: (requestFingerprint: Secret<string>) => Uint8Array;
  /** Claims the payment data. Returns false if another request has used it. */
  readonly claimToken: (token: UsedToken) => Promise<boolean>;
  /** Releases the token, unless a repeat of the request needs it too. */
  readonly releaseToken: (token: UsedToken) => Promise<void>;
  readonly onReleaseFailed: (error: unknown) => void;
  readonly onRefused: (request: WalletRequest, refusal: Reason) => void;
  /** Returns the indicator (ECI) for a token without one. */
  readonly eciOf: (wallet: Wallet, card: CardData) => string | undefined;
};

export type UsedToken = {
  readonly merchantId: MerchantId;
  readonly wallet: Wallet;
  readonly replayIds: readonly ReplayId[];
  readonly digest: Uint8Array;
};

export type OpenWallets = ReturnType<typeof makeOpenWallets>;

export function makeOpenWallets(dependencies: OpeningDependencies) {
  return {
    /**
     * Opens the payment data. A failure means that this is not possible now and that nothing has
     * happened.
     */
    async open(request: WalletRequest): Promise<WalletResult | Failure> {
      const { type } = request;
      const read = await readPaymentData(request);
      if (read instanceof Failure) return read;
      const card = "refusal" in read ? read : await checkCard(request, read);
      if ("refusal" in card) {
        const { refusal } = card;
        dependencies.onRefused(request, refusal);
        return { wallet: { type, refusal }, paid: undefined };
      }
      const device = card.proof === undefined ? {} : { isDevice: true as const };
      return { wallet: { type, ...device }, paid: paidWith(request, card) };
    },
  };

  function readPaymentData({ type, text, endpoint: { merchant }, amount }: WalletRequest) {
    const { clock, keysOf, trust } = dependencies;
    const wallet = walletOf(type);
    const isEncrypted = type.endsWith("_encrypted");
    const now = clock.now();
    const keys = keysOf(merchant.id, wallet);
    const sent = { text: text.reveal(), isEncrypted, merchant, amount, now, keys };
    if (type === "network_token") return readNetworkToken(sent);
    return wallet === "walleta" ? readWalletA(sent, trust) : readWalletB(sent, trust);
  }

  async function checkCard(
    request: WalletRequest,
    read: WalletCard,
  ): Promise<WalletCard | WalletRefusal> {
    const { number, expiryMonth, expiryYear } = read.card;
    if (!isLuhnValid(number.reveal())) return refuse("wallet_bad_card", "check digit");
    if (isExpired(expiryMonth, expiryYear, dependencies.clock.now())) {
      return refuse("wallet_bad_card", "expired");
    }
    const isOwn = await dependencies.claimToken(tokenOf(request, read));
    return isOwn ? read : refuse("wallet_replayed");
  }

  function tokenOf(request: WalletRequest, { replayIds }: WalletCard): UsedToken {
    const { endpoint, type, requestFingerprint } = request;
    const digest = dependencies.digest(requestFingerprint);
    return { merchantId: endpoint.merchant.id, wallet: walletOf(type), digest, replayIds };
  }

  function paidWith(request: WalletRequest, read: WalletCard): WalletResult["paid"] {
    const { card, proof } = read;
    const { number, expiryMonth, expiryYear } = card;
    const { releaseToken, onReleaseFailed, eciOf } = dependencies;
    return {
      facts: {
        bin: number.bin,
        lastFour: number.lastFour,
        network: number.network,
        holderName: request.holderName ?? read.holderName ?? "",
        expiryMonth,
        expiryYear: `20${expiryYear}`,
      },
      cardData: proof === undefined ? card : { ...card, cryptogram: proof.cryptogram },
      authentication: proof && { eci: proof.eci ?? eciOf(walletOf(request.type), card) },
      // The request is answered even if the token cannot be released, which then stays used.
      release: () => releaseToken(tokenOf(request, read)).catch(onReleaseFailed),
    };
  }
}

/** A network token counts as walletb's, which has the same parts. */
function walletOf(type: WalletType): Wallet {
  return type.startsWith("walleta") ? "walleta" : "walletb";
}
