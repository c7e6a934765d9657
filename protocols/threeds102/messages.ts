/**
 * Every message as a table of its elements, in the order of the document type. The TypeScript types
 * follow from the tables. A value is the text of its element, so that later comparisons and
 * signatures see the text that was sent. `version` opens each message and `Extension` may close it;
 * both are the same everywhere and have no row.
 */

export type Rows = readonly Row[];
export type Row = readonly [
  element: string,
  field: string,
  times: "one" | "maybe" | "many",
  /** Of the text, or of the elements inside. */
  content: Pattern | Rows,
];

/** What a text has to match; `Value` is its type where the texts are listed. */
type Pattern<Value extends string = string> = RegExp & { readonly matches?: Value };

/** Of the attributes `id`; without quotes, because the signature check puts it into an XPath. */
export const identifier = /^[\w.:+=/-]{1,128}$/;

const text = (least: number, most: number): Pattern =>
  new RegExp(`^[^\\p{Cc}\\p{Cs}\\ufffe\\uffff]{${least},${most}}$`, "u");
const digits = (least: number, most = least): Pattern => new RegExp(`^[0-9]{${least},${most}}$`);
const oneOf = <const Value extends string>(...values: Value[]): Pattern<Value> =>
  new RegExp(`^(?:${values.join("|")})$`);

const day = "[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])";
/** `YYYYMMDD`. */
const date: Pattern = new RegExp(`^${day}$`);
/** `YYYYMMDD HH:MM:SS` in GMT. */
const dateTime: Pattern = new RegExp(`^${day} (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$`);
/** `YYMM`. */
const yearMonth: Pattern = /^[0-9]{2}(?:0[1-9]|1[0-2])$/;
/** Only visible characters: it becomes the target of a redirection. */
const url: Pattern = /^https?:\/\/[\x21-\x7e]{1,2040}$/;
/** Base64; the last character before the padding carries four bits. */
const twentyBytes: Pattern = /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/;
/** 20 bytes with padding, or the 21 of a Mastercard value without. */
const authenticationValue: Pattern = new RegExp(`${twentyBytes.source}|^[A-Za-z0-9+/]{28}$`);
/** Zeros and the last four digits of the card number. */
const maskedPan: Pattern = /^0{9,15}[0-9]{4}$/;

// biome-ignore format: a table
const parts = {
  /** What is wrong with the request, in an answer to it. */
  iReq: [
    ["iReqCode",       "iReqCode",       "one",   digits(1, 3)],
    ["iReqDetail",     "iReqDetail",     "maybe", text(0, 2048)],
    ["vendorCode",     "vendorCode",     "maybe", text(0, 256)],
  ],
  /** `password` is the merchant's at the directory server, where the scheme requires one. */
  directoryMerchant: [
    ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
    ["merID",          "merId",          "one",   text(1, 24)],
    ["password",       "password",       "maybe", text(1, 8)],
  ],
  /** Both ends belong to the range. `A` adds it to the known ranges, `D` deletes it. */
  cardRange: [
    ["begin",          "begin",          "one",   digits(13, 19)],
    ["end",            "end",            "one",   digits(13, 19)],
    ["action",         "action",         "one",   oneOf("A", "D")],
  ],
  browser: [
    ["deviceCategory", "deviceCategory", "maybe", digits(1, 3)],
    ["accept",         "accept",         "maybe", text(0, 2048)],
    ["userAgent",      "userAgent",      "maybe", text(0, 256)],
  ],
  /** `country` is ISO 3166-1 numeric. */
  merchant: [
    ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
    ["merID",          "merId",          "one",   text(1, 24)],
    ["name",           "name",           "one",   text(1, 25)],
    ["country",        "country",        "one",   digits(3)],
    ["url",            "url",            "one",   url],
  ],
  /** `amount` is for display, with the currency; `purchAmount` in minor units; ISO 4217 numeric. */
  purchase: [
    ["xid",            "xid",            "one",   twentyBytes],
    ["date",           "date",           "one",   dateTime],
    ["amount",         "amount",         "one",   text(1, 20)],
    ["purchAmount",    "purchAmount",    "one",   digits(1, 12)],
    ["currency",       "currency",       "one",   digits(3)],
    ["exponent",       "exponent",       "one",   digits(1)],
    ["desc",           "desc",           "maybe", text(0, 125)],
    ["Recur",          "recur",          "maybe", [
      ["frequency",    "frequency",      "one",   digits(1, 4)],
      ["endRecur",     "endRecur",       "one",   date],
    ]],
    ["install",        "install",        "maybe", digits(1, 3)],
  ],
  answeredMerchant: [
    ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
    ["merID",          "merId",          "one",   text(1, 24)],
  ],
  answeredPurchase: [
    ["xid",            "xid",            "one",   twentyBytes],
    ["date",           "date",           "one",   dateTime],
    ["purchAmount",    "purchAmount",    "one",   digits(1, 12)],
    ["currency",       "currency",       "one",   digits(3)],
    ["exponent",       "exponent",       "one",   digits(1)],
  ],
  tx: [
    ["time",           "time",           "one",   dateTime],
    ["status",         "status",         "one",   oneOf("Y", "N", "A", "U")],
    ["cavv",           "cavv",           "maybe", authenticationValue],
    ["eci",            "eci",            "maybe", digits(2)],
    ["cavvAlgorithm",  "cavvAlgorithm",  "maybe", digits(1)],
  ],
  /** `acctID`, and the ACS's `url` in the message, are always present for `Y`. */
  enrolment: [
    ["enrolled",       "enrolled",       "one",   oneOf("Y", "N", "U")],
    ["acctID",         "acctId",         "maybe", text(1, 28)],
  ],
  /** `acctID` is the one of the VERes. */
  cardholder: [
    ["acctID",         "acctId",         "one",   text(1, 28)],
    ["expiry",         "expiry",         "one",   yearMonth],
  ],
} as const satisfies Readonly<Record<string, Rows>>;

