/**
 * What a host's answers mean. An approval of a charge counts only when it is complete: with an
 * approval code, for this charge, in its currency. Any other message that says "approved" may be
 * money taken, so its outcome is unknown and has to be settled; it is never a refusal.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { Answer } from "../../orders/order.ts";
import type { FailureCode } from "../../values/failure.ts";
import { isZero, Money } from "../../values/money.ts";
import type { Instant } from "../../values/time.ts";
import type {
  Authorization,
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  Refusal,
  Unknown,
} from "../acquirer.ts";
import { type Dialect, trimField } from "./dialect.ts";

export function makeAnswerReader({ readNetworkId, readRemarks }: Dialect) {
  return { readAuthorization, readFound, readFollowUp, readAnswer };

  function readAuthorization(
    { fields }: IsoMessage,
    { identifiers, amount }: AuthorizationRequest,
    at: Instant,
  ): Authorization {
    const answer = readAnswer(fields, at);
    if (answer === undefined) return unreadable;
    const meaning = meaningOf(answer.responseCode);
    if (meaning === "refused") return refused(answer);

    const minor = readAmount(fields[4]);
    const isOurs = fields[37] === identifiers.reference && fields[49] === amount.currency.numeric;
    const isComplete = answer.approvalCode !== undefined && minor !== undefined;
    const isPossible = isComplete && minor <= amount.minor && (minor > 0n || isZero(amount));
    if (!isOurs || !isPossible) return unreadable;

    const isFull = meaning === "approved" && minor === amount.minor;
    const approvedAmount = isFull ? amount : new Money(minor, amount.currency);
    const kind = isFull ? "approved" : "approved_in_part";
    return { kind, answer: { ...answer, approvedAmount } };
  }

  /** Only 00 says that the charge stands. */
  function readFound(message: IsoMessage, request: AuthorizationRequest, at: Instant): Found {
    const responseCode = message.fields[39];
    if (responseCode === undefined) return unreadable;
    if (responseCode !== "00") return { kind: "not_found" };
    const found = readAuthorization(message, request, at);
    return found.kind === "refused" ? { kind: "not_found" } : found;
  }

  /** All or nothing: a partial approval of a follow-up has no meaning. */
  function readFollowUp(
    { fields }: IsoMessage,
    { amount }: FollowUpMessage,
    at: Instant,
  ): FollowUpAnswer {
    const answer = readAnswer(fields, at);
    const meaning = meaningOf(fields[39] ?? "");
    if (answer === undefined || meaning === "approved_in_part") return unreadable;
    if (meaning === "refused") return refused(answer);
    return { kind: "approved", answer: { ...answer, approvedAmount: amount } };
  }

  /** Without the amount, which has a meaning only beside the requested one. */
  function readAnswer(fields: IsoMessage["fields"], processedAt: Instant): Answer | undefined {
    const responseCode = fields[39];
    if (responseCode === undefined) return undefined;
    const answer = {
      responseCode,
      approvalCode: trimField(fields[38]),
      networkId: readNetworkId(fields),
      approvedAmount: undefined,
      processedAt,
    };
    const remarks = readRemarks(fields);
    return remarks === undefined ? answer : { ...answer, ...remarks };
  }
}

const unreadable: Unknown = { kind: "unknown", cause: "unreadable_answer" };

function refused(answer: Answer) {
  return { kind: "refused", answer, refusal: refusalOf(answer.responseCode) } as const;
}

/** The codec has made sure that an amount is digits. */
export function readAmount(field: string | undefined): bigint | undefined {
  return field === undefined ? undefined : BigInt(field);
}

export type ResponseMeaning = "approved" | "approved_in_part" | "refused";
/** `hard`: the same card must not be charged again. */
type Again = "hard" | "soft";
type Row = readonly [code: string, meaning: ResponseMeaning, reason: FailureCode, again: Again];

/**
 * Field 39 of ISO 8583:1987 and what the card networks added to it. A code without a row is a
 * refusal; only a code listed as an approval ever is one.
 */
