/** The collaborators that edges are handed, as types: narrow functions that `main.ts` makes. */

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
  /** Why callbacks may not go to an address; nothing when they may. */
  readonly findCallbackFault: (url: string) => string | undefined;
  /** The interface's date shape in the operator's zone. */
  readonly printDate: (instant: Instant) => string;
};

export type OrderServices = {
  /** Takes an order on, or tells which earlier one the request repeats. */
  accept(asked: OrderRequest): Promise<Accepted | Failure>;
  /** The order that the identical request has begun; nothing when there is none. */
  findRepeat(
    asked: Pick<OrderRequest, "merchantId" | "clientOrderId" | "requestFingerprint">,
  ): Promise<Accepted | undefined | Failure>;
  /** Among the orders of this endpoint or group. */
  find(entryPoint: EntryPoint, wanted: OrderQuery): Promise<FoundOrder | Failure>;
  /** Begins a capture or a return of one of them, or tells which earlier one it repeats. */
  followUp(entryPoint: EntryPoint, asked: FollowUpRequest): Promise<Accepted | Failure>;
  /** The same transaction when it is final, or as it is when the time for that is over. */
  waitForResult(found: FoundOrder): Promise<FoundOrder | Failure>;
};

export type CardServices = {
  /** The references of an order's card: made at the first call, the same ever after. */
  register(order: Order): Promise<CardReferences | Failure>;
  /** A reference of this merchant that can be paid with, or why it cannot. */
  find(entryPoint: EntryPoint, id: CardRefId): Promise<CardReference | Failure>;
  /** The card behind it, to be charged; nothing when the vault no longer has it. */
  findCardData(reference: CardReference): Promise<CardData | undefined | Failure>;
};

/** What a wallet's payment data is paid with, or why it cannot be. */
export type WalletServices = {
  open(asked: WalletRequest): Promise<WalletResult | Failure>;
};

/** Receipts, for whoever knows their address. */
export type ReceiptServices = {
  /** Nothing where there is no receipt, for whatever reason. */
  find(endpointId: string, receiptId: string): Promise<FoundReceipt | undefined | Failure>;
};

/** 3-D Secure in the cardholder's browser, driven by our own pages or by the merchant. */
export type BrowserAuthentication = Uploads & {
  /** The order of one of our links; undefined when the link is not ours, or has expired. */
  find(orderId: string, token: string): Promise<Order | undefined | Failure>;
  /** Undefined when the browser has nothing to do. */
  stepOf(order: Order): PendingStep | undefined;
};
