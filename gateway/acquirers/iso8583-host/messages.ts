/**
 * Builds the messages of one gate from its dialect's tables. What a gate says in every message is
 * written once, when the gate is made, and settings that do not fit their fields fail there.
 */
import { encode, type IsoFields, type IsoMessage } from "@tollgate/protocols/iso8583";
import { Money } from "../../values/money.ts";
import { asInstant, calendar, type Instant } from "../../values/time.ts";
import type {
  AuthorizationRequest,
  FollowUpMessage,
  InquiryRequest,
  ReversalRequest,
} from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";
import {
  type Dialect,
  type Facts,
  type MessageKind,
  all as messageKinds,
  networkMti,
} from "./dialect.ts";
import { transmissionTime } from "./fields.ts";

export type Messages = ReturnType<typeof makeMessages>;

export function makeMessages(dialect: Dialect, settings: GateSettings) {
  const { mtis } = dialect;
  const { acquirerId } = settings;
  const secondOf = makeSecondOf();
  const fill = Object.fromEntries(
    messageKinds.map((kind) => [kind, makeFill(dialect, kind, settings)]),
  ) as Record<MessageKind, Fill>;
  return { makeCharge, makeInquiry, makeReversal, makeCapture, makeReturn };

  function makeCharge(request: AuthorizationRequest): IsoMessage {
    const { kind, identifiers } = request;
    const { traceNumber, transmittedAt } = identifiers;
    const sent = secondOf(transmittedAt);
    return make(kind, { ...request, sent, traceNumber, original: undefined });
  }

  function makeInquiry(
    request: AuthorizationRequest,
    { traceNumber }: InquiryRequest,
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
    return make("capture", factsOf(request, request.amount), request.repeated);
  }

  /** Field 4 has the amount before the return, field 95 what remains. */
  function makeReturn(request: FollowUpMessage): IsoMessage {
    const { amount, remaining, repeated } = request;
    const before = new Money(amount.minor + remaining.minor, amount.currency);
    return make("return", factsOf(request, before), repeated);
  }

  function make(kind: MessageKind, facts: Facts, repeated = false): IsoMessage {
    const mti = repeated ? mtis[kind].repeated : mtis[kind].first;
    return { mti, fields: fill[kind](facts) };
  }

  type Own = { readonly traceNumber: string; approvalCode: string | undefined; at: Instant };

  function factsAbout(
    request: AuthorizationRequest,
    { approvalCode, at, traceNumber }: Own,
  ): Facts {
    const { kind, identifiers } = request;
    const about = { mti: mtis[kind].first, sent: secondOf(identifiers.transmittedAt), acquirerId };
    const original = { ...about, approvalCode, networkId: undefined, remaining: undefined };
    const secrets = { cvv: undefined, authentication: undefined };
    return { ...request, ...secrets, sent: secondOf(at), traceNumber, original };
  }

  function factsOf(request: FollowUpMessage, amount: Money): Facts {
    const { card, remaining, traceNumber, transmittedAt } = request;
    const { kind, identifiers, approvalCode, networkId } = request.original;
    const about = { mti: mtis[kind].first, sent: secondOf(identifiers.transmittedAt), acquirerId };
    const original = { ...about, approvalCode, networkId, remaining };
    const secrets = { cvv: undefined, authentication: undefined, credential: undefined };
    const sent = secondOf(transmittedAt);
    return { identifiers, card, amount, sent, traceNumber, ...secrets, original };
  }
}

/** Sign-on, sign-off, echo. */
export function makeNetworkMessage(code: string, traceNumber: string, at: Instant): IsoMessage {
  const fields = { 7: transmissionTime(calendar(at)), 11: traceNumber, 70: code };
  return { mti: networkMti, fields };
}

type Fill = (facts: Facts) => IsoFields;

function makeFill(dialect: Dialect, kind: MessageKind, settings: GateSettings): Fill {
  const rows = dialect.rows.filter(([, kinds]) => kinds.includes(kind));
  const constant: { [field: number]: string } = {};
  for (const [field, kinds, write] of dialect.gateRows) {
    if (kinds.includes(kind)) constant[field] = write(settings);
  }
  // Encoded only to be checked: a wrong setting is found now and not by the first cardholder.
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

/** Messages tell time to the second, and thousands share one: the last one is kept. */
function makeSecondOf(): typeof calendar {
  let second = Number.NaN;
  let kept = calendar(asInstant(0));
  return (instant) => {
    const wanted = Math.floor(instant / 1000);
    if (wanted !== second) {
      kept = calendar(asInstant(wanted * 1000));
      second = wanted;
    }
    return kept;
  };
}
