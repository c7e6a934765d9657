/**
 * What a host's answers mean. An approval of a charge counts only when it is complete: with an
 * approval code, for this charge, in its currency. Any other message that says "approved" may be
 * money taken, so its outcome is unknown and has to be settled; it is never a refusal.
 */
import type { IsoFields, IsoMessage } from "@tollgate/protocols/iso8583";
import type { Answer } from "../../orders/order.ts";
import { isZero, Money } from "../../values/money.ts";
import { calendarIn, hours, type Instant, instantIn } from "../../values/time.ts";
import type {
  Authorization,
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  Reversal,
  Unknown,
} from "../acquirer.ts";
import { type Dialect, trimField } from "./dialect.ts";

/** `zone` is that of the terminal, in which the host dates its answers. */
export function makeAnswerReader(dialect: Dialect, zone = "UTC") {
  const { codes, readNetworkId, readRemarks, readLocalTime } = dialect;
  return {
    readAuthorization,
    readFound,
    readReversal,
    readFollowUp,
    readFoundFollowUp,
    readAnswer,
  };

  function readAuthorization(
    { fields }: IsoMessage,
    { identifiers, amount }: AuthorizationRequest,
    at: Instant,
  ): Authorization {
    const answer = readAnswer(fields, at);
    if (answer === undefined) return unreadable;
    const meaning = codes.meaningOf(answer.responseCode);
    if (meaning === "refused") return refused(answer);
    if (meaning === "accepted") return unreadable;

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

  function readFound(message: IsoMessage, request: AuthorizationRequest, at: Instant): Found {
    const responseCode = message.fields[39];
    if (responseCode === undefined) return unreadable;
    if (codes.isNotFound(responseCode)) return { kind: "not_found" };
    const found = codes.stands(responseCode) && readAuthorization(message, request, at);
    if (found === false || found.kind === "refused") {
      return { kind: "other_answer", code: responseCode };
    }
    return found;
  }

  function readReversal({ fields }: IsoMessage, sent: IsoFields): Reversal {
    const { 39: code } = fields;
    if (code === undefined || !isEcho(fields, sent)) return unreadable;
    const meaning = codes.meaningOfReversal(code);
    if (meaning === "reversed") return { kind: "reversed" };
    if (meaning === "not_found") return { kind: "not_found", code };
    return { kind: "refused", code, mayHelp: meaning === "retry" };
  }

  /** All or nothing: a partial approval of a follow-up has no meaning. */
  function readFollowUp(
    { fields }: IsoMessage,
    sent: IsoFields,
    { amount }: FollowUpMessage,
    at: Instant,
  ): FollowUpAnswer {
    const answer = readAnswer(fields, at);
    const meaning = codes.meaningOf(fields[39] ?? "");
    if (answer === undefined || meaning === "approved_in_part") return unreadable;
    if (!isEcho(fields, sent)) return unreadable;
    if (meaning === "refused") return refused(answer);
    return { kind: "approved", answer: { ...answer, approvedAmount: amount } };
  }

  /** `sent` are the fields of the follow-up that the inquiry was about. */
  function readFoundFollowUp(
    message: IsoMessage,
    sent: IsoFields,
    request: FollowUpMessage,
    at: Instant,
  ): Found {
    const { 37: reference, 39: code } = message.fields;
    if (code === undefined || reference !== sent[37]) return unreadable;
    if (codes.isNotFound(code)) return { kind: "not_found" };
    const found = codes.stands(code) && readFollowUp(message, sent, request, at);
    return found === false || found.kind === "refused" ? { kind: "other_answer", code } : found;
  }

  /** Without the amount, which has a meaning only beside the requested one. */
  function readAnswer(fields: IsoFields, processedAt: Instant): Answer | undefined {
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
    const hostAt = readHostTime(fields, processedAt);
    return { ...answer, ...(hostAt !== undefined && { hostAt }), ...remarks };
  }

  /** A date without a year means the nearest day of that name, which may be in another year. */
  function readHostTime(fields: IsoFields, now: Instant): Instant | undefined {
    const shown = readLocalTime(fields);
    if (shown === undefined) return undefined;
    if (!shown.startsWith("-")) return instantIn(zone, shown);
    const year = Number(calendarIn(zone, now).year);
    const near = instantIn(zone, `${year}${shown}`);
    if (near === undefined || Math.abs(near - now) < halfAYearMs) return near;
    return instantIn(zone, `${near > now ? year - 1 : year + 1}${shown}`);
  }

  function refused(answer: Answer) {
    return { kind: "refused", answer, refusal: codes.refusalOf(answer.responseCode) } as const;
  }
}

/**
 * Trace numbers repeat, and a reference names every message about its charge: an answer that states
 * another amount or currency than the request is not about it.
 */
function isEcho(answered: IsoFields, sent: IsoFields): boolean {
  return [4, 49].every((field) => {
    return answered[field] === undefined || answered[field] === sent[field];
  });
}

const halfAYearMs = hours(24 * 183);

const unreadable: Unknown = { kind: "unknown", cause: "unreadable_answer" };

/** The codec has made sure that an amount is digits. */
export function readAmount(field: string | undefined): bigint | undefined {
  return field === undefined ? undefined : BigInt(field);
}
