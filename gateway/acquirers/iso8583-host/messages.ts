/**
 * Builds the messages of a gate and reads their answers. Fields that are the same in every message
 * are written once, so that settings that do not fit fail when the gate is made. An approval must
 * be complete: with an approval code, for this charge, in its currency. Any other "approved" may
 * mean that money was taken: its outcome is unknown and never a refusal.
 */
import { encode, type IsoFields, type IsoMessage } from "@tollgate/protocols/iso8583";
import type { AcquirerIdentifiers, Answer } from "../../orders/order.ts";
import { isZero, Money } from "../../values/money.ts";
import { calendar, calendarIn, hours, type Instant, instantIn } from "../../values/time.ts";
import type {
  Authorization,
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  Reversal,
  ReversalRequest,
  SentFollowUp,
  Unknown,
} from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";
import {
  type Dialect,
  type Facts,
  type Identity,
  type MessageKind,
  all as messageKinds,
  trimField,
} from "./dialect.ts";

export function makeMessages(dialect: Dialect, settings: GateSettings) {
  const { mtis } = dialect;
  const fill = Object.fromEntries(
    messageKinds.map((kind) => [kind, makeFill(dialect, kind, settings)]),
  ) as Record<MessageKind, Fill>;
  checkIdentity(dialect, settings);
  return { makeCharge, makeInquiry, makeReversal, makeCapture, makeReturn, makeInquiryAfter };

  function makeCharge(request: AuthorizationRequest): IsoMessage {
    const { traceNumber, transmittedAt } = request.identifiers;
    const times = timesOf(request.identifiers, transmittedAt);
    const facts = { ...request, ...times, traceNumber, original: undefined };
    return make(request.kind, facts, request.repeated);
  }

  function makeInquiry(
    request: AuthorizationRequest,
    traceNumber: string,
    at: Instant,
  ): IsoMessage {
    return make("inquiry", factsAbout(request, { traceNumber, approvalCode: undefined, at }));
  }

  function makeReversal(
    request: AuthorizationRequest,
    { traceNumber, repeated, approvalCode }: ReversalRequest,
    at: Instant,
  ): IsoMessage {
    return make("reversal", factsAbout(request, { traceNumber, approvalCode, at }), repeated);
  }

  function makeCapture(request: FollowUpMessage): IsoMessage {
    return make("capture", factsOf(request), request.repeated);
  }

  /** A refund is a payment to the card, which names the charge and does not change it. */
  function makeReturn(request: FollowUpMessage): IsoMessage {
    return make(returnKindOf(request), factsOf(request), request.repeated);
  }

  /** The inquiry's original is the follow-up itself and not the charge. */
  function makeInquiryAfter(request: SentFollowUp, traceNumber: string, at: Instant): IsoMessage {
    const { original, identifiers, ...facts } = factsOf(request);
    const { sent, local } = facts;
    const kind = request.effect === "capture" ? "capture" : returnKindOf(request);
    const { first: mti } = mtis[kind];
    return make("inquiry", {
      ...facts,
      ...timesOf(identifiers, at),
      traceNumber,
      identifiers: { ...identifiers, traceNumber: request.traceNumber },
      original: original && { ...original, mti, sent, local },
    });
  }

  function make(
    kind: MessageKind,
    facts: Omit<Facts, keyof Identity>,
    repeated = false,
  ): IsoMessage {
    const mti = repeated ? mtis[kind].repeated : mtis[kind].first;
    return { mti, fields: fill[kind]({ ...facts, ...identityOf(facts.identifiers) }) };
  }

  /** Returns the charge's merchant code and acquirer id: the gate may have others by now. */
  function identityOf({ gate }: AcquirerIdentifiers): Identity {
    const { merchantCode = settings.merchantCode, acquirerId = settings.acquirerId } = gate;
    return { merchantCode, acquirerId };
  }

  type Own = { readonly traceNumber: string; approvalCode: string | undefined; at: Instant };

  function factsAbout(request: AuthorizationRequest, own: Own): Omit<Facts, keyof Identity> {
    const { approvalCode, at, traceNumber } = own;
    const original = { ...originalOf(request), ...noAmounts, approvalCode, networkId: undefined };
    const times = timesOf(request.identifiers, at);
    return { ...request, ...noSecrets, ...times, traceNumber, original };
  }

  function factsOf(request: FollowUpMessage): Omit<Facts, keyof Identity> {
    const { amount, card, remaining, traceNumber, reference, transmittedAt, isMoto } = request;
    const { identifiers, capture: taken, ...charge } = request.original;
    const capture = taken && {
      mti: mtis.capture.first,
      traceNumber: taken.traceNumber,
      amount: taken.amount,
      local: timesOf(identifiers, taken.transmittedAt).local,
    };
    const original = { ...originalOf(request.original), ...charge, capture, remaining };
    const own = { ...timesOf(identifiers, transmittedAt), traceNumber, credential: undefined };
    return { identifiers, card, amount, ...noSecrets, ...own, reference, original, isMoto };
  }

  function originalOf({ kind, identifiers }: FollowUpMessage["original"] | AuthorizationRequest) {
    return {
      mti: mtis[kind].first,
      ...timesOf(identifiers, identifiers.transmittedAt),
      acquirerId: identityOf(identifiers).acquirerId,
    };
  }
}

