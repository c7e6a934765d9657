/**
 * Every kind of identifier: numeric strings, which are text on the wire, bigint in the database,
 * and never used in arithmetic. Order ids are numbers of a plain sequence, of eight to eleven
 * digits.
 */

/** Distinguishes two meanings of one primitive type. It exists for the compiler only. */
export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };
declare const brand: unique symbol;

export type CardId = Brand<string, "CardId">;
export type CardRefId = Brand<string, "CardRefId">;
export type EndpointId = Brand<string, "EndpointId">;
export type GateId = Brand<string, "GateId">;
export type GroupId = Brand<string, "GroupId">;
export type LinkId = Brand<string, "LinkId">;
export type MerchantId = Brand<string, "MerchantId">;
export type OrderId = Brand<string, "OrderId">;
export type ReceiptId = Brand<string, "ReceiptId">;
export type SerialNumber = Brand<string, "SerialNumber">;

export const asCardId = (text: string) => text as CardId;
export const asCardRefId = (text: string) => text as CardRefId;
export const asEndpointId = (text: string) => text as EndpointId;
export const asGateId = (text: string) => text as GateId;
export const asGroupId = (text: string) => text as GroupId;
export const asLinkId = (text: string) => text as LinkId;
export const asMerchantId = (text: string) => text as MerchantId;
export const asOrderId = (text: string) => text as OrderId;
export const asReceiptId = (text: string) => text as ReceiptId;
export const asSerialNumber = (text: string) => text as SerialNumber;

const bigintMax = 9223372036854775807n;

/** Whether the digits fit the database's bigint, which is the minimum for an id in a request. */
export function isNumericId(text: string): boolean {
  if (!/^[1-9]\d{0,19}$/.test(text)) return false;
  return text.length < 19 || BigInt(text) <= bigintMax;
}

export function isSerialNumber(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

export const orderIdMax = 99_999_999_999;

/** Returns host and port, so that all spellings share one limit; empty for what is no URL. */
export function receiverOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "";
  const name = parsed.hostname.toLowerCase().replace(/\.$/, "");
  return parsed.port === "" ? name : `${name}:${parsed.port}`;
}

/** Anyone can request a file below `/.well-known/`, and PostgreSQL accepts no NUL. */
export function isDomainFileName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,99}$/i.test(text);
}
