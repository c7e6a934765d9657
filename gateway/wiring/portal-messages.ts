/** The messages of an order as the portal shows them, by the protocol that each is of. */
import { writeDescribed } from "@tollgate/protocols/threeds102";
import type { Gates } from "../acquirers/gates.ts";
import {
  chargeMessagesOf,
  dumpMessage,
  nameFields,
} from "../acquirers/iso8583-host/shown-messages.ts";
import type { KeptMessage } from "../orders/events.ts";
import type { Answer, Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import type { MessageView, TimelineOptions } from "../portal-api/timeline.ts";

type Shown = Pick<TimelineOptions, "chargeMessagesOf" | "viewMessage">;

export function makeShownMessages(gates: Pick<Gates, "list">): Shown {
  const gateOf = (order: Order) => {
    const { identifiers } = order.transaction.identifiers ? order.transaction : initialOf(order);
    return gates.list().find(({ id }) => id === identifiers?.gate.id);
  };
  return {
    chargeMessagesOf(order: Order, answer: Answer) {
      const gate = gateOf(order);
      return gate === undefined ? [] : chargeMessagesOf(gate, order, answer);
    },
    viewMessage(order: Order, message: KeptMessage): MessageView {
      const gate = /^\d{4}$/.test(message.type) ? gateOf(order) : undefined;
      const raw = gate === undefined ? writeText(message) : dumpMessage(gate, message);
      const fields = gate === undefined ? plainFields(message) : nameFields(gate, message);
      return { fields, ...(raw === undefined ? {} : { raw }) };
    },
  };
}

function plainFields({ fields }: KeptMessage) {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}

/** In 1.0.2 messages are XML, in the later versions JSON. */
function writeText({ type, fields }: KeptMessage): string | undefined {
  if (/^\d/.test(type)) return undefined;
  const isXml = /^(VE|PA)Re[qs]$/.test(type);
  if (isXml) return writeDescribed(type, fields);
  return JSON.stringify({ messageType: type, ...fields }, undefined, 2);
}
