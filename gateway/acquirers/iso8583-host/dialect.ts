/**
 * How one kind of host speaks ISO 8583, as a table: which message has which field, and how its
 * value is made. A host with other habits is another table.
 */
import type { Framing, IsoFields, Specification } from "@tollgate/protocols/iso8583";
import {
  type ChargeKind,
  type Loyalty,
  loyaltyNames,
  type ScaExemption,
} from "../../orders/order.ts";
import type { DayTotals } from "../../orders/settlement-items.ts";
import type { CardNumber } from "../../values/card-number.ts";
import type { FailureCode } from "../../values/failure.ts";
import type { Money } from "../../values/money.ts";
import type { calendar, LocalTime } from "../../values/time.ts";
import type { AuthorizationRequest, Refusal, RefusalHint } from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";

export type Dialect = {
  readonly specification: Specification;
  readonly framing: Framing;
  readonly mtis: Mtis;
  readonly codes: ResponseCodes;
  readonly network: NetworkMessages;
  /** Absent if the host cannot deliver keys for message authentication. */
  readonly keyExchange?: KeyExchangeMessages;
  /** The number of digits of an amount in minor units (field 4). */
  readonly amountDigits: number;
  /** Whether the host has an inquiry for the outcome of a charge. */
  readonly hasInquiry: boolean;
  /** Absent if the host cannot compare the totals of a day. */
  readonly totals?: TotalsMessage;
  readonly gateRows: readonly GateRow[];
  readonly rows: readonly FactRow[];
  /** Returns whether the network's authentication value fits into a charge. */
  readonly hasPlaceFor: (value: string, network: CardNumber["network"]) => boolean;
  /** The exemptions that a charge can state. Others only travel in an authentication. */
  readonly exemptions: readonly ScaExemption[];
  /** Returns the network's id of the transaction from an answer. */
  readonly readNetworkId: (fields: IsoFields) => string | undefined;
  /** Returns `YYYY-MM-DDThh:mm:ss`, or `-MM-DDThh:mm:ss` without the year, in the host's time. */
  readonly readLocalTime: (fields: IsoFields) => string | undefined;
  /** Reads the issuer's letters for the address and the CVV of a charge. */
  readonly readChecks: (fields: IsoFields) => Checks;
  /** Reads an answer's texts for the cardholder. Most answers have none. */
  readonly readRemarks: (fields: IsoFields) => Remarks | undefined;
};

export type MessageKind = ChargeKind | "inquiry" | "reversal" | "capture" | "return" | "refund";
type Checks = Readonly<Record<"avs" | "cvvResult", string | undefined>>;
type Remarks = { readonly loyalty?: Loyalty; readonly explanation?: string };

type Row<Write> = readonly [field: number, kinds: readonly MessageKind[], write: Write];
/** A field that is the same in every message of a gate. */
export type GateRow = Row<(settings: GateSettings) => string>;
/** If a fact is undefined, the message does not have the field. */
export type FactRow = Row<(facts: Facts) => string | undefined>;

/** The merchant's code and the acquirer's id (fields 42 and 32). */
export type Identity = Pick<GateSettings, "merchantCode" | "acquirerId">;

/** Only a charge has secrets. `sent` and `traceNumber` are the message's, not the charge's. */
export type Facts = Omit<AuthorizationRequest, "kind"> &
  Identity & {
    readonly sent: Calendar;
    readonly local: LocalTime;
    readonly traceNumber: string;
    /** A refund's reference. Other messages about a charge have the charge's reference. */
    readonly reference?: string | undefined;
    /** The charge that the message is about; undefined for a charge itself. */
    readonly original: Original | undefined;
  };

type Original = {
  readonly mti: string;
  readonly sent: Calendar;
  readonly local: LocalTime;
  readonly acquirerId: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  /** The charge's amount. It is absent in messages about doubt, which have the same amount. */
  readonly amount: Money | undefined;
  /** The capture that took the money, if the charge only held it. A return undoes the capture. */
  readonly capture: Capture | undefined;
  /** The amount that is still charged after a return. */
  readonly remaining: Money | undefined;
};

