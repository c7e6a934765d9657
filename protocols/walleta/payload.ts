/**
 * The payload inside a token, or as a merchant sends it who opened the token himself. Fields that
 * are not known are left alone, because the wallet adds some from time to time. A `null` counts
 * as absent, since merchants' serialisers write it, and so does an empty eciIndicator.
 */
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, type Fields, isFields, parseFields } from "./wallet-json.ts";

type Card = {
  /** 12 to 19 digits of a device account; its check digit is not looked at. */
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

export function readPayload(text: string): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const card = readCard(fields);
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

/** The day is left out: a card is good until the end of its month. */
export function expiryOf(payload: Payload): { readonly year: number; readonly month: number } {
  const digits = payload.applicationExpirationDate;
  return { year: 2000 + Number(digits.slice(0, 2)), month: Number(digits.slice(2, 4)) };
}

/** Groups of four; only the last one may be padded. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/;

// biome-ignore format: a table
const patterns = {
  applicationPrimaryAccountNumber: [/^\d{12,19}$/,                                      19],
  applicationExpirationDate:       [/^\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/,       6],
  currencyCode:                    [/^\d{3}$/,                                           3],
  cardholderName:                  [/^[^\p{Cc}\p{Cs}]*$/u,                             128],
  deviceManufacturerIdentifier:    [/^[0-9a-f]+$/i,                                     64],
  onlinePaymentCryptogram:         [base64,                                            128],
  eciIndicator:                    [/^\d*$/,                                             2],
  emvData:                         [base64,                                           8192],
  encryptedPINData:                [/^[0-9a-f]+$/i,                                   1024],
} as const satisfies Readonly<Record<string, readonly [form: RegExp, charactersMax: number]>>;

type Pattern = keyof typeof patterns;

function readCard(fields: Fields): Card | WalletFault {
  const { applicationPrimaryAccountNumber, applicationExpirationDate, currencyCode } = fields;
  const { transactionAmount } = fields;
  const cardholderName = fields["cardholderName"] ?? undefined;
  const deviceManufacturerIdentifier = fields["deviceManufacturerIdentifier"] ?? undefined;
  if (!fits("applicationPrimaryAccountNumber", applicationPrimaryAccountNumber)) {
    return bad("applicationPrimaryAccountNumber");
  }
  if (!fits("applicationExpirationDate", applicationExpirationDate)) {
    return bad("applicationExpirationDate");
  }
  if (!fits("currencyCode", currencyCode)) return bad("currencyCode");
  if (!isAmount(transactionAmount)) return bad("transactionAmount");
  if (!fitsIfThere("cardholderName", cardholderName)) return bad("cardholderName");
  if (!fitsIfThere("deviceManufacturerIdentifier", deviceManufacturerIdentifier)) {
    return bad("deviceManufacturerIdentifier");
  }
  return {
    applicationPrimaryAccountNumber,
    applicationExpirationDate,
    currencyCode,
    transactionAmount,
    ...(cardholderName === undefined ? {} : { cardholderName }),
    ...(deviceManufacturerIdentifier === undefined ? {} : { deviceManufacturerIdentifier }),
  };
}

function readProof({ paymentDataType, paymentData: proof }: Fields): Proof | WalletFault {
  if (paymentDataType !== "3DSecure" && paymentDataType !== "EMV") return bad("paymentDataType");
  if (!isFields(proof)) return bad("paymentData");
  if (paymentDataType === "EMV") {
    const { emvData } = proof;
    const encryptedPINData = proof["encryptedPINData"] ?? undefined;
    if (!fits("emvData", emvData)) return bad("paymentData.emvData");
    if (!fitsIfThere("encryptedPINData", encryptedPINData)) {
      return bad("paymentData.encryptedPINData");
    }
    const pin = encryptedPINData === undefined ? {} : { encryptedPINData };
    return { paymentDataType, emvData, ...pin };
  }
  const { onlinePaymentCryptogram } = proof;
  const written = proof["eciIndicator"] ?? "";
  const isCryptogram = fits("onlinePaymentCryptogram", onlinePaymentCryptogram);
  // One payment has one spelling.
  if (!isCryptogram || decodeBase64(onlinePaymentCryptogram) === undefined) {
    return bad("paymentData.onlinePaymentCryptogram");
  }
  if (!fits("eciIndicator", written)) return bad("paymentData.eciIndicator");
  const eci = written === "" ? {} : { eciIndicator: written.padStart(2, "0") };
  return { paymentDataType, onlinePaymentCryptogram, ...eci };
}

function fits(name: Pattern, value: unknown): value is string {
  const [form, charactersMax] = patterns[name];
  return typeof value === "string" && value.length <= charactersMax && form.test(value);
}

function fitsIfThere(name: Pattern, value: unknown): value is string | undefined {
  return value === undefined || fits(name, value);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function bad(field: string): WalletFault {
  return new WalletFault("bad_payload", field);
}
