/**
 * Builds the messages of one gate from the dialect's tables. What a gate says in every message is
 * written once, when the gate is made, and settings that do not fit their fields fail there.
 */
import { encode, type Fields, type Message } from "@tollgate/protocols/iso8583";
import { asInstant, calendar, type Instant } from "../../values/time.ts";
import type { Attempt, ReversalAdvice } from "../acquirer.ts";
import type { GateSettings } from "../gate.ts";
import {
  attemptRows,
  type Facts,
  gateRows,
  type MessageKind,
  mtis,
  specification,
  transmissionTime,
} from "./dialect.ts";

export type Messages = {
  readonly makeSale: (attempt: Attempt) => Message;
  readonly makeReversal: (attempt: Attempt, advice: ReversalAdvice, at: Instant) => Message;
};

export function makeMessages(settings: GateSettings): Messages {
  const { acquirerId } = settings;
  const secondOf = makeSecondOf();
  const fillSale = makeFill("sale", settings);
  const fillReversal = makeFill("reversal", settings);

  return {
    makeSale(attempt) {
      const { traceNumber, transmittedAt } = attempt.charge;
      const sent = secondOf(transmittedAt);
      const rest = { approvalCode: undefined, original: undefined };
      return { mti: mtis.sale, fields: fillSale({ attempt, sent, traceNumber, ...rest }) };
    },

    makeReversal(attempt, { traceNumber, repeated, approvalCode }, at) {
      const original = { sent: secondOf(attempt.charge.transmittedAt), acquirerId };
      const facts = { attempt, sent: secondOf(at), traceNumber, approvalCode, original };
      const mti = repeated ? mtis.reversalRepeated : mtis.reversal;
      return { mti, fields: fillReversal(facts) };
    },
  };
}

/** Sign-on, sign-off, echo. */
export function makeNetworkMessage(code: string, traceNumber: string, at: Instant): Message {
  const fields = { 7: transmissionTime(calendar(at)), 11: traceNumber, 70: code };
  return { mti: mtis.network, fields };
}

function makeFill(kind: MessageKind, settings: GateSettings): (facts: Facts) => Fields {
  const rows = attemptRows.filter(([, where]) => where === kind || where === "both");
  const constant: { [field: number]: string } = {};
  for (const [field, where, write] of gateRows) {
    if (where === kind || where === "both") constant[field] = write(settings);
  }
  // Encoded only to be checked: a wrong setting is found now and not by the first cardholder.
  encode(specification, { mti: mtis.sale, fields: constant });

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