/** `serialNumber` is of the known ranges; without it the directory server sends all of them. */
// biome-ignore format: a table
export const tables = {
  CRReq: [
    ["Merchant",     "merchant",       "one",   parts.directoryMerchant],
    ["serialNumber", "serialNumber",   "maybe", digits(1, 20)],
  ],
  CRRes: [
    ["CR",           "cardRanges",     "many",  parts.cardRange],
    ["serialNumber", "serialNumber",   "maybe", digits(1, 20)],
    ["IReq",         "iReq",           "maybe", parts.iReq],
  ],
  VEReq: [
    ["pan",          "pan",            "one",   digits(13, 19)],
    ["Merchant",     "merchant",       "one",   parts.directoryMerchant],
    ["Browser",      "browser",        "maybe", parts.browser],
  ],
  VERes: [
    ["CH",           "ch",             "one",   parts.enrolment],
    ["url",          "url",            "maybe", url],
    ["protocol",     "protocols",      "many",  text(1, 32)],
    ["IReq",         "iReq",           "maybe", parts.iReq],
  ],
  PAReq: [
    ["Merchant",     "merchant",       "one",   parts.merchant],
    ["Purchase",     "purchase",       "one",   parts.purchase],
    ["CH",           "ch",             "one",   parts.cardholder],
  ],
  PARes: [
    ["Merchant",     "merchant",       "one",   parts.answeredMerchant],
    ["Purchase",     "purchase",       "one",   parts.answeredPurchase],
    ["pan",          "pan",            "one",   maskedPan],
    ["TX",           "tx",             "one",   parts.tx],
    ["IReq",         "iReq",           "maybe", parts.iReq],
  ],
  Error: [
    ["errorCode",    "errorCode",      "one",   digits(1, 3)],
    ["errorMessage", "errorMessage",   "one",   text(0, 2048)],
    ["errorDetail",  "errorDetail",    "one",   text(0, 2048)],
    ["vendorCode",   "vendorCode",     "maybe", text(0, 256)],
  ],
} as const satisfies Readonly<Record<string, Rows>>;

export type MessageKind = keyof typeof tables;

type ValueOf<Content> = Content extends Rows
  ? FieldsOf<Content>
  : Content extends Pattern<infer Value>
    ? Value
    : never;

type FieldsOf<Table extends Rows> = {
  readonly [Each in Table[number] as Each[2] extends "maybe"
    ? never
    : Each[1]]: Each[2] extends "many" ? readonly ValueOf<Each[3]>[] : ValueOf<Each[3]>;
} & {
  readonly [Each in Table[number] as Each[2] extends "maybe" ? Each[1] : never]?: ValueOf<Each[3]>;
};

/** `messageId` is the attribute of `Message`; an answer repeats that of its request. */
export type MessageOf<Kind extends MessageKind> = { readonly messageId: string } & FieldsOf<
  (typeof tables)[Kind]
>;

export type CrReq = MessageOf<"CRReq">;
export type CrRes = MessageOf<"CRRes">;
export type VeReq = MessageOf<"VEReq">;
export type VeRes = MessageOf<"VERes">;
export type PaReq = MessageOf<"PAReq">;

/** All that the signature covers, and so all that a reader may use of a PARes. */
export type PaRes = Omit<PaResMessage, "messageId">;

/** A PARes with the unsigned envelope around it, as an ACS writes it. */
export type PaResMessage = MessageOf<"PARes"> & {
  /** The attribute of `PARes` that the signature refers to; it differs from `messageId`. */
  readonly id: string;
};

/**
 * Why a message is refused. Names an element of our own tables at most, never a value: a VEReq
 * carries a card number, and faults are logged.
 */
export class ThreeDsFault {
  readonly reason: ThreeDsReason;
  /** As the table spells it, with its parents: `Purchase/xid`. */
  readonly element: string | undefined;

  constructor(reason: ThreeDsReason, element?: string) {
    this.reason = reason;
    this.element = element;
  }
}

type ThreeDsReason = keyof typeof errorCodes;

/** The code of the `Error` message that answers the fault. */
export function errorCodeFor({ reason }: ThreeDsFault): string {
  return errorCodes[reason];
}

const errorCodes = {
  malformed_encoding: "5",
  too_large: "5",
  malformed_xml: "1",
  forbidden_xml: "1",
  other_root: "1",
  other_message: "2",
  other_version: "6",
  missing_element: "3",
  repeated_element: "5",
  unknown_element: "5",
  malformed_element: "5",
  unknown_critical_extension: "4",
  unsigned: "5",
  misplaced_signature: "5",
  other_algorithm: "5",
  malformed_certificate: "5",
  untrusted_chain: "5",
  expired_certificate: "5",
  wrong_signature: "5",
} as const;
