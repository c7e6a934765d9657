/**
 * What a host's answers mean. An approval of a charge counts only when it is whole: with a code,
 * for this charge, in its currency. Anything else that says "approved" may be money taken, so it
 * is an unknown outcome, which is settled, and never a refusal.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { Answer } from "../../orders/order.ts";
import { isZero, Money } from "../../values/money.ts";
import type { Instant } from "../../values/time.ts";
import type {
  Authorization,
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  Unknown,
} from "../acquirer.ts";
import type { Dialect } from "./dialect.ts";
import { trimField } from "./remarks.ts";
import { meaningOf } from "./response-codes.ts";

export type AnswerReader = {
  readonly readAuthorization: (
    message: IsoMessage,
    attempt: AuthorizationRequest,
    at: Instant,
  ) => Authorization;
  readonly readFound: (message: IsoMessage, attempt: AuthorizationRequest, at: Instant) => Found;
  readonly readFollowUp: (
    message: IsoMessage,
    request: FollowUpMessage,
    at: Instant,
  ) => FollowUpAnswer;
  /** Without the amount, which means something only beside what was asked. */
  readonly readAnswer: (fields: IsoMessage["fields"], at: Instant) => Answer | undefined;
};

export function makeAnswerReader({ readNetworkId, readRemarks }: Dialect): AnswerReader {
  return { readAuthorization, readFound, readFollowUp, readAnswer };

  function readAuthorization(
    { fields }: IsoMessage,
    { identifiers, amount }: AuthorizationRequest,
    at: Instant,
  ): Authorization {
    const verdict = meaningOf(fields[39] ?? "");
    const answer = readAnswer(fields, at);
    if (answer === undefined) return unreadable;
    if (verdict === "refused") return { kind: "refused", answer };

    const minor = readAmount(fields[4]);
    const isOurs = fields[37] === identifiers.reference && fields[49] === amount.currency.numeric;
    const isWhole = answer.approvalCode !== undefined && minor !== undefined;
    const isPossible = isWhole && minor <= amount.minor && (minor > 0n || isZero(amount));
    if (!isOurs || !isPossible) return unreadable;

    const isFull = verdict === "approved" && minor === amount.minor;
    const approvedAmount = isFull ? amount : new Money(minor, amount.currency);
    const kind = isFull ? "approved" : "approved_in_part";
    return { kind, answer: { ...answer, approvedAmount } };
  }

  /** Only 00 says that the charge stands; whatever else is said, it is not known to. */
  function readFound(message: IsoMessage, attempt: AuthorizationRequest, at: Instant): Found {
    const responseCode = message.fields[39];
    if (responseCode === undefined) return unreadable;
    if (responseCode !== "00") return notFound;
    const found = readAuthorization(message, attempt, at);
    return found.kind === "refused" ? notFound : found;
  }

  /** All or nothing: a host that says it did a part has not been understood. */
  function readFollowUp(
    { fields }: IsoMessage,
    { amount }: FollowUpMessage,
    at: Instant,
  ): FollowUpAnswer {
    const answer = readAnswer(fields, at);
    const verdict = meaningOf(fields[39] ?? "");
    if (answer === undefined || verdict === "approved_in_part") return unreadable;
    if (verdict === "refused") return { kind: "refused", answer };
    return { kind: "approved", answer: { ...answer, approvedAmount: amount } };
  }

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
const notFound: Found = { kind: "not_found" };

/** The codec has made sure that an amount is digits. */
export function readAmount(field: string | undefined): bigint | undefined {
  return field === undefined ? undefined : BigInt(field);
}
