/**
 * The messages as values. Names are those of the wire in camel case; every value is the text of
 * its element, so that what is compared or signed later is what was sent. The version is always
 * 1.0.2 and therefore nowhere here.
 */

/** `messageId` is the attribute of `Message`; an answer repeats that of its request. */
type Identified = { readonly messageId: string };

/** `password` is the merchant's own at the directory, where the scheme wants one. */
export type DirectoryMerchant = {
  readonly acqBin: string;
  readonly merId: string;
  readonly password?: string;
};

/** What was wrong with the request that an answer still answers. */
export type InvalidRequest = {
  readonly iReqCode: string;
  readonly iReqDetail?: string;
  readonly vendorCode?: string;
};

export type CrReq = Identified & {
  readonly merchant: DirectoryMerchant;
  /** Of the ranges already held; without it the directory sends all of them. */
  readonly serialNumber?: string;
};

/** Both ends belong to the range. `A` adds it to the ranges held, `D` deletes it. */
export type CardRange = {
  readonly begin: string;
  readonly end: string;
  readonly action: "A" | "D";
};

export type CrRes = Identified & {
  readonly cardRanges: readonly CardRange[];
  readonly serialNumber?: string;
  readonly iReq?: InvalidRequest;
};

export type VeReq = Identified & {
  readonly pan: string;
  readonly merchant: DirectoryMerchant;
  readonly browser?: {
    readonly deviceCategory?: string;
    readonly accept?: string;
    readonly userAgent?: string;
  };
};

export type VeRes = Identified & {
  /** `acctId` is there whenever `enrolled` is `Y`. */
  readonly ch: { readonly enrolled: "Y" | "N" | "U"; readonly acctId?: string };
  /** Of the ACS; there whenever `enrolled` is `Y`. */
  readonly url?: string;
  readonly protocols: readonly string[];
  readonly iReq?: InvalidRequest;
};

export type PaReq = Identified & {
  readonly merchant: {
    readonly acqBin: string;
    readonly merId: string;
    readonly name: string;
    /** ISO 3166-1 numeric. */
    readonly country: string;
    readonly url: string;
  };
  readonly purchase: {
    /** 20 bytes in base64. */
    readonly xid: string;
    /** `YYYYMMDD HH:MM:SS` in GMT. */
    readonly date: string;
    /** For the cardholder's eyes, with the currency's sign or code. */
    readonly amount: string;
    /** Minor units. */
    readonly purchAmount: string;
    /** ISO 4217 numeric. */
    readonly currency: string;
    readonly exponent: string;
    readonly desc?: string;
    readonly recur?: { readonly frequency: string; readonly endRecur: string };
    readonly install?: string;
  };
  /** `acctId` is the one of the VERes; `expiry` is `YYMM`. */
  readonly ch: { readonly acctId: string; readonly expiry: string };
};

/** What the signature covers, and so all that a reader may know of a PARes. */
export type PaRes = {
  /** The attribute of `PARes` that the signature refers to; another one than `messageId`. */
  readonly id: string;
  readonly merchant: { readonly acqBin: string; readonly merId: string };
  readonly purchase: {
    readonly xid: string;
    readonly date: string;
    readonly purchAmount: string;
    readonly currency: string;
    readonly exponent: string;
  };
  /** Masked: zeros and the last four digits. */
  readonly pan: string;
  readonly tx: {
    /** `YYYYMMDD HH:MM:SS` in GMT. */
    readonly time: string;
    readonly status: "Y" | "N" | "A" | "U";
    /** 20 bytes in base64. */
    readonly cavv?: string;
    readonly eci?: string;
    readonly cavvAlgorithm?: string;
  };
  readonly iReq?: InvalidRequest;
};

/** A PARes with the unsigned envelope around it, as an ACS writes it. */
export type PaResMessage = Identified & PaRes;

export type ErrorMessage = Identified & {
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly errorDetail: string;
  readonly vendorCode?: string;
};

export type MessageKind = "CRReq" | "CRRes" | "VEReq" | "VERes" | "PAReq" | "PARes" | "Error";
