/**
 * An order: the merchant's request, which never changes, its transactions, of which only the latest
 * changes, and the effect that it owes. It has the card's facts that may be known outside the
 * vault, and never a card number.
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
  /** The references of the order's messages are made of it. Zero if it ended without a message. */
  readonly sequence: number;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly clientOrderId: string;
  /** Its number among orders with its client order id. A new one may only follow unpaid ones. */
  readonly attempt: number;
  /** The number of events that the order has seen. A change is committed only on this number. */
  readonly version: number;
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
  readonly deadlineAt: Instant | undefined;
};

/** The effect that is owed. From `claimableAt` on, any node may take it over. */
export type Owed = {
  readonly effect: Effect;
  readonly claimableAt: Instant;
  /** Set while no message is on its way to the acquirer: the order waits for its next attempt. */
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
  /** The browser's properties as the merchant has sent them, for 3-D Secure. */
  readonly browser: Readonly<Record<string, string>> | undefined;
  readonly wallet?: WalletPayment;
  readonly credential?: Credential;
  /** No cardholder is present who could authenticate. */
  readonly isUnattended?: true;
  /** Ordered by mail or telephone, without the cardholder's browser. */
  readonly channel?: "MOTO";
  /** The merchant's wish: a challenge or none. The issuer decides. */
  readonly challengePreference?: ChallengePreference;
  /** Why the payment needs no authentication, as the merchant says. */
  readonly scaExemption?: ScaExemption;
  /** Further amounts, which are tried one after the other if the amount itself is refused. */
  readonly otherAmounts?: readonly Money[];
};

export const challengePreferences = [
  ...(["no_preference", "no_challenge", "challenge", "challenge_mandated"] as const),
] as const;
export type ChallengePreference = (typeof challengePreferences)[number];

export const scaExemptions = [
  ...(["low_value", "tra", "trusted_beneficiary", "secure_corporate"] as const),
] as const;
export type ScaExemption = (typeof scaExemptions)[number];

export const walletTypes = [
  "walleta_encrypted",
  "walleta_decrypted",
  "walletb_encrypted",
  "walletb_decrypted",
  "network_token",
] as const;
export type WalletType = (typeof walletTypes)[number];

export type WalletPayment = {
  readonly type: WalletType;
  /** The number belongs to the device and differs from the one on the customer's card. */
  readonly isDevice?: true;
  /** Why the payment data cannot be trusted. There is no card then. */
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
  /** Absent where the endpoint does not authenticate. */
  readonly enrolment?: Enrolment;
};

/** The page on which the cardholder enters the card. Another try may follow a refusal. */
export type PaymentPage = {
  readonly expiresAt: Instant;
  readonly triesMax: number;
  readonly refused: readonly RefusedTry[];
  readonly linkId?: string;
  /** The customer fields that the cardholder has entered and the merchant has not sent. */
  readonly entered?: readonly (keyof Customer)[];
};

export type RefusedTry = {
  readonly card: CardFacts;
  readonly wallet?: WalletPayment;
  readonly reason: Reason;
  readonly at: Instant;
  /** The try's challenge, for a directory server that repeats its result. */
  readonly threeds?: EndedThreeDSecure;
  readonly authentication?: Authentication;
  /** The charges of the try at the acquirer. Any of them may be approved late. */
  readonly attempts: readonly PriorAttempt[];
};

/** The part of a purchase that the browser brings, with a card or a wallet's payment data. */
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
/** `cancel` releases what a preauthorisation holds; `void` takes an uncleared charge back whole. */
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
  readonly threeds?: ThreeDSecure;
  /** A screening rule demands authentication. Without one there is no charge. */
  readonly forces3ds?: true;
  /** A list or rule allows the payment, so rules about the issuer's answer only mark it. */
  readonly isAllowed?: true;
  /** Why the issuer has refused a charge without a challenge. It is tried once more with one. */
  readonly demanded?: Reason;
  readonly reason: Reason | undefined;
  readonly receiptId: ReceiptId | undefined;
  /** The number of unanswered attempts to settle doubt. */
  readonly tries: number;
  /** The host's answers to the reversal that is owed, or to the repeats of a follow-up. */
  readonly reversal?: ReversalProgress | undefined;
  readonly finishedAt: Instant | undefined;
  /** Charges of earlier attempts, such as those for earlier amounts of the list. */
  readonly priorAttempts?: readonly PriorAttempt[];
  /** The return is sent as a payment to the card, with its own reference. */
  readonly asRefund?: true;
  /** The merchant's request. An identical one is a repeat. */
  readonly request?: FollowUpTerms;
};

