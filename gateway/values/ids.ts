/**
 * Every kind of identifier, in alphabetical order. They are numeric strings, because they travel as
 * text on the wire and as bigint in the database and nothing ever calculates with them, except for
 * the order id: its last six digits are random, the rest is the order's sequence number.
 */
import type { Brand } from "./brand.ts";

export type CardId = Brand<string, "CardId">;
export type CardRefId = Brand<string, "CardRefId">;
export type EndpointId = Brand<string, "EndpointId">;
export type GateId = Brand<string, "GateId">;
export type GroupId = Brand<string, "GroupId">;
export type MerchantId = Brand<string, "MerchantId">;
export type OrderId = Brand<string, "OrderId">;
export type ReceiptId = Brand<string, "ReceiptId">;
export type SerialNumber = Brand<string, "SerialNumber">;

const bigintMax = 9223372036854775807n;
const randomDigits = 6;

export const asCardId = (text: string) => text as CardId;
export const asCardRefId = (text: string) => text as CardRefId;
export const asEndpointId = (text: string) => text as EndpointId;
export const asGateId = (text: string) => text as GateId;
export const asGroupId = (text: string) => text as GroupId;
export const asMerchantId = (text: string) => text as MerchantId;
export const asOrderId = (text: string) => text as OrderId;
export const asReceiptId = (text: string) => text as ReceiptId;
export const asSerialNumber = (text: string) => text as SerialNumber;

/** Digits that fit the database's bigint: what any identifier from outside must at least be. */
export function isNumericId(text: string): boolean {
  if (!/^[1-9]\d{0,19}$/.test(text)) return false;
  return text.length < 19 || BigInt(text) <= bigintMax;
}

export function isSerialNumber(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** `random` is a whole number below a million: with it one order id does not tell the next. */
export function composeOrderId(sequence: bigint, random: number): OrderId {
  return asOrderId(`${sequence}${String(random).padStart(randomDigits, "0")}`);
}

export function sequenceOf(order: OrderId): bigint {
  return BigInt(order.slice(0, -randomDigits));
}

/** The lowest and the highest order id that a sequence number can have. */
export function orderIdsOf(sequence: bigint): { first: OrderId; last: OrderId } {
  return { first: composeOrderId(sequence, 0), last: composeOrderId(sequence, 999_999) };
}
