/**
 * Decides what becomes of a charge: its form first, then its card's row of the catalogue, then the
 * whole-bank shares, which touch only what would be plainly approved.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { eciFor } from "../issuer/networks.ts";
import {
  amountOutcomes,
  cvvMismatch,
  cvvOutcomes,
  type HostRule,
  type Outcome,
  type Scenario,
} from "../scenarios.ts";
import type { Switchboard } from "../switches.ts";
import type { Proof } from "./host-dialect.ts";

const approve: Outcome = { kind: "approve" };
const silence: Outcome = { kind: "book-in-silence" };
const doNotHonour: Outcome = { kind: "decline", code: "05" };

export type Asked = {
  readonly request: IsoMessage;
  readonly card: string;
  readonly amount: bigint;
  readonly month: string;
  /** Nothing when it could not be read. */
  readonly proof: Proof | undefined;
};

export type Deciding = {
  readonly switches: Switchboard;
  readonly authenticationValues: AuthenticationValues;
};

export function decide(
  asked: Asked,
  scenario: Scenario | undefined,
  { switches, authenticationValues }: Deciding,
): Outcome {
  const fault = findFault(asked);
  if (fault !== undefined) return { kind: "decline", code: fault };
  if (asked.proof === undefined) return { kind: "decline", code: "30" };
  const rule = scenario?.host ?? { kind: "by-cvv" };
  const outcome = follow(rule, asked, asked.proof, authenticationValues);
  return outcome.kind === "approve" ? drawLot(switches) : outcome;
}

/** Condition 51: is the card good? It asks for no money and gets none. */
export function isVerification({ fields }: IsoMessage): boolean {
  return fields[25] === "51";
}

/** Drawn for what would be approved: it is booked, and the gateway does not learn of it. */
export function isAnswerLost({ current, random }: Switchboard): boolean {
  return current.lostAnswerShare > 0 && random.next() < current.lostAnswerShare;
}

/** The response code for a charge that no card could make good. */
function findFault({ request, card, amount, month }: Asked): string | undefined {
  if (!isLuhnValid(card)) return "14";
  // Account types may differ; a refund (20) is a reversal in this dialect.
  if (request.fields[3]?.startsWith("00") !== true) return "12";
  if (isVerification(request) && request.mti !== "0100") return "12";
  if (isVerification(request) !== (amount === 0n)) return "13";
  const expiry = request.fields[14];
  return expiry !== undefined && expiry < month ? "54" : undefined;
}

function follow(
  rule: HostRule,
  { request, card, amount }: Asked,
  proof: Proof,
  values: AuthenticationValues,
): Outcome {
  switch (rule.kind) {
    case "by-cvv":
      return cvvOutcomes.get(proof.cvv) ?? cvvMismatch;
    case "by-amount":
      return amountOutcomes.get(String(amount % 100n).padStart(2, "0")) ?? approve;
    case "approve-if-authenticated":
      return isAuthenticated(card, proof, values)
        ? approve
        : { kind: "decline", code: rule.otherwise };
    case "approve-unless-recurrent":
      return isRecurrent(request) ? { kind: "decline", code: rule.otherwise } : approve;
    default:
      return rule;
  }
}

function drawLot(switches: Switchboard): Outcome {
  const { current, random } = switches;
  if (current.declineShare > 0 && random.next() < current.declineShare) return doNotHonour;
  return isAnswerLost(switches) ? silence : approve;
}

/**
 * Fully authenticated by the issuer of this very card: an attempt (ECI 06 or 01) does not count as
 * the cardholder's consent, and a value that somebody made up counts for nothing.
 */
function isAuthenticated(card: string, proof: Proof, values: AuthenticationValues): boolean {
  const { eci, authenticationValue = "" } = proof;
  return eci === eciFor(card, "Y") && values.isGenuine(card, authenticationValue);
}

/** Entry mode 10: the card was on file. */
function isRecurrent(request: IsoMessage): boolean {
  return request.fields[22]?.startsWith("10") === true;
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
