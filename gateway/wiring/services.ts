/** What the edges call: narrow functions over the engine, the vault and the wallets, as types. */
import type { FoundReceipt } from "../engine/find.ts";
import type { PendingStep } from "../orders/authentication.ts";
import type { CardReference, CardReferences } from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type {
  Accepted,
  FollowUpRequest,
  FoundOrder,
  OrderQuery,
  OrderRequest,
} from "../orders/requests.ts";
import type { Uploads } from "../threeds/uploads.ts";
import type { Failure } from "../values/failure.ts";
import type { CardRefId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { WalletRequest, WalletResult } from "../wallets/open-wallet.ts";

export type Services = {
  readonly orders: OrderServices;
  readonly cards: CardServices;
  readonly threeds: BrowserAuthentication;
  readonly wallets: WalletServices;
  /** Why callbacks must not be sent to a URL; nothing when they may. */
  readonly findCallbackFault: (url: string) => string | undefined;
  /** The interface's date format in the operator's zone. */
  readonly printDate: (instant: Instant) => string;
};

export type OrderServices = {
  /** Begins an order, or returns the earlier one that the request repeats. */
  accept(asked: OrderRequest): Promise<Accepted | Failure>;
  /** The order that an identical request began; nothing when there is none. */
  findRepeat(
    asked: Pick<OrderRequest, "merchantId" | "clientOrderId" | "requestFingerprint">,
  ): Promise<Accepted | undefined | Failure>;
  /** Among the orders of this endpoint or group. */
  find(entryPoint: EntryPoint, wanted: OrderQuery): Promise<FoundOrder | Failure>;
  /** Begins a capture or a return of such an order, or returns the earlier one that it repeats. */
  followUp(entryPoint: EntryPoint, asked: FollowUpRequest): Promise<Accepted | Failure>;
  /** The same transaction when it is final, or as it is when the wait times out. */
  waitForResult(found: FoundOrder): Promise<FoundOrder | Failure>;
};

export type CardServices = {
  /** The references of an order's card: made by the first call, and returned by all others. */
  register(order: Order): Promise<CardReferences | Failure>;
  /** A reference of this merchant, or why it cannot be charged. */
  find(entryPoint: EntryPoint, id: CardRefId): Promise<CardReference | Failure>;
  /** The card data of a reference; nothing when the vault no longer has it. */
  findCardData(reference: CardReference): Promise<CardData | undefined | Failure>;
};

export type WalletServices = {
  open(asked: WalletRequest): Promise<WalletResult | Failure>;
};

export type ReceiptServices = {
  /** Nothing when there is no receipt; the reason is not returned. */
  find(endpointId: string, receiptId: string): Promise<FoundReceipt | undefined | Failure>;
};
/** 3-D Secure in the cardholder's browser, on the gateway's or the merchant's pages. */
export type BrowserAuthentication = Uploads & {
  /** The order of a link that the gateway made; nothing for another link or an expired one. */
  find(orderId: string, token: string): Promise<Order | undefined | Failure>;
  /** The browser's next step; nothing when there is none. */
  stepOf(order: Order): PendingStep | undefined;
};
