/**
 * The elements of every message in the order of the document type. `version` opens each message
 * and `Extension` may close it; both are the same everywhere and stand in no row.
 */
import type { MessageKind } from "./messages.ts";

export type Rows = readonly Row[];
export type Row = readonly [
  element: string,
  field: string,
  times: "one" | "maybe" | "many",
  /** Of the text, or of the elements inside. */
  content: RegExp | Rows,
];

/** Of the attributes `id`; no quotes, since an XPath is made of it when a signature is checked. */
export const identifier = /^[\w.:+=/-]{1,128}$/;

const text = (least: number, most: number) =>
  new RegExp(`^[^\\p{Cc}\\p{Cs}\\ufffe\\uffff]{${least},${most}}$`, "u");
const digits = (least: number, most: number) => new RegExp(`^[0-9]{${least},${most}}$`);

const day = "[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])";
const date = new RegExp(`^${day}$`);
const dateTime = new RegExp(`^${day} (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$`);
/** Only visible characters: it becomes the target of a redirection. */
const url = /^https?:\/\/[\x21-\x7e]{1,2040}$/;
/** The last character before the padding carries four bits. */
const twentyBytes = /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/;

// biome-ignore format: a table
const iReq: Rows = [
  ["iReqCode",       "iReqCode",       "one",   digits(1, 3)],
  ["iReqDetail",     "iReqDetail",     "maybe", text(0, 2048)],
  ["vendorCode",     "vendorCode",     "maybe", text(0, 256)],
];

// biome-ignore format: a table
const directoryMerchant: Rows = [
  ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
  ["merID",          "merId",          "one",   text(1, 24)],
  ["password",       "password",       "maybe", text(1, 8)],
];

// biome-ignore format: a table
const cardRange: Rows = [
  ["begin",          "begin",          "one",   digits(13, 19)],
  ["end",            "end",            "one",   digits(13, 19)],
  ["action",         "action",         "one",   /^[AD]$/],
];

// biome-ignore format: a table
const browser: Rows = [
  ["deviceCategory", "deviceCategory", "maybe", digits(1, 3)],
  ["accept",         "accept",         "maybe", text(0, 2048)],
  ["userAgent",      "userAgent",      "maybe", text(0, 256)],
];

// biome-ignore format: a table
const merchant: Rows = [
  ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
  ["merID",          "merId",          "one",   text(1, 24)],
  ["name",           "name",           "one",   text(1, 25)],
  ["country",        "country",        "one",   digits(3, 3)],
  ["url",            "url",            "one",   url],
];

// biome-ignore format: a table
const recur: Rows = [
  ["frequency",      "frequency",      "one",   digits(1, 4)],
  ["endRecur",       "endRecur",       "one",   date],
];

// biome-ignore format: a table
const purchase: Rows = [
  ["xid",            "xid",            "one",   twentyBytes],
  ["date",           "date",           "one",   dateTime],
  ["amount",         "amount",         "one",   text(1, 20)],
  ["purchAmount",    "purchAmount",    "one",   digits(1, 12)],
  ["currency",       "currency",       "one",   digits(3, 3)],
  ["exponent",       "exponent",       "one",   digits(1, 1)],
  ["desc",           "desc",           "maybe", text(0, 125)],
  ["Recur",          "recur",          "maybe", recur],
  ["install",        "install",        "maybe", digits(1, 3)],
];

// biome-ignore format: a table
const answeredMerchant: Rows = [
  ["acqBIN",         "acqBin",         "one",   digits(1, 11)],
  ["merID",          "merId",          "one",   text(1, 24)],
];

// biome-ignore format: a table
const answeredPurchase: Rows = [
  ["xid",            "xid",            "one",   twentyBytes],
  ["date",           "date",           "one",   dateTime],
  ["purchAmount",    "purchAmount",    "one",   digits(1, 12)],
  ["currency",       "currency",       "one",   digits(3, 3)],
  ["exponent",       "exponent",       "one",   digits(1, 1)],
];

// biome-ignore format: a table
const tx: Rows = [
  ["time",           "time",           "one",   dateTime],
  ["status",         "status",         "one",   /^[YNAU]$/],
  ["cavv",           "cavv",           "maybe", twentyBytes],
  ["eci",            "eci",            "maybe", digits(2, 2)],
  ["cavvAlgorithm",  "cavvAlgorithm",  "maybe", digits(1, 1)],
];

// biome-ignore format: a table
const enrolment: Rows = [
  ["enrolled",       "enrolled",       "one",   /^[YNU]$/],
  ["acctID",         "acctId",         "maybe", text(1, 28)],
];

// biome-ignore format: a table
const cardholder: Rows = [
  ["acctID",         "acctId",         "one",   text(1, 28)],
  ["expiry",         "expiry",         "one",   /^[0-9]{2}(?:0[1-9]|1[0-2])$/],
];

// biome-ignore format: a table
export const tables: Readonly<Record<MessageKind, Rows>> = {
  CRReq: [
    ["Merchant",     "merchant",       "one",   directoryMerchant],
    ["serialNumber", "serialNumber",   "maybe", digits(1, 20)],
  ],
  CRRes: [
    ["CR",           "cardRanges",     "many",  cardRange],
    ["serialNumber", "serialNumber",   "maybe", digits(1, 20)],
    ["IReq",         "iReq",           "maybe", iReq],
  ],
  VEReq: [
    ["pan",          "pan",            "one",   digits(13, 19)],
    ["Merchant",     "merchant",       "one",   directoryMerchant],
    ["Browser",      "browser",        "maybe", browser],
  ],
  VERes: [
    ["CH",           "ch",             "one",   enrolment],
    ["url",          "url",            "maybe", url],
    ["protocol",     "protocols",      "many",  text(1, 32)],
    ["IReq",         "iReq",           "maybe", iReq],
  ],
  PAReq: [
    ["Merchant",     "merchant",       "one",   merchant],
    ["Purchase",     "purchase",       "one",   purchase],
    ["CH",           "ch",             "one",   cardholder],
  ],
  PARes: [
    ["Merchant",     "merchant",       "one",   answeredMerchant],
    ["Purchase",     "purchase",       "one",   answeredPurchase],
    ["pan",          "pan",            "one",   /^0{9,15}[0-9]{4}$/],
    ["TX",           "tx",             "one",   tx],
    ["IReq",         "iReq",           "maybe", iReq],
  ],
  Error: [
    ["errorCode",    "errorCode",      "one",   digits(1, 3)],
    ["errorMessage", "errorMessage",   "one",   text(0, 2048)],
    ["errorDetail",  "errorDetail",    "one",   text(0, 2048)],
    ["vendorCode",   "vendorCode",     "maybe", text(0, 256)],
  ],
};
