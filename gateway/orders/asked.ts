/** What an edge asks of the order engine, and what it is told. */
import type { EndpointId, MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { CardInHand } from "./doer.ts";
import type { CardFacts, Order, Purchase, TransactionKind } from "./order.ts";

export type AskedOrder = {
  readonly kind: TransactionKind;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  readonly serialNumber: SerialNumber;
  readonly purchase: Purchase;
  readonly card: Omit<CardFacts, "cardId" | "hashId">;
  readonly inHand: CardInHand;
  /** All that makes two requests the same request; only its keyed digest is kept. */
  readonly sameness: Secret<string>;
};

export type Accepted = { readonly order: Order; readonly repeated: boolean };

export type WantedOrder = {
  readonly clientOrderId: string;
  readonly orderId: OrderId | undefined;
  readonly bySerialNumber: SerialNumber | undefined;
};
