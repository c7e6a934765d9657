/**
 * The laws that hold under every fault. They are checked with every commit, every message that
 * reaches the host and every answer to a merchant, and at the end, when the faults have long
 * stopped.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { OrderEvent } from "../../gateway/orders/events.ts";
import type { Order, Transaction } from "../../gateway/orders/order.ts";
import { isFinal } from "../../gateway/orders/stages.ts";
import { initialOf, totalsOf, transactionsOf } from "../../gateway/orders/transactions.ts";
import { type OrderRow, unpackOrder } from "../../gateway/storage/orders/order-row.ts";
import { open } from "../../gateway/vault/keys.ts";
import { makeCellWatch, unreachable } from "./cells.ts";
import { readSettings, strictShop } from "./configuration.ts";
import { earlierOf } from "./database-callbacks.ts";
import type { OrderRecord, Tables } from "./database-model.ts";
import type { Booking } from "./host.ts";
import { makeHostLaws } from "./host-laws.ts";
import { masterKey } from "./node.ts";
import { startOfTime } from "./platform.ts";
import { findUnnamed } from "./reconciled.ts";
import type { SimulatedProcess } from "./virtual-time.ts";

export type Violation = { readonly law: string; readonly detail: string; readonly orderId: string };

export type Laws = ReturnType<typeof makeLaws>;

/**
 * A decision of a process. It continues under another name if its own was taken while it had no
 * database.
 */
type Decided = {
  readonly node: string;
  readonly process: SimulatedProcess;
  readonly at: number;
};
/** `awaits` says that it has sent the charge and waits for the answer. */
type Holder = Decided & { readonly awaits: boolean };
type Commit = Decided & { readonly events: string };

type Known = {
  readonly books: readonly Booking[];
  readonly secrets: readonly string[];
  /** Ids of authentications that an issuer has approved. */
  readonly proven: ReadonlySet<string>;
  /** Serial numbers and statuses that receivers of callbacks have accepted. */
  readonly heard: ReadonlySet<string>;
  readonly now: () => number;
  /** Whether the database has lost statements or answers since then. */
  readonly wasLossy: (sinceMs: number) => boolean;
};

