/** What the edges call: narrow functions over the engine, the vault and the wallets, as types. */
import type { FindAddressFault } from "../callbacks/addresses.ts";
import type { Accept, FindRepeat, FollowUp } from "../engine/accept.ts";
import type { Cards } from "../engine/cards.ts";
import type { FindOrder, FindReceipt } from "../engine/find.ts";
import type { Submission } from "../engine/page-submission.ts";
import type { PaymentLinks } from "../engine/payment-links.ts";
import type { PaymentPages } from "../engine/payment-page.ts";
import type { ResultWaits } from "../engine/wait-for-result.ts";
import type { PendingStep } from "../orders/authentication.ts";
import type { Order } from "../orders/order.ts";
import type { Demand, PageTries, TryPlace } from "../screening/page-tries.ts";
import type { Uploads } from "../threeds/uploads.ts";
import type { Failure } from "../values/failure.ts";
import type { Instant } from "../values/time.ts";
import type { OpenWallet } from "../wallets/open-wallet.ts";

export type Services = {
  readonly orders: Guarded<{
    accept: Accept;
    findRepeat: FindRepeat;
    find: FindOrder;
    followUp: FollowUp;
    waitForResult: ResultWaits["wait"];
  }>;
  readonly cards: Guarded<Cards>;
  readonly threeds: BrowserAuthentication;
  readonly paymentPages: Pick<PaymentPages, "termsOf" | "urlOf" | "tokenOf" | "findFaults"> &
    Guarded<Pick<PaymentPages, "find" | "pay">>;
  readonly wallets: Guarded<{ open: OpenWallet }>;
  readonly findAddressFault: FindAddressFault;
  /** Whether the order's endpoint wants to be told of chargebacks. */
  readonly tellsChargebacks: (order: Order) => boolean;
  /** The interface's date format in the operator's zone. */
  readonly printDate: (instant: Instant) => string;
};

/** The same functions, which return a failure while the database cannot be reached. */
type Guarded<Calls extends Record<keyof Calls, (...given: never[]) => unknown>> = {
  readonly [Name in keyof Calls]: (
    ...given: Parameters<Calls[Name]>
  ) => Promise<Awaited<ReturnType<Calls[Name]>> | Failure>;
};

export type LinkServices = {
  readonly paymentLinks: Guarded<PaymentLinks>;
  /** The bounds on card testing. */
  readonly pageTries: Guarded<{
    look: PageTries["look"];
    check: PageTries["check"];
    admit(
      order: Order,
      place: TryPlace,
      entered: Submission,
      shown: Parameters<PageTries["admit"]>[2],
    ): Promise<Demand>;
  }>;
};

export type ReceiptServices = Guarded<{ find: FindReceipt }>;

/** 3-D Secure in the cardholder's browser, on the gateway's or the merchant's pages. */
export type BrowserAuthentication = Uploads & {
  /** The order of a link that the gateway made; nothing for another link or an expired one. */
  find(orderId: string, token: string): Promise<Order | undefined | Failure>;
  /** The page of that link, below the gateway's public address. */
  pathOf(order: Order): string;
  /** The browser's next step; nothing when there is none. */
  stepOf(order: Order): PendingStep | undefined;
};
