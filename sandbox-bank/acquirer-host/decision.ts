/**
 * Decides what becomes of a charge: its form first, then its card's row of the catalogue, then the
 * whole-bank shares, which touch only what would be plainly approved.
 */
import { DecodeFault, type Message, readSubelements } from "@tollgate/protocols/iso8583";
import {
  amountOutcomes,
  cvvMismatch,
  cvvOutcomes,
  type HostRule,
  type Outcome,
  type Scenario,
} from "../scenarios.ts";
import type { Switchboard } from "../switches.ts";

const approve: Outcome = { kind: "approve" };
const silence: Outcome = { kind: "book-in-silence" };
const doNotHonour: Outcome = { kind: "decline", code: "05" };
const noElements: ReadonlyMap<string, string> = new Map();

export type Asked = {
  readonly request: Message;
  readonly card: string;
  readonly amount: bigint;
  readonly month: string;
};

export function decide(
  asked: Asked,
  scenario: Scenario | undefined,
  switches: Switchboard,
): Outcome {
  const fault = findFault(asked);
  if (fault !== undefined) return { kind: "decline", code: fault };
  const elements = readElements(asked.request.fields[48]);
  if (elements === undefined) return { kind: "decline", code: "30" };
  const outcome = follow(scenario?.host ?? { kind: "by-cvv" }, asked, elements);
  return outcome.kind === "approve" ? drawLot(switches) : outcome;
}

/** The response code for a charge that no card could make good. */
function findFault({ request, card, month }: Asked): string | undefined {
  if (!isLuhnValid(card)) return "14";
  // Account types may differ; a refund (20) is a reversal in this dialect.
  if (request.fields[3]?.startsWith("00") !== true) return "12";
  const expiry = request.fields[14];
  return expiry !== undefined && expiry < month ? "54" : undefined;
}

function follow(
  rule: HostRule,
  { request, amount }: Asked,
  elements: ReadonlyMap<string, string>,
): Outcome {
  switch (rule.kind) {
    case "by-cvv":
      return cvvOutcomes.get(elements.get("92") ?? "") ?? cvvMismatch;
    case "by-amount":
      return amountOutcomes.get(String(amount % 100n).padStart(2, "0")) ?? approve;
    case "approve-if-authenticated":
      return isAuthenticated(elements) ? approve : { kind: "decline", code: rule.otherwise };
    case "approve-unless-recurrent":
      return isRecurrent(request) ? { kind: "decline", code: rule.otherwise } : approve;
    default:
      return rule;
  }
}

function drawLot({ current, random }: Switchboard): Outcome {
  if (current.declineShare > 0 && random.next() < current.declineShare) return doNotHonour;
  if (current.lostAnswerShare > 0 && random.next() < current.lostAnswerShare) return silence;
  return approve;
}

/** Fully authenticated: an attempt (ECI 06 or 01) does not count as the cardholder's consent. */
function isAuthenticated(elements: ReadonlyMap<string, string>): boolean {
  const eci = elements.get("42");
  return (eci === "05" || eci === "02") && (elements.get("43") ?? "") !== "";
}

/** Entry mode 10: the card was on file. */
function isRecurrent(request: Message): boolean {
  return request.fields[22]?.startsWith("10") === true;
}

function readElements(field: string | undefined): ReadonlyMap<string, string> | undefined {
  if (field === undefined) return noElements;
  const read = readSubelements(field);
  return read instanceof DecodeFault ? undefined : read.elements;
}

function isLuhnValid(card: string): boolean {
  let sum = 0;
  for (let place = 0; place < card.length; place += 1) {
    const digit = card.charCodeAt(card.length - 1 - place) - 48;
    if (digit < 0 || digit > 9) return false;
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return card.length >= 12 && sum % 10 === 0;
}
