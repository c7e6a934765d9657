/**
 * The host's dialects of ISO 8583: the differences in how a gateway writes a request and reads an
 * answer. Everything else is decided alike, from fields that mean the same in all of them.
 */
import {
  cardholder63,
  DecodeFault,
  type Framing,
  type IsoFields,
  type IsoMessage,
  iso87Ascii,
  iso87Bitmapped,
  payment62,
  pointOfService60,
  readComposite,
  readPositions,
  readSubelements,
  response44,
  type Specification,
  security126,
  writeComposite,
  writePositions,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import { eciFor, usesUcaf } from "../issuer.ts";

export type HostDialect = {
  /** The demonstration's gate that leads to the port, after which settlement files are named. */
  readonly gate: string;
  readonly specification: Specification;
  readonly framing: Framing;
  readonly answersInquiries: boolean;
  readonly answersTotals: boolean;
  /** Whether network messages contain a code if the host has keys for it. */
  readonly authenticatesNetwork: boolean;
  readonly keys: HostKeys;
  /** Convert to and from the message types and fields of 1987, in which the host decides. */
  readonly read: (raw: IsoMessage) => HostRequest;
  readonly write: (answer: IsoMessage, request: HostRequest) => IsoMessage;
  /** Returns undefined if the private fields cannot be read. */
  readonly readProof: (fields: IsoFields) => CardholderProof | undefined;
  /** Reads the address to verify; undefined without one. */
  readonly readAddress: (fields: IsoFields) => PayerAddress | undefined;
  /** Writes the results for address and CVV into an answer. */
  readonly writeChecks: (checks: CardChecks) => IsoFields;
  /** Whether field 44 of an answer has a text. In other dialects it has the issuer's results. */
  readonly writesTexts: boolean;
  /** Writes field 62 of an approval. */
  readonly writeNetworkId: (networkId: string, network: IdNetwork) => string;
  /** Writes field 63 of an answer. */
  readonly writeRemarks: (remarks: Remarks) => string;
};

/** The place of a delivered key in the dialect, and the codes of its messages. */
type HostKeys = {
  /** The code of field 70 with which a gateway asks for a key. */
  readonly ask: string;
  readonly write: (key: string) => IsoFields;
  readonly deliver: (facts: Readonly<Record<"trace" | "iso", string>>) => IsoMessage;
};

/** A request in the fields in which the host decides, and as the gateway sent it. */
export type HostRequest = IsoMessage & {
  readonly raw: IsoMessage;
  /** The message that a return changes, in an edition that has a field for its amount. */
  readonly changed?: ChangedMessage;
};

export type ChangedMessage = {
  readonly mti: string;
  readonly trace: string;
  /** Undefined if the return does not state it. */
  readonly amount: bigint | undefined;
};

const asItIs = {
  writesTexts: true,
  authenticatesNetwork: false,
  read: (raw: IsoMessage): HostRequest => ({ ...raw, raw }),
  write: (answer: IsoMessage) => answer,
};

/** Makes the message that delivers a key. The transmission time has the form MMDDhhmmss. */
function makeDelivery(code: string): HostKeys["deliver"] {
  return ({ trace, iso }) => {
    const transmittedAt = iso.replace(/\D/g, "").slice(4, 14);
    return { mti: "0800", fields: { 7: transmittedAt, 11: trace, 70: code } };
  };
}

/** The network of a transaction id. All networks except Mastercard write theirs alike. */
export type IdNetwork = "mastercard" | "other";

/** The values of a charge that show the cardholder's consent. */
export type CardholderProof = {
  readonly cvv: string;
  readonly eci: string | undefined;
  /** The value in base64, in every dialect. */
  readonly authenticationValue: string | undefined;
  /** Whether the charge states an exemption from authentication. */
  readonly isExempt: boolean;
};

/** The parts of the address that the gateway has sent; a missing one is empty. */
type PayerAddress = Readonly<Record<"postcode" | "street", string>>;

/** The postal code has nine places, and the street address follows. */
function splitAddress(data: string): PayerAddress {
  return { postcode: data.slice(0, 9).trim(), street: data.slice(9).trim() };
}

/** The letters of the issuer's results. */
export type CardChecks = Readonly<Partial<Record<"avs" | "cvv", string>>>;

/** Texts for the cardholder. */
export type Remarks = {
  readonly [Name in "balance" | "message" | "bonus" | "program" | "explanation"]?: string;
};

/**
 * The ASCII dialect, in which values without a field of their own are sub-elements of fields 48 and
 * 63.
 */
export const ascii: HostDialect = {
  gate: "sandbox",
  specification: iso87Ascii,
  framing: "binary-2",
  answersInquiries: false,
  answersTotals: false,
  ...asItIs,
  keys: {
    ask: "162",
    // A key block is too long for a sub-element.
    write: (key) =>
      key.length > 60 ? { 110: key } : { 48: writeSubelements("P", [["11", `MK0001${key}`]]) },
    deliver: makeDelivery("161"),
  },
  /** Reads the proof: 42 is the ECI, 43 the authentication value, 92 the CVV. */
  readProof({ 48: field }) {
    const read = field === undefined ? undefined : readSubelements(field);
    if (read instanceof DecodeFault) return undefined;
    const [cvv = "", eci, authenticationValue] = ["92", "42", "43"].map((id) => {
      return read?.elements.get(id);
    });
    const isExempt = /^0102(02|04|06)/.test(read?.elements.get("22") ?? "");
    return { cvv, eci, authenticationValue, isExempt };
  },
  /** 48.82 asks for the verification of the address in field 120, whose sub-field 01 has it. */
  readAddress({ 48: field, 120: address }) {
    const read = field === undefined ? undefined : readSubelements(field);
    const isAsked = !(read instanceof DecodeFault) && read?.elements.get("82") === "52";
    const [, length, data = ""] = /^01(\d\d)(.+)$/.exec(address ?? "") ?? [];
    return isAsked && Number(length) === data.length ? splitAddress(data) : undefined;
  },
  writeChecks({ avs, cvv }) {
    const results = [["83", avs] as const, ["87", cvv] as const];
    const elements = results.flatMap(([tag, letter]) => (letter ? [[tag, letter] as const] : []));
    return elements.length === 0 ? {} : { 48: writeSubelements("T", elements) };
  },
  writeNetworkId: (networkId) => networkId,
  writeRemarks({ balance, message, bonus, program, explanation }) {
    const texts = [balance, message, bonus, program, explanation];
    const elements = texts.flatMap((text, index) =>
      text === undefined ? [] : [[`0${index + 1}`, text] as const],
    );
    return writeSubelements("R", elements);
  },
};

const noFields: IsoFields = {};

/**
 * The binary dialect. The ECI is in field 60, ids are in 62, texts in 63, CVV and authentication
 * value in 126. Values and ECIs of Mastercard only count in their own sub-fields of 126.
 */
export const binary: HostDialect = {
  gate: "sandbox-binary",
  specification: iso87Bitmapped,
  framing: "binary-2",
  answersInquiries: true,
  answersTotals: true,
  ...asItIs,
  keys: { ask: "161", write: (key) => ({ 105: key }), deliver: makeDelivery("163") },
  readProof({ 2: card = "", 25: condition, 60: indicators, 62: payment, 126: secrets }) {
    const pos = indicators === undefined ? noFields : readPositions(pointOfService60, indicators);
    const ids = payment === undefined ? noFields : readComposite(payment62, payment);
    const security = secrets === undefined ? noFields : readComposite(security126, secrets);
    if (pos instanceof DecodeFault || ids instanceof DecodeFault) return undefined;
    if (security instanceof DecodeFault) return undefined;
    // Without mail order, Mastercard's own ECI in this field would mean a recurring payment.
    if (condition !== "08" && usesUcaf(card) && /^0[1-4]$/.test(pos[8] ?? "")) return undefined;
    const { 9: value, 10: cvv = "", 15: ucafIndicator, 16: ucaf } = security;
    return {
      isExempt: false,
      // The first digit is the presence indicator; the CVV is right-aligned in four places.
      cvv: cvv.startsWith("1") ? cvv.slice(2).trimStart() : "",
      ...(usesUcaf(card)
        ? { eci: ucafIndicator && `0${ucafIndicator}`, authenticationValue: ucaf }
        : {
            eci: readIndicator(card, pos[8]),
            authenticationValue: value && Buffer.from(value, "hex").toString("base64"),
          }),
    };
  },
  readAddress: ({ 123: address }) => (address === undefined ? undefined : splitAddress(address)),
  writesTexts: false,
  writeChecks({ avs = " ", cvv }) {
    const results = { 1: "5", 2: avs, ...(cvv === undefined ? {} : { 10: cvv }) };
    return { 44: writePositions(response44, results) };
  },
  writeNetworkId: (networkId, network) =>
    network === "mastercard"
      ? writeComposite(payment62, { 17: networkId.padEnd(15) })
      : writeComposite(payment62, { 2: networkId }),
  writeRemarks({ balance, bonus, program, message, explanation }) {
    const texts = [balance, bonus, program, message, explanation];
    const subfields: { [subfield: number]: string } = {};
    for (const [subfield, , width] of cardholder63.rows) {
      const text = texts[subfield - 1];
      if (text !== undefined) subfields[subfield] = text.padEnd(width);
    }
    return writePositions(cardholder63, subfields);
  },
};

/**
 * Returns the ECI. Field 60 has 05 for every network's full authentication and 06 for an attempt.
 */
function readIndicator(card: string, indicator: string | undefined): string | undefined {
  if (indicator === "05") return eciFor(card, "Y");
  return indicator === "06" ? eciFor(card, "A") : indicator;
}
