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
  /** The content of the text, or of the elements inside. */
  content: Pattern | Rows,
];

/** The pattern that a text has to match. `Value` is its type if the texts are listed. */
type Pattern<Value extends string = string> = RegExp & { readonly matches?: Value };

/**
 * The form of the attributes `id`. It has no quotes, because the signature check uses the id in an
 * XPath.
 */
export const identifier = /^[\w.:+=/-]{1,128}$/;

const text = (least: number, most: number): Pattern =>
  new RegExp(`^[^\\p{Cc}\\p{Cs}\\ufffe\\uffff]{${least},${most}}$`, "u");
const digits = (least: number, most = least): Pattern => new RegExp(`^[0-9]{${least},${most}}$`);
const oneOf = <const Value extends string>(...values: Value[]): Pattern<Value> =>
  new RegExp(`^(?:${values.join("|")})$`);

const day = "[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])";
/** A date as `YYYYMMDD`. */
const date: Pattern = new RegExp(`^${day}$`);
/** A time as `YYYYMMDD HH:MM:SS` in GMT. */
const dateTime: Pattern = new RegExp(`^${day} (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$`);
/** A month as `YYMM`. */
const yearMonth: Pattern = /^[0-9]{2}(?:0[1-9]|1[0-2])$/;
/** A URL of visible characters only, because it becomes the target of a redirection. */
const url: Pattern = /^https?:\/\/[\x21-\x7e]{1,2040}$/;
/** Twenty bytes in base64. The last character before the padding contains four bits. */
const twentyBytes: Pattern = /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/;
/** Twenty bytes with padding, or the 21 bytes of a Mastercard value without. */
const authenticationValue: Pattern = new RegExp(`${twentyBytes.source}|^[A-Za-z0-9+/]{28}$`);
/** Zeros and the last four digits of the card number. */
const maskedPan: Pattern = /^0{9,15}[0-9]{4}$/;

// biome-ignore format: a table
const parts = {
  /** The fault of the request, in an answer to it. */
  iReq: [
    ["iReqCode",       "iReqCode",       "one",   digits(1, 3)],
    ["iReqDetail",     "iReqDetail",     "maybe", text(0, 2048)],
    ["vendorCode",     "vendorCode",     "maybe", text(0, 256)],
  ],
  /** `password` is the merchant's password at the directory server, if the scheme requires one. */
  directoryMerchant: [
    ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
    ["merID",          "merId",          "one",   text(1, 24)],
    ["password",       "password",       "maybe", text(1, 8)],
  ],
  /** A range that includes both ends. `A` adds it to the known ranges, `D` deletes it. */
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
  /** `country` is an ISO 3166-1 number. */
  merchant: [
    ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
    ["merID",          "merId",          "one",   text(1, 24)],
    ["name",           "name",           "one",   text(1, 25)],
    ["country",        "country",        "one",   digits(3)],
    ["url",            "url",            "one",   url],
  ],
  /**
   * `amount` is for display, with the currency. `purchAmount` is in minor units. The currency is an
   * ISO 4217 number.
   */
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

/**
 * The messages. `serialNumber` is that of the known ranges; without it the directory server sends
 * all of them.
 */
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

/**
 * A message. `messageId` is the attribute of `Message`, and an answer repeats that of its request.
 */
export type MessageOf<Kind extends MessageKind> = { readonly messageId: string } & FieldsOf<
  (typeof tables)[Kind]
>;

export type CrReq = MessageOf<"CRReq">;
export type CrRes = MessageOf<"CRRes">;
export type VeReq = MessageOf<"VEReq">;
export type VeRes = MessageOf<"VERes">;
export type PaReq = MessageOf<"PAReq">;

/** The signed part of a PARes, and therefore the only part that a reader may use. */
export type PaRes = Omit<PaResMessage, "messageId">;

/** A PARes with the unsigned envelope around it, as an ACS writes it. */
export type PaResMessage = MessageOf<"PARes"> & {
  /** The attribute of `PARes` to which the signature refers. It differs from `messageId`. */
  readonly id: string;
};

/**
 * The reason why a message is refused. It names an element of our own tables at most and never a
 * value, because a VEReq contains a card number and faults are logged.
 */
export class ThreeDsFault {
  readonly reason: ThreeDsReason;
  /** The name as in the table, with its parents: `Purchase/xid`. */
  readonly element: string | undefined;

  constructor(reason: ThreeDsReason, element?: string) {
    this.reason = reason;
    this.element = element;
  }
}

type ThreeDsReason = keyof typeof errorCodes;

/** Returns the code of the `Error` message that answers the fault. */
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