export function makeLaws(tables: Tables, known: Known) {
  const { books, secrets, proven, heard, now } = known;
  const violations: Violation[] = [];
  /** The final stage of each transaction, by its serial number. */
  const ended = new Map<string, string>();
  const told = new Map<string, string>();
  /** The order of each reference that was ever committed. */
  const owners = new Map<string, string>();
  const charged = new Set<string>();
  /** The authentication of each reference that must have one. */
  const authentications = new Map<string, string>();
  const acknowledged = new Set<string>();
  /** The node that runs each order, and when it decided to, by its own time. */
  const holders = new Map<string, Holder>();
  const cells = makeCellWatch();
  const hostLaws = makeHostLaws({ breakLaw, meet: cells.meet });
  /** Orders of which a standby that took over lacks commits, and their client order ids. */
  const lost = new Set<string>();
  /** The times at which an operator has settled an order by the host's books. */
  const settled = new Map<string, number>();

  return {
    violations,
    onCommitsLost,
    onCallbackEnded,
    onMissing,
    breakLaw,
    onCommit,
    onMessage,
    onBooked,
    onReversed: hostLaws.onReversed,
    checkEnd,
    reached: cells.reached,
    isLost: (orderId: string) => lost.has(orderId),
    ownerOf: (reference: string) => owners.get(reference) ?? "",
    onAcknowledged: (orderId: string) => void acknowledged.add(orderId),
    /** Called when a merchant that sends one request after the other has read the transaction. */
    onTold: (transaction: Transaction, orderId: string) => checkEnded(told, transaction, orderId),
  };

  function breakLaw(law: string, detail: string, orderId = ""): void {
    violations.push({ law, detail, orderId });
  }

  /** Reconciliation must find what is missing in the host's books. */
  function onCommitsLost(orders: readonly OrderRecord[]): void {
    for (const { id, client_orderid } of orders) lost.add(id).add(client_orderid);
  }

  function onMissing(orderId: string): void {
    if (!lost.has(orderId)) breakLaw("no acknowledged order is lost", "", orderId);
  }

  function onCommit(orderId: string, { events, ...decided }: Commit): void {
    const record = tables.orders.get(orderId);
    if (record === undefined) return;
    const order = orderOf(record);
    const { transaction } = order;
    const read: OrderEvent[] = JSON.parse(events);
    for (const each of transactionsOf(order)) checkEnded(ended, each, orderId);
    // After lost commits, the previous stage may differ from the one that was seen last.
    if (!lost.has(orderId)) cells.onCommit(orderId, transaction, read);
    checkHolder(order, read, decided);
    hostLaws.onCommit(orderId, transaction, lost.has(orderId) ? [] : read);
    const isOver = isFinal(transaction.stage) && read.some(({ kind }) => kind === "expired");
    if (transaction.kind === "payout" && isOver && transaction.identifiers !== undefined) {
      breakLaw("no clock settles a payout", transaction.stage, orderId);
    }
    if (read.some(({ kind }) => kind.startsWith("settled_as_"))) settled.set(orderId, now());
    for (const { identifiers } of [transaction, ...(transaction.priorAttempts ?? [])]) {
      if (identifiers !== undefined) own(identifiers.reference, orderId);
    }
    const { threeds, identifiers } = transaction;
    const isStrict = order.endpointId === strictShop.id && transaction.kind !== "payout";
    if (isStrict && identifiers !== undefined) {
      authentications.set(identifiers.reference, threeds?.transactionId ?? "");
    }
    checkDeadline(record, order);
    checkAmounts(order);
  }

  /**
   * Asserts that a running node keeps its order for the lease, apart from differences of clocks.
   */
  function checkHolder(order: Order, events: OrderEvent[], decided: Decided): void {
    const { id, owed } = order;
    const { node, process, at } = decided;
    const holder = holders.get(id);
    const isSame = holder?.node === node || holder?.process === process;
    const isOfOther = holder !== undefined && !isSame && !lost.has(id);
    const isClaim = events.some(({ kind }) => kind === "claimed" || kind === "expired");
    const isHeld = holder !== undefined && at < holder.at + leaseMs / 2;
    if (isClaim && isHeld && isOfOther) {
      breakLaw("two nodes never both may send", `${node} claims it from ${holder.node}`, id);
    }
    if (isClaim && isOfOther && holder.awaits && knowsApproval(order, holder.node, known)) {
      breakLaw("an approval that a live node knows is kept", `${node} claims it`, id);
    }
    if (isOfOther && isHeld && holder.awaits && events.some(isLateApproval)) {
      breakLaw("an answer is left to the node that awaits it", `${node} reverses it`, id);
    }
    if (holder?.awaits === true && !isOfOther && events.some(({ kind }) => kind === "authorized")) {
      if (now() > holder.at + leaseMs) cells.meet("an approval is committed after its lease", id);
    }
    const isFree = owed === undefined || owed.resting === true || events.some(isByOperator);
    if (isFree) holders.delete(id);
    // A node that reports a late approval of an earlier charge does not take the order.
    const isBegun = holder === undefined && owed?.effect === "reverse_prior";
    const isWork = ({ kind }: OrderEvent) =>
      kind !== "noted" && (kind !== "prior_approved_late" || isBegun);
    const awaits = owed?.effect === "authorize" && !isClaim;
    if (!isFree && events.some(isWork)) holders.set(id, { ...decided, awaits });
  }

  /** Asserts that no order has the reference of another, even after lost commits. */
  function own(reference: string, orderId: string): void {
    const owner = owners.get(reference) ?? orderId;
    if (owner !== orderId) breakLaw("no reference comes again", `${reference}, ${owner}`, orderId);
    owners.set(reference, orderId);
  }

  /** Asserts that no order waits without a deadline, and that an order in flight has its node. */
  function checkDeadline({ id, version, carrier }: OrderRecord, { transaction, owed }: Order) {
    if (isFinal(transaction.stage) && owed === undefined) return;
    const isDue = tables.due.values().some((due) => due.order_id === id && due.version === version);
    if (!isDue) breakLaw("an open order has a deadline", `version ${version} has none`, id);
    if (owed !== undefined && owed.resting !== true && carrier === null) {
      breakLaw("an order that is owed an effect has a node", `version ${version}`, id);
    }
  }

  function checkEnded(
    known: Map<string, string>,
    { serialNumber, stage }: Transaction,
    orderId: string,
  ): void {
    if (lost.has(orderId)) return;
    const before = known.get(serialNumber);
    if (before !== undefined && before !== stage) {
      breakLaw("nothing final changes", `${before} became ${stage}`, orderId);
    }
    if (isFinal(stage)) known.set(serialNumber, stage);
  }

  function checkAmounts(order: Order): void {
    const { charged: taken, returned } = totalsOf(order);
    if (returned.minor > taken.minor) {
      breakLaw("returned is at most charged", `${returned.minor} of ${taken.minor}`, order.id);
    }
  }

  function onMessage(message: IsoMessage, host: number): void {
    const { mti, fields } = message;
    const { 37: reference = "" } = fields;
    const orderId = owners.get(reference);
    hostLaws.onMessage(message, host, orderId);
    const kind = orderId === undefined ? undefined : tables.orders.get(orderId)?.kind;
    if (kind === "payout" && /^0[24]2|^04/.test(mti)) {
      breakLaw("a payout is never taken back", `${mti} ${reference}`, orderId);
    }
    if (mti !== "0200" && mti !== "0100") return;
    if (orderId === undefined) {
      breakLaw("a charge is committed before it is sent", reference);
    } else if (charged.has(reference) && !lost.has(orderId)) {
      breakLaw("a charge is sent once", reference, orderId);
    }
    const authentication = authentications.get(reference);
    if (authentication !== undefined && !proven.has(authentication)) {
      breakLaw("no charge goes without its authentication", reference, orderId);
    }
    charged.add(reference);
  }

  /**
   * Asserts that no other charge for the same purchase is made while the gateway calls an order
   * approved, or the host has a charge of it that may have to be reversed.
   */
  function onBooked(booking: Booking): void {
    const orderId = owners.get(booking.reference) ?? "";
    const record = tables.orders.get(orderId);
    if (record === undefined || lost.has(record.client_orderid)) return;
    // The host has refused the charge before, so the gateway can only reverse it.
    if (booking.toldLate !== undefined) return;
    const others = ordersLike(record).filter(
      ({ id, stage }) => id !== orderId && (stage === "approved" || bookingsOf(id).some(isInForce)),
    );
    for (const { id } of others) {
      breakLaw("a client order id is charged once", `beside order ${id}`, orderId);
    }
  }

  function bookingsOf(orderId: string): Booking[] {
    return books.filter(({ reference }) => owners.get(reference) === orderId);
  }

  function ordersLike({ client_orderid }: OrderRecord): OrderRecord[] {
    return tables.orders.values().filter((order) => order.client_orderid === client_orderid);
  }

  /** Checks the end. `endedAt` is the database's time. */
  async function checkEnd(endedAt: number): Promise<void> {
    for (const orderId of acknowledged) {
      if (!tables.orders.has(orderId)) onMissing(orderId);
    }
    const inForce = new Map<string, number>();
    for (const record of tables.orders.values()) {
      const order = orderOf(record);
      if (!isFinal(order.transaction.stage) || order.owed !== undefined) {
        const { stage } = order.transaction;
        breakLaw("doubt ends", `${stage}, owes ${order.owed?.effect ?? "nothing"}`, order.id);
        continue;
      }
      checkTold(order);
      if (lost.has(order.clientOrderId)) continue;
      checkBooks(order);
      const { held, standing } = totalsOf(order);
      const isInForce = held.minor + standing.minor > 0n;
      const count = (inForce.get(order.clientOrderId) ?? 0) + (isInForce ? 1 : 0);
      if (count > 1) breakLaw("a client order id is charged once", "at the end", order.id);
      inForce.set(order.clientOrderId, count);
    }
    const orders = tables.orders.values().map(orderOf);
    for (const reference of await findUnnamed(orders, books)) {
      if (books.some((each) => each.reference === reference && isUnknowable(each))) continue;
      breakLaw("reconciliation names every difference", reference, owners.get(reference));
    }
    for (const [cell, orderId] of cells.reached) {
      const reason = unreachable.get(cell);
      if (reason !== undefined) breakLaw("a cell is unreachable", `${cell}: ${reason}`, orderId);
    }
    violations.push(...findLeftovers(tables, secrets, endedAt));
  }

  /** Checks callbacks by what receivers have accepted, and not by the gateway's own records. */
  function checkTold(order: Order): void {
    for (const { serialNumber, stage } of transactionsOf(order)) {
      if (heard.has(`${serialNumber} ${stage}`)) continue;
      breakLaw("every final status is told", `no receiver has heard of ${stage}`, order.id);
    }
  }

  function checkBooks(order: Order): void {
    const own = bookingsOf(order.id);
    const { stage, identifiers } = initialOf(order);
    // Whether an inquiry has found the charge.
    const isKnown = (reference: string) =>
      stage === "approved" && reference === identifiers?.reference;
    checkPayout(order, own);
    for (const each of own.filter(isUnheeded)) {
      const isSettled = (each.heard?.at ?? 0) <= (settled.get(order.id) ?? -1);
      if (isKnown(each.reference) || isSettled) continue;
      breakLaw("an approval that a node hears counts or is reversed", each.reference, order.id);
    }
    const standing = own.filter(
      (each) => !each.isReversed && (isKnown(each.reference) || !isUnknowable(each)),
    );
    const charges = standing.filter(({ captured }) => captured > 0);
    const taken = charges.reduce((sum, each) => sum + each.captured - each.returned, 0);
    const ours = totalsOf(order);
    if (BigInt(taken) !== ours.standing.minor) {
      const detail = `the host has taken ${taken}, the gateway says ${ours.standing.minor}`;
      breakLaw("the host's books equal ours", detail, order.id);
    }
    const holds = standing.filter((each) => each.kind === "authorisation" && each.captured === 0);
    const held = holds.reduce((sum, each) => sum + each.amount - each.returned, 0);
    if (BigInt(held) !== ours.held.minor) {
      const detail = `the host holds ${held}, the gateway says ${ours.held.minor}`;
      breakLaw("the host's books equal ours", detail, order.id);
    }
  }

  /** The host's word about a payout is the gateway's: once if it is approved, and never else. */
  function checkPayout({ id, transaction }: Order, own: readonly Booking[]): void {
    const paid = own.filter(({ kind }) => kind === "payout").length;
    const expected = transaction.kind === "payout" && transaction.stage === "approved" ? 1 : 0;
    if (paid === expected) return;
    breakLaw("a payout is paid once, or known to be unpaid", `paid ${paid} times`, id);
  }

  function onCallbackEnded(orderId: string, sequence: number): void {
    const ended = tables.callbacks.get(`${orderId}/${sequence}`);
    for (const earlier of ended === undefined ? [] : earlierOf(tables, ended)) {
      breakLaw("callbacks are told in order", `${sequence} before ${earlier.sequence}`, orderId);
    }
  }
}

