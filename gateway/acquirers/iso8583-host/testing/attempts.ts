/**
 * A gate, a charge and its follow-ups, with the values that a test changes, and the names of
 * message types and response codes in each dialect.
 */
import type { Answer, ChargeKind, Credential } from "../../../orders/order.ts";
import { CardNumber } from "../../../values/card-number.ts";
import { asGateId } from "../../../values/ids.ts";
import { getCurrency } from "../../../values/iso-codes.ts";
import { Money } from "../../../values/money.ts";
import { Secret } from "../../../values/secret.ts";
import { startsAt } from "../../../values/testing.ts";
import { asInstant } from "../../../values/time.ts";
import type { AuthorizationRequest, FollowUpMessage } from "../../acquirer.ts";
import type { GateKind, GateSettings } from "../../gates.ts";

export const settings: GateSettings = {
  host: "127.0.0.1",
  port: 0,
  terminalId: "TERM01",
  merchantCode: "MERCHANT01",
  nameAndPlace: "Corner Shop           Springfield  NLD",
  categoryCode: "5999",
  countryCode: "528",
  acquirerId: "400123",
  descriptor: "Corner Shop",
  worksWithoutCvv: true,
  partialReversal: true,
  partialCapture: true,
};

export type AttemptChanges = {
  readonly kind?: ChargeKind;
  readonly card?: string;
  readonly minor?: bigint;
  readonly cvv?: string;
  readonly eci?: string;
  /** An authentication value in base64. */
  readonly cavv?: string;
  readonly credential?: Credential;
  readonly payer?: AuthorizationRequest["payer"];
  readonly isMoto?: boolean;
  readonly exemption?: AuthorizationRequest["exemption"];
  readonly reference?: string;
  readonly traceNumber?: string;
};

export function makeAttempt(changes: AttemptChanges = {}): AuthorizationRequest {
  const gate = {
    id: asGateId("1"),
    descriptor: "Corner Shop",
    shownDescriptor: "Corner Shop",
    terminalId: settings.terminalId,
    partialReversal: true,
    partialCapture: true,
    choice: "",
  };
  const { reference = "00000000AB01", traceNumber = "000777", eci, cavv } = changes;
  const isAuthenticated = eci !== undefined || cavv !== undefined;
  return {
    kind: changes.kind ?? "sale",
    identifiers: { gate, attempt: 1, reference, traceNumber, transmittedAt: startsAt },
    amount: new Money(changes.minor ?? 1015n, getCurrency("EUR")),
    card: {
      number: new CardNumber(changes.card ?? "4000001000000018"),
      expiryYear: "2039",
      expiryMonth: "4",
    },
    cvv: new Secret(changes.cvv ?? "123"),
    authentication: isAuthenticated ? { eci, value: cavv } : undefined,
    credential: changes.credential,
    payer: changes.payer,
    isMoto: changes.isMoto,
    exemption: changes.exemption,
  };
}

type FollowUpChanges = {
  readonly minor?: bigint;
  readonly remaining?: bigint;
  readonly repeated?: boolean;
  readonly traceNumber?: string;
  /** The earlier capture that took the money. */
  readonly captured?: FollowUpMessage;
};

/** A capture or a return, a minute after the charge. */
export function makeFollowUp(
  { kind, identifiers, card, amount }: AuthorizationRequest,
  answer: Pick<Answer, "approvalCode" | "networkId">,
  changes: FollowUpChanges = {},
): FollowUpMessage {
  const { approvalCode, networkId } = answer;
  return {
    original: { kind, identifiers, approvalCode, networkId, amount, capture: changes.captured },
    card,
    amount: new Money(changes.minor ?? 1015n, amount.currency),
    remaining: new Money(changes.remaining ?? 0n, amount.currency),
    traceNumber: changes.traceNumber ?? "000778",
    transmittedAt: asInstant(startsAt + 61_000),
    repeated: changes.repeated ?? false,
  };
}

export function mtiIn(kind: GateKind, mti: string): string {
  if (kind !== "iso93_ascii") return mti;
  // In this dialect a return is a reversal advice, like any reversal.
  return mti.startsWith("040") ? `142${mti[3]}` : `1${mti.slice(1)}`;
}

export function codeIn(kind: GateKind, code: string): string {
  return kind === "iso93_ascii" ? (actionCodes[code] ?? code) : code;
}

const actionCodes: Readonly<Record<string, string>> = {
  "00": "000",
  "05": "100",
  "10": "002",
  "12": "902",
  "13": "110",
  "1A": "161",
  "25": "914",
  "43": "209",
  "51": "116",
  "54": "101",
  "57": "119",
  "85": "000",
  "91": "912",
  "96": "909",
  "98": "916",
  "N7": "160",
};
