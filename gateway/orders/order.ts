/**
 * An order consists of the merchant's request, which never changes, of its transactions, of which
 * only the latest changes, and of the effect that it owes. It contains the facts of a card that may
 * be known outside the vault, and never a card number.
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
import type { Fee, Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { Authentication, EndedThreeDSecure, ThreeDSecure } from "./authentication.ts";
import type { Effect, Stage } from "./stages.ts";

export type Order = {
  readonly id: OrderId;
  /**
   * The unique number from which the references of its messages are made. Zero if the order ended
   * without a message.
   */
  readonly sequence: number;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  /**
   * The number of the order among those with its client order id. A new one may only follow unpaid
   * ones.
   */
  readonly attempt: number;
  /**
   * The number of events that the order has seen. A change is committed only if the stored order
   * has the same number.
   */
  readonly version: number;
  /** The time of the last event; absent before the first. */
  readonly changedAt?: Instant | undefined;
  readonly acceptedAt: Instant;
  readonly purchase: Purchase;
  readonly card: CardFacts;
  /** Absent if the merchant's request contains the card. */
  readonly page?: PaymentPage;
  readonly transaction: Transaction;
  readonly earlier: readonly Transaction[];
  /** Each stage of each dispute once, in the order in which they were recorded. */
  readonly chargebacks?: readonly Chargeback[];
  readonly owed: Owed | undefined;
  /** The deadline of the present stage; undefined in a final stage. */
  readonly deadlineAt: Instant | undefined;
};

/** The effect owed and the moment from which any node may take it over. */
export type Owed = {
  readonly effect: Effect;
  readonly claimableAt: Instant;
  /**
   * If true, no message is on its way to the acquirer, and the order waits for its next attempt.
   */
  readonly resting?: true;
};

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
  /** The browser's properties, as the merchant has sent them, for 3-D Secure. */
  readonly browser: Readonly<Record<string, string>> | undefined;
  /** Present if the payment is made with a wallet's payment data. */
  readonly wallet?: WalletPayment;
  /** Present if the payment is made with a registered card. */
  readonly credential?: Credential;
  /** If true, no cardholder is present who could authenticate. */
  readonly isUnattended?: true;
  /** Further amounts, which are tried one after the other if the amount itself is refused. */
  readonly otherAmounts?: readonly Money[];
};

export const walletTypes = [
  "walleta_encrypted",
  "walleta_decrypted",
  "walletb_encrypted",
  "walletb_decrypted",
] as const;
export type WalletType = (typeof walletTypes)[number];

