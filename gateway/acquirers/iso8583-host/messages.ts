/**
 * Builds the messages of one gate from its dialect's tables. What a gate says in every message is
 * written once, when the gate is made, and settings that do not fit their fields fail there.
 */
import { encode, type IsoFields, type IsoMessage } from "@tollgate/protocols/iso8583";
import type { AcquirerIdentifiers } from "../../orders/order.ts";
import { calendar, calendarIn, type Instant } from "../../values/time.ts";
import type {
  AuthorizationRequest,
  FollowUpMessage,
  ReversalRequest,
  SentFollowUp,
} from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";
import {
  type Dialect,
  type Facts,
  type Identity,
  type MessageKind,
  all as messageKinds,
} from "./dialect.ts";

export type Messages = ReturnType<typeof makeMessages>;

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
    return make(request.kind, { ...request, ...times, traceNumber, original: undefined });
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

  /** A refund is a payment to the card: it names the charge and does not change it. */
  function makeReturn(request: FollowUpMessage): IsoMessage {
    return make(returnKindOf(request), factsOf(request), request.repeated);
  }

  /** What became of a follow-up: the original is the follow-up itself, not its charge. */
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

  /** Returns the merchant code and acquirer id of the charge: the gate may have others by now. */
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
    const { amount, card, remaining, traceNumber, reference, transmittedAt } = request;
    const { identifiers, capture: taken, ...charge } = request.original;
    const capture = taken && {
      mti: mtis.capture.first,
      traceNumber: taken.traceNumber,
      amount: taken.amount,
      local: timesOf(identifiers, taken.transmittedAt).local,
    };
    const original = { ...originalOf(request.original), ...charge, capture, remaining };
    const own = { ...timesOf(identifiers, transmittedAt), traceNumber, credential: undefined };
    return { identifiers, card, amount, ...noSecrets, ...own, reference, original };
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

/** The zone is that of the charge, also when the gate has another by now. */
function timesOf({ gate: { zone = "UTC" } }: AcquirerIdentifiers, at: Instant) {
  return { sent: calendar(at), local: calendarIn(zone, at) };
}

const noSecrets = { cvv: undefined, authentication: undefined };
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
  // Checked for the same reason.
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
