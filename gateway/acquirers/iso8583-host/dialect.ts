/**
 * What one host's way of speaking ISO 8583:1987 is made of. A dialect is a table: which message
 * has which field, and how its value is made. A host with other habits is another table.
 */
import type { Framing, IsoFields, Specification } from "@tollgate/protocols/iso8583";
import type { AcquirerIdentifiers, ChargeKind, Credential, Loyalty } from "../../orders/order.ts";
import type { Money } from "../../values/money.ts";
import type { Secret } from "../../values/secret.ts";
import type { calendar } from "../../values/time.ts";
import type { AuthenticationProof, ChargedCard } from "../acquirer.ts";
import type { GateSettings } from "../gates.ts";

export type Dialect = {
  readonly specification: Specification;
  readonly framing: Framing;
  readonly mtis: Mtis;
  /** Whether the host can be asked what became of a charge. */
  readonly hasInquiry: boolean;
  readonly gateRows: readonly GateRow[];
  readonly rows: readonly FactRow[];
  /** The network's own id of the transaction, from an answer. */
  readonly readNetworkId: (fields: IsoFields) => string | undefined;
  /** What an answer has to say to the cardholder; nothing in most. */
  readonly readRemarks: (fields: IsoFields) => Remarks | undefined;
};

export type MessageKind = ChargeKind | "inquiry" | "reversal" | "capture" | "return";
export type Remarks = { readonly loyalty?: Loyalty; readonly explanation?: string };

/** The same in every message of a gate. */
export type GateRow = readonly [
  field: number,
  kinds: readonly MessageKind[],
  write: (settings: GateSettings) => string,
];

/** Nothing: the message goes without the field. */
export type FactRow = readonly [
  field: number,
  kinds: readonly MessageKind[],
  write: (facts: Facts) => string | undefined,
];

/** What one message is about. `sent` and `traceNumber` are its own, not those of the charge. */
export type Facts = {
  readonly identifiers: AcquirerIdentifiers;
  readonly card: ChargedCard;
  readonly amount: Money;
  readonly sent: Calendar;
  readonly traceNumber: string;
  /** What only a charge says. */
  readonly cvv: Secret<string> | undefined;
  readonly authentication: AuthenticationProof | undefined;
  readonly credential: Credential | undefined;
  /** What only a message about a charge says. */
  readonly original: Original | undefined;
};

export type Original = {
  readonly mti: string;
  readonly sent: Calendar;
  readonly acquirerId: string;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
  /** What is still charged when a return has been done. */
  readonly remaining: Money | undefined;
};

export type Calendar = ReturnType<typeof calendar>;

/** A message and its repeat, for those that may be repeated. */
export type Mtis = { readonly [Kind in MessageKind]: MessageType };
type MessageType = { readonly first: string; readonly repeated: string };

// biome-ignore format: a table
export const iso87Mtis: Mtis = {
  "sale":                 { first: "0200", repeated: "0200" },
  "preauth":              { first: "0100", repeated: "0100" },
  "account-verification": { first: "0100", repeated: "0100" },
  "inquiry":              { first: "0600", repeated: "0600" },
  "reversal":             { first: "0420", repeated: "0421" },
  "capture":              { first: "0220", repeated: "0221" },
  "return":               { first: "0400", repeated: "0401" },
};

export const charges = ["sale", "preauth", "account-verification"] as const;
export const payments = ["sale", "preauth"] as const;
export const followUps = ["capture", "return"] as const;
/** About a charge, with the card that it was made with. */
export const changes = ["reversal", ...followUps] as const;
export const allButInquiry = [...charges, ...changes] as const;
export const aboutCharge = ["inquiry", ...changes] as const;
export const all = [...charges, ...aboutCharge] as const;

/** Sign-on, sign-off and echo are the same everywhere. */
export const networkMti = "0800";
export const networkCodes = { signOn: "001", signOff: "002", echo: "301" };
export const networkAccepted = "00";

/** Where in its field a host puts each remark. */
export type RemarkPlaces<Place> = { readonly [Name in RemarkName]: Place };
type RemarkName = keyof Loyalty | "explanation";

export function makeRemarks<Place>(
  places: RemarkPlaces<Place>,
  find: (place: Place) => string | undefined,
): Remarks {
  const loyalty: { -readonly [Name in keyof Loyalty]: string } = {};
  for (const name of loyaltyNames) {
    const text = findText(places[name]);
    if (text !== undefined) loyalty[name] = text;
  }
  const explanation = findText(places.explanation);
  return {
    ...(Object.keys(loyalty).length > 0 ? { loyalty } : {}),
    ...(explanation === undefined ? {} : { explanation }),
  };

  function findText(place: Place): string | undefined {
    return trimField(find(place));
  }
}

/** Fields of fixed width are filled with spaces; one of spaces only says nothing. */
export function trimField(field: string | undefined): string | undefined {
  const text = field?.trimEnd();
  return text === "" ? undefined : text;
}

const loyaltyNames = ["balance", "message", "bonus", "program"] as const;