// biome-ignore format: a table
export const responseCodes: readonly Row[] = [
  // An approval needs a reason only when it was for less than asked.
  ["00", "approved",         "partial_approval_refused", "soft"], // approved
  ["08", "approved",         "partial_approval_refused", "soft"], // approved with identification
  ["11", "approved",         "partial_approval_refused", "soft"], // approved, VIP
  ["16", "approved",         "partial_approval_refused", "soft"], // approved, update track 3
  ["85", "approved",         "partial_approval_refused", "soft"], // no reason to decline
  ["10", "approved_in_part", "partial_approval_refused", "soft"], // approved for part of the amount

  ["04", "refused", "pick_up_card",            "hard"], // pick up
  ["07", "refused", "pick_up_card",            "hard"], // pick up, special condition
  ["33", "refused", "expired_card",            "hard"], // expired, pick up
  ["34", "refused", "suspected_fraud",         "hard"], // suspected fraud, pick up
  ["35", "refused", "pick_up_card",            "hard"], // contact acquirer, pick up
  ["36", "refused", "restricted_card",         "hard"], // restricted, pick up
  ["37", "refused", "pick_up_card",            "hard"], // call acquirer's security, pick up
  ["38", "refused", "pick_up_card",            "hard"], // PIN tries exceeded, pick up
  ["41", "refused", "lost_card",               "hard"], // lost
  ["43", "refused", "stolen_card",             "hard"], // stolen
  ["67", "refused", "pick_up_card",            "hard"], // pick up at the terminal

  ["14", "refused", "invalid_card",            "hard"], // no such number
  ["15", "refused", "no_card_record",          "hard"], // no such issuer
  ["31", "refused", "no_card_record",          "hard"], // bank not supported
  ["46", "refused", "closed_account",          "hard"], // account closed
  ["54", "refused", "expired_card",            "hard"], // expired
  ["57", "refused", "not_permitted",           "hard"], // not permitted to cardholder
  ["58", "refused", "not_permitted_terminal",  "hard"], // not permitted to terminal
  ["59", "refused", "suspected_fraud",         "hard"], // suspected fraud
  ["62", "refused", "restricted_card",         "hard"], // restricted
  ["78", "refused", "restricted_card",         "hard"], // blocked, or not yet activated
  ["93", "refused", "not_permitted",           "hard"], // against the law
  ["R0", "refused", "recurring_stopped",       "hard"], // stop this payment
  ["R1", "refused", "recurring_stopped",       "hard"], // stop the payments of this agreement
  ["R3", "refused", "recurring_stopped",       "hard"], // stop all payments

  ["01", "refused", "refer_to_issuer",         "soft"], // refer to issuer
  ["02", "refused", "refer_to_issuer",         "soft"], // refer to issuer, special condition
  ["05", "refused", "do_not_honour",           "soft"], // do not honour
  ["1A", "refused", "authentication_required", "soft"], // strong authentication wanted
  ["51", "refused", "insufficient_funds",      "soft"], // not enough money
  ["61", "refused", "limit_exceeded",          "soft"], // over the amount limit
  ["63", "refused", "security_violation",      "soft"], // security violation
  ["65", "refused", "frequency_exceeded",      "soft"], // over the count limit
  ["82", "refused", "cvv_mismatch",            "soft"], // wrong CVV
  ["N7", "refused", "cvv_mismatch",            "soft"], // wrong CVV

  ["03", "refused", "invalid_merchant",        "soft"], // no such merchant
  ["12", "refused", "invalid_transaction",     "soft"], // invalid transaction
  ["13", "refused", "invalid_amount",          "soft"], // invalid amount
  ["30", "refused", "format_error",            "soft"], // format error
  ["40", "refused", "invalid_transaction",     "soft"], // function not supported
  ["64", "refused", "invalid_amount",          "soft"], // not the original amount

  ["06", "refused", "host_malfunction",        "soft"], // error
  ["09", "refused", "duplicate_transmission",  "soft"], // in progress
  ["19", "refused", "host_malfunction",        "soft"], // enter again
  ["22", "refused", "host_malfunction",        "soft"], // suspected malfunction
  ["68", "refused", "issuer_unavailable",      "soft"], // the issuer answered too late
  ["90", "refused", "host_malfunction",        "soft"], // cut-over
  ["91", "refused", "issuer_unavailable",      "soft"], // issuer or switch out of order
  ["92", "refused", "issuer_unavailable",      "soft"], // no route to the issuer
  ["94", "refused", "duplicate_transmission",  "soft"], // seen before
  ["95", "refused", "host_malfunction",        "soft"], // totals do not agree
  ["96", "refused", "host_malfunction",        "soft"], // malfunction
  ["98", "refused", "host_malfunction",        "soft"], // message authentication failed
];

const byCode: ReadonlyMap<string, Row> = new Map(responseCodes.map((row) => [row[0], row]));

const mayYetBeDone: ReadonlySet<string> = new Set(["09", "68", "94"]);
/** Soft declines: strong authentication is required. */
const wantsAuthentication: ReadonlySet<string> = new Set(["1A", "65"]);
const undecided: ReadonlySet<string> = new Set([
  ...["06", "09", "19", "22", "30", "68", "90", "91", "92", "94", "95", "96", "98"],
]);

export function meaningOf(responseCode: string): ResponseMeaning {
  return byCode.get(responseCode)?.[1] ?? "refused";
}

/** Why an order with this answer did not end as approved. */
export function refusalOf(code: string): Refusal {
  const [, , reason, again] = byCode.get(code) ?? [code, "refused", "declined", "soft"];
  return {
    reason: { code: reason, detail: `[${code}]` },
    isHard: again === "hard",
    wantsAuthentication: wantsAuthentication.has(code),
    mayYetBeDone: mayYetBeDone.has(code),
    isUndecided: undecided.has(code),
  };
}
