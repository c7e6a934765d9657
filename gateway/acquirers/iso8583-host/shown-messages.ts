/**
 * Shows messages of a gate to people: fields by name, and bytes, encoded again from the shown
 * fields. The messages of a plain charge are derived from the order, because they are not stored
 * (decision 0061).
 */
import { describe, dumpMasked, type IsoMessage, responseMti } from "@tollgate/protocols/iso8583";
import type { KeptMessage } from "../../orders/messages.ts";
import type { Answer, Order } from "../../orders/order.ts";
import { initialOf } from "../../orders/transactions.ts";
import { CardNumber } from "../../values/card-number.ts";
import { authorizationRequestOf } from "../acquirer.ts";
import type { Gate, Gates } from "../gates.ts";
import { dialects } from "./connector.ts";
import { makeMessages } from "./messages.ts";

type ShownGate = Pick<Gate, "kind" | "settings">;

/** `writeOther` writes messages that no gate has sent, such as those of 3-D Secure. */
export function makeShownMessages(
  gates: Pick<Gates, "list">,
  writeOther: (message: KeptMessage) => string | undefined,
) {
  const gateOf = (order: Order) => {
    const { identifiers } = order.transaction.identifiers ? order.transaction : initialOf(order);
    return gates.list().find(({ id }) => id === identifiers?.gate.id);
  };
  return {
    chargeMessagesOf(order: Order, answer: Answer) {
      const gate = gateOf(order);
      return gate === undefined ? [] : chargeMessagesOf(gate, order, answer);
    },
    viewMessage(order: Order, message: KeptMessage) {
      const gate = /^\d{4}$/.test(message.type) ? gateOf(order) : undefined;
      const raw = gate === undefined ? writeOther(message) : dumpMessage(gate, message);
      const fields = gate === undefined ? plainFields(message) : nameFields(gate, message);
      return { fields, ...(raw === undefined ? {} : { raw }) };
    },
  };
}

function plainFields({ fields }: KeptMessage) {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}

function nameFields({ kind }: ShownGate, { fields }: KeptMessage) {
  const { rows } = dialects[kind].specification;
  return Object.entries(fields).map(([field, value]) => {
    const [, name = ""] = rows.find(([number]) => String(number) === field) ?? [];
    return { name: `${field} ${name}`.trim(), value };
  });
}

function dumpMessage({ kind }: ShownGate, { type, fields }: KeptMessage) {
  return dumpMasked(dialects[kind].specification, { mti: type, fields });
}

/** The charge is shown as its gate writes it today, and the answer as the gate reads it. */
function chargeMessagesOf(gate: ShownGate, order: Order, answer: Answer): readonly KeptMessage[] {
  const { card, transaction } = order;
  const { expiryMonth, expiryYear, bin, lastFour } = card;
  // Only the first six and last four digits of the card number are shown.
  const number = new CardNumber(`${bin}000000${lastFour}`);
  const request = authorizationRequestOf(order, {
    number,
    expiryMonth,
    expiryYear: expiryYear.slice(-2),
  });
  const sentAt = transaction.identifiers?.transmittedAt;
  if (request === undefined || sentAt === undefined) return [];
  const { specification } = dialects[gate.kind];
  const message = makeMessages(dialects[gate.kind], gate.settings).makeCharge(request);
  const view = (way: KeptMessage["way"], at: KeptMessage["at"], shown: IsoMessage) => {
    const { mti: type = "", ...fields } = describe(shown, specification);
    return { at, way, type, fields };
  };
  return [
    view("sent", sentAt, message),
    view("received", answer.processedAt, answerTo(message, answer)),
  ];
}

/** The fields that decide the meaning of an answer. The others are not known any more. */
function answerTo({ mti, fields }: IsoMessage, answer: Answer): IsoMessage {
  const { responseCode, approvalCode, approvedAmount } = answer;
  const amount = approvedAmount && {
    4: String(approvedAmount.minor).padStart(12, "0"),
    49: approvedAmount.currency.numeric,
  };
  const known = {
    ...amount,
    11: fields[11] ?? "",
    37: fields[37] ?? "",
    39: responseCode,
    ...(approvalCode && { 38: approvalCode.padEnd(6) }),
  };
  return { mti: responseMti(mti), fields: known };
}