type Capture = Pick<Facts, "traceNumber" | "local" | "amount"> & { readonly mti: string };

export type Calendar = ReturnType<typeof calendar>;

/** The types of a message and of its repeat, if it may be repeated. */
export type Mtis = Readonly<
  Record<MessageKind, { readonly first: string; readonly repeated: string }>
>;

export const iso87Mtis: Mtis = {
  "sale": { first: "0200", repeated: "0200" },
  "preauth": { first: "0100", repeated: "0100" },
  "account-verification": { first: "0100", repeated: "0100" },
  "inquiry": { first: "0600", repeated: "0600" },
  "reversal": { first: "0420", repeated: "0421" },
  "capture": { first: "0220", repeated: "0221" },
  "return": { first: "0400", repeated: "0401" },
  "refund": { first: "0200", repeated: "0201" },
  "payout": { first: "0200", repeated: "0201" },
};

export const charges = ["sale", "preauth", "account-verification"] as const;
export const payments = ["sale", "preauth"] as const;
/** Money for the card: a refund names its charge, and a payout has none. */
export const credits = ["refund", "payout"] as const;
export const followUps = ["capture", "return"] as const;
/** Messages about a charge, with the card of the charge. */
export const changes = ["reversal", ...followUps] as const;
export const allButInquiry = [...charges, ...changes, ...credits] as const;
export const aboutCharge = ["inquiry", ...changes, "refund"] as const;
export const all = [...charges, ...aboutCharge, "payout"] as const;

/** Sign-on, sign-off and echo, which are about the link and not about a payment. */
export type NetworkMessages = {
  readonly mti: string;
  readonly codes: Readonly<Record<"signOn" | "signOff" | "echo", string>>;
  readonly codeField: number;
  /** The fields that an answer to the host's own messages repeats. */
  readonly echoed: readonly number[];
  /** Whether these messages have an authentication code if the gate has a key. */
  readonly isAuthenticated: boolean;
  readonly write: (code: string, facts: Pick<Facts, "sent" | "local" | "traceNumber">) => IsoFields;
};

/** Network messages about keys. Decision 0029 lists the hosts that have them. */
type KeyExchangeMessages = {
  /** The code by which the host delivers a key, and the one by which the gateway asks for one. */
  readonly deliver: string;
  readonly ask: string;
  /** Field 39 of the answer that refuses a key. */
  readonly refused: string;
  /** Returns the key, followed by its check value. */
  readonly read: (fields: IsoFields) => string | undefined;
};

/** This message asks the host whether the gateway's totals of a day equal its own. */
export type TotalsMessage = {
  readonly mti: string;
  /** Field 39 of the answer. */
  readonly inBalance: string;
  readonly outOfBalance: string;
  /** Whether field 66 of the answer has the result too: 1 in balance, 2 out of balance. */
  readonly hasSettlementCode: boolean;
  readonly rows: readonly (readonly [field: number, write: (facts: TotalsFacts) => string])[];
};

type TotalsFacts = Pick<Facts, "sent" | "local" | "traceNumber"> & {
  readonly settings: GateSettings;
  readonly day: Calendar;
  readonly totals: DayTotals;
};

/** The position of each remark in the host's field. */
export type RemarkPlaces<Place> = Readonly<Record<keyof Loyalty | "explanation", Place>>;

export function makeRemarks<Place>(
  places: RemarkPlaces<Place>,
  find: (place: Place) => string | undefined,
): Remarks {
  const texts = loyaltyNames.map((name) => [name, trimField(find(places[name]))]);
  const found = texts.filter(([, text]) => text !== undefined);
  const explanation = trimField(find(places.explanation));
  return {
    ...(found.length > 0 ? { loyalty: Object.fromEntries(found) } : {}),
    ...(explanation === undefined ? {} : { explanation }),
  };
}

/** A remark must be text. The codec tolerates other bytes where no money depends on them. */
export function trimField(field: string | undefined): string | undefined {
  const text = field?.trimEnd();
  return text === "" || text === undefined || !isText.test(text) ? undefined : text;
}