/** Throws if the gate's identifiers cannot be encoded, before the first payment needs them. */
function checkIdentity({ specification, mtis }: Dialect, settings: GateSettings): void {
  const fields = { 32: settings.acquirerId, 42: settings.merchantCode.padEnd(15) };
  encode(specification, { mti: mtis.sale.first, fields });
}

/** The time zone is that of the charge, even if the gate has another by now. */
function timesOf({ gate: { zone = "UTC" } }: AcquirerIdentifiers, at: Instant) {
  return { sent: calendar(at), local: calendarIn(zone, at) };
}

const noSecrets = { cvv: undefined, authentication: undefined, payer: undefined };
const noAmounts = { amount: undefined, capture: undefined, remaining: undefined };

function returnKindOf({ reference }: FollowUpMessage): MessageKind {
  return reference === undefined ? "return" : "refund";
}

export function makeNetworkMessage(
  { mti, write }: Dialect["network"],
  code: string,
  traceNumber: string,
  { at, zone }: { readonly at: Instant; readonly zone: string },
): IsoMessage {
  const times = { sent: calendar(at), local: calendarIn(zone, at) };
  return { mti, fields: write(code, { ...times, traceNumber }) };
}

type Fill = (facts: Facts) => IsoFields;

function makeFill(dialect: Dialect, kind: MessageKind, settings: GateSettings): Fill {
  const rows = dialect.rows.filter(([, kinds]) => kinds.includes(kind));
  const constant: { [field: number]: string } = {};
  for (const [field, kinds, write] of dialect.gateRows) {
    if (kinds.includes(kind)) constant[field] = write(settings);
  }
  // Settings that cannot be encoded fail here, before the first payment needs them.
  encode(dialect.specification, { mti: dialect.mtis[kind].first, fields: constant });

  return (facts) => {
    const fields = { ...constant };
    for (const [field, , write] of rows) {
      const value = write(facts);
      if (value !== undefined) fields[field] = value;
    }
    return fields;
  };
}

/** The host dates its answers in the terminal's time zone. */
export function makeAnswerReader(dialect: Dialect, zone = "UTC") {
  const { codes, readNetworkId, readRemarks, readLocalTime, readChecks } = dialect;
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

  /** A follow-up is approved as a whole, because a partial approval of it has no meaning. */
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

  /** `sent` are the fields of the follow-up that the inquiry asked about. */
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

  /** The amount is left out, which has a meaning only beside the requested one. */
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
    const { avs, cvvResult } = readChecks(fields);
    return {
      ...answer,
      ...(hostAt !== undefined && { hostAt }),
      ...(isLetter(avs) && { avs }),
      ...(isLetter(cvvResult) && { cvvResult }),
      ...remarks,
    };
  }

  /** A date without a year is the nearest such date, which may be in another year. */
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
 * An answer with another amount or currency does not belong to the request: trace numbers repeat,
 * and a reference names every message about its charge.
 */
function isEcho(answered: IsoFields, sent: IsoFields): boolean {
  return [4, 49].every((field) => {
    return answered[field] === undefined || answered[field] === sent[field];
  });
}

function isLetter(result: string | undefined): result is string {
  return result !== undefined && /^[A-Z]$/.test(result);
}

const halfAYearMs = hours(24 * 183);

const unreadable: Unknown = { kind: "unknown", cause: "unreadable_answer" };

/** The codec guarantees that an amount consists of digits. */
export function readAmount(field: string | undefined): bigint | undefined {
  return field === undefined ? undefined : BigInt(field);
}
