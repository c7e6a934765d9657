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
import type { Fee, Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { Authentication, EndedThreeDSecure, ThreeDSecure } from "./authentication.ts";
import type { Effect, Stage } from "./stages.ts";

export type Order = {
  readonly id: OrderId;
  /** Numbers its messages to acquirers, and is no other order's; zero once it ended without any. */
  readonly sequence: number;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  /** Counts the orders that share a client order id: a new one may follow only unpaid ones. */
  readonly attempt: number;
  /** How many events the order has seen; a change is committed only if it has seen them all. */
  readonly version: number;
  /** When it saw the last of them; absent before the first. */
  readonly changedAt?: Instant | undefined;
  readonly acceptedAt: Instant;
  readonly purchase: Purchase;
  readonly card: CardFacts;
  /** Absent when the merchant's request brought the card. */
  readonly page?: PaymentPage;
  readonly transaction: Transaction;
  readonly earlier: readonly Transaction[];
  /** Each stage of each dispute once, in the order in which they were recorded. */
  readonly chargebacks?: readonly Chargeback[];
  readonly owed: Owed | undefined;
  /** When the present stage has lasted too long; nothing for a final stage. */
  readonly deadlineAt: Instant | undefined;
};

/** The effect owed and the moment from which any node may take it over. */
export type Owed = {
  readonly effect: Effect;
  readonly claimableAt: Instant;
  /** No message is on its way to the acquirer: the order waits for its next try. */
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
  /** The browser as the merchant saw it, by wire name; 3-D Secure wants it. */
  readonly browser: Readonly<Record<string, string>> | undefined;
  /** Paid with a wallet's payment data. */
  readonly wallet?: WalletPayment;
  /** Paid with a registered card. */
  readonly credential?: Credential;
  /** To be tried one after the other when the amount itself is refused. */
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
  /** The number is the device's, not the one that is printed on the customer's card. */
  readonly isDevice?: true;
  /** Why the payment data is not to be believed: there is no card then. */
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

/** The customer of a payment link is unknown until the payer sends the payment page. */
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

/** The cardholder enters the card on the payment page, and may try again after a refusal. */
export type PaymentPage = {
  /** No try begins after it. */
  readonly expiresAt: Instant;
  readonly triesMax: number;
  /** The latest last. */
  readonly refused: readonly RefusedTry[];
  /** The payment link that the order was begun with. */
  readonly linkId?: string;
  /** The customer fields that the cardholder has entered and the merchant has not sent. */
  readonly entered?: readonly (keyof Customer)[];
};

export type RefusedTry = {
  readonly card: CardFacts;
  readonly wallet?: WalletPayment;
  readonly reason: Reason;
  readonly at: Instant;
  /** Its challenge and what came of it, for a directory server that repeats the result. */
  readonly threeds?: EndedThreeDSecure;
  readonly authentication?: Authentication;
  /** Its charges at the acquirer, any of which may be approved late. */
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

/** Begins an order. */
export type ChargeKind = "sale" | "preauth" | "account-verification";
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
  /** While the cardholder is being authenticated, and how that went. */
  readonly threeds?: ThreeDSecure;
  /** A screening rule wants it: without an authentication there is no charge. */
  readonly forces3ds?: true;
  /** Why the issuer has refused a charge without a challenge: it is tried once more, with one. */
  readonly demanded?: Reason;
  /** Why it ended otherwise than approved. */
  readonly reason: Reason | undefined;
  readonly receiptId: ReceiptId | undefined;
  /** How often the message that settles doubt went unanswered. */
  readonly tries: number;
  /** The host's answers to the reversal that is owed, or to the repeats of a follow-up. */
  readonly reversal?: ReversalProgress | undefined;
  readonly finishedAt: Instant | undefined;
  /** Charges for earlier amounts of the list. */
  readonly priorAttempts?: readonly PriorAttempt[];
  /** A return that travels as a payment to the card, with a reference of its own. */
  readonly asRefund?: true;
  /** The merchant's request for a follow-up. An identical request is a repeat. */
  readonly request?: FollowUpTerms;
};

export type ReversalProgress = {
  /** The code of the last answer, when it was a refusal. */
  readonly refusedWith?: string;
  /** The first of the answers that the host does not know the charge, with no other between. */
  readonly notFoundAt?: Instant;
  /** When a reversal or a repeat went unanswered: it may still be on its way to the host. */
  readonly unansweredAt?: Instant;
};

export type PriorAttempt = {
  readonly identifiers: AcquirerIdentifiers;
  readonly amount: Money;
  /** It was approved late, and its reversal is not proved yet. */
  readonly owes?: OwedReversal | undefined;
};

export type OwedReversal = ReversalProgress & {
  readonly approvedAt: Instant;
  readonly approvalCode: string | undefined;
  readonly tries: number;
};

export type FollowUpTerms = {
  readonly operation: "capture" | "return" | "void";
  /** Absent: the whole. */
  readonly amount: Money | undefined;
  /** The currency that a void confirms, which may come without an amount. */
  readonly currency?: string;
  readonly comment: string | undefined;
  /** The id of the portal's form that asked for it, by which a form sent twice is recognised. */
  readonly once?: string;
  /** The login of the portal's user who asked for it. */
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
  /** How often the gate had been given another host when the charge began; absent means never. */
  readonly hostChanges?: number;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
  /** The terminal's time zone, an IANA name; UTC when absent. */
  readonly zone?: string;
  /** When returns travel as refunds; never when absent. */
  readonly refunds?: RefundPolicy;
  /** How long a hold lives; seven days when absent. */
  readonly holdDays?: number;
  /** Why this gate and no other: for the operator. */
  readonly choice: string;
  /** Kept only for merchants who are shown commissions. */
  readonly fees?: { readonly seller?: Fee; readonly acquirer?: Fee };
};

export type RefundPolicy = {
  /** `always`, so many hours after the charge (`24h`), or after a daily cut-off (`23:00`). */
  readonly after?: string;
  /** A part of a charge always does. */
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

/**
 * An amount that the issuer took back for the cardholder, or a later stage of the dispute about it.
 */
export type Chargeback = {
  /** The acquirer's id of the dispute. */
  readonly caseId: string;
  readonly stage: ChargebackStage;
  readonly amount: Money;
  readonly reason: string;
  /** The date that the acquirer has given. */
  readonly at: Instant;
  /** Names this stage in its callback and in status requests. */
  readonly serialNumber: SerialNumber;
  /** How many transactions the order had when the stage was recorded. */
  readonly transactions?: number;
};

export type Answer = {
  readonly responseCode: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  readonly approvedAmount: Money | undefined;
  /** When the gateway received it. */
  readonly processedAt: Instant;
  /** The host's own date and time, where its message has them. */
  readonly hostAt?: Instant;
  readonly loyalty?: Loyalty;
  /** The host's own words for the cardholder about a refusal. */
  readonly explanation?: string;
};

/** An approval that arrived after its request had timed out: only its reference names the order. */
export type LateApproval = {
  readonly reference: string;
  readonly answer: Answer;
  /** How much was approved, where the host says it. */
  readonly minor: bigint | undefined;
};

export const loyaltyNames = ["balance", "message", "bonus", "program"] as const;
export type Loyalty = { readonly [Name in (typeof loyaltyNames)[number]]?: string };

/** A payment with a stored card, in the words that the networks require. */
export type Credential = {
  readonly initiator: "CARDHOLDER" | "MERCHANT";
  readonly scenario: "REGULAR" | "IRREGULAR";
  /** The network's id of the first payment with the card. */
  readonly networkId: string | undefined;
  /** The number is a wallet's device number, and has no cryptogram any more. */
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

/** A rule that has fired, or that could not tell because something is not known. */
export type Finding = {
  /** The rule's id. */
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
