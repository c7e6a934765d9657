/**
 * What the gateway asks of a bank. Implementations never throw and never retry: a lost answer is
 * the outcome "unknown", because the money may have moved and only a reversal makes it certain.
 */
import type { Answer, Charge } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";

export type Acquirer = {
  /** Signed on: a request may be sent. Asked before the charge leaves, never after. */
  isReady(): boolean;
  authorize(attempt: Attempt): Promise<Authorization>;
  reverse(attempt: Attempt, advice: ReversalAdvice): Promise<Reversal>;
};

/** One try to take money, or to give it back: everything a message to the bank is made of. */
export type Attempt = {
  readonly charge: Charge;
  readonly amount: Money;
  readonly card: ChargedCard;
  readonly cvv: Secret<string> | undefined;
  readonly eci: string | undefined;
};

export type ChargedCard = {
  readonly number: CardNumber;
  readonly expiryYear: string;
  readonly expiryMonth: string;
};

export type ReversalAdvice = {
  readonly traceNumber: string;
  /** Sent before without an answer: the host is told that this is a repeat. */
  readonly repeated: boolean;
  readonly approvalCode: string | undefined;
};

export type Authorization =
  | { readonly kind: "approved"; readonly answer: Answer }
  | { readonly kind: "approved_in_part"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly answer: Answer }
  /** Known not to have left. */
  | { readonly kind: "not_sent" }
  | { readonly kind: "unknown"; readonly cause: "timeout" | "link_lost" | "unreadable_answer" };

export type Reversal = { readonly kind: "reversed" } | { readonly kind: "unknown"; cause: string };

/** An approval for which nobody waits any more: its reference is all that is known of it. */
export type OnLateApproval = (reference: string, answer: Answer) => void;