export type ReversalProgress = {
  readonly refusedWith?: string;
  /** The time of the first of successive answers that the host does not know the charge. */
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
  /** The whole amount if absent. */
  readonly amount: Money | undefined;
  /** The currency with which a void confirms the charge. It may be sent without an amount. */
  readonly currency?: string;
  readonly comment: string | undefined;
  /** The id of the portal's form, which identifies a form that is sent twice. */
  readonly once?: string;
  readonly by?: string;
};

/**
 * A request's identifiers at the acquirer: RRN (`reference`), STAN (`traceNumber`), terminal and
 * gate. They are committed before the request is sent, so that a node that claims the order after a
 * crash knows what to settle. A follow-up has the reference of its charge.
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
  /** The text on the cardholder's statement: the endpoint's own, or the gate's descriptor. */
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
  /** Returns are never sent as refunds if absent. */
  readonly refunds?: RefundPolicy;
  /** How long a hold lasts; seven days if absent. */
  readonly holdDays?: number;
  readonly choice: string;
  /** Fees are only stored if the merchant may see them. */
  readonly fees?: { readonly seller?: Fee; readonly acquirer?: Fee };
};

export type RefundPolicy = {
  /** When a return becomes a refund: `always`, after `24h`, or at a daily cut-off (`23:00`). */
  readonly after?: string;
  /** The return of a part is always sent as a refund. */
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

/** An amount that the issuer took back for the cardholder, or a later stage of that dispute. */
export type Chargeback = {
  readonly caseId: string;
  readonly stage: ChargebackStage;
  readonly amount: Money;
  readonly reason: string;
  readonly at: Instant;
  readonly dueAt?: Instant;
  readonly outcome?: DisputeOutcome;
  /** The stage's serial number in its callback and in status requests. */
  readonly serialNumber: SerialNumber;
  /** The number of transactions that the order had when the stage was recorded. */
  readonly transactions?: number;
};

export type Answer = {
  readonly responseCode: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  readonly approvedAmount: Money | undefined;
  /** When the gateway received the answer. */
  readonly processedAt: Instant;
  readonly hostAt?: Instant;
  readonly loyalty?: Loyalty;
  /** The host's explanation of a refusal for the cardholder. */
  readonly explanation?: string;
  /** The issuer's letters for the address and for the CVV; `card-checks.ts` has their meanings. */
  readonly avs?: string;
  readonly cvvResult?: string;
};

/** An approval that came too late. Only its reference names the order. */
export type LateApproval = {
  readonly reference: string;
  readonly answer: Answer;
  readonly minor: bigint | undefined;
};

export const loyaltyNames = ["balance", "message", "bonus", "program"] as const;
export type Loyalty = { readonly [Name in (typeof loyaltyNames)[number]]?: string };

/** A payment with a stored card, described as the networks require. */
export type Credential = {
  readonly initiator: "CARDHOLDER" | "MERCHANT";
  readonly scenario: "REGULAR" | "IRREGULAR";
  readonly networkId: string | undefined;
  /** The number is a wallet's device number without a cryptogram. */
  readonly isDevice?: true;
};
export type CredentialDefaults = Partial<Pick<Credential, "initiator" | "scenario">>;

/** The action of a firing screening rule. If one says `allow`, all others only mark the payment. */
export type RuleAction = "block" | "force_3ds" | "mark" | "allow";
export type RuleScope = "gateway" | "merchant" | "endpoint";
/** The facts for which a rule fired, for the operator: limits and counts, no personal data. */
export type RuleFacts = Readonly<Record<string, string | number>>;

export type Finding = {
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