/** Finds what the laws forbid in the database at the end. */
function findLeftovers(tables: Tables, secrets: readonly string[], endedAt: number): Violation[] {
  const untold = tables.callbacks
    .values()
    .flatMap(({ order_id: orderId, sequence, ended: end }) => {
      const detail = `callback ${sequence} is ${end ?? "open"}`;
      return end === "delivered" ? [] : [{ law: "every final status is told", detail, orderId }];
    });
  const texts = [
    ...tables.orders.values().map(({ id, facts, progress }) => ({ id, text: facts + progress })),
    ...tables.history.values().map(({ order_id: id, events }) => ({ id, text: events })),
  ];
  const clear = texts
    .filter(({ text }) => secrets.some((secret) => text.includes(secret)))
    .map(({ id }) => ({ law: "no card number is stored in clear", detail: "", orderId: id }));
  const outlived = tables.pendingCards
    .values()
    .filter(({ expires }) => expires < endedAt - 60_000)
    .map(({ context }) => {
      const orderId = context.split("/")[1] ?? "";
      return { law: "no CVV outlives its time", detail: context, orderId };
    });
  const kept = tables.cvvKeys.entries().flatMap(([slot, { expires }]) => {
    const detail = `the key of the digests of slot ${slot}`;
    const isOver = expires < endedAt - 60_000;
    return isOver ? [{ law: "no CVV outlives its time", detail, orderId: "" }] : [];
  });
  return [...untold, ...clear, ...outlived, ...kept, ...findUnreadable(tables)];
}

