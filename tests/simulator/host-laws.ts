/**
 * The laws about hosts: a charge goes to the host to which it was routed, and only that host can
 * say that the charge does not stand.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { OrderEvent } from "../../gateway/orders/events.ts";
import type { Transaction } from "../../gateway/orders/order.ts";
import type { makeCellWatch } from "./cells.ts";

type Dependencies = Pick<ReturnType<typeof makeCellWatch>, "meet"> & {
  readonly breakLaw: (law: string, detail: string, orderId?: string) => void;
};

export function makeHostLaws({ breakLaw, meet }: Dependencies) {
  /** The reference of each order's present charge. */
  const present = new Map<string, string>();
  /** The host of each charge; the gate changes between the hosts. */
  const hosts = new Map<string, number>();
  /** Charges of which a host has said that they do not stand. */
  const denied = new Set<string>();

  return {
    onMessage({ mti, fields }: IsoMessage, host: number, orderId = ""): void {
      const { 37: reference = "" } = fields;
      if (host === (hosts.get(reference) ?? host)) return;
      meet("a host gets a message about a charge of another", orderId);
      const isCharge = mti === "0200" || mti === "0100";
      if (isCharge) breakLaw("a charge goes to the host of its gate", reference, orderId);
    },
    onReversed: (reference: string, host: number) => void denied.add(`${host} ${reference}`),
    onCommit(orderId: string, transaction: Transaction, events: readonly OrderEvent[]): void {
      for (const event of events) checkProof(orderId, event);
      for (const { identifiers } of [transaction, ...(transaction.priorAttempts ?? [])]) {
        if (identifiers === undefined) continue;
        hosts.set(identifiers.reference, (identifiers.gate.hostChanges ?? 0) % 2);
      }
      const { identifiers } = transaction;
      if (identifiers !== undefined) present.set(orderId, identifiers.reference);
    },
  };

  function checkProof(orderId: string, event: OrderEvent): void {
    const isOfPresent = /^(part_|amount_)?reversed$/.test(event.kind);
    const own = isOfPresent ? present.get(orderId) : undefined;
    const reference = event.kind === "prior_reversed" ? event.reference : own;
    if (reference === undefined || denied.has(`${hosts.get(reference)} ${reference}`)) return;
    breakLaw("no host speaks for another", reference, orderId);
  }
}
