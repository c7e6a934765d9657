/**
 * What a host's answer to a charge means. An approval counts only when it is whole: with a code,
 * for this charge, in its currency. Anything else that says "approved" may be money taken, so it
 * is an unknown outcome, which is reversed, and never a refusal.
 */
import type { Message } from "@tollgate/protocols/iso8583";
import type { Answer } from "../../orders/order.ts";
import { Money } from "../../values/money.ts";
import type { Instant } from "../../values/time.ts";
import type { Attempt, Authorization } from "../acquirer.ts";
import { verdictOf } from "./response-codes.ts";

export function readAuthorization(
  { fields }: Message,
  { charge, amount }: Attempt,
  processedAt: Instant,
): Authorization {
  const verdict = verdictOf(fields[39] ?? "");
  const answer = readAnswer(fields, processedAt);
  if (answer === undefined) return unreadable;
  if (verdict === "refused") return { kind: "refused", answer };

  const minor = readAmount(fields[4]);
  const isOurs = fields[37] === charge.reference && fields[49] === amount.currency.numeric;
  const isWhole = answer.approvalCode !== undefined && minor !== undefined;
  if (!isOurs || !isWhole || minor > amount.minor) return unreadable;

  const isFull = verdict === "approved" && minor === amount.minor;
  const approvedAmount = isFull ? amount : new Money(minor, amount.currency);
  const kind = isFull ? "approved" : "approved_in_part";
  return { kind, answer: { ...answer, approvedAmount } };
}

/** Without the amount, which means something only beside what was asked. */
export function readAnswer(fields: Message["fields"], processedAt: Instant): Answer | undefined {
  const responseCode = fields[39];
  if (responseCode === undefined) return undefined;
  return {
    responseCode,
    approvalCode: readText(fields[38]),
    networkId: readText(fields[62]),
    approvedAmount: undefined,
    processedAt,
  };
}

const unreadable: Authorization = { kind: "unknown", cause: "unreadable_answer" };

/** Fields of fixed width are filled with spaces; one of spaces only says nothing. */
function readText(field: string | undefined): string | undefined {
  const text = field?.trimEnd();
  return text === "" ? undefined : text;
}

/** The codec has made sure that an amount is digits. */
function readAmount(field: string | undefined): bigint | undefined {
  return field === undefined ? undefined : BigInt(field);
}