/** Finds encrypted data that no key of the vault decrypts, and keys that are half retired. */
function findUnreadable({ vaultKeys, cardKeys, cards }: Tables): Violation[] {
  const opened = new Map<number, Buffer>();
  for (const [id, { purpose, sealed, retiredAt }] of vaultKeys.entries()) {
    const isLeft = retiredAt !== null && purpose !== "digests";
    if (sealed === null) continue;
    const isClosed = retiredAt === null && cardKeys.get(id)?.isDestroyed === true;
    if (isClosed) return [{ law: "a key in use is open", detail: `key ${id}`, orderId: "" }];
    if (isLeft) return [{ law: "a rotation ends", detail: `key ${id} is left`, orderId: "" }];
    opened.set(Number(id), open(masterKey, sealed, purpose));
  }
  return cards.values().flatMap(({ merchant_id, id, keyId, sealed }) => {
    const law = "no card becomes unreadable";
    try {
      open(opened.get(keyId) ?? Buffer.alloc(0), sealed, `card/${merchant_id}/${id}`);
      return [];
    } catch {
      return [{ law, detail: `card ${id} under key ${keyId}`, orderId: id }];
    }
  });
}

const { answerTimeoutMs, leaseSlackMs } = readSettings();
const leaseMs = answerTimeoutMs + leaseSlackMs;
const isByOperator = (event: OrderEvent) => "by" in event;
const isLateApproval = ({ kind }: OrderEvent) => kind === "approved_late";

