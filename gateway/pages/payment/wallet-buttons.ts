/**
 * The wallets' buttons on the payment page. The browser's Payment Request API opens a wallet
 * without any script of the wallet, and the payment data is posted with the form. A browser that
 * does not support a wallet hides its button.
 */
import { type Endpoint, type Merchant, shopNameOf } from "../../orders/merchant.ts";
import type { WalletType } from "../../orders/order.ts";
import { type Html, html } from "../../values/html.ts";
import { formatAmount, type Money } from "../../values/money.ts";
import type { Texts } from "../cardholder/english.ts";

/** The wallets' URLs for the Payment Request API; empty for a wallet that is not set up. */
export type WalletMethods = {
  readonly walleta: string;
  readonly walletb: string;
  /** Whether the gateway has a certificate to request walleta's sessions for the merchant. */
  readonly hasIdentity: (merchant: Merchant) => boolean;
};

type Wallet = "walleta" | "walletb";

export type WalletOffer = {
  readonly wallet: Wallet;
  readonly type: WalletType;
  readonly method: string;
  /** Facts about the merchant that the wallet needs, in the wallet's own format. */
  readonly data: object;
};

export function offerWallets(endpoint: Endpoint, methods: WalletMethods): readonly WalletOffer[] {
  return [...offerWalletA(endpoint.merchant, methods), ...offerWalletB(endpoint, methods)];
}

/** Walleta's payment sheet needs a session, which the gateway requests in the merchant's name. */
function offerWalletA(merchant: Merchant, methods: WalletMethods): readonly WalletOffer[] {
  const { merchantIdentifier, country } = merchant.settings.wallets?.walleta ?? {};
  const isSet = methods.walleta !== "" && merchantIdentifier !== undefined;
  if (!isSet || country === undefined || !methods.hasIdentity(merchant)) return [];
  const data = {
    version: 3,
    merchantIdentifier,
    countryCode: country,
    merchantCapabilities: ["supports3DS"],
    supportedNetworks: ["amex", "discover", "jcb", "masterCard", "visa"],
  };
  return [{ wallet: "walleta", type: "walleta_encrypted", method: methods.walleta, data }];
}

const networks = ["AMEX", "DISCOVER", "JCB", "MASTERCARD", "VISA"];

/** No button is shown for a merchant that decrypts payment data with its own key (`merchant:`). */
function offerWalletB(endpoint: Endpoint, methods: WalletMethods): readonly WalletOffer[] {
  const { merchant } = endpoint;
  const { recipientId = "", gatewayMerchantId = merchant.login } =
    merchant.settings.wallets?.walletb ?? {};
  const [, gateway] = /^gateway:(.+)$/.exec(recipientId) ?? [];
  if (methods.walletb === "" || gateway === undefined) return [];
  const card = {
    type: "CARD",
    parameters: {
      allowedAuthMethods: ["PAN_ONLY", "CRYPTOGRAM_3DS"],
      allowedCardNetworks: networks,
    },
    tokenizationSpecification: {
      type: "PAYMENT_GATEWAY",
      parameters: { gateway, gatewayMerchantId },
    },
  };
  const data = {
    apiVersion: 2,
    apiVersionMinor: 0,
    merchantInfo: { merchantName: shopNameOf(endpoint) },
    allowedPaymentMethods: [card],
  };
  return [{ wallet: "walletb", type: "walletb_encrypted", method: methods.walletb, data }];
}

/** The buttons are hidden until the script knows that the browser supports the wallet. */
export function renderWallets(
  offers: readonly WalletOffer[],
  amount: Money,
  { pay }: Texts,
): Html | undefined {
  if (offers.length === 0) return undefined;
  const total = { currency: amount.currency.code, value: formatAmount(amount) };
  const buttons = offers.map(
    ({ wallet, type, method, data }) => html`<button type="button" hidden data-type="${type}"
 data-method="${method}" data-request="${JSON.stringify(data)}">${pay.wallet[wallet]}</button>
`,
  );
  return html`<div id="wallets" hidden data-total="${JSON.stringify(total)}"
 data-failed="${pay.walletFailed}">
<h2 class="unseen-text">${pay.wallets}</h2>
<div class="wallets">${buttons}</div>
<p class="fault" id="wallets-fault" role="alert"></p>
<p class="or">${pay.or}</p>
</div>
`;
}
