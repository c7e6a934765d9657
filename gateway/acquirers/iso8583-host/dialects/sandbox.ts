/**
 * The sandbox's own dialect: ISO 8583:1987 in ASCII. Values without a field of their own are
 * sub-elements of field 48 in requests and of field 63 in answers. The CVV is revealed here.
 */
import {
  DecodeFault,
  type IsoFields,
  iso87Ascii,
  readSubelements,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import type { Credential, ScaExemption } from "../../../orders/order.ts";
import {
  charges,
  type Dialect,
  type Facts,
  followUps,
  iso87Codes,
  iso87Mtis,
  makeRemarks,
  type RemarkPlaces,
  readNetworkId62,
} from "../dialect.ts";
import {
  addressData,
  iso87GateRows,
  iso87Network,
  iso87Rows,
  readLocalTime87,
  writeUcaf,
} from "../fields.ts";

export const sandbox: Dialect = {
  specification: iso87Ascii,
  framing: "binary-2",
  mtis: iso87Mtis,
  codes: iso87Codes,
  network: iso87Network,
  // Mastercard's solicited key exchange, with a key block in its own field.
  keyExchange: { deliver: "161", ask: "162", refused: "63", read: readKey },
  amountDigits: 12,
  hasInquiry: false,
  gateRows: iso87GateRows,
  rows: [
    ...iso87Rows,
    [48, charges, privateElements],
    [120, charges, addressField],
    [62, [...followUps, "refund"], ({ original }) => original?.networkId],
  ],
  hasPlaceFor: (value) => writeUcaf(value) !== undefined,
  exemptions: ["low_value", "tra", "secure_corporate"],
  readNetworkId: readNetworkId62,
  readLocalTime: readLocalTime87,
  readChecks,
  readRemarks,
};

/** The initiator of a payment with a stored card (C cardholder, M merchant), and its regularity. */
const credentialCodes = {
  CARDHOLDER: {
    IRREGULAR: "C101", // credential on file, now and then
    REGULAR: "C102",
  }, // standing order
  MERCHANT: {
    IRREGULAR: "M101", // unscheduled credential on file
    REGULAR: "M102",
  }, // standing order
} as const satisfies Record<Credential["initiator"], Record<Credential["scenario"], string>>;

/** The field has category T (not face to face), then the values that are present. */
export function privateElements(facts: Facts): string | undefined {
  const { authentication, credential, cvv } = facts;
  const elements: [tag: string, value: string][] = [];
  const indicators = multiPurposeIndicators(facts);
  if (indicators !== "") elements.push(["22", indicators]);
  if (authentication?.eci !== undefined) elements.push(["42", authentication.eci]);
  // In this dialect, the UCAF has the value of every network.
  if (authentication?.value !== undefined) elements.push(["43", authentication.value]);
  if (credential?.networkId !== undefined) elements.push(["63", credential.networkId]);
  // The issuer answers the address beside the charge.
  if (addressData(facts) !== undefined) elements.push(["82", "52"]);
  if (cvv !== undefined) elements.push(["92", cvv.reveal()]);
  return elements.length === 0 ? undefined : writeSubelements("T", elements);
}

/** Sub-field 01 of 48.22 has the exemption, and 05 how a stored card is used. */
function multiPurposeIndicators({ credential, exemption }: Facts): string {
  const risk = exemption && exemptionCodes[exemption];
  const use = credential && credentialCodes[credential.initiator][credential.scenario];
  return `${risk === undefined ? "" : `0102${risk}`}${use === undefined ? "" : `0504${use}`}`;
}

/** A beneficiary's trust has no code: it is stated in the authentication. */
const exemptionCodes: Readonly<Partial<Record<ScaExemption, string>>> = {
  tra: "02",
  low_value: "04",
  secure_corporate: "06",
};

/** Field 120 has the data to verify in sub-field 01, whose length of two digits follows its tag. */
export function addressField(facts: Facts): string | undefined {
  const data = addressData(facts);
  return data && `01${String(data.length).padStart(2, "0")}${data}`;
}

/** In answers, 48.83 has the letter for the address, and 48.87 the one for the CVV. */
export function readChecks({ 48: field }: IsoFields) {
  const read = field === undefined ? undefined : readSubelements(field);
  const elements = read === undefined || read instanceof DecodeFault ? undefined : read.elements;
  return { avs: elements?.get("83"), cvvResult: elements?.get("87") };
}

/** In 48.11 the key follows its class, index and cycle of two places each. 110 has a key block. */
function readKey({ 48: elements, 110: block }: IsoFields): string | undefined {
  const read = elements === undefined ? undefined : readSubelements(elements);
  if (block !== undefined || read === undefined || read instanceof DecodeFault) return block;
  return read.elements.get("11")?.slice(6);
}

const remarkTags: RemarkPlaces<string> = {
  balance: "01",
  message: "02",
  bonus: "03",
  program: "04",
  explanation: "05",
};

/** Unreadable remarks do not affect the money, so the answer is read without them. */
export function readRemarks({ 63: field }: Parameters<Dialect["readRemarks"]>[0]) {
  if (field === undefined) return undefined;
  const read = readSubelements(field);
  if (read instanceof DecodeFault || read.category !== "R") return undefined;
  return makeRemarks(remarkTags, (tag) => read.elements.get(tag));
}
