/**
 * Our ids of authentications. A directory server's result names nothing else, so the id leads back
 * to its order by itself: the last twelve digits are the order's sequence number. What comes before
 * is random, so that nobody can name an authentication that he has not been told of.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { type OrderId, sequenceOf } from "../values/ids.ts";

/** The shape of a random UUID (version 4), which is what directory servers expect. */
export function newTransactionId(order: OrderId): string {
  const sequence = sequenceOf(order).toString(16).padStart(12, "0");
  return `${randomUUID().slice(0, 24)}${sequence}`;
}

/** An order with a higher one could not be stored, so there is none. */
const sequenceMax = 9_223_372_036_853n;

/** The sequence number of the order that it may belong to; nothing for what is no id at all. */
export function sequenceIn(transactionId: string): bigint | undefined {
  const [, digits] = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-([0-9a-f]{12})$/i.exec(transactionId) ?? [];
  const sequence = BigInt(`0x${digits ?? "0"}`);
  return digits === undefined || sequence > sequenceMax ? undefined : sequence;
}

/** Whoever passes ids on may write their letters otherwise. */
export function isSameId(told: string | undefined, known: string | undefined): boolean {
  return known !== undefined && told?.toLowerCase() === known.toLowerCase();
}

/** 1.0.2: twenty bytes in base64. */
export function newXid(): string {
  return randomBytes(20).toString("base64");
}
