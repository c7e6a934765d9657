/**
 * What one host's way of speaking ISO 8583 is made of. A dialect is a table: which message
 * has which field, and how its value is made. A host with other habits is another table.
 */
import type { Framing, IsoFields, Specification } from "@tollgate/protocols/iso8583";
import { type ChargeKind, type Loyalty, loyaltyNames } from "../../orders/order.ts";
import type { DayTotals } from "../../orders/settlement-items.ts";
import type { CardNumber } from "../../values/card-number.ts";
import type { Money } from "../../values/money.ts";
import type { calendar, LocalTime } from "../../values/time.ts";
import type { AuthorizationRequest } from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";
import type { ResponseCodes } from "./response-codes.ts";

export type Dialect = {
  readonly specification: Specification;
  readonly framing: Framing;
  readonly mtis: Mtis;
  readonly codes: ResponseCodes;
  readonly network: NetworkMessages;
  /** How the host delivers keys for message authentication; absent where it cannot. */
  readonly keyExchange?: KeyExchangeMessages;
  /** How many digits of minor units an amount may have (field 4). */
  readonly amountDigits: number;
  /** Whether the host can be asked what became of a charge. */
  readonly hasInquiry: boolean;
  /** How the host is asked to compare the totals of a day; absent where it cannot be. */
  readonly totals?: TotalsMessage;
  readonly gateRows: readonly GateRow[];
  readonly rows: readonly FactRow[];
  /** Whether an authentication value of the network fits the place that it has in a charge. */
  readonly hasPlaceFor: (value: string, network: CardNumber["network"]) => boolean;
  /** The network's own id of the transaction, from an answer. */
  readonly readNetworkId: (fields: IsoFields) => string | undefined;
  /** The host's local time as `YYYY-MM-DDThh:mm:ss`, or without the year as `-MM-DDThh:mm:ss`. */
  readonly readLocalTime: (fields: IsoFields) => string | undefined;
  /** What an answer has to say to the cardholder; nothing in most. */
  readonly readRemarks: (fields: IsoFields) => Remarks | undefined;
};

export type MessageKind = ChargeKind | "inquiry" | "reversal" | "capture" | "return" | "refund";
export type Remarks = { readonly loyalty?: Loyalty; readonly explanation?: string };

type Row<Write> = readonly [field: number, kinds: readonly MessageKind[], write: Write];
/** The same in every message of a gate. */
export type GateRow = Row<(settings: GateSettings) => string>;
/** A fact that is undefined leaves the field out of the message. */
export type FactRow = Row<(facts: Facts) => string | undefined>;

/** The merchant's code at the acquirer (field 42), and the acquirer's own id (field 32). */
export type Identity = Pick<GateSettings, "merchantCode" | "acquirerId">;

/**
 * What one message is about; only a charge has the CVV and a proof of authentication. `sent` and
 * `traceNumber` are the message's own, not those of the charge.
 */
export type Facts = Omit<AuthorizationRequest, "kind"> &
  Identity & {
    readonly sent: Calendar;
    /** The same moment at the terminal. */
    readonly local: LocalTime;
    readonly traceNumber: string;
    /** The reference of a refund; other messages about a charge have the charge's reference. */
    readonly reference?: string | undefined;
    /** What only a message about a charge says. */
    readonly original: Original | undefined;
  };

type Original = {
  readonly mti: string;
  readonly sent: Calendar;
  readonly local: LocalTime;
  readonly acquirerId: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  /** The amount of the charge; absent in messages about doubt, which have the same amount. */
  readonly amount: Money | undefined;
  /** The capture that took the money: what a return undoes, if the charge only held it. */
  readonly capture: Capture | undefined;
  /** What is still charged when a return has been done. */
  readonly remaining: Money | undefined;
};

type Capture = Pick<Facts, "traceNumber" | "local" | "amount"> & { readonly mti: string };

export type Calendar = ReturnType<typeof calendar>;

/** A message and its repeat, for those that may be repeated. */
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
};

export const charges = ["sale", "preauth", "account-verification"] as const;
export const payments = ["sale", "preauth"] as const;
export const followUps = ["capture", "return"] as const;
/** About a charge, with the card that it was made with. */
export const changes = ["reversal", ...followUps] as const;
export const allButInquiry = [...charges, ...changes, "refund"] as const;
export const aboutCharge = ["inquiry", ...changes, "refund"] as const;
export const all = [...charges, ...aboutCharge] as const;

/** Sign-on, sign-off and echo: messages about the link, not about a payment. */
export type NetworkMessages = {
  readonly mti: string;
  readonly codes: Readonly<Record<"signOn" | "signOff" | "echo", string>>;
  /** Which field has the code. */
  readonly codeField: number;
  /** What an answer to the host's own messages repeats. */
  readonly echoed: readonly number[];
  /** Whether they have a message authentication code where the gate has a key. */
  readonly isAuthenticated: boolean;
  readonly write: (code: string, facts: Pick<Facts, "sent" | "local" | "traceNumber">) => IsoFields;
};

/** Network messages about keys; decision 0029 says which hosts have which. */
type KeyExchangeMessages = {
  /** The code by which the host delivers a key, and the one by which the gateway asks for one. */
  readonly deliver: string;
  readonly ask: string;
  /** Field 39 of the answer to a key that is not taken. */
  readonly refused: string;
  /** The key, with its check value behind it. */
  readonly read: (fields: IsoFields) => string | undefined;
};

/** Asks the host whether the gateway's totals of a day and a currency are its own. */
export type TotalsMessage = {
  readonly mti: string;
  /** The values of field 39. */
  readonly inBalance: string;
  readonly outOfBalance: string;
  /** Whether field 66 of an answer says it too: 1 in balance, 2 out of balance. */
  readonly hasSettlementCode: boolean;
  readonly rows: readonly (readonly [field: number, write: (facts: TotalsFacts) => string])[];
};

type TotalsFacts = Pick<Facts, "sent" | "local" | "traceNumber"> & {
  readonly settings: GateSettings;
  /** The day of the totals. */
  readonly day: Calendar;
  readonly totals: DayTotals;
};

/** Where in its field a host puts each remark. */
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

/**
 * Fields of fixed width are filled with spaces; one of spaces only says nothing. Nor does one with
 * bytes that are no text, which the codec tolerates where no money depends on it.
 */
export function trimField(field: string | undefined): string | undefined {
  const text = field?.trimEnd();
  return text === "" || text === undefined || !isText.test(text) ? undefined : text;
}

const isText = /^[ -~]*$/;

/**
 * Later messages repeat the id, also in a sub-element: an id that does not fit there is not kept.
 */
export function readNetworkId62({ 62: field }: IsoFields): string | undefined {
  const id = trimField(field);
  return id !== undefined && id.length <= 99 ? id : undefined;
}