/**
 * Whether the node has received the approval of its charge in time. It commits it after any outage
 * of the database, and no other node may claim the order before.
 */
function knowsApproval(order: Order, node: string, { books, wasLossy }: Known): boolean {
  const { reference, transmittedAt = 0 } = order.transaction.identifiers ?? {};
  const approval = books.findLast((each) => each.reference === reference)?.heard;
  if (approval === undefined || !approval.isOnLine || approval.by.name !== node) return false;
  const { at, by } = approval;
  const isInTime = startOfTime + at < transmittedAt + 0.8 * answerTimeoutMs;
  return isInTime && by.isAlive && by.frozenUntil <= at && !wasLossy(at);
}

/** Whether the charge stands and the host has said nothing else about it before. */
function isInForce({ amount, isReversed, toldLate }: Booking): boolean {
  return amount > 0 && !isReversed && toldLate === undefined;
}

/** Whether no reversal came after the approval; an earlier one may have had nothing to reverse. */
function isUnheeded({ amount, heard, reversedAt }: Booking): boolean {
  return amount > 0 && heard?.by.isAlive === true && reversedAt < heard.at;
}

/**
 * Whether the host has approved a refused charge, and no node that received that is alive at the
 * end.
 */
function isUnknowable({ toldLate }: Booking): boolean {
  return toldLate !== undefined && ![...toldLate].some(({ isAlive }) => isAlive);
}

export function orderOf(record: OrderRecord): Order {
  const documents = { facts: JSON.parse(record.facts), progress: JSON.parse(record.progress) };
  return unpackOrder({ ...record, ...documents } as OrderRow);
}