const isText = /^[ -~]*$/;

/** Later messages repeat the id in a sub-element, so an id that is too long is not stored. */
export function readNetworkId62({ 62: field }: IsoFields): string | undefined {
  const id = trimField(field);
  return id !== undefined && id.length <= 99 ? id : undefined;
}

/**
 * The meanings of a host's response codes, by one table for each dialect. Only a code that the
 * table lists as an approval is one; a code without a row is a refusal.
 */
export type ResponseCodes = ReturnType<typeof makeResponseCodes>;

type CodeTable = {
  readonly rows: readonly CodeRow[];
  /** Codes of answers to an inquiry which mean that the charge stands. */
  readonly stands: readonly string[];
  /** Codes of answers to a reversal which mean that the host has performed it. */
  readonly reversed: readonly string[];
  /** Codes of answers to reversals and inquiries which mean that the charge is not known. */
  readonly notFound: readonly string[];
  /** The code that accepts a sign-on, a sign-off or an echo. */
  readonly networkAccepted: string;
};

type CodeRow = readonly [
  code: string,
  meaning: ResponseMeaning,
  reason: FailureCode,
  /** `hard` means that the same card must not be charged again. */
  again: "hard" | "soft",
  hint?: RefusalHint,
];

const unlisted: CodeRow = ["", "refused", "declined", "soft"];

/** `accepted` means that a follow-up is performed. In an answer to a charge it has no meaning. */
type ResponseMeaning = "approved" | "accepted" | "approved_in_part" | "refused";

type ReversalMeaning = "reversed" | "not_found" | "retry" | "refused";

export function makeResponseCodes(table: CodeTable) {
  const byCode: ReadonlyMap<string, CodeRow> = new Map(table.rows.map((row) => [row[0], row]));
  const { rows, networkAccepted } = table;
  return { rows, networkAccepted, meaningOf, refusalOf, meaningOfReversal, stands, isNotFound };

  function meaningOf(code: string): ResponseMeaning {
    return byCode.get(code)?.[1] ?? "refused";
  }

  /** Returns why an order with this answer did not end approved. */
  function refusalOf(code: string): Refusal {
    const [, , reason, again, hint] = byCode.get(code) ?? unlisted;
    return {
      reason: { code: reason, detail: `[${code}]` },
      isHard: again === "hard",
      hint,
    };
  }

  /** `retry` means that the same advice may succeed later. */
  function meaningOfReversal(code: string): ReversalMeaning {
    if (table.reversed.includes(code)) return "reversed";
    if (isNotFound(code)) return "not_found";
    const hint = byCode.get(code)?.[4];
    return hint === "may_yet_be_done" || hint === "host_fault" ? "retry" : "refused";
  }

  function stands(code: string): boolean {
    return table.stands.includes(code);
  }

  function isNotFound(code: string): boolean {
    return table.notFound.includes(code);
  }
}

