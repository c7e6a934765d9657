/**
 * An order: what the merchant asked for (never changes), the transactions made for it (the latest
 * is the one that moves) and the work it is owed. It holds what may be known of a card outside the
 * vault and never a card number.
 */
import type { Network } from "../values/card-number.ts";
import type { FailureCode } from "../values/failure.ts";
import type {
  CardId,
  EndpointId,
  GateId,
  MerchantId,
  OrderId,
  ReceiptId,
  SerialNumber,
} from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { Effect } from "./effects.ts";
import type { Stage } from "./transitions.ts";

export type Order = {
  readonly id: OrderId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  /** Counts the orders that share a client order id: a new one may follow only unpaid ones. */
  readonly attempt: number;
  /** How many events the order has seen; whoever changes it must have seen them all. */
  readonly version: number;
  readonly acceptedAt: Instant;
  readonly purchase: Purchase;
  readonly card: CardFacts;
  readonly transaction: Transaction;
  readonly earlier: readonly Transaction[];
  readonly owed: Owed | undefined;
  /** When the present stage has lasted too long; nothing for a final stage. */
  readonly deadlineAt: Instant | undefined;
};

/** The effect owed and the moment from which any node may take it over. */
export type Owed = { readonly effect: Effect; readonly claimableAt: Instant };

export type Purchase = {
  readonly amount: Money;
  readonly description: string;
  readonly ipAddress: string;
  readonly customer: Customer;
  readonly urls: ReturnUrls;
  readonly merchantData: string | undefined;
  readonly purpose: string | undefined;
  readonly comment: string | undefined;
  readonly siteUrl: string | undefined;
  /** The browser as the merchant saw it, by wire name; 3-D Secure wants it. */
  readonly browser: Readonly<Record<string, string>> | undefined;
};

export type Customer = {
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly cellPhone: string | undefined;
  readonly birthday: string | undefined;
  readonly country: string | undefined;
  readonly state: string | undefined;
  readonly city: string | undefined;
  readonly zipCode: string | undefined;
  readonly address: string | undefined;
};

export type ReturnUrls = {
  readonly redirect: string | undefined;
  readonly redirectSuccess: string | undefined;
  readonly redirectFail: string | undefined;
  readonly serverCallback: string | undefined;
  readonly notify: string | undefined;
};

export type CardFacts = {
  readonly cardId: CardId;
  readonly bin: string;
  readonly lastFour: string;
  readonly network: Network | undefined;
  readonly holderName: string;
  readonly expiryMonth: string;
  readonly expiryYear: string;
  /** The same for the same card number within one merchant. */
  readonly hashId: string;
};

export type TransactionKind = "sale";

export type Transaction = {
  readonly kind: TransactionKind;
  readonly serialNumber: SerialNumber;
  readonly amount: Money;
  readonly stage: Stage;
  readonly charge: Charge | undefined;
  readonly answer: Answer | undefined;
  readonly authentication: Authentication | undefined;
  /** Why it ended otherwise than approved. */
  readonly reason: Reason | undefined;
  readonly receiptId: ReceiptId | undefined;
  readonly reversalTries: number;
  readonly finishedAt: Instant | undefined;
};

/**
 * What may have been sent to the acquirer. Everything that a reversal must repeat is here before
 * the charge leaves, so that a node that finds the order after a crash knows what to take back.
 */
export type Charge = {
  readonly gate: GateFacts;
  readonly attempt: number;
  readonly reference: string;
  readonly traceNumber: string;
  readonly transmittedAt: Instant;
};

export type GateFacts = {
  readonly id: GateId;
  readonly descriptor: string;
  /** What the statement shows: the gate's descriptor unless the endpoint sets its own. */
  readonly shownDescriptor: string;
  readonly terminalId: string;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
};

export type Answer = {
  readonly responseCode: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  readonly approvedAmount: Money | undefined;
  readonly processedAt: Instant;
};

export type Authentication = {
  readonly status: "AUTHENTICATED" | "NOT_AUTHENTICATED" | "UNSUPPORTED";
  readonly eci: string | undefined;
};

export type Reason = { readonly code: FailureCode; readonly detail: string };

export type { Stage } from "./transitions.ts";