export type WalletPayment = {
  readonly type: WalletType;
  /** If true, the number belongs to the device and differs from the one on the customer's card. */
  readonly isDevice?: true;
  /** The reason why the payment data cannot be trusted. There is no card then. */
  readonly refusal?: Reason;
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

/** The customer of a payment link is not known until the payer submits the payment page. */
export const noCustomer: Customer = {
  firstName: undefined,
  lastName: undefined,
  email: undefined,
  phone: undefined,
  cellPhone: undefined,
  birthday: undefined,
  country: undefined,
  state: undefined,
  city: undefined,
  zipCode: undefined,
  address: undefined,
};

export type ReturnUrls = Readonly<Record<ReturnUrlName, string | undefined>>;
type ReturnUrlName = "redirect" | "redirectSuccess" | "redirectFail" | "serverCallback" | "notify";

export type CardFacts = {
  readonly cardId: CardId;
  readonly bin: string;
  readonly lastFour: string;
  readonly network: Network | undefined;
  readonly holderName: string;
  readonly expiryMonth: string;
  readonly expiryYear: string;
  /** An identifier that is equal for equal card numbers within one merchant. */
  readonly hashId: string;
  /** The BIN table's entry at the time of the order; undefined for an unknown issuer. */
  readonly issuer?: Issuer;
  /** The card's 3-D Secure enrolment; absent where the endpoint does not authenticate. */
  readonly enrolment?: Enrolment;
};

/**
 * The payment page of an order whose card the cardholder enters. Another try may follow a refusal.
 */
export type PaymentPage = {
  /** No try begins after this time. */
  readonly expiresAt: Instant;
  readonly triesMax: number;
  /** The refused tries, the latest last. */
  readonly refused: readonly RefusedTry[];
  /** The payment link with which the order began. */
  readonly linkId?: string;
  /** The customer fields that the cardholder has entered and the merchant has not sent. */
  readonly entered?: readonly (keyof Customer)[];
};

export type RefusedTry = {
  readonly card: CardFacts;
  readonly wallet?: WalletPayment;
  readonly reason: Reason;
  readonly at: Instant;
  /** The challenge of the try and its result, for a directory server that repeats the result. */
  readonly threeds?: EndedThreeDSecure;
  readonly authentication?: Authentication;
  /** The charges of the try at the acquirer. Any of them may be approved late. */
  readonly attempts: readonly PriorAttempt[];
};

/**
 * The part of a purchase that the cardholder's browser brings, with a card or a wallet's payment
 * data.
 */
export type Payer = Pick<Purchase, "ipAddress" | "customer" | "browser" | "wallet">;

/** The 3-D Secure support of the card's range when the order was accepted. */
export type Enrolment = Pick<ThreeDSecure, "directory" | "version" | "methodUrl">;

export type Issuer = {
  readonly bankName?: string;
  /** ISO 3166-1 alpha-3. */
  readonly country?: string;
  readonly productCode?: string;
  readonly productName?: string;
  readonly typeCode?: string;
  readonly typeName?: string;
};

/** Begins an order; a `payout` sends money to the card instead of charging it. */
export type ChargeKind = "sale" | "preauth" | "account-verification" | "payout";
/**
 * Follows an approved one: `cancel` releases what a preauthorisation holds, `void` takes a whole
 * charge back before it is cleared.
 */
export type FollowUpKind = "capture" | "refund" | "cancel" | "void";
export type TransactionKind = ChargeKind | FollowUpKind;

export type Transaction = {
  readonly kind: TransactionKind;
  readonly serialNumber: SerialNumber;
  readonly amount: Money;
  readonly stage: Stage;
  readonly identifiers: AcquirerIdentifiers | undefined;
  readonly answer: Answer | undefined;
  readonly authentication: Authentication | undefined;
  /** The state of the authentication. */
  readonly threeds?: ThreeDSecure;
  /** If true, a screening rule demands authentication. Without one there is no charge. */
  readonly forces3ds?: true;
  /**
   * The reason for which the issuer has refused a charge without a challenge. The charge is tried
   * once more with one.
   */
  readonly demanded?: Reason;
  /** The reason if the transaction did not end approved. */
  readonly reason: Reason | undefined;
  readonly receiptId: ReceiptId | undefined;
  /** The number of unanswered attempts to settle doubt. */
  readonly tries: number;
  /** The host's answers to the reversal that is owed, or to the repeats of a follow-up. */
  readonly reversal?: ReversalProgress | undefined;
  readonly finishedAt: Instant | undefined;
  /** Charges of earlier attempts, such as those for earlier amounts of the list. */
  readonly priorAttempts?: readonly PriorAttempt[];
  /** If true, the return is sent as a payment to the card, with its own reference. */
  readonly asRefund?: true;
  /** The merchant's request for a follow-up. An identical request is a repeat. */
  readonly request?: FollowUpTerms;
};

export type ReversalProgress = {
  /** The code of the last answer, if it was a refusal. */
  readonly refusedWith?: string;
  /** The time of the first of several successive answers that the host does not know the charge. */
  readonly notFoundAt?: Instant;
  /** The time of an unanswered reversal or repeat, which may still be on its way to the host. */
  readonly unansweredAt?: Instant;
};

export type PriorAttempt = {
  readonly identifiers: AcquirerIdentifiers;
  readonly amount: Money;
  /** Present if the charge was approved late and its reversal is not proved yet. */
  readonly owes?: OwedReversal | undefined;
};

export type OwedReversal = ReversalProgress & {
  readonly approvedAt: Instant;
  readonly approvalCode: string | undefined;
  readonly tries: number;
};

export type FollowUpTerms = {
  readonly operation: "capture" | "return" | "void";
  /** The amount; the whole amount if absent. */
  readonly amount: Money | undefined;
  /** The currency with which a void confirms the charge. It may be sent without an amount. */
  readonly currency?: string;
  readonly comment: string | undefined;
  /** The id of the portal's form, which identifies a form that is sent twice. */
  readonly once?: string;
  /** The login of the portal's user. */
  readonly by?: string;
};

/**
 * The identifiers of a request at the acquirer: RRN (`reference`), STAN (`traceNumber`), terminal
 * and gate. They are committed before the request is sent, so that a node that claims the order
 * after a crash knows what to settle. A follow-up has the reference of its charge.
 */
export type AcquirerIdentifiers = {
  readonly gate: GateFacts;
  readonly attempt: number;
  readonly reference: string;
  readonly traceNumber: string;
  readonly transmittedAt: Instant;
};

export type GateFacts = {
  readonly id: GateId;
  readonly descriptor: string;
  /**
   * The text on the cardholder's statement: the gate's descriptor, unless the endpoint has its own.
   */
  readonly shownDescriptor: string;
  readonly terminalId: string;
  /** Fields 42 and 32 of the charge. */
  readonly merchantCode?: string;
  readonly acquirerId?: string;
  /** How often the gate had been moved to another host when the charge began; never if absent. */
  readonly hostChanges?: number;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
  /** The terminal's time zone as an IANA name; UTC if absent. */
  readonly zone?: string;
  /** From when on returns are sent as refunds; never if absent. */
  readonly refunds?: RefundPolicy;
  /** How long a hold lasts; seven days if absent. */
  readonly holdDays?: number;
  /** The reason for the choice of the gate, for the operator. */
  readonly choice: string;
  /** The fees, only stored if the merchant may see them. */
  readonly fees?: { readonly seller?: Fee; readonly acquirer?: Fee };
};

export type RefundPolicy = {
  /**
   * The time from which a return is a refund: `always`, a number of hours after the charge (`24h`),
   * or after a daily cut-off (`23:00`).
   */
  readonly after?: string;
  /** If present, the return of a part is always sent as a refund. */
  readonly partial?: true;
};

export const chargebackStages = [
  "retrieval",
  "first",
  "representment",
  "pre-arbitration",
  "arbitration",
  "reversed",
  "fraud",
] as const;
export type ChargebackStage = (typeof chargebackStages)[number];

export const disputeOutcomes = ["accepted", "contested"] as const;
export type DisputeOutcome = (typeof disputeOutcomes)[number];

/**
 * An amount that the issuer took back for the cardholder, or a later stage of the dispute about it.
 */
export type Chargeback = {
  /** The acquirer's id of the dispute. */
  readonly caseId: string;
  readonly stage: ChargebackStage;
  readonly amount: Money;
  readonly reason: string;
  /** The date of the stage, as the acquirer states it. */
  readonly at: Instant;
  /** The date by which the answer is due, if the acquirer states it. */
  readonly dueAt?: Instant;
  /** The merchant's decision about this stage. */
  readonly outcome?: DisputeOutcome;
  /** The serial number of the stage in its callback and in status requests. */
  readonly serialNumber: SerialNumber;
  /** The number of transactions that the order had when the stage was recorded. */
  readonly transactions?: number;
};

export type Answer = {
  readonly responseCode: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  readonly approvedAmount: Money | undefined;
  /** The time at which the gateway received the answer. */
  readonly processedAt: Instant;
  /** The host's date and time, if its message contains them. */
  readonly hostAt?: Instant;
  readonly loyalty?: Loyalty;
  /** The host's explanation of a refusal for the cardholder. */
  readonly explanation?: string;
};

/**
 * An approval that arrived after the gateway stopped waiting for it. Only its reference names the
 * order.
 */
export type LateApproval = {
  readonly reference: string;
  readonly answer: Answer;
  /** The approved amount, if the host states it. */
  readonly minor: bigint | undefined;
};

export const loyaltyNames = ["balance", "message", "bonus", "program"] as const;
export type Loyalty = { readonly [Name in (typeof loyaltyNames)[number]]?: string };

/** A payment with a stored card, described as the networks require. */
export type Credential = {
  readonly initiator: "CARDHOLDER" | "MERCHANT";
  readonly scenario: "REGULAR" | "IRREGULAR";
  /** The network's id of the first payment with the card. */
  readonly networkId: string | undefined;
  /** If true, the number is a wallet's device number without a cryptogram. */
  readonly isDevice?: true;
};
export type CredentialDefaults = Partial<Pick<Credential, "initiator" | "scenario">>;

/**
 * The action of a screening rule that fires. `allow` makes all other rules only mark the payment.
 */
export type RuleAction = "block" | "force_3ds" | "mark" | "allow";
export type RuleScope = "gateway" | "merchant" | "endpoint";
/**
 * The facts for which a rule has fired, shown to the operator. They are limits and counts and no
 * personal data.
 */
export type RuleFacts = Readonly<Record<string, string | number>>;

/** A rule that has fired, or that lacked data. */
export type Finding = {
  /** The id of the rule. */
  readonly rule: string;
  readonly kind: string;
  readonly scope: RuleScope;
} & (
  | { readonly action: RuleAction; readonly code: FailureCode; readonly facts: RuleFacts }
  | { readonly missing: string }
);

export type Reason = { readonly code: FailureCode; readonly detail: string };

export type { Authentication, ThreeDSecure } from "./authentication.ts";
export type { Stage } from "./stages.ts";
