/** The requests that edges make of the order engine, and its answers. */
import type { EndpointId, MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { CardData } from "./events.ts";
import type {
  Authentication,
  CardFacts,
  Chargeback,
  ChargeKind,
  FollowUpTerms,
  Order,
  PaymentPage,
  Purchase,
  Transaction,
} from "./order.ts";

export type OrderRequest = {
  readonly kind: ChargeKind;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  readonly serialNumber: SerialNumber;
  readonly purchase: Purchase;
  readonly card: RequestedCard;
  /** Undefined when no card data is available. */
  readonly cardData: CardData | undefined;
  /** The authentication that a wallet has already proved. */
  readonly authentication?: Authentication;
  readonly requestFingerprint: RequestFingerprint;
  /** The cardholder enters the card on the payment page; the request brings none. */
  readonly page?: PageTerms;
};

export type PageTerms = Pick<PaymentPage, "triesMax" | "linkId"> & { readonly lifeMs: number };

/** All that makes two requests the same request; only keyed digests are kept. */
export type RequestFingerprint = {
  /** Without the CVV: it tells only whether there was one. */
  readonly text: Secret<string>;
  readonly cvv: Secret<string> | undefined;
};

/**
 * One that comes with the request and goes into the vault, or one that is there already; or none,
 * when a wallet's payment data was refused.
 */
type RequestedCard =
  | { readonly kind: "none" }
  | { readonly kind: "new"; readonly facts: Omit<CardFacts, "cardId" | "hashId"> }
  | { readonly kind: "registered"; readonly facts: CardFacts };

/** A capture, a return or a void of an order that exists. */
export type FollowUpRequest = {
  readonly wanted: Pick<OrderQuery, "clientOrderId" | "orderId">;
  readonly serialNumber: SerialNumber;
  readonly request: FollowUpTerms;
};

/** `transaction`: the one that the request has begun, or that an identical one had begun before. */
export type Accepted = {
  readonly order: Order;
  readonly transaction: Transaction;
  readonly repeated: boolean;
};

export type OrderQuery = {
  readonly clientOrderId: string;
  readonly orderId: OrderId | undefined;
  readonly bySerialNumber: SerialNumber | undefined;
};

/** An order, and which of its transactions was asked about: the latest unless one was named. */
export type FoundOrder = {
  readonly order: Order;
  readonly transaction: Transaction;
  /** The stage of a dispute about the transaction, when that was asked about. */
  readonly dispute?: Chargeback;
};
