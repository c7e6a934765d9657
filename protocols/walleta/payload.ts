/** The payload of a token, decrypted here or by the merchant. */
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import {
  isCryptogram,
  isPan,
  type MemberRows,
  type MembersOf,
  parseFields,
  readEci,
  readMembers,
  WalletFault,
} from "../shared/wallet.ts";

export type Payload = Card & Proof;
type Card = MembersOf<typeof cardRows>;
type Proof = ThreeDSecure | ({ readonly paymentDataType: "EMV" } & MembersOf<typeof emvRows>);

type ThreeDSecure = {
  readonly paymentDataType: "3DSecure";
  /** The cryptogram in canonical base64. */
  readonly onlinePaymentCryptogram: string;
  /** The ECI in two digits, which some networks omit. */
  readonly eciIndicator?: string;
};

/** Matches groups of four, of which only the last may be padded. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/;
const hex = /^[0-9a-f]+$/i;
/** Matches YYMMDD, which `expiryOf` reads. */
const expiry = /^\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;

/** The rows of a device account number, an ISO 4217 currency and an amount in its minor units. */
const cardRows = [
  ["applicationPrimaryAccountNumber", "required", isPan],
  ["applicationExpirationDate", "required", matches(6, expiry)],
  ["currencyCode", "required", matches(3, /^\d{3}$/)],
  ["transactionAmount", "required", isAmount],
  ["cardholderName", "optional", matches(128, /^[^\p{Cc}\p{Cs}]*$/u)],
  ["deviceManufacturerIdentifier", "optional", matches(64, hex)],
] as const satisfies MemberRows;

const emvRows = [
  ["emvData", "required", matches(8192, base64)],
  ["encryptedPINData", "optional", matches(1024, hex)],
] as const satisfies MemberRows;

export function readPayload(text: string): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const card = readMembers(cardRows, fields);
  if (card instanceof WalletFault) return card;
  const proof = readProof(fields);
  return proof instanceof WalletFault ? proof : { ...card, ...proof };
}

export function writePayload(payload: Payload): string {
  if (payload.paymentDataType === "3DSecure") {
    const { paymentDataType, onlinePaymentCryptogram, eciIndicator, ...card } = payload;
    const paymentData = { onlinePaymentCryptogram, eciIndicator };
    return JSON.stringify({ ...card, paymentDataType, paymentData });
  }
  const { paymentDataType, emvData, encryptedPINData, ...card } = payload;
  return JSON.stringify({ ...card, paymentDataType, paymentData: { emvData, encryptedPINData } });
}

/** Returns the expiry without the day, because a card is valid until the end of its month. */
export function expiryOf(payload: Payload): { readonly year: number; readonly month: number } {
  const digits = payload.applicationExpirationDate;
  return { year: 2000 + Number(digits.slice(0, 2)), month: Number(digits.slice(2, 4)) };
}

function readProof({ paymentDataType, paymentData }: JsonObject): Proof | WalletFault {
  if (paymentDataType !== "3DSecure" && paymentDataType !== "EMV") return bad("paymentDataType");
  if (!isJsonObject(paymentData)) return bad("paymentData");
  if (paymentDataType === "EMV") {
    const read = readMembers(emvRows, paymentData, "paymentData.");
    return read instanceof WalletFault ? read : { paymentDataType, ...read };
  }
  const { onlinePaymentCryptogram } = paymentData;
  if (!isCryptogram(onlinePaymentCryptogram)) return bad("paymentData.onlinePaymentCryptogram");
  const eciIndicator = readEci(paymentData["eciIndicator"]);
  if (eciIndicator === undefined) return bad("paymentData.eciIndicator");
  const eci = eciIndicator === "" ? {} : { eciIndicator };
  return { paymentDataType, onlinePaymentCryptogram, ...eci };
}

function matches(charactersMax: number, form: RegExp) {
  return (value: unknown): value is string =>
    typeof value === "string" && value.length <= charactersMax && form.test(value);
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function bad(field: string): WalletFault {
  return new WalletFault("bad_payload", field);
}
