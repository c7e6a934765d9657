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
import { type Dialect, type Facts, type MessageKind, networkMti } from "./dialect.ts";
import { transmissionTime } from "./fields.ts";

export type Messages = {
  readonly makeCharge: (attempt: AuthorizationRequest) => IsoMessage;
  readonly makeInquiry: (
    attempt: AuthorizationRequest,
    inquiry: InquiryRequest,
    at: Instant,
  ) => IsoMessage;
  readonly makeReversal: (
    attempt: AuthorizationRequest,
    advice: ReversalRequest,
    at: Instant,
  ) => IsoMessage;
  readonly makeCapture: (request: FollowUpMessage) => IsoMessage;
  readonly makeReturn: (request: FollowUpMessage) => IsoMessage;
};

export function makeMessages(dialect: Dialect, settings: GateSettings): Messages {
  const { mtis } = dialect;
  const { acquirerId } = settings;
  const secondOf = makeSecondOf();
  const fill = makeFills(dialect, settings);

  return {
    makeCharge({ kind, identifiers, card, amount, cvv, authentication, credential }) {
      const sent = secondOf(identifiers.transmittedAt);
      const { traceNumber } = identifiers;
      const original = undefined;
      const proof = { cvv, authentication, credential, original };
      const facts = { identifiers, card, amount, sent, traceNumber, ...proof };
      return { mti: mtis[kind].first, fields: fill[kind](facts) };
    },

    makeInquiry(attempt, { traceNumber }, at) {
      const facts = factsAbout(attempt, { traceNumber, approvalCode: undefined, at });
      return { mti: mtis.inquiry.first, fields: fill.inquiry(facts) };
    },

    makeReversal(attempt, { traceNumber, repeated, approvalCode }, at) {
      const facts = factsAbout(attempt, { traceNumber, approvalCode, at });
      return { mti: mtiOf("reversal", repeated), fields: fill.reversal(facts) };
    },

    makeCapture(request) {
      const fields = fill.capture(factsOf(request, request.amount));
      return { mti: mtiOf("capture", request.repeated), fields };
    },

    makeReturn(request) {
      const { amount, remaining, repeated } = request;
      const before = new Money(amount.minor + remaining.minor, amount.currency);
      return { mti: mtiOf("return", repeated), fields: fill.return(factsOf(request, before)) };
    },
  };

  function mtiOf(kind: MessageKind, repeated: boolean): string {
    return repeated ? mtis[kind].repeated : mtis[kind].first;
  }

  type Own = { readonly traceNumber: string; approvalCode: string | undefined; at: Instant };

  function factsAbout(
    attempt: AuthorizationRequest,
    { traceNumber, approvalCode, at }: Own,
  ): Facts {
    const { kind, identifiers, card, amount, credential } = attempt;
    const about = { mti: mtis[kind].first, sent: secondOf(identifiers.transmittedAt), acquirerId };
    const original = { ...about, approvalCode, networkId: undefined, remaining: undefined };
    const sent = secondOf(at);
    const proof = { cvv: undefined, authentication: undefined, credential };
    return { identifiers, card, amount, sent, traceNumber, ...proof, original };
  }

  function factsOf(request: FollowUpMessage, amount: Money): Facts {
    const { card, remaining, traceNumber, transmittedAt } = request;
    const { kind, identifiers, approvalCode, networkId } = request.original;
    const about = { mti: mtis[kind].first, sent: secondOf(identifiers.transmittedAt), acquirerId };
    const original = { ...about, approvalCode, networkId, remaining };
    const sent = secondOf(transmittedAt);
    const proof = { cvv: undefined, authentication: undefined, credential: undefined };
    return { identifiers, card, amount, sent, traceNumber, ...proof, original };
  }
}

/** Sign-on, sign-off, echo. */
export function makeNetworkMessage(code: string, traceNumber: string, at: Instant): IsoMessage {
  const fields = { 7: transmissionTime(calendar(at)), 11: traceNumber, 70: code };
  return { mti: networkMti, fields };
}

type Fill = (facts: Facts) => IsoFields;

function makeFills(dialect: Dialect, settings: GateSettings): Record<MessageKind, Fill> {
  const make = (kind: MessageKind) => makeFill(dialect, kind, settings);
  return {
    "sale": make("sale"),
    "preauth": make("preauth"),
    "account-verification": make("account-verification"),
    "inquiry": make("inquiry"),
    "reversal": make("reversal"),
    "capture": make("capture"),
    "return": make("return"),
  };
}

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