/** Field 39 of ISO 8583:1987, with the codes that the card networks have added. */
// biome-ignore format: a table
export const iso87Codes: ResponseCodes = makeResponseCodes({
  stands:          ["00"],
  reversed:        ["00"],
  notFound:        ["25"],
  networkAccepted: "00",
  rows: [
    // An approval needs a reason only when it was for less than asked.
    ["00", "approved",         "partial_approval_refused", "soft"], // approved
    ["08", "approved",         "partial_approval_refused", "soft"], // approved with identification
    ["11", "approved",         "partial_approval_refused", "soft"], // approved, VIP
    ["16", "approved",         "partial_approval_refused", "soft"], // approved, update track 3
    ["85", "approved",         "partial_approval_refused", "soft"], // no reason to decline
    ["10", "approved_in_part", "partial_approval_refused", "soft"], // approved for part of the amount

    ["04", "refused", "pick_up_card",            "hard"], // pick up
    ["07", "refused", "pick_up_card",            "hard"], // pick up, special condition
    ["33", "refused", "expired_card",            "hard"], // expired, pick up
    ["34", "refused", "suspected_fraud",         "hard"], // suspected fraud, pick up
    ["35", "refused", "pick_up_card",            "hard"], // contact acquirer, pick up
    ["36", "refused", "restricted_card",         "hard"], // restricted, pick up
    ["37", "refused", "pick_up_card",            "hard"], // call acquirer's security, pick up
    ["38", "refused", "pick_up_card",            "hard"], // PIN tries exceeded, pick up
    ["41", "refused", "lost_card",               "hard"], // lost
    ["43", "refused", "stolen_card",             "hard"], // stolen
    ["67", "refused", "pick_up_card",            "hard"], // pick up at the terminal

    ["14", "refused", "invalid_card",            "hard"], // unknown card number
    ["15", "refused", "no_card_record",          "hard"], // unknown issuer
    ["31", "refused", "no_card_record",          "hard"], // issuer not supported
    ["46", "refused", "closed_account",          "hard"], // account closed
    ["54", "refused", "expired_card",            "hard"], // expired
    ["57", "refused", "not_permitted",           "hard"], // not permitted to cardholder
    ["58", "refused", "not_permitted_terminal",  "hard"], // not permitted to terminal
    ["59", "refused", "suspected_fraud",         "hard"], // suspected fraud
    ["62", "refused", "restricted_card",         "hard"], // restricted
    ["78", "refused", "restricted_card",         "hard"], // blocked, or not yet activated
    ["93", "refused", "not_permitted",           "hard"], // against the law
    ["R0", "refused", "recurring_stopped",       "hard"], // stop this payment
    ["R1", "refused", "recurring_stopped",       "hard"], // stop the payments of this agreement
    ["R3", "refused", "recurring_stopped",       "hard"], // stop all payments

    ["01", "refused", "refer_to_issuer",         "soft"], // refer to issuer
    ["02", "refused", "refer_to_issuer",         "soft"], // refer to issuer, special condition
    ["05", "refused", "do_not_honour",           "soft"], // do not honour
    ["1A", "refused", "authentication_required", "soft", "authenticate"], // strong authentication wanted
    ["51", "refused", "insufficient_funds",      "soft"], // not enough money
    ["61", "refused", "limit_exceeded",          "soft"], // over the amount limit
    ["63", "refused", "security_violation",      "soft"], // security violation
    ["65", "refused", "frequency_exceeded",      "soft", "authenticate"], // over the count limit
    ["82", "refused", "cvv_mismatch",            "soft"], // wrong CVV
    ["N7", "refused", "cvv_mismatch",            "soft"], // wrong CVV

    ["03", "refused", "invalid_merchant",        "soft"],                  // unknown merchant
    ["12", "refused", "invalid_transaction",     "soft"],                  // invalid transaction
    ["13", "refused", "invalid_amount",          "soft"],                  // invalid amount
    ["25", "refused", "declined",                "soft"],                  // original not found
    ["30", "refused", "format_error",            "soft"],                  // format error
    ["40", "refused", "invalid_transaction",     "soft"],                  // function not supported
    ["64", "refused", "invalid_amount",          "soft"],                  // not the original amount

    ["06", "refused", "host_malfunction",        "soft", "host_fault"],      // error
    ["09", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // in progress
    ["19", "refused", "host_malfunction",        "soft", "host_fault"],      // enter again
    ["22", "refused", "host_malfunction",        "soft", "host_fault"],      // suspected malfunction
    ["68", "refused", "issuer_unavailable",      "soft", "may_yet_be_done"], // the issuer answered too late
    ["90", "refused", "host_malfunction",        "soft", "host_fault"],      // cut-over
    ["91", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer or switch out of order
    ["92", "refused", "issuer_unavailable",      "soft", "host_fault"],      // no route to the issuer
    ["94", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // seen before
    ["95", "refused", "host_malfunction",        "soft"],                  // totals do not agree
    ["96", "refused", "host_malfunction",        "soft", "host_fault"],      // malfunction
    ["98", "refused", "host_malfunction",        "soft"],                  // message authentication failed
  ],
});
