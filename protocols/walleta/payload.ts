/**
 * The payload of a token, decrypted here or by the merchant. Unknown members are ignored, because
 * the wallet adds some from time to time. A `null` counts as absent: merchants' serialisers write
 * it.
 */
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import { isCryptogram, isPan, parseFields, readEci, WalletFault } from "../shared/wallet.ts";

type Card = {
  /** The device account number. */
  readonly applicationPrimaryAccountNumber: string;
  /** YYMMDD; `expiryOf` reads it. */
  readonly applicationExpirationDate: string;
  /** Three digits of ISO 4217. */
  readonly currencyCode: string;
  /** Minor units. */
  readonly transactionAmount: number;
  readonly cardholderName?: string;
  /** Hex. */
  readonly deviceManufacturerIdentifier?: string;
};

type Proof =
  | {
      readonly paymentDataType: "3DSecure";
      /** Canonical base64. */
      readonly onlinePaymentCryptogram: string;
      /** Two digits; not from every network. */
      readonly eciIndicator?: string;
    }
  | {
      readonly paymentDataType: "EMV";
      /** Base64. */
      readonly emvData: string;
      /** Hex. */
      readonly encryptedPINData?: string;
    };

export type Payload = Card & Proof;

type Rows = readonly (readonly [
  member: string,
  presence: "required" | "optional",
  isValid: (value: unknown) => boolean,
])[];

/** Groups of four; only the last one may be padded. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/;
const expiry = /^\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;

// biome-ignore format: a table
const cardRows: Rows = [
  ["applicationPrimaryAccountNumber", "required", isPan],
  ["applicationExpirationDate",       "required", matches(6, expiry)],
  ["currencyCode",                    "required", matches(3, /^\d{3}$/)],
  ["transactionAmount",               "required", isAmount],
  ["cardholderName",                  "optional", matches(128, /^[^\p{Cc}\p{Cs}]*$/u)],
  ["deviceManufacturerIdentifier",    "optional", matches(64, /^[0-9a-f]+$/i)],
];

// biome-ignore format: a table
const emvRows: Rows = [
  ["emvData",                         "required", matches(8192, base64)],
  ["encryptedPINData",                "optional", matches(1024, /^[0-9a-f]+$/i)],
];

export function readPayload(text: string): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const card = readRows(cardRows, fields, "");
  if (card instanceof WalletFault) return card;
  const { paymentDataType, paymentData } = fields;
  if (paymentDataType !== "3DSecure" && paymentDataType !== "EMV") return bad("paymentDataType");
  if (!isJsonObject(paymentData)) return bad("paymentData");
  const isEmv = paymentDataType === "EMV";
  const proof = isEmv ? readRows(emvRows, paymentData, "paymentData.") : read3DSecure(paymentData);
  if (proof instanceof WalletFault) return proof;
  // The rows are the members of the types.
  return { ...card, paymentDataType, ...proof } as unknown as Payload;
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

/** Without the day: a card is valid until the end of its month. */
export function expiryOf(payload: Payload): { readonly year: number; readonly month: number } {
  const digits = payload.applicationExpirationDate;
  return { year: 2000 + Number(digits.slice(0, 2)), month: Number(digits.slice(2, 4)) };
}

function readRows(rows: Rows, object: JsonObject, path: string): JsonObject | WalletFault {
  const read: Record<string, unknown> = {};
  for (const [member, presence, isValid] of rows) {
    const value = object[member] ?? undefined;
    if (value === undefined && presence === "optional") continue;
    if (!isValid(value)) return bad(path + member);
    read[member] = value;
  }
  return read;
}

function read3DSecure(paymentData: JsonObject): JsonObject | WalletFault {
  const { onlinePaymentCryptogram } = paymentData;
  if (!isCryptogram(onlinePaymentCryptogram)) return bad("paymentData.onlinePaymentCryptogram");
  const eciIndicator = readEci(paymentData["eciIndicator"]);
  if (eciIndicator === undefined) return bad("paymentData.eciIndicator");
  return { onlinePaymentCryptogram, ...(eciIndicator !== "" && { eciIndicator }) };
}

function matches(charactersMax: number, form: RegExp) {
  return (value: unknown) =>
    typeof value === "string" && value.length <= charactersMax && form.test(value);
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function bad(field: string): WalletFault {
  return new WalletFault("bad_payload", field);
}
