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
  readonly cardData: CardData | undefined;
  readonly authentication?: Authentication;
  readonly requestFingerprint: RequestFingerprint;
  /** Present if the cardholder enters the card on the payment page. */
  readonly page?: PageTerms;
};

export type PageTerms = Pick<PaymentPage, "triesMax" | "linkId"> & { readonly lifeMs: number };

/** The text that makes two requests the same request. Only keyed digests of it are stored. */
export type RequestFingerprint = {
  /** The fields without the CVV, of which the text only says whether there was one. */
  readonly text: Secret<string>;
  readonly cvv: Secret<string> | undefined;
};

/** `new` cards are stored in the vault. `none`: a wallet's payment data was refused. */
type RequestedCard =
  | { readonly kind: "none" }
  | { readonly kind: "new"; readonly facts: Omit<CardFacts, "cardId" | "hashId"> }
  | { readonly kind: "registered"; readonly facts: CardFacts };

export type FollowUpRequest = {
  readonly wanted: Pick<OrderQuery, "clientOrderId" | "orderId">;
  readonly serialNumber: SerialNumber;
  readonly request: FollowUpTerms;
};

/** `transaction` is the one that the request, or an identical earlier request, has begun. */
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

/** The transaction is the latest unless the request names one. */
export type FoundOrder = {
  readonly order: Order;
  readonly transaction: Transaction;
  /** The stage of a dispute, if the request asks for one. */
  readonly dispute?: Chargeback;
};
